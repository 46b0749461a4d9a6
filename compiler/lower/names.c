// names.c - which names a piece of syntax assigns, and how it may leave: needed before a loop is
// lowered.
#include "lower/lower_impl.h"

typedef struct Collector {
    Lower *cx;
    Assigned *out;
    const AstVisitor *visitor;
    unsigned loops;  // loops around the node, inside the statements asked about
    uint32_t stamp;
} Collector;

static void collect_block(Collector *c, AstNodes body)
{
    for (uint32_t i = 0; i < body.len; i++)
        ast_walk(body.at[i], c->visitor);
}

// The else of a loop is outside it: its `break` means the loop around.
static void collect_loop(Collector *c, AstNodes body, AstNodes orelse)
{
    c->loops++;
    collect_block(c, body);
    c->loops--;
    collect_block(c, orelse);
}

static void collect_target(Collector *c, const AstNode *target)
{
    if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
        AstNodes items =
            target->kind == AST_TUPLE ? ast_tuple(target)->items : ast_list(target)->items;
        for (uint32_t i = 0; i < items.len; i++)
            collect_target(c, items.at[i]);
        return;
    }
    if (target->kind != AST_NAME)
        return;
    Sym name = ast_name(target)->name;
    uint32_t slot = lower_slot_of(c->cx, name);  // may move the slots
    Slot *s = &c->cx->frame->slots.at[slot];
    if (s->stamp == c->stamp)
        return;
    s->stamp = c->stamp;
    VEC_PUSH(c->cx->arena, &c->out->names, name);
}

static bool enter(const AstNode *n, void *ctx)
{
    Collector *c = ctx;
    switch ((unsigned)n->kind) {
    case AST_ASSIGN:
        for (uint32_t i = 0; i < ast_assign(n)->targets.len; i++)
            collect_target(c, ast_assign(n)->targets.at[i]);
        return false;
    case AST_AUG_ASSIGN: collect_target(c, ast_aug_assign(n)->target); return false;
    case AST_ANN_ASSIGN:
        if (ast_ann_assign(n)->value)
            collect_target(c, ast_ann_assign(n)->target);
        return false;
    case AST_FOR:
        collect_target(c, ast_for(n)->target);
        collect_loop(c, ast_for(n)->body, ast_for(n)->orelse);
        return false;
    case AST_WHILE: collect_loop(c, ast_while(n)->body, ast_while(n)->orelse); return false;
    case AST_BREAK: c->out->breaks |= c->loops == 0; return false;
    case AST_CONTINUE: c->out->continues |= c->loops == 0; return false;
    case AST_RETURN: c->out->returns = true; return false;
    case AST_IF: return true;
    default: return false;
    }
}

void lower_assigned(Lower *cx, AstNodes body, Assigned *out)
{
    Collector c = { .cx = cx, .out = out, .stamp = ++cx->frame->stamp };
    AstVisitor v = { .enter = enter, .ctx = &c };
    c.visitor = &v;
    collect_block(&c, body);
}

void lower_poison(Lower *cx, const AstNode *n)
{
    Assigned assigned = { 0 };
    AstNode *one = (AstNode *)n;
    lower_assigned(cx, (AstNodes){ &one, 1 }, &assigned);
    for (uint32_t i = 0; i < assigned.names.len; i++)
        lower_bind(cx, lower_slot_of(cx, assigned.names.at[i]), val_error(), n->span);
}
