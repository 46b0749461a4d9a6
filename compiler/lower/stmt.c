// stmt.c - statements but for branches and loops. A block stops at the first statement that surely
// leaves it, and puts what follows a maybe-exit under a guard.
#include "lower/builtins.h"
#include "lower/view.h"

void lower_count_step(Lower *cx, Span span)
{
    if (++cx->steps <= LOWER_MAX_STEPS || cx->stopped)
        return;
    cx->stopped = true;
    lower_error(cx, DIAG_LIMIT, span, "more than %d statements after inlining and unrolling",
                LOWER_MAX_STEPS);
}

typedef struct Rest {
    AstNodes body;
    uint32_t from;
} Rest;

static void run_rest(Lower *cx, void *at)
{
    const Rest *rest = at;
    lower_block(cx, rest->body, rest->from);
}

void lower_block(Lower *cx, AstNodes body, uint32_t from)
{
    for (uint32_t i = from; i < body.len; i++) {
        const AstNode *n = body.at[i];
        ExitState state = lower_exit_state(cx);
        if (state == EXIT_YES || !lower_enter(cx, n->span))
            return;
        if (state == EXIT_MAYBE) {
            Rest rest = { body, i };
            bool dead = cx->frame->function && body.at == cx->frame->function->def->body.at;
            lower_guarded(cx, n->span, dead, run_rest, &rest);
            lower_leave(cx);
            return;
        }
        cx->b.span = n->span;
        lower_count_step(cx, n->span);
        bool took_rest = false;
        if (n->kind == AST_IF)
            took_rest = lower_if(cx, body, i);
        else
            lower_stmt(cx, n);
        lower_leave(cx);
        if (took_rest)
            return;
    }
}

/* ---- assignment ---- */

Val lower_settle(Lower *cx, Val v, Span span)
{
    bool number = v.kind == VAL_CONST && !v.fixed &&
                  (v.c.kind == CONST_BOOL || v.c.kind == CONST_INT || v.c.kind == CONST_FLOAT);
    if (!number || cx->frame->is_constant)
        return v;
    ScalarKind kind;
    if (!lower_literal_kind(cx, v, "variable", span, &kind))
        return val_error();
    // --index64: the int32 that a literal would be takes part in addresses too.
    return lower_typed_val(cx, v.c, cx->index64 && kind == SCALAR_I32 ? SCALAR_I64 : kind);
}

static void assign_name(Lower *cx, const AstNode *target, Val v, Span span)
{
    uint32_t slot = lower_slot_of(cx, ast_name(target)->name);
    const Local *old = lower_slot_get(cx, slot);
    if (old && old->is_constexpr) {
        lower_error(cx, DIAG_CONSTEXPR_REASSIGNED, target->span,
                    "'%s' is constexpr and cannot be assigned again", ast_name(target)->name->text);
        diag_note(cx->consts.diags, old->span, "declared here");
        return;
    }
    if (v.kind == VAL_VOID) {
        lower_error(cx, DIAG_TYPE_MISMATCH, span, "the call returns nothing that '%s' could be",
                    ast_name(target)->name->text);
        v = val_error();
    }
    if (v.kind == VAL_VALUE && !v.v->hint)
        v.v->hint = ast_name(target)->name;
    lower_bind(cx, slot, lower_settle(cx, v, span), target->span);
}

static const char *called_name(const AstNode *value)
{
    if (!value || value->kind != AST_CALL || ast_call(value)->callee->kind != AST_NAME)
        return NULL;
    return ast_name(ast_call(value)->callee)->name->text;
}

static void assign_tuple(Lower *cx, const AstNode *target, AstNodes items, Val v,
                         const AstNode *value, Span span)
{
    if (v.kind != VAL_TUPLE || v.tuple.len != items.len) {
        const char *call = called_name(value);
        if (v.kind == VAL_TUPLE && call)
            lower_error(cx, DIAG_BAD_CALL, span, "'%s' returns %u value%s, %u names given", call,
                        v.tuple.len, v.tuple.len == 1 ? "" : "s", items.len);
        else if (v.kind == VAL_TUPLE)
            lower_error(cx, DIAG_TYPE_MISMATCH, span, "%u value%s for %u names", v.tuple.len,
                        v.tuple.len == 1 ? "" : "s", items.len);
        else if (v.kind != VAL_ERROR)
            lower_error(cx, DIAG_TYPE_MISMATCH, span, "cannot unpack %s into %u names",
                        lower_text(cx, v), items.len);
        for (uint32_t i = 0; i < items.len; i++)
            lower_assign(cx, items.at[i], val_error(), NULL, target->span);
        return;
    }
    for (uint32_t i = 0; i < items.len; i++)
        lower_assign(cx, items.at[i], v.tuple.at[i], NULL, span);
}

void lower_assign(Lower *cx, const AstNode *target, Val v, const AstNode *value, Span span)
{
    switch ((unsigned)target->kind) {
    case AST_NAME: assign_name(cx, target, v, span); return;
    case AST_TUPLE: assign_tuple(cx, target, ast_tuple(target)->items, v, value, span); return;
    case AST_LIST: assign_tuple(cx, target, ast_list(target)->items, v, value, span); return;
    case AST_SUBSCRIPT:
        lower_error(cx, DIAG_NOT_IN_LANGUAGE, target->span,
                    "cannot assign to one element of a block; use 'where'");
        return;
    case AST_ATTRIBUTE:
        lower_error(cx, DIAG_NOT_IN_LANGUAGE, target->span, "cannot assign to an attribute");
        return;
    case AST_STARRED:
        lower_error(cx, DIAG_NOT_IN_LANGUAGE, target->span, "a starred name cannot be assigned to");
        return;
    default: return;  // AST_ERROR, or what the parser has refused
    }
}

static void lower_aug_assign(Lower *cx, const AstAugAssign *n)
{
    if (n->target->kind != AST_NAME) {
        lower_assign(cx, n->target, val_error(), NULL, n->target->span);
        return;
    }
    Sym name = ast_name(n->target)->name;
    uint32_t slot = lower_slot_of(cx, name);
    Val old = val_error();
    if (!lower_slot_get(cx, slot))
        lower_error(cx, DIAG_UNDEFINED_NAME, n->target->span,
                    "'%s' is read by '%s=' before it is assigned", name->text,
                    ast_binary_text[n->op]);
    else
        old = lower_read_slot(cx, slot, n->target->span);
    Val v = lower_expr(cx, n->value);
    v = lower_binary(cx, n->op, operand_at(old, n->target->span), operand_at(v, n->value->span),
                     n->base.span);
    lower_assign(cx, n->target, v, n->value, n->base.span);
}

static void declare_constexpr(Lower *cx, const AstAnnAssign *n, Val v)
{
    Sym name = ast_name(n->target)->name;
    uint32_t slot = lower_slot_of(cx, name);
    const Local *old = lower_slot_get(cx, slot);
    ConstVal c;
    // The same statement again (an unrolled loop, an inlined call) declares its own name anew.
    if (old && old->is_constexpr && old->span.lo != n->target->span.lo) {
        lower_error(cx, DIAG_CONSTEXPR_REASSIGNED, n->target->span,
                    "'%s' is constexpr and cannot be assigned again", name->text);
        diag_note(cx->consts.diags, old->span, "declared here");
        return;
    }
    if (v.kind != VAL_ERROR && v.kind != VAL_CONST && !lower_as_const(cx, v, &c)) {
        lower_error(cx, DIAG_NOT_CONSTEXPR, n->value->span,
                    "'%s' is not a compile-time constant, it is %s",
                    lower_source(cx, n->value->span), lower_text(cx, v));
        v = val_error();
    }
    v.fixed = NULL;
    lower_bind(cx, slot, v, n->target->span)->is_constexpr = v.kind != VAL_ERROR;
}

static void lower_ann_assign(Lower *cx, const AstAnnAssign *n)
{
    Val annotation = lower_expr(cx, n->annotation);
    Val v = n->value ? lower_expr(cx, n->value) : val_error();
    if (!n->value)
        return;
    bool word = annotation.kind == VAL_CONST && annotation.c.kind == CONST_ANNOTATION;
    if (word && ((const Builtin *)annotation.c.v.ref)->id == BUILTIN_CONSTEXPR &&
        n->target->kind == AST_NAME) {
        declare_constexpr(cx, n, v);
        return;
    }
    if (annotation.kind == VAL_CONST && annotation.c.kind == CONST_DTYPE && v.kind != VAL_ERROR) {
        IrValue *cast = NULL;
        if (annotation.c.v.dtype->kind == TYPE_SCALAR && v.kind == VAL_CONST &&
            lower_type_of(cx, v)->kind == TYPE_SCALAR)
            v = lower_typed_val(cx, v.c, annotation.c.v.dtype->scalar);
        else if ((cast = lower_value_as(cx, v, annotation.c.v.dtype, "value", n->value->span)))
            v = val_of(cast);
        else
            v = val_error();
    } else if (annotation.kind != VAL_ERROR && !word &&
               !lower_is_missing_dtype(cx, annotation, n->annotation->span)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->annotation->span,
                    "annotation must be a type, got %s", lower_text(cx, annotation));
    }
    lower_assign(cx, n->target, v, n->value, n->value->span);
}

/* ---- the others ---- */

static void lower_return(Lower *cx, const AstReturn *n)
{
    Val v = val_void();
    Frame *f = cx->frame;
    if (n->value)
        v = lower_expr(cx, n->value);
    bool is_kernel = !f->caller && f->function;
    bool none = v.kind == VAL_CONST && v.c.kind == CONST_NONE;
    if (is_kernel && n->value && !none && v.kind != VAL_ERROR && v.kind != VAL_VOID) {
        lower_error(cx, DIAG_RETURN_TYPE, n->value->span,
                    "a kernel returns nothing; store results through a pointer");
        v = val_error();
    }
    if (is_kernel)
        v = val_void();
    if (v.kind == VAL_TUPLE) {
        Val settled = v;
        settled.tuple.at = ARENA_NEW_N(cx->arena, Val, v.tuple.len);
        for (uint32_t i = 0; i < v.tuple.len; i++)
            settled.tuple.at[i] = lower_settle(cx, v.tuple.at[i], n->base.span);
        v = settled;
    }
    if (!f->first_return.hi)
        f->first_return = n->base.span;
    lower_bind(cx, f->result, lower_settle(cx, v, n->base.span), n->base.span);
    lower_bind(cx, f->returned, val_const(const_bool(true)), n->base.span);
}

// `assert c, "text"`: checked here when c is a constant, else in debug builds as device_assert.
static void lower_assert(Lower *cx, const AstAssert *n)
{
    Val c = lower_expr(cx, n->cond);
    ConstVal constant;
    ArgumentVec args = { 0 };
    if (c.kind == VAL_ERROR)
        return;
    if (lower_as_const(cx, c, &constant)) {
        bool ok, truth = const_truth(&cx->consts, constant, n->cond->span, &ok);
        if (ok && !truth)
            lower_error(cx, DIAG_STATIC_ASSERT, n->base.span, "assertion failed: %s",
                        lower_source(cx, n->cond->span));
        return;
    }
    VEC_PUSH(cx->arena, &args, ((Argument){ .val = c, .span = n->cond->span }));
    if (n->message)
        VEC_PUSH(cx->arena, &args,
                 ((Argument){ .val = lower_expr(cx, n->message), .span = n->message->span }));
    lower_call_builtin(cx, builtin_get(cx->program->builtins, BUILTIN_DEVICE_ASSERT), NULL, &args,
                       n->base.span);
}

/// `break`, `continue`. The parser has reported one that stands in no loop.
static void lower_leave_round(Lower *cx, const AstNode *n)
{
    const LoopScope *loop = cx->frame->loop;
    if (loop)
        lower_bind(cx, n->kind == AST_BREAK ? loop->broke : loop->continued,
                   val_const(const_bool(true)), n->span);
}

/// An expression that is evaluated for its effects. A block pointer has none: it was to be moved.
/// Whether the operations behind `last` in their block change nothing.
static bool is_without_effects(const IrBlock *block, const IrOp *last)
{
    for (const IrOp *op = last ? last->next : block->first; op; op = op->next)
        if (ir_has_effects(op) || op->regionc > 0 ||
            (op->code == IR_LOAD && op->attr.mem.is_volatile))
            return false;
    return true;
}

static void lower_expr_stmt(Lower *cx, const AstNode *value)
{
    const IrBlock *block = cx->b.block;
    const IrOp *last = block->last;
    Val v = lower_expr(cx, value);
    // What makes no operation is a hint about a value that there was.
    if (v.kind == VAL_VALUE && cx->b.block == block && block->last != last &&
        is_without_effects(block, last))
        diag_report(cx->consts.diags, DIAG_UNUSED_VALUE, value->span,
                    "the value of this statement is not used");
    if (v.kind != VAL_VIEW || v.view->kind != VIEW_BLOCK_POINTER)
        return;
    lower_error(cx, DIAG_BAD_CALL, value->span,
                "the block pointer that this makes is not used; it changes none in place");
    diag_help(cx->consts.diags, "assign it, as in 'p = advance(p, ...)'");
}

void lower_stmt(Lower *cx, const AstNode *n)
{
    switch ((unsigned)n->kind) {
    case AST_ASSIGN: {
        const AstAssign *a = ast_assign(n);
        Val v = lower_expr(cx, a->value);
        for (uint32_t i = 0; i < a->targets.len; i++)
            lower_assign(cx, a->targets.at[i], v, a->value, a->value->span);
        return;
    }
    case AST_AUG_ASSIGN: lower_aug_assign(cx, ast_aug_assign(n)); return;
    case AST_ANN_ASSIGN: lower_ann_assign(cx, ast_ann_assign(n)); return;
    case AST_FOR: lower_for(cx, ast_for(n)); return;
    case AST_WHILE: lower_while(cx, ast_while(n)); return;
    case AST_RETURN: lower_return(cx, ast_return(n)); return;
    case AST_BREAK:
    case AST_CONTINUE: lower_leave_round(cx, n); return;
    case AST_ASSERT: lower_assert(cx, ast_assert(n)); return;
    case AST_EXPR_STMT: lower_expr_stmt(cx, ast_expr(n)->value); return;
    case AST_PASS:
    case AST_ERROR: return;
    default:
        lower_error(cx, DIAG_NOT_IN_LANGUAGE, n->span, "'%s' cannot stand inside a function",
                    ast_kind_info[n->kind].name);
        return;
    }
}
