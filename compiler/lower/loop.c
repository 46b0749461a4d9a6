// loop.c - for and while. A `for` over constants only (static_range, constexpr functions) runs
// here; the others become FOR, or WHILE when something in the body leaves early. Bounds are brought
// into a form that needs no care from backends: FOR's step is positive, a run-time step below one
// runs nothing, and a WHILE counts iterations in an unsigned type, so that no index overflows.
#include "lower/carry.h"

typedef struct ForLoop {
    const AstFor *n;
    Val bound[3];  // start, stop, step
    Span spans[3];
    ScalarKind kind;          // of the variable
    IrValue *lo, *hi, *step;  // step > 0
    bool down;                // counts from lo downwards
    IrValue *count;           // WHILE form: how many iterations
    uint8_t num_stages;       // of its pipeline; 0: as the kernel says
    Assigned assigned;
    LoopScope scope;
} ForLoop;

static void push_scope(Lower *cx, LoopScope *scope, Span span)
{
    *scope = (LoopScope){ .outer = cx->frame->loop };
    scope->broke = lower_slot_hidden(cx);
    scope->continued = lower_slot_hidden(cx);
    cx->frame->loop = scope;
    lower_bind(cx, scope->broke, val_const(const_bool(false)), span);
    lower_bind(cx, scope->continued, val_const(const_bool(false)), span);
}

// Leaves the loop and runs its else where nothing broke out.
static void run_else(Lower *cx, const LoopScope *scope, AstNodes orelse, Span span)
{
    cx->frame->loop = scope->outer;
    Val broke = lower_slot_get(cx, scope->broke)->val;
    if (!orelse.len || broke.kind == VAL_ERROR)
        return;
    if (broke.kind == VAL_CONST) {
        if (!broke.c.v.b)
            lower_block(cx, orelse, 0);
        return;
    }
    Arm run, skip;
    lower_arm_begin(cx, &run);
    lower_block(cx, orelse, 0);
    lower_arm_end(cx, &run);
    lower_arm_begin(cx, &skip);
    lower_arm_end(cx, &skip);
    lower_merge_arms(cx, ir_unary(&cx->b, IR_NOT, broke.v), &run, &skip, span, false);
}

static void carry_all(Carry *c, const Assigned *assigned, LoopScope *scope, Sym but)
{
    Lower *cx = c->cx;
    scope->carry = c;
    for (uint32_t i = 0; i < assigned->names.len; i++)
        if (assigned->names.at[i] != but)
            lower_carry_add(c, lower_slot_of(cx, assigned->names.at[i]));
    if (assigned->breaks)
        lower_carry_add(c, scope->broke);
    if (assigned->returns) {
        lower_carry_add(c, cx->frame->returned);
        lower_carry_add(c, cx->frame->result);
    }
}

// The loop's own flags that say "no further iteration", as one value in the current region; NULL:
// none.
static IrValue *stop_flag(Lower *cx, const Assigned *assigned, const LoopScope *scope)
{
    IrValue *out = NULL;
    uint32_t slots[2] = { scope->broke, cx->frame->returned };
    bool wanted[2] = { assigned->breaks, assigned->returns };
    for (unsigned i = 0; i < 2; i++) {
        Val v = lower_slot_get(cx, slots[i])->val;
        if (!wanted[i] || v.kind != VAL_VALUE)
            continue;
        out = out ? ir_binary(&cx->b, IR_OR, out, v.v) : v.v;
    }
    return out;
}

static bool retry_wider(Lower *cx, Carry *c)
{
    if (!c->widen.len)
        return false;
    const Type *i64 = type_scalar(cx->program->types, SCALAR_I64);
    Change *w;
    VEC_EACH (w, &c->widen) {
        Span span = w->binding->span;
        IrValue *v = lower_value_as(cx, w->binding->val, i64, "variable", span);
        lower_bind(cx, w->slot, val_of(v), span);
    }
    return true;
}

/* ---- for: the bounds ---- */

static bool range_bounds(Lower *cx, ForLoop *f, const BoundArgs *args)
{
    bool one = args->at[1].kind == VAL_CONST && args->at[1].c.kind == CONST_NONE;
    bool no_step = args->at[2].kind == VAL_CONST && args->at[2].c.kind == CONST_NONE;
    Span call = args->call;
    f->bound[0] = one ? val_const(const_int(0)) : args->at[0];
    f->bound[1] = one ? args->at[0] : args->at[1];
    f->bound[2] = no_step ? val_const(const_int(1)) : args->at[2];
    f->spans[0] = args->given[0] && !one ? args->spans[0] : call;
    f->spans[1] = one ? args->spans[0] : args->spans[1];
    f->spans[2] = no_step ? call : args->spans[2];
    for (unsigned i = 0; i < 3; i++) {
        Val v = f->bound[i];
        if (v.kind == VAL_ERROR)
            return false;
        const Type *t = lower_type_of(cx, v);
        if (t->kind == TYPE_SCALAR && (type_is_int(t) || type_is_bool(t)))
            continue;
        lower_error(cx, DIAG_TYPE_MISMATCH, f->spans[i], "loop %s must be an integer, got %s",
                    i == 2 ? "step" : "bound", lower_text(cx, v));
        return false;
    }
    return true;
}

static bool const_int_of(Val v, Int128 *out)
{
    if (v.kind != VAL_CONST)
        return false;
    *out = v.c.kind == CONST_BOOL ? v.c.v.b : v.c.v.i;
    return true;
}

static bool find_kind(Lower *cx, ForLoop *f)
{
    f->kind = SCALAR_I32;
    for (unsigned i = 0; i < 3; i++) {
        RuleResult r = rule_promote(f->kind, type_scalar_kind(lower_type_of(cx, f->bound[i])));
        if (r.why != RULE_OK) {
            rule_report(cx->consts.diags, f->spans[i], "range", &r);
            return false;
        }
        f->kind = r.kind;
    }
    Int128 step;
    if (const_int_of(f->bound[2], &step) && step == 0) {
        lower_error(cx, DIAG_BAD_VALUE, f->spans[2], "the step of a loop is 0");
        return false;
    }
    return true;
}

static ScalarKind unsigned_kind(ScalarKind kind)
{
    return scalar_info[kind].bits == 64 ? SCALAR_U64 : SCALAR_U32;
}

// lo, hi and a positive step as values.
static void bound_values(Lower *cx, ForLoop *f)
{
    IrBuilder *b = &cx->b;
    const Type *t = type_scalar(cx->program->types, f->kind);
    Int128 step;
    bool known = const_int_of(f->bound[2], &step);
    f->lo = lower_value_as(cx, f->bound[0], t, "loop bound", f->spans[0]);
    f->hi = lower_value_as(cx, f->bound[1], t, "loop bound", f->spans[1]);
    f->down = known && step < 0;
    if (known) {
        f->step = ir_const_int(b, t, (int64_t)(step < 0 ? -step : step));
        return;
    }
    f->step = lower_value_as(cx, f->bound[2], t, "loop step", f->spans[2]);
    if (!type_is_signed(t))
        return;
    IrValue *forward = ir_binary(b, IR_GT, f->step, ir_const_int(b, t, 0));
    f->hi = ir_select(b, forward, f->hi, f->lo);
    f->step = ir_select(b, forward, f->step, ir_const_int(b, t, 1));
}

static void bind_variable(Lower *cx, const AstFor *n, Val v)
{
    if (n->target->kind != AST_NAME) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->target->span,
                    "a loop over a range has one variable");
        lower_poison(cx, &n->base);
        return;
    }
    Sym name = ast_name(n->target)->name;
    if (v.kind == VAL_VALUE && !v.v->hint)
        v.v->hint = name;
    lower_bind(cx, lower_slot_of(cx, name), v, n->target->span);
}

static void end_variable(Lower *cx, const AstFor *n)
{
    if (n->target->kind != AST_NAME)
        return;
    Local *out = ARENA_NEW(cx->arena, Local);
    *out = (Local){ .status = BIND_LOOP_VAR, .span = n->target->span, .cond = n->iter->span };
    lower_rebind(cx, lower_slot_of(cx, ast_name(n->target)->name), out);
}

// range(..., num_stages=): a hint, so what is out of its bounds is brought to them.
static bool find_stages(Lower *cx, ForLoop *f, const BoundArgs *args)
{
    enum { AT = 3, MOST = 8 };
    Int128 n;
    if (!args->given[AT] || (args->at[AT].kind == VAL_CONST && args->at[AT].c.kind == CONST_NONE))
        return true;
    if (!const_int_of(args->at[AT], &n)) {
        lower_error(cx, DIAG_NOT_CONSTEXPR, args->spans[AT],
                    "num_stages of a range must be a compile-time integer, got %s",
                    lower_text(cx, args->at[AT]));
        return false;
    }
    f->num_stages = (uint8_t)(n < 1 ? 1 : n > MOST ? MOST : n);
    return true;
}

/* ---- for: the two forms ---- */

static Sym target_name(const AstFor *n)
{
    return n->target->kind == AST_NAME ? ast_name(n->target)->name : NULL;
}

static void for_counted(Lower *cx, ForLoop *f, Carry *c, Arm *changes)
{
    IrBuilder *b = &cx->b;
    const Type *t = type_scalar(cx->program->types, f->kind);
    IrValue *lo = f->down ? ir_const_int(b, t, 0) : f->lo;
    IrValue *hi = f->down ? ir_binary(b, IR_SUB, f->lo, f->hi) : f->hi;
    lower_carry_begin(cx, c, 1, 1, f->n->iter->span);
    c->num_stages = f->num_stages;
    IrValue *index = ir_block_arg(b->fn, c->block[CARRY_BODY], t, NULL);
    carry_all(c, &f->assigned, &f->scope, target_name(f->n));
    lower_carry_enter(c, CARRY_BODY);
    bind_variable(cx, f->n, val_of(f->down ? ir_binary(b, IR_SUB, f->lo, index) : index));
    lower_block(cx, f->n->body, 0);
    lower_carry_close(c);
    lower_carry_leave(c, changes);
    lower_carry_finish(c, IR_FOR, (IrValue *[]){ lo, hi, f->step }, 3, NULL, changes);
}

// With break or return inside: while (k < count and not stopped), the variable computed from k.
static void for_stoppable(Lower *cx, ForLoop *f, Carry *c, Arm *changes)
{
    IrBuilder *b = &cx->b;
    const Type *t = type_scalar(cx->program->types, f->kind);
    const Type *u = type_scalar(cx->program->types, unsigned_kind(f->kind));
    lower_carry_begin(cx, c, 2, 0, f->n->iter->span);
    c->num_stages = f->num_stages;
    uint32_t k = lower_carry_value(c, ir_const_int(b, u, 0), NULL);
    carry_all(c, &f->assigned, &f->scope, target_name(f->n));

    lower_carry_enter(c, CARRY_COND);
    IrValue *go = ir_binary(b, IR_LT, c->leaves.at[k].arg[CARRY_COND], f->count);
    IrValue *stop = stop_flag(cx, &f->assigned, &f->scope);
    if (stop)
        go = ir_binary(b, IR_AND, go, ir_unary(b, IR_NOT, stop));
    lower_carry_leave(c, changes);

    lower_carry_enter(c, CARRY_BODY);
    IrValue *at = c->leaves.at[k].arg[CARRY_BODY];
    IrValue *moved = ir_binary(b, IR_MUL, ir_cast(b, at, t), f->step);
    bind_variable(cx, f->n, val_of(ir_binary(b, f->down ? IR_SUB : IR_ADD, f->lo, moved)));
    lower_block(cx, f->n->body, 0);
    c->leaves.at[k].yield = ir_binary(b, IR_ADD, at, ir_const_int(b, u, 1));
    lower_carry_close(c);
    lower_carry_leave(c, changes);
    lower_carry_finish(c, IR_WHILE, NULL, 0, go, changes);
}

static void for_range(Lower *cx, ForLoop *f)
{
    bound_values(cx, f);
    bool stoppable = f->assigned.breaks || f->assigned.returns;
    if (stoppable)
        f->count = ir_trip_count(&cx->b, f->down ? f->hi : f->lo, f->down ? f->lo : f->hi, f->step);
    push_scope(cx, &f->scope, f->n->iter->span);
    Carry c;
    Arm changes = { 0 };
    do {
        if (stoppable)
            for_stoppable(cx, f, &c, &changes);
        else
            for_counted(cx, f, &c, &changes);
    } while (retry_wider(cx, &c));
    end_variable(cx, f->n);
    run_else(cx, &f->scope, f->n->orelse, f->n->iter->span);
}

/* ---- for: at compile time ---- */

typedef struct Unroll {
    ForLoop *loop;
    Int128 at, stop, step;
} Unroll;

static bool may_go_on(Lower *cx, const LoopScope *scope, Span span, void (*rest)(Lower *, void *),
                      void *at)
{
    lower_bind(cx, scope->continued, val_const(const_bool(false)), span);
    ExitState state = lower_exit_state(cx);
    if (state == EXIT_MAYBE)
        lower_guarded(cx, span, false, rest, at);
    return state == EXIT_NO;
}

static void run_iterations(Lower *cx, void *at)
{
    Unroll *u = at;
    const AstFor *n = u->loop->n;
    while (u->step > 0 ? u->at < u->stop : u->at > u->stop) {
        if (!may_go_on(cx, &u->loop->scope, n->iter->span, run_iterations, u))
            return;
        bind_variable(cx, n, val_const(const_int(u->at)));
        u->at += u->step;
        lower_block(cx, n->body, 0);
    }
    lower_bind(cx, u->loop->scope.continued, val_const(const_bool(false)), n->iter->span);
}

static void for_unrolled(Lower *cx, ForLoop *f)
{
    Unroll u = { .loop = f };
    Int128 *parts[3] = { &u.at, &u.stop, &u.step };
    for (unsigned i = 0; i < 3; i++) {
        if (const_int_of(f->bound[i], parts[i]))
            continue;
        lower_error(cx, DIAG_NOT_CONSTEXPR, f->spans[i],
                    "static_range needs a compile-time bound; '%s' is a run-time %s",
                    lower_source(cx, f->spans[i]), lower_text(cx, f->bound[i]));
        lower_poison(cx, &f->n->base);
        return;
    }
    push_scope(cx, &f->scope, f->n->iter->span);
    run_iterations(cx, &u);
    run_else(cx, &f->scope, f->n->orelse, f->n->iter->span);
}

static const Builtin *range_of(Lower *cx, const AstNode *iter)
{
    if (iter->kind != AST_CALL)
        return NULL;
    const AstNode *callee = ast_call(iter)->callee;
    if (callee->kind != AST_NAME && callee->kind != AST_ATTRIBUTE)
        return NULL;
    Val v = lower_expr(cx, callee);
    if (v.kind != VAL_CONST || v.c.kind != CONST_BUILTIN)
        return NULL;
    const Builtin *b = v.c.v.ref;
    return b->id == BUILTIN_RANGE || b->id == BUILTIN_STATIC_RANGE ? b : NULL;
}

void lower_for(Lower *cx, const AstFor *n)
{
    ForLoop f = { .n = n };
    const Builtin *b = range_of(cx, n->iter);
    ArgumentVec args = { 0 };
    BoundArgs bound;
    if (!b) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->iter->span,
                    "loops need range(...) or static_range(...)");
        lower_poison(cx, &n->base);
        return;
    }
    if (!lower_arguments(cx, ast_call(n->iter), &args) ||
        !lower_bind_builtin(cx, b, NULL, &args, n->iter->span, &bound) ||
        !range_bounds(cx, &f, &bound) || !find_kind(cx, &f)) {
        lower_poison(cx, &n->base);
        return;
    }
    if (b->id == BUILTIN_STATIC_RANGE || cx->frame->is_constant) {
        for_unrolled(cx, &f);
        return;
    }
    if (!find_stages(cx, &f, &bound)) {
        lower_poison(cx, &n->base);
        return;
    }
    lower_assigned(cx, n->body, &f.assigned);
    for_range(cx, &f);
}

/* ---- while ---- */

// nl.condition(c) is c: its options are hints.
static const AstNode *plain_condition(Lower *cx, const AstNode *cond)
{
    if (cond->kind != AST_CALL || ast_call(cond)->args.len != 1 ||
        ast_call(cond)->callee->kind != AST_ATTRIBUTE)
        return cond;
    Val v = lower_expr(cx, ast_call(cond)->callee);
    bool is_condition = v.kind == VAL_CONST && v.c.kind == CONST_BUILTIN &&
                        ((const Builtin *)v.c.v.ref)->id == BUILTIN_CONDITION;
    return is_condition ? ast_call(cond)->args.at[0] : cond;
}

typedef struct WhileLoop {
    const AstWhile *n;
    const AstNode *cond;
    Assigned assigned;
    LoopScope scope;
    bool never, forever;  // the condition is this constant
} WhileLoop;

// The condition in the current region; NULL after a report. Not evaluated once a flag stops the
// loop.
static IrValue *while_condition(Lower *cx, WhileLoop *w)
{
    IrBuilder *b = &cx->b;
    const Type *i1 = type_scalar(cx->program->types, SCALAR_I1);
    IrValue *stop = stop_flag(cx, &w->assigned, &w->scope), *go;
    Arm run, skip;
    if (stop)
        lower_arm_begin(cx, &run);
    Val v = lower_expr(cx, w->cond);
    if (v.kind == VAL_CONST || v.kind == VAL_TUPLE) {
        bool ok, truth = lower_const_truth(cx, v, w->cond->span, &ok);
        w->never = ok && !truth;
        w->forever = ok && truth;
        go = ok ? ir_const_int(b, i1, truth) : NULL;
    } else {
        go = lower_condition(cx, v, w->cond->span, "condition");
    }
    if (!stop)
        return go;
    lower_arm_end(cx, &run);
    if (!go)
        return NULL;
    IrValue *proceed = ir_unary(b, IR_NOT, stop);
    if (w->forever)
        return proceed;
    lower_arm_begin(cx, &skip);
    IrValue *no = ir_const_int(b, i1, 0);
    lower_arm_end(cx, &skip);
    IrOp *op = ir_op(b, IR_IF, 1, &proceed, (IrResults){ 1, &i1 }, 2);
    lower_attach(op, 0, run.block);
    lower_yield(cx, run.block, &go, 1);
    lower_attach(op, 1, skip.block);
    lower_yield(cx, skip.block, &no, 1);
    return op->results[0];
}

static void while_once(Lower *cx, WhileLoop *w, Carry *c)
{
    Arm changes = { 0 };
    lower_carry_begin(cx, c, 2, 0, w->n->cond->span);
    carry_all(c, &w->assigned, &w->scope, NULL);
    lower_carry_enter(c, CARRY_COND);
    IrValue *go = while_condition(cx, w);
    lower_carry_leave(c, &changes);
    if (!go || w->never) {
        if (!go)
            lower_poison(cx, &w->n->base);
        return;
    }
    lower_carry_enter(c, CARRY_BODY);
    lower_block(cx, w->n->body, 0);
    lower_carry_close(c);
    lower_carry_leave(c, &changes);
    lower_carry_finish(c, IR_WHILE, NULL, 0, go, &changes);
}

// A while in a constexpr function: its condition is a constant each time.
static void run_while(Lower *cx, void *at)
{
    WhileLoop *w = at;
    for (;;) {
        if (!may_go_on(cx, &w->scope, w->n->cond->span, run_while, w))
            return;
        bool ok, truth = lower_const_truth(cx, lower_expr(cx, w->cond), w->cond->span, &ok);
        if (!ok || !truth)
            return;
        lower_count_step(cx, w->n->cond->span);
        lower_block(cx, w->n->body, 0);
    }
}

void lower_while(Lower *cx, const AstWhile *n)
{
    WhileLoop w = { .n = n, .cond = plain_condition(cx, n->cond) };
    push_scope(cx, &w.scope, n->cond->span);
    if (cx->frame->is_constant) {
        run_while(cx, &w);
        run_else(cx, &w.scope, n->orelse, n->cond->span);
        return;
    }
    lower_assigned(cx, n->body, &w.assigned);
    Carry c;
    do {
        while_once(cx, &w, &c);
    } while (retry_wider(cx, &c));
    if (w.forever && !w.assigned.breaks && !w.assigned.returns)
        lower_error(cx, DIAG_BAD_VALUE, n->cond->span,
                    "infinite loop: the condition is constant and nothing leaves the loop");
    else if (w.forever && !w.assigned.breaks)
        lower_bind(cx, cx->frame->returned, val_const(const_bool(true)), n->cond->span);
    run_else(cx, &w.scope, n->orelse, n->cond->span);
}
