// branch.c - if, ternary, and the guards behind early exits.
//
// Each arm is lowered into a block of its own and its changes are taken off the frame. Merging
// walks the union of the changes: equal bindings stay, two values of one type become a result of
// the IF, and what cannot be merged gets a binding that says why when it is read. An arm that
// surely exits takes no part. The exit flags merge by the same rules, with the condition itself
// where one arm sets and the other clears a flag.
#include "lower/view.h"

void lower_attach(IrOp *op, uint32_t index, IrBlock *block)
{
    block->parent = op;
    op->regions[index] = block;
}

void lower_yield(Lower *cx, IrBlock *block, IrValue *const *values, uint32_t n)
{
    IrBlock *outer = cx->b.block;
    cx->b.block = block;
    ir_op0(&cx->b, IR_YIELD, n, values);
    cx->b.block = outer;
}

static ExitState state_of(const Lower *cx, uint32_t slot)
{
    Val v = lower_slot_get(cx, slot)->val;
    if (v.kind == VAL_CONST)
        return v.c.v.b ? EXIT_YES : EXIT_NO;
    return EXIT_MAYBE;
}

void lower_arm_begin(Lower *cx, Arm *arm)
{
    *arm = (Arm){ .block = ir_block_new(cx->b.fn, NULL),
                  .outer = cx->b.block,
                  .mark = lower_mark(cx) };
    cx->b.block = arm->block;
    cx->nesting++;
    if (cx->nesting > LOWER_MAX_NESTING && !cx->stopped) {
        cx->stopped = true;
        lower_error(cx, DIAG_LIMIT, cx->b.span, "more than %d branches and loops inside each other",
                    LOWER_MAX_NESTING);
    }
}

void lower_arm_resume(Lower *cx, Arm *arm)
{
    arm->outer = cx->b.block;
    arm->mark = lower_mark(cx);
    cx->b.block = arm->block;
    cx->nesting++;
    for (uint32_t i = 0; i < arm->changes.len; i++)
        lower_rebind(cx, arm->changes.at[i].slot, arm->changes.at[i].binding);
}

void lower_arm_end(Lower *cx, Arm *arm)
{
    arm->exits = lower_exit_state(cx) == EXIT_YES;
    arm->returns = state_of(cx, cx->frame->returned) == EXIT_YES;
    lower_take_changes(cx, arm->mark, arm);
    cx->b.block = arm->outer;
    cx->nesting--;
}

/* ---- merging ---- */

typedef struct Merge {
    Lower *cx;
    IrValue *cond;
    Arm *arms[2];
    Span cond_span;
    bool dead;                 // nothing after the branch reads a variable
    VEC(IrValue *) values[2];  // what each arm yields
    VEC(const Type *) types;
    VEC(Sym) hints;
    VEC(Val *) places;  // where the results go
} Merge;

// A constant or value of `v` made in the arm's block.
static IrValue *value_in(Merge *m, unsigned arm, Val v, Span span)
{
    Lower *cx = m->cx;
    IrBlock *outer = cx->b.block;
    cx->b.block = m->arms[arm]->block;
    IrValue *out = lower_value(cx, v, "variable", span);
    cx->b.block = outer;
    return out;
}

static IrValue *zero_in(Merge *m, unsigned arm, const Type *type)
{
    Lower *cx = m->cx;
    IrBlock *outer = cx->b.block;
    cx->b.block = m->arms[arm]->block;
    bool is_float = type_is_num(type) && (type_is_float(type) || type_is_fp8(type));
    IrValue *out = is_float ? ir_const_float(&cx->b, type, 0) : ir_const_int(&cx->b, type, 0);
    cx->b.block = outer;
    return out;
}

static void add_result(Merge *m, IrValue *a, IrValue *b, Sym hint, Val *place)
{
    Arena *arena = m->cx->arena;
    VEC_PUSH(arena, &m->values[0], a);
    VEC_PUSH(arena, &m->values[1], b);
    VEC_PUSH(arena, &m->types, a->type);
    VEC_PUSH(arena, &m->hints, hint);
    VEC_PUSH(arena, &m->places, place);
}

static bool is_number(const Val *v)
{
    return v->kind == VAL_CONST &&
           (v->c.kind == CONST_BOOL || v->c.kind == CONST_INT || v->c.kind == CONST_FLOAT);
}

// --index64: an int32 beside an int64 is widened.
static bool widen_pair(Merge *m, IrValue **v)
{
    TypeTable *types = m->cx->program->types;
    const Type *i64 = type_scalar(types, SCALAR_I64);
    if (!m->cx->index64 || !type_is_num(v[0]->type) || !type_same_shape(v[0]->type, v[1]->type))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (type_scalar_kind(v[i]->type) != SCALAR_I32 ||
            type_scalar_kind(v[!i]->type) != SCALAR_I64)
            continue;
        IrBlock *outer = m->cx->b.block;
        m->cx->b.block = m->arms[i]->block;
        v[i] = ir_cast(&m->cx->b, v[i], i64);
        m->cx->b.block = outer;
        return true;
    }
    return false;
}

// Merges two values; false when their types differ. `out` must stay where it is until the IF is
// made.
static bool merge_vals(Merge *m, Operand left, Operand right, Sym hint, Val *out)
{
    const Val a = left.val, b = right.val;
    if (a.kind == VAL_ERROR || b.kind == VAL_ERROR) {
        *out = val_error();
        return true;
    }
    if (a.kind == VAL_VOID && b.kind == VAL_VOID) {
        *out = a;
        return true;
    }
    if (val_has_parts(&a) && lower_same_form(&a, &b)) {
        *out = a;
        out->tuple.at = ARENA_NEW_N(m->cx->arena, Val, a.tuple.len);
        for (uint32_t i = 0; i < a.tuple.len; i++)
            if (!merge_vals(m, operand_at(a.tuple.at[i], left.span),
                            operand_at(b.tuple.at[i], right.span), hint, &out->tuple.at[i]))
                return false;
        return true;
    }
    if (a.kind == VAL_CONST && b.kind == VAL_CONST && a.fixed == b.fixed && a.c.kind == b.c.kind &&
        const_equal(&a.c, &b.c)) {
        *out = a;
        return true;
    }
    if ((a.kind != VAL_VALUE && !is_number(&a)) || (b.kind != VAL_VALUE && !is_number(&b)))
        return false;
    if (a.kind == VAL_VALUE && b.kind == VAL_VALUE && a.v == b.v) {
        *out = a;
        return true;
    }
    IrValue *v[2] = { value_in(m, 0, a, left.span), value_in(m, 1, b, right.span) };
    if (!v[0] || !v[1]) {
        *out = val_error();
        return true;
    }
    if (v[0]->type != v[1]->type && !widen_pair(m, v))
        return false;
    *out = (Val){ .kind = VAL_VALUE };
    add_result(m, v[0], v[1], hint, out);
    return true;
}

// A value of one arm only, the other having left: results need something in its place.
static void merge_single(Merge *m, unsigned arm, Val v, Sym hint, Val *out)
{
    *out = v;
    if (val_has_parts(&v)) {
        out->tuple.at = ARENA_NEW_N(m->cx->arena, Val, v.tuple.len);
        for (uint32_t i = 0; i < v.tuple.len; i++)
            merge_single(m, arm, v.tuple.at[i], hint, &out->tuple.at[i]);
    } else if (v.kind == VAL_VALUE) {
        IrValue *zero = zero_in(m, !arm, v.v->type);
        add_result(m, arm ? zero : v.v, arm ? v.v : zero, hint, out);
    }
}

// The binding of one arm where the other has left.
static Local *single(Merge *m, unsigned arm, Local *kept, const Local *before, uint32_t slot)
{
    if (kept == before)
        return kept;
    Local *out = ARENA_NEW(m->cx->arena, Local);
    *out = *kept;
    merge_single(m, arm, kept->val, m->cx->frame->slots.at[slot].name, &out->val);
    return out;
}

static void report_types(Merge *m, uint32_t slot, const Local *a, const Local *b,
                         const Local *before)
{
    Lower *cx = m->cx;
    const Frame *f = cx->frame;
    DiagSink *d = cx->consts.diags;
    const char *ta = lower_text(cx, a->val), *tb = lower_text(cx, b->val);
    if (slot == f->result) {
        lower_error(cx, DIAG_RETURN_TYPE, a->span, "'%s' returns %s here and %s elsewhere",
                    f->function->name->text, ta, tb);
        diag_note(d, b->span, "%s is returned here", tb);
        return;
    }
    const char *name = f->slots.at[slot].name->text;
    if (a == before || b == before) {
        const Local *changed = a == before ? b : a;
        lower_error(cx, DIAG_BRANCH_TYPE, changed->span,
                    "'%s' is %s before the if and becomes %s here", name, a == before ? ta : tb,
                    a == before ? tb : ta);
        diag_note(d, before->span, "%s here", a == before ? ta : tb);
    } else {
        lower_error(cx, DIAG_BRANCH_TYPE, b->span,
                    "'%s' becomes %s in one arm of the if and %s in the other", name, ta, tb);
        diag_note(d, a->span, "%s here", ta);
        diag_note(d, b->span, "%s here", tb);
    }
}

static Local *mixed(Lower *cx, const Local *a, const Local *b)
{
    Local *out = ARENA_NEW(cx->arena, Local);
    *out = (Local){ .status = BIND_MIXED, .span = a->span, .cond = b->span };
    out->types[0] = lower_text(cx, a->val);
    out->types[1] = lower_text(cx, b->val);
    return out;
}

static Local *only_in(Merge *m, const Local *b, bool in_else)
{
    Local *out = ARENA_NEW(m->cx->arena, Local);
    *out =
        (Local){ .status = BIND_IN_ARM, .in_else = in_else, .span = b->span, .cond = m->cond_span };
    return out;
}

static bool is_flag(const Lower *cx, uint32_t slot)
{
    const Frame *f = cx->frame;
    if (slot == f->returned)
        return true;
    for (const LoopScope *l = f->loop; l; l = l->outer)
        if (slot == l->broke || slot == l->continued)
            return true;
    return false;
}

static bool is_const_bool(Val v, bool wanted)
{
    return v.kind == VAL_CONST && v.c.kind == CONST_BOOL && v.c.v.b == wanted;
}

// A flag that one arm sets and the other does not is the condition, or its opposite.
static bool merge_flag(Merge *m, Val a, Val b, Val *out)
{
    if (is_const_bool(a, true) && is_const_bool(b, false))
        *out = val_of(m->cond);
    else if (is_const_bool(a, false) && is_const_bool(b, true))
        *out = val_of(ir_unary(&m->cx->b, IR_NOT, m->cond));
    else
        return false;
    return true;
}

// Both arms have a value. An arm that goes on to the end of the loop's body has its say only for
// what the loop carries.
static Local *merge_different(Merge *m, uint32_t slot, Local *a, Local *b, Local *before)
{
    Lower *cx = m->cx;
    bool exits[2] = { m->arms[0]->exits, m->arms[1]->exits };
    bool typed =
        !type_is_error(lower_type_of(cx, a->val)) && !type_is_error(lower_type_of(cx, b->val));
    bool live = before && before->status == BIND_SET && (a == before || b == before);
    if (slot != cx->frame->result && (exits[0] || exits[1])) {
        if (lower_is_carried(cx->frame->loop, slot))
            return mixed(cx, a, b);
        return single(m, exits[0], exits[0] ? b : a, before, slot);
    }
    if (slot != cx->frame->result && (!typed || !live))
        return mixed(cx, a, b);
    report_types(m, slot, a, b, before);
    Local *out = ARENA_NEW(cx->arena, Local);
    *out = (Local){ .val = val_error(), .span = a->span };
    return out;
}

static Local *merge_set(Merge *m, uint32_t slot, Local *a, Local *b, Local *before)
{
    Lower *cx = m->cx;
    Local *out = ARENA_NEW(cx->arena, Local);
    if (before)
        before->was_read = true;  // whoever reads the merged value may read this one
    out->span = a == before ? b->span : a->span;
    out->is_constexpr = a->is_constexpr && b->is_constexpr;
    if (is_flag(cx, slot) && merge_flag(m, a->val, b->val, &out->val))
        return out;
    uint32_t results = m->types.len;
    if (merge_vals(m, operand_at(a->val, a->span), operand_at(b->val, b->span),
                   cx->frame->slots.at[slot].name, &out->val))
        return out;
    // Results of a tuple's first elements must not outlive it.
    m->values[0].len = m->values[1].len = m->types.len = m->hints.len = m->places.len = results;
    return merge_different(m, slot, a, b, before);
}

static void merge_slot(Merge *m, uint32_t slot, Local *a, Local *b, Local *before)
{
    Lower *cx = m->cx;
    Local *of[2] = { a, b };
    bool hidden = !cx->frame->slots.at[slot].name, set[2], ignored[2], exits[2];
    for (unsigned i = 0; i < 2; i++) {
        set[i] = of[i] && of[i]->status == BIND_SET;
        ignored[i] = !hidden && m->arms[i]->returns;
        exits[i] = hidden || m->arms[i]->exits;
    }
    if (a == b || (!hidden && m->dead) || (ignored[0] && ignored[1]))
        return;
    unsigned from = set[0] && !ignored[0] ? 0 : 1;
    Local *out;
    if (set[0] && set[1] && !ignored[0] && !ignored[1])
        out = merge_set(m, slot, a, b, before);
    else if (set[from] && !ignored[from] && exits[!from])
        out = single(m, from, of[from], before, slot);
    else if (exits[0] != exits[1])
        out = exits[0] ? b : a;
    else if (set[0] || set[1])
        out = only_in(m, set[0] ? a : b, set[1]);
    else
        out = a ? a : b;
    lower_rebind(cx, slot, out);
}

static void finish_if(Merge *m)
{
    Lower *cx = m->cx;
    uint32_t n = m->types.len;
    if (!n && !m->arms[0]->block->first && !m->arms[1]->block->first)
        return;
    IrOp *op = ir_op(&cx->b, IR_IF, 1, &m->cond, (IrResults){ n, m->types.at }, 2);
    for (unsigned i = 0; i < 2; i++) {
        lower_attach(op, i, m->arms[i]->block);
        lower_yield(cx, m->arms[i]->block, m->values[i].at, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        op->results[i]->hint = m->hints.at[i];
        *m->places.at[i] = val_of(op->results[i]);
    }
}

void lower_merge_arms(Lower *cx, IrValue *cond, Arm *then, Arm *other, Span cond_span, bool dead)
{
    Merge m = {
        .cx = cx, .cond = cond, .arms = { then, other }, .cond_span = cond_span, .dead = dead
    };
    Frame *f = cx->frame;
    uint32_t n = then->changes.len + other->changes.len;
    Local *(*after)[2] =
        (Local * (*)[2]) arena_alloc_array(cx->arena, n, sizeof *after, _Alignof(Local *));
    uint32_t *slots = ARENA_NEW_N(cx->arena, uint32_t, n), count = 0;
    uint32_t stamp = ++f->stamp;
    // Oldest change first, so that results come in the order of the source.
    for (uint32_t k = 0; k < then->changes.len; k++) {
        const Change *c = &then->changes.at[then->changes.len - 1 - k];
        f->slots.at[c->slot].stamp = stamp + count;
        slots[count] = c->slot;
        after[count][0] = c->binding;
        after[count++][1] = f->slots.at[c->slot].binding;
    }
    uint32_t first = count;
    for (uint32_t k = 0; k < other->changes.len; k++) {
        const Change *c = &other->changes.at[other->changes.len - 1 - k];
        uint32_t at = f->slots.at[c->slot].stamp - stamp;
        if (at >= first) {
            at = count++;
            slots[at] = c->slot;
            after[at][0] = f->slots.at[c->slot].binding;
        }
        after[at][1] = c->binding;
    }
    f->stamp = stamp + first;
    for (uint32_t i = 0; i < count; i++)
        merge_slot(&m, slots[i], after[i][0], after[i][1], f->slots.at[slots[i]].binding);
    finish_if(&m);
}

/* ---- exits ---- */

// The flags that may end the current block, in `slots`; returns how many.
static unsigned exit_flags(const Lower *cx, uint32_t slots[3])
{
    unsigned n = 0;
    slots[n++] = cx->frame->returned;
    if (cx->frame->loop) {
        slots[n++] = cx->frame->loop->broke;
        slots[n++] = cx->frame->loop->continued;
    }
    return n;
}

ExitState lower_exit_state(const Lower *cx)
{
    uint32_t slots[3];
    ExitState out = EXIT_NO;
    if (cx->stopped)
        return EXIT_YES;
    for (unsigned i = exit_flags(cx, slots); i-- > 0;) {
        ExitState s = state_of(cx, slots[i]);
        out = s > out ? s : out;
    }
    return out;
}

void lower_guarded(Lower *cx, Span span, bool dead, void (*body)(Lower *cx, void *at), void *at)
{
    uint32_t slots[3], maybe[3];
    unsigned count = 0;
    IrValue *flag = NULL;
    for (unsigned i = 0, n = exit_flags(cx, slots); i < n; i++) {
        if (state_of(cx, slots[i]) != EXIT_MAYBE)
            continue;
        IrValue *v = lower_slot_get(cx, slots[i])->val.v;
        flag = flag ? ir_binary(&cx->b, IR_OR, flag, v) : v;
        maybe[count++] = slots[i];
    }
    if (!flag) {
        body(cx, at);
        return;
    }
    Local *old[3];
    Arm run, skip;
    IrValue *go = ir_unary(&cx->b, IR_NOT, flag);
    lower_arm_begin(cx, &run);
    for (unsigned i = 0; i < count; i++) {
        old[i] = lower_slot_get(cx, maybe[i]);
        lower_bind(cx, maybe[i], val_const(const_bool(false)), span);
    }
    body(cx, at);
    // A flag that the body left alone is what it was: where the body ran it was false.
    for (unsigned i = 0; i < count; i++)
        if (state_of(cx, maybe[i]) == EXIT_NO)
            lower_rebind(cx, maybe[i], old[i]);
    lower_arm_end(cx, &run);
    lower_arm_begin(cx, &skip);
    if (count == 1)
        lower_bind(cx, maybe[0], val_const(const_bool(true)), span);
    lower_arm_end(cx, &skip);
    skip.exits = true;
    skip.returns = count == 1 && maybe[0] == cx->frame->returned;
    lower_merge_arms(cx, go, &run, &skip, span, dead);
}

/* ---- if ---- */

static bool run_rest(Lower *cx, AstNodes block, uint32_t index, Arm *then, Arm *other)
{
    // One arm surely exits: what follows belongs to the other one.
    if (other->exits) {
        lower_arm_resume(cx, then);
        lower_block(cx, block, index + 1);
        lower_arm_end(cx, then);
        return true;
    }
    lower_arm_resume(cx, other);
    lower_block(cx, block, index + 1);
    lower_arm_end(cx, other);
    return true;
}

bool lower_if(Lower *cx, AstNodes block, uint32_t index)
{
    const AstIf *n = ast_if(block.at[index]);
    Val c = lower_expr(cx, n->cond);
    if (c.kind == VAL_CONST || c.kind == VAL_TUPLE) {
        bool ok;
        bool truth = lower_const_truth(cx, c, n->cond->span, &ok);
        if (ok)
            lower_block(cx, truth ? n->body : n->orelse, 0);
        return false;
    }
    IrValue *cond = lower_condition(cx, c, n->cond->span, "condition");
    if (!cond) {
        lower_poison(cx, block.at[index]);
        return false;
    }
    Arm then, other;
    lower_arm_begin(cx, &then);
    lower_block(cx, n->body, 0);
    lower_arm_end(cx, &then);
    lower_arm_begin(cx, &other);
    lower_block(cx, n->orelse, 0);
    lower_arm_end(cx, &other);
    bool took = false;
    if (then.exits != other.exits && index + 1 < block.len)
        took = run_rest(cx, block, index, &then, &other);
    bool dead = took && cx->frame->function && block.at == cx->frame->function->def->body.at;
    lower_merge_arms(cx, cond, &then, &other, n->cond->span, dead);
    return took || (then.exits && other.exits);
}

/* ---- ternary ---- */

// `v` in its arm as an element of type `kind`, repeated to the shape of `like`.
static Val convert_in(Merge *m, unsigned arm, Val v, ScalarKind kind, const Type *like, Span span)
{
    Lower *cx = m->cx;
    TypeTable *types = cx->program->types;
    const Type *elem = type_scalar(types, kind);
    if (v.kind == VAL_CONST && !type_is_block(like))
        return lower_typed_val(cx, v.c, kind);
    IrBlock *outer = cx->b.block;
    cx->b.block = m->arms[arm]->block;
    IrValue *out = lower_value_as(cx, v, elem, "operand", span);
    if (out && !type_is_block(out->type) && type_is_block(like))
        out = ir_splat(&cx->b, out, type_with_elem(types, like, elem));
    cx->b.block = outer;
    return val_of(out);
}

// A literal beside a value takes its type, or the wider one that an operator would give both.
static bool unify(Merge *m, Val *v, const AstTernary *n)
{
    Lower *cx = m->cx;
    RuleOperand operands[2];
    const Type *types[2];
    bool any_weak = false;
    for (unsigned i = 0; i < 2; i++) {
        bool weak = is_number(&v[i]) && !v[i].fixed;
        types[i] = lower_type_of(cx, v[i]);
        if (!weak && !type_is_num(types[i]))
            return true;
        any_weak = any_weak || weak;
        operands[i] = weak ? rule_weak(&v[i].c) : rule_typed(type_scalar_kind(types[i]));
    }
    if (!any_weak)
        return true;
    RuleResult r = rule_apply(RULE_SELECT3, operands, 2);
    if (r.why != RULE_OK) {
        rule_report(cx->consts.diags, n->base.span, "if else", &r);
        lower_note_calls(cx);
        return false;
    }
    const Type *like = type_is_block(types[0]) ? types[0] : types[1];
    const AstNode *nodes[2] = { n->then, n->orelse };
    for (unsigned i = 0; i < 2; i++)
        v[i] = convert_in(m, i, v[i], r.kind, like, nodes[i]->span);
    return true;
}

Val lower_ternary(Lower *cx, const AstTernary *n)
{
    Val c = lower_expr(cx, n->cond);
    if (c.kind == VAL_CONST || c.kind == VAL_TUPLE) {
        bool ok;
        bool truth = lower_const_truth(cx, c, n->cond->span, &ok);
        return ok ? lower_expr(cx, truth ? n->then : n->orelse) : val_error();
    }
    IrValue *cond = lower_condition(cx, c, n->cond->span, "condition");
    if (!cond)
        return val_error();
    Arm then, other;
    Val v[2];
    lower_arm_begin(cx, &then);
    v[0] = lower_expr(cx, n->then);
    lower_arm_end(cx, &then);
    lower_arm_begin(cx, &other);
    v[1] = lower_expr(cx, n->orelse);
    lower_arm_end(cx, &other);
    Merge m = { .cx = cx, .cond = cond, .arms = { &then, &other }, .cond_span = n->cond->span };
    if (v[0].kind == VAL_ERROR || v[1].kind == VAL_ERROR || !unify(&m, v, n))
        return val_error();
    Val *out = ARENA_NEW(cx->arena, Val);
    if (!merge_vals(&m, operand_at(v[0], n->then->span), operand_at(v[1], n->orelse->span), NULL,
                    out)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->base.span, "the values of 'if else' are %s and %s",
                    lower_text(cx, v[0]), lower_text(cx, v[1]));
        return val_error();
    }
    finish_if(&m);
    return *out;
}
