/// emit_control.c - loops, branches, barriers, assertions.
///
/// A carried value is one variable or array for its whole life: initial value, block argument and
/// result are its names. A region's yield assigns all of them at once; where a yielded value is
/// itself a carried one (a swap), it is copied first. 16-bit floats are carried in pairs and taken
/// apart where they are used: across a loop's edge each would take a register, and instructions to
/// take it out and put it back, of those that want pairs.
#include "backend/cuda/emit_dot.h"

#include <string.h>

/// target = value, slot by slot; nothing when they are one.
static void emit_copy(Emit *e, const IrValue *target, const char *name, Place value)
{
    if (strcmp(name, value.text) == 0)
        return;
    const unsigned slots = cuda_slots(target);
    const char *slot = cuda_loop(e, slots, 1);
    const char *from =
        value.kind == PLACE_ARRAY ? cuda_text(e, "%s[%s]", value.text, slot) : value.text;
    cuda_line(e, "%s = %s;", cuda_slot_of(e, target, name, slot), from);
    cuda_loop_end(e, slots, 1);
}

static bool is_carried_in_pairs(const IrValue *v)
{
    const ScalarKind kind = type_is_ptr(v->type) ? SCALAR_I32 : type_scalar_kind(v->type);
    return (kind == SCALAR_F16 || kind == SCALAR_BF16) && cuda_held_as(v) == PLACE_ARRAY;
}

static const char *pair_at(Emit *e, const char *pairs, const char *slot)
{
    return strcmp(slot, "0") == 0 ? cuda_text(e, "%s[0]", pairs)
                                  : cuda_text(e, "%s[%s / 2]", pairs, slot);
}

/// The same where `target` is carried in pairs.
static void emit_pairs(Emit *e, const IrValue *target, const char *pairs, Place value)
{
    const bool is_array = value.kind == PLACE_ARRAY;
    const char *slot = cuda_loop(e, cuda_slots(target), 2);
    const char *next = *slot == '0' ? "1" : cuda_text(e, "%s + 1", slot);
    const char *low = is_array ? cuda_text(e, "%s[%s]", value.text, slot) : value.text;
    const char *high = is_array ? cuda_text(e, "%s[%s]", value.text, next) : value.text;
    e->needs |= NEED_BASE;
    cuda_line(e, "%s = nt_pack(%s, %s);", pair_at(e, pairs, slot), low, high);
    cuda_loop_end(e, cuda_slots(target), 2);
}

static void emit_carry(Emit *e, const IrValue *target, const char *name, Place value)
{
    if (is_carried_in_pairs(target))
        emit_pairs(e, target, name, value);
    else
        emit_copy(e, target, name, value);
}

/// Takes what `pairs` has apart, for the uses of `v` that follow.
static void emit_apart(Emit *e, const IrValue *v, const char *pairs)
{
    if (e->uses[v->id] == 0)
        return;
    const char *name = cuda_declare(e, v);
    const char *slot = cuda_loop(e, cuda_slots(v), 2);
    cuda_line(e, "nt_unpack(%s, %s);", cuda_address(e, name, cuda_slots(v), slot),
              pair_at(e, pairs, slot));
    cuda_loop_end(e, cuda_slots(v), 2);
}

/// Storage for the results of `op`. A loop's are also what its regions carry: `named_by` is the
/// region whose arguments (after the first `skip`) name them, and they get their initial values.
static const char **declare_carried(Emit *e, const IrOp *op, const IrBlock *named_by, uint32_t skip)
{
    const char **names = ARENA_NEW_N(e->arena, const char *, op->resultc + 1u);
    for (uint32_t i = 0; i < op->resultc; i++) {
        const IrValue *result = op->results[i], *arg = named_by ? named_by->args[skip + i] : NULL;
        names[i] = cuda_value_name(e, arg && arg->hint ? arg : result);
        if (is_carried_in_pairs(result)) {
            cuda_line(e, "unsigned %s[%u];", names[i], cuda_slots(result) / 2);
            if (named_by)
                emit_pairs(e, result, names[i],
                           cuda_place(e, op->args[op->argc - op->resultc + i]));
            continue;
        }
        cuda_set_place(e, result, cuda_held_as(result), names[i]);
        const char *decl = cuda_value_decl(e, result, cuda_ctype(e, result->type), names[i]);
        if (named_by && cuda_held_as(result) == PLACE_SAME) {  // with its initial value
            cuda_line(e, "%s = %s;", decl,
                      cuda_place(e, op->args[op->argc - op->resultc + i]).text);
            continue;
        }
        cuda_line(e, "%s;", decl);
        if (named_by && !cuda_dot_begins_sum(op, i))
            emit_copy(e, result, names[i], cuda_place(e, op->args[op->argc - op->resultc + i]));
        if (cuda_dot_carries_sum(op, i))  // else ptxas may move registers in the loop
            cuda_line(e, "nt_wgmma_keep(%s);", names[i]);
    }
    return names;
}

/// At the beginning of a region.
static void bind_args(Emit *e, const IrOp *op, const IrBlock *b, uint32_t skip, const char **names)
{
    for (uint32_t i = 0; i < op->resultc; i++)
        if (is_carried_in_pairs(op->results[i]))
            emit_apart(e, b->args[skip + i], names[i]);
        else
            e->places[b->args[skip + i]->id] = cuda_place(e, op->results[i]);
}

/// Behind the operation.
static void bind_results(Emit *e, const IrOp *op, const char **names)
{
    for (uint32_t i = 0; i < op->resultc; i++)
        if (is_carried_in_pairs(op->results[i]))
            emit_apart(e, op->results[i], names[i]);
}

/// True when `text` is, or is an element of, one of these variables.
static bool is_among(const char *const *names, uint32_t count, const char *text)
{
    for (uint32_t i = 0; i < count; i++) {
        const size_t len = strlen(names[i]);
        if (strncmp(text, names[i], len) == 0 && (text[len] == 0 || text[len] == '['))
            return true;
    }
    return false;
}

/// names[i] = yielded value i, for all i at once.
static void emit_yield(Emit *e, const IrOp *yield, const IrOp *op, const char **names)
{
    Place *values = ARENA_NEW_N(e->arena, Place, op->resultc + 1u);
    for (uint32_t i = 0; i < op->resultc; i++) {
        const IrValue *v = yield->args[i];
        values[i] = cuda_place(e, v);
        if (!is_among(names, i, values[i].text))
            continue;  // else it is overwritten before its turn comes
        const char *copy = cuda_name(e, cuda_text(e, "next_%s", names[i]));
        cuda_line(e, "%s;", cuda_value_decl(e, v, cuda_ctype(e, v->type), copy));
        emit_copy(e, v, copy, values[i]);
        values[i] = (Place){ cuda_held_as(v), copy };
    }
    for (uint32_t i = 0; i < op->resultc; i++)
        emit_carry(e, op->results[i], names[i], values[i]);
}

static bool const_of(const IrValue *v, int64_t *value)
{
    if (!ir_is_const(v))
        return false;
    *value = v->def->attr.konst.i;
    return true;
}

/// How a loop counts: by its counter where the step is 1, which never passes the end; in 64 bits
/// where no other step can wrap them; else by trips, which cost a division, so that the counter may
/// wrap.
typedef struct Counting {
    const char *counter, *ctype, *end, *step;
    const char *trips, *wide;  // both NULL: by the counter
} Counting;

/// A count of blocks, a part or a multiple of it.
static bool is_of_launch(const IrValue *v)
{
    int64_t by;
    if (v->def && (v->def->code == IR_MUL || v->def->code == IR_IDIV))
        return is_of_launch(v->def->args[0]) && const_of(v->def->args[1], &by) && by > 0;
    return v->def && v->def->code == IR_BLOCK_COUNT;
}

static Counting emit_for_head(Emit *e, const IrOp *op)
{
    const char *lo = cuda_ref(e, op->args[0], "0");
    Counting c = { cuda_value_name(e, op->regions[0]->args[0]),
                   cuda_ctype(e, op->args[0]->type),
                   cuda_ref(e, op->args[1], "0"),
                   cuda_ref(e, op->args[2], "0"),
                   NULL,
                   NULL };
    int64_t by = 0;
    const bool is_const = const_of(op->args[2], &by),
               down = is_const && type_is_signed(op->args[2]->type) && by < 0;
    cuda_set_place(e, op->regions[0]->args[0], PLACE_SAME, c.counter);
    if (is_const && by == 1) {
        cuda_line(e, "for (%s %s = %s; %s < %s; %s++) {", c.ctype, c.counter, lo, c.counter, c.end,
                  c.counter);
        return c;
    }
    e->needs |= NEED_BASE | NEED_INT;
    cuda_line(e, "%s %s = %s;", c.ctype, c.counter, lo);
    if (is_of_launch(op->args[2]) && type_elem_bytes(op->args[0]->type) == sizeof(int32_t)) {
        c.wide = cuda_name(e, "wide");
        cuda_line(e, "for (long long %s = %s; %s < %s; %s += %s, %s = nt_add<%s>(%s, %s)) {",
                  c.wide, lo, c.wide, c.end, c.wide, c.step, c.counter, c.ctype, c.counter, c.step);
        return c;
    }
    c.trips = cuda_name(e, "trips");
    cuda_line(
        e, "for (auto %s = nt_trips%s<%s>(%s, %s, %s); %s != 0; %s--, %s = nt_add<%s>(%s, %s)) {",
        c.trips, down ? "_down" : "", c.ctype, lo, c.end, c.step, c.trips, c.trips, c.counter,
        c.ctype, c.counter, c.step);
    return c;
}

/// On to the next iteration within the text of the body, or out of the loop.
static void emit_next_iteration(Emit *e, const Counting *c)
{
    if (!c->trips && !c->wide) {
        cuda_line(e, "if (++%s >= %s)", c->counter, c->end);
        cuda_line(e, "    break;");
        return;
    }
    if (c->wide)
        cuda_line(e, "if ((%s += %s) >= %s)", c->wide, c->step, c->end);
    else
        cuda_line(e, "if (--%s == 0)", c->trips);
    cuda_line(e, "    break;");
    cuda_line(e, "%s = nt_add<%s>(%s, %s);", c->counter, c->ctype, c->counter, c->step);
}

/// A product and no barrier: NVRTC would repeat the text, for a loop that turns a few times (the
/// products that a pipeline leaves behind its loop).
static bool is_better_rolled(const IrOp *loop)
{
    int64_t by = 0;
    bool multiplies = false;
    if (!const_of(loop->args[2], &by) || by != 1)  // text would come in between
        return false;
    for (const IrOp *op = loop->regions[0]->first; op != NULL; op = op->next) {
        if (op->code == IR_BARRIER || op->code == IR_ASYNC_WAIT || op->regionc > 0)
            return false;
        multiplies |= op->code == IR_DOT && op->attr.dot.mma;
    }
    return multiplies;
}

bool cuda_emit_for(Emit *e, const IrOp *op)
{
    const IrBlock *body = op->regions[0];
    const char **names = declare_carried(e, op, body, 1);
    const bool twice = cuda_dot_words_in_turn(e, body);

    if (is_better_rolled(op)) {
        e->needs |= NEED_BASE;
        cuda_line(e, "NT_ROLLED");
    }
    const Counting counting = emit_for_head(e, op);
    e->body.indent++;
    e->loops++;
    for (int turn = 0; turn < (twice ? 2 : 1); turn++) {
        if (turn > 0) {
            emit_next_iteration(e, &counting);
            cuda_dot_take_turns(e, body);
        }
        bind_args(e, op, body, 1, names);
        if (!cuda_emit_ops(e, body))
            return false;
        emit_yield(e, body->last, op, names);
    }
    e->loops--;
    e->body.indent--;
    cuda_line(e, "}");
    bind_results(e, op, names);
    return true;
}

bool cuda_emit_while(Emit *e, const IrOp *op)
{
    const IrBlock *cond = op->regions[0], *body = op->regions[1];
    const char **names = declare_carried(e, op, body, 0);

    cuda_line(e, "for (;;) {");
    e->body.indent++;
    e->loops++;
    bind_args(e, op, cond, 0, names);
    bind_args(e, op, body, 0, names);
    if (!cuda_emit_ops(e, cond))
        return false;
    cuda_line(e, "if (!(%s))", cuda_ref(e, cond->last->args[0], "0"));
    cuda_line(e, "    break;");
    if (!cuda_emit_ops(e, body))
        return false;
    emit_yield(e, body->last, op, names);
    e->loops--;
    e->body.indent--;
    cuda_line(e, "}");
    bind_results(e, op, names);
    return true;
}

bool cuda_emit_if(Emit *e, const IrOp *op)
{
    const IrBlock *then_block = op->regions[0], *else_block = op->regions[1];
    const char **names = declare_carried(e, op, NULL, 0);
    const bool has_else = else_block->first != else_block->last || op->resultc > 0;

    cuda_line(e, "if (%s) {", cuda_ref(e, op->args[0], "0"));
    e->body.indent++;
    if (!cuda_emit_ops(e, then_block))
        return false;
    emit_yield(e, then_block->last, op, names);
    e->body.indent--;
    if (has_else) {
        cuda_line(e, "} else {");
        e->body.indent++;
        if (!cuda_emit_ops(e, else_block))
            return false;
        emit_yield(e, else_block->last, op, names);
        e->body.indent--;
    }
    cuda_line(e, "}");
    bind_results(e, op, names);
    return true;
}

bool cuda_emit_return(Emit *e, const IrOp *op)
{
    return op->argc == 0 || cuda_fault(e, op, "a kernel returns no values");
}

bool cuda_emit_barrier(Emit *e, const IrOp *op)
{
    (void)op;
    cuda_line(e, "%s", cuda_barrier(e));
    return true;
}

bool cuda_emit_assert(Emit *e, const IrOp *op)
{
    const IrValue *condition = op->args[0], *mask = op->args[1];
    const SourcePos pos =
        e->opt->sources ? source_pos(e->opt->sources, op->span.lo) : (SourcePos){ 0 };
    Buf text = { 0 };

    buf_c_string(&text, op->attr.text, strlen(op->attr.text));
    buf_puts(&text, ", ");
    buf_c_string(&text, pos.file ? pos.file->path : "", pos.file ? strlen(pos.file->path) : 0);
    e->needs |= NEED_DEBUG;
    const char *slot = cuda_loop(e, cuda_slots(condition), 1);
    const char *ok = cuda_ref(e, condition, slot);
    if (mask)
        ok = cuda_text(e, "!(%s) || %s", cuda_ref(e, mask, slot), ok);
    cuda_line(e, "nt_assert(%s, %s, %u, \"%s\");", ok, text.at, (unsigned)pos.line, e->opt->entry);
    cuda_loop_end(e, cuda_slots(condition), 1);
    buf_free(&text);
    return true;
}
