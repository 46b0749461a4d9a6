// carry.c - see carry.h. Types must agree between the entry of a loop and the end of its body; the
// messages about that are here, with the fix where one is known.
#include "lower/carry.h"
#include "lower/view.h"

#include <string.h>

void lower_carry_begin(Lower *cx, Carry *c, unsigned regions, uint32_t fixed_args, Span head)
{
    *c = (Carry){ .cx = cx, .regions = regions, .fixed_args = fixed_args, .head = head };
    c->outer = cx->b.block;
    for (unsigned r = 0; r < regions; r++)
        c->block[r] = ir_block_new(cx->b.fn, NULL);
}

uint32_t lower_carry_value(Carry *c, IrValue *init, Sym hint)
{
    Leaf leaf = { .init = init, .hint = hint };
    for (unsigned r = 0; r < c->regions; r++)
        leaf.arg[r] = ir_block_arg(c->cx->b.fn, c->block[r], init->type, hint);
    VEC_PUSH(c->cx->arena, &c->leaves, leaf);
    return c->leaves.len - 1;
}

static bool is_number(const Val *v)
{
    return v->kind == VAL_CONST &&
           (v->c.kind == CONST_BOOL || v->c.kind == CONST_INT || v->c.kind == CONST_FLOAT);
}

// Makes leaves for the numbers in `v`; other constants stay what they are. The leaves are met in
// the same order by every walk over the value.
static void make_leaves(Carry *c, Val v, Sym hint, Span span)
{
    if (val_has_parts(&v)) {
        for (uint32_t i = 0; i < v.tuple.len; i++)
            make_leaves(c, v.tuple.at[i], hint, span);
    } else if (v.kind == VAL_VALUE || is_number(&v)) {
        IrValue *init = lower_value(c->cx, v, "variable", span);
        if (init)
            lower_carry_value(c, init, hint);
        else
            c->failed = true;
    }
}

typedef IrValue *LeafValue(const Carry *c, uint32_t leaf, unsigned region);

static IrValue *leaf_arg(const Carry *c, uint32_t leaf, unsigned region)
{
    return c->leaves.at[leaf].arg[region];
}

static IrValue *leaf_result(const Carry *c, uint32_t leaf, unsigned region)
{
    (void)region;
    const Leaf *l = &c->leaves.at[leaf];
    return l->dropped ? l->init : l->result;
}

// `v` with its numbers replaced by values of the leaves from *next on.
static Val with_leaves(Carry *c, Val v, uint32_t *next, LeafValue *value, unsigned region)
{
    if (val_has_parts(&v)) {
        Val out = v;
        out.tuple.at = ARENA_NEW_N(c->cx->arena, Val, v.tuple.len);
        for (uint32_t i = 0; i < v.tuple.len; i++)
            out.tuple.at[i] = with_leaves(c, v.tuple.at[i], next, value, region);
        return out;
    }
    if (v.kind == VAL_VALUE || is_number(&v))
        return val_of(value(c, (*next)++, region));
    return v;
}

void lower_carry_add(Carry *c, uint32_t slot)
{
    const Slot *s = &c->cx->frame->slots.at[slot];
    Local *entry = s->binding;
    if (!entry || entry->status != BIND_SET || entry->is_constexpr || entry->val.kind == VAL_ERROR)
        return;
    CarriedVar var = { .slot = slot, .entry = entry, .first = c->leaves.len };
    var.is_flag = !s->name && slot != c->cx->frame->result;
    make_leaves(c, entry->val, s->name, entry->span);
    var.count = c->leaves.len - var.first;
    if (!c->failed)
        VEC_PUSH(c->cx->arena, &c->vars, var);
}

void lower_carry_enter(Carry *c, unsigned region)
{
    Lower *cx = c->cx;
    c->mark = lower_mark(cx);
    cx->b.block = c->block[region];
    cx->nesting++;
    if (cx->nesting > LOWER_MAX_NESTING && !cx->stopped) {
        cx->stopped = true;
        lower_error(cx, DIAG_LIMIT, c->head, "more than %d branches and loops inside each other",
                    LOWER_MAX_NESTING);
    }
    CarriedVar *v;
    VEC_EACH (v, &c->vars) {
        uint32_t next = v->first;
        Val inside = v->entry->val;
        if (!v->is_flag || region == CARRY_COND)
            inside = with_leaves(c, inside, &next, leaf_arg, region);
        v->inside = lower_bind(cx, v->slot, inside, v->entry->span);
    }
}

void lower_carry_leave(Carry *c, Arm *changes)
{
    CarriedVar *v;
    VEC_EACH (v, &c->vars) {
        if (v->inside && v->inside->was_read)
            v->was_read = v->entry->was_read = true;
    }
    lower_take_changes(c->cx, c->mark, changes);
    c->cx->b.block = c->outer;
    c->cx->nesting--;
}

bool lower_is_carried(const LoopScope *loop, uint32_t slot)
{
    if (!loop || !loop->carry)
        return true;
    const CarriedVar *v;
    VEC_EACH (v, &loop->carry->vars)
        if (v->slot == slot)
            return true;
    return false;
}

/* ---- the end of the body ---- */

typedef struct Mismatch {
    const Type *entry, *final;  // NULL: not a difference between two value types
    bool widen;
} Mismatch;

static bool close_val(Carry *c, Val inside, Val final, uint32_t *next, Span span, Mismatch *why)
{
    Lower *cx = c->cx;
    if (final.kind == VAL_ERROR) {
        c->failed = true;
        return true;
    }
    if (val_has_parts(&inside)) {
        if (!lower_same_form(&inside, &final))
            return false;
        for (uint32_t i = 0; i < inside.tuple.len; i++)
            if (!close_val(c, inside.tuple.at[i], final.tuple.at[i], next, span, why))
                return false;
        return true;
    }
    if (inside.kind != VAL_VALUE)
        return final.kind == inside.kind &&
               (final.kind != VAL_CONST ||
                (final.c.kind == inside.c.kind && const_equal(&final.c, &inside.c)));
    if (final.kind != VAL_VALUE && !is_number(&final))
        return false;
    Leaf *leaf = &c->leaves.at[(*next)++];
    leaf->yield = lower_value(cx, final, "variable", span);
    if (!leaf->yield) {
        c->failed = true;
        return true;
    }
    if (leaf->yield->type == leaf->init->type)
        return true;
    *why = (Mismatch){ .entry = leaf->init->type, .final = leaf->yield->type };
    if (!cx->index64 || !type_is_num(why->entry) || !type_is_num(why->final))
        return false;
    // --index64: what starts as int32 and becomes int64 is int64 from the beginning.
    ScalarKind from = type_scalar_kind(why->entry), to = type_scalar_kind(why->final);
    if (from == SCALAR_I64 && to == SCALAR_I32) {
        leaf->yield = ir_cast(&cx->b, leaf->yield, type_elem(why->entry));
        return leaf->yield->type == leaf->init->type;
    }
    why->widen = from == SCALAR_I32 && to == SCALAR_I64 && type_same_shape(why->entry, why->final);
    return false;
}

static void help_types(Carry *c, const CarriedVar *v, const Mismatch *m, const char *name)
{
    DiagSink *d = c->cx->consts.diags;
    TypeTable *types = c->cx->program->types;
    const Type *to = type_elem(m->final), *from = type_elem(m->entry);
    if (!type_is_num(to) || !type_is_num(from))
        return;
    if (!type_is_block(m->entry) && type_is_block(m->final)) {
        if (v->entry->val.kind == VAL_CONST)
            diag_help(d, "start with '%s = zeros(%s, %s)'", name,
                      arena_printf(c->cx->arena, type_rank(m->final) == 1 ? "(%.*s,)" : "(%.*s)",
                                   (int)strlen(type_shape_text(types, m->final)) - 2,
                                   type_shape_text(types, m->final) + 1),
                      scalar_info[to->scalar].name);
    } else if (v->entry->val.kind == VAL_CONST && type_is_float(to) && type_is_int(from)) {
        diag_help(d, "start with '%s = 0.0'", name);
    } else if (type_same_shape(m->entry, m->final)) {
        diag_help(d, "convert it back with '.to(%s)'", scalar_info[from->scalar].name);
    }
}

static void report_types(Carry *c, const CarriedVar *v, const Mismatch *m)
{
    Lower *cx = c->cx;
    TypeTable *types = cx->program->types;
    const Slot *s = &cx->frame->slots.at[v->slot];
    if (v->slot == cx->frame->result) {
        lower_error(cx, DIAG_RETURN_TYPE, v->final->span, "'%s' returns %s here and %s elsewhere",
                    cx->frame->function->name->text, lower_text(cx, v->final->val),
                    lower_text(cx, v->entry->val));
        return;
    }
    const char *was = m->entry ? type_text(types, m->entry) : lower_text(cx, v->entry->val);
    const char *is = m->final ? type_text(types, m->final) : lower_text(cx, v->final->val);
    lower_error(cx, DIAG_LOOP_TYPE, v->final->span,
                "'%s' is %s before the loop and becomes %s here", s->name->text, was, is);
    diag_note(cx->consts.diags, v->entry->span, "%s here", was);
    if (m->entry && m->final)
        help_types(c, v, m, s->name->text);
}

static void close_var(Carry *c, CarriedVar *v)
{
    Lower *cx = c->cx;
    v->final = lower_slot_get(cx, v->slot);
    uint32_t next = v->first;
    if (v->final == v->inside) {
        v->kept = true;
        return;
    }
    if (v->is_flag) {
        c->leaves.at[v->first].yield = lower_value(cx, v->final->val, "flag", c->head);
        return;
    }
    if (v->final->status != BIND_SET) {
        lower_read_slot(cx, v->slot, v->final->span);
        c->failed = true;
        return;
    }
    Mismatch why = { 0 };
    if (close_val(c, v->inside->val, v->final->val, &next, v->final->span, &why))
        return;
    if (why.widen) {
        VEC_PUSH(cx->arena, &c->widen, ((Change){ v->slot, v->entry }));
        c->failed = true;
    } else if (!v->was_read && !v->inside->was_read && v->slot != cx->frame->result) {
        v->mixed = true;
    } else {
        report_types(c, v, &why);
        c->failed = true;
    }
}

static void result_leaves(Carry *c, Val v, Span span)
{
    Lower *cx = c->cx;
    for (uint32_t i = 0; val_has_parts(&v) && i < v.tuple.len; i++)
        result_leaves(c, v.tuple.at[i], span);
    if (v.kind != VAL_VALUE && !is_number(&v))
        return;
    IrValue *yield = lower_value(cx, v, "result", span);
    if (!yield) {
        c->failed = true;
        return;
    }
    const Type *t = yield->type;
    bool is_float = type_is_num(t) && (type_is_float(t) || type_is_fp8(t));
    IrBlock *inside = cx->b.block;
    cx->b.block = c->outer;
    IrValue *zero = is_float ? ir_const_float(&cx->b, t, 0) : ir_const_int(&cx->b, t, 0);
    cx->b.block = inside;
    c->leaves.at[lower_carry_value(c, zero, NULL)].yield = yield;
}

// A value that a return inside the loop sets, and nothing before it: it starts as zero, which
// nobody reads, because the loop ends where it is set.
static void carry_result(Carry *c)
{
    Lower *cx = c->cx;
    uint32_t slot = cx->frame->result;
    Local *now = lower_slot_get(cx, slot);
    CarriedVar *v;
    VEC_EACH (v, &c->vars)
        if (v->slot == slot)
            return;
    if (!now || now->status != BIND_SET)
        return;
    CarriedVar var = { .slot = slot, .entry = now, .final = now, .first = c->leaves.len };
    result_leaves(c, now->val, now->span);
    var.count = c->leaves.len - var.first;
    VEC_PUSH(cx->arena, &c->vars, var);
}

void lower_carry_close(Carry *c)
{
    uint32_t n = c->vars.len;
    for (uint32_t i = 0; i < n; i++)
        close_var(c, &c->vars.at[i]);
    carry_result(c);
}

/* ---- the operation ---- */

// Takes leaves that nothing changes out of the regions again.
static void drop_leaves(Carry *c)
{
    CarriedVar *v;
    VEC_EACH (v, &c->vars)
        for (uint32_t i = v->first; i < v->first + v->count; i++)
            c->leaves.at[i].dropped =
                v->kept || v->mixed || c->leaves.at[i].yield == c->leaves.at[i].arg[CARRY_BODY];
    for (unsigned r = 0; r < c->regions; r++) {
        IrBlock *b = c->block[r];
        b->argc = r == CARRY_BODY ? c->fixed_args : 0;
        for (uint32_t i = 0; i < c->leaves.len; i++) {
            Leaf *l = &c->leaves.at[i];
            if (l->dropped) {
                ir_replace(l->arg[r], l->init);
                continue;
            }
            l->arg[r]->index = b->argc;
            b->args[b->argc++] = l->arg[r];
        }
    }
}

static void make_op(Carry *c, IrCode code, IrValue *const *extra, uint32_t extra_count,
                    IrValue *cond)
{
    Lower *cx = c->cx;
    VEC(IrValue *) args = { 0 };
    VEC(IrValue *) yields = { 0 };
    VEC(const Type *) types = { 0 };
    for (uint32_t i = 0; i < extra_count; i++)
        VEC_PUSH(cx->arena, &args, extra[i]);
    Leaf *l;
    VEC_EACH (l, &c->leaves) {
        if (l->dropped)
            continue;
        VEC_PUSH(cx->arena, &args, l->init);
        VEC_PUSH(cx->arena, &yields, l->yield);
        VEC_PUSH(cx->arena, &types, l->init->type);
    }
    IrOp *op =
        ir_op(&cx->b, code, args.len, args.at, (IrResults){ types.len, types.at }, c->regions);
    op->attr.num_stages = c->num_stages;
    if (c->regions > 1) {
        lower_attach(op, 0, c->block[CARRY_COND]);
        lower_yield(cx, c->block[CARRY_COND], &cond, 1);
    }
    lower_attach(op, c->regions - 1, c->block[CARRY_BODY]);
    lower_yield(cx, c->block[CARRY_BODY], yields.at, yields.len);
    uint32_t next = 0;
    VEC_EACH (l, &c->leaves) {
        if (l->dropped)
            continue;
        l->result = op->results[next++];
        l->result->hint = l->hint;
    }
}

static void bind_after(Carry *c, CarriedVar *v)
{
    Lower *cx = c->cx;
    if (v->kept)
        return;
    Local *out = ARENA_NEW(cx->arena, Local);
    out->span = v->final->span;
    if (v->mixed) {
        out->status = BIND_MIXED;
        out->cond = v->entry->span;
        out->types[0] = lower_text(cx, v->final->val);
        out->types[1] = lower_text(cx, v->entry->val);
    } else {
        uint32_t next = v->first;
        Val like = v->inside ? v->inside->val : v->final->val;
        out->val = with_leaves(c, like, &next, leaf_result, CARRY_BODY);
    }
    lower_rebind(cx, v->slot, out);
}

void lower_carry_finish(Carry *c, IrCode code, IrValue *const *extra, uint32_t extra_count,
                        IrValue *cond, const Arm *changes)
{
    Lower *cx = c->cx;
    if (!c->failed) {
        drop_leaves(c);
        make_op(c, code, extra, extra_count, cond);
    }
    CarriedVar *v;
    uint32_t stamp = ++cx->frame->stamp;
    VEC_EACH (v, &c->vars) {
        cx->frame->slots.at[v->slot].stamp = stamp;
        if (!c->failed)
            bind_after(c, v);
        else
            lower_bind(cx, v->slot, val_error(), c->head);
    }
    // What only the body assigned has a value after the loop on no way that is sure.
    for (uint32_t i = 0; i < changes->changes.len; i++) {
        const Change *ch = &changes->changes.at[i];
        Slot *s = &cx->frame->slots.at[ch->slot];
        if (!s->name || s->stamp == stamp || !ch->binding)
            continue;
        Local *out = ARENA_NEW(cx->arena, Local);
        *out = (Local){ .status = BIND_IN_LOOP, .span = ch->binding->span, .cond = c->head };
        if (ch->binding->val.kind == VAL_ERROR && ch->binding->status == BIND_SET)
            *out = (Local){ .val = val_error(), .span = c->head };
        if (ch->binding->is_constexpr)
            out = ch->binding;
        lower_rebind(cx, ch->slot, out);
    }
}
