/// emit_memory.c - loads and stores.
///
/// A thread moves op->attr.mem.vec elements at once. What the access pass proved is emitted as one
/// wide access; what it could not prove is tested at run time by the _checked forms of the prelude,
/// which fall back to one access an element. Masked-off elements of a load are `other`, else zero.
/// A load with scratch is volatile: owners load, and hand what they got to the other holders.
#include "backend/cuda/emit_impl.h"

#include <ctype.h>
#include <string.h>

/// What one access needs to know.
typedef struct Access {
    const IrValue *pointer, *mask;  // mask may be NULL
    const Layout *layout;           // NULL: scalars
    const char *function;           // of the prelude
    unsigned slots, vec;
    unsigned unproved;   // NT_... facts that must be tested
    unsigned helpful;    // ... that make tests shorter
    unsigned step;       // slots that one call moves: many when it tests for all of them
    const char *stored;  // stores: ", 1" when each slot has data of its own, ", 0" when one group
                         // serves all
} Access;

enum { CONSECUTIVE = 1, ALIGNED = 2, UNIFORM = 4, ALIKE = 8, FALLING = 16, WHOLE = 32 };

/// Defines the access function for these modifiers, once, and gives its name.
static const char *access_function(Emit *e, const char *verb, const char *macro, const char *ptx,
                                   const IrMem *mem)
{
    static const char *const caches[] = { "", "ca", "cg", "cv", "wb", "cs", "wt" };
    static const char *const evicts[] = { "", "evict_first", "evict_last" };
    const char *name = cuda_text(e, "nt_%s", verb), *modifier = "";

    if (mem->is_volatile) {
        name = cuda_text(e, "nt_%s_volatile", verb);
        ptx = cuda_text(e, "%s.volatile.global", ptx);
    } else {
        if (mem->evict !=
            EVICT_DEFAULT)  // PTX takes an eviction priority or a cache operator, not both
            modifier = evicts[mem->evict];
        else
            modifier = caches[mem->cache];
        ptx = cuda_text(e, "%s.global%s%s", ptx,
                        mem->evict  ? ".L1::"
                        : *modifier ? "."
                                    : "",
                        modifier);
        if (*modifier)
            name = cuda_text(e, "nt_%s_%s", verb, modifier);
    }
    const bool plain = *verb == 'l' && !mem->is_volatile && !*modifier;
    const char *line = plain ? cuda_text(e, "NT_DEFINE_PLAIN_LOAD(%s)", name)
                             : cuda_text(e, "%s(%s, \"%s\")", macro, name, ptx);
    e->needs |= NEED_MEMORY;
    for (uint32_t i = 0; i < e->access.len; i++)
        if (strcmp(e->access.at[i], line) == 0)
            return name;
    VEC_PUSH(e->arena, &e->access, line);
    return name;
}

/// How many slots a call that checks moves: no more than fit the registers.
static unsigned checked_slots(const Access *x)
{
    if (x->slots >= CUDA_ROLL_FROM)
        return x->vec < CUDA_ROLLED_COPIES ? CUDA_ROLLED_COPIES : x->vec;
    return x->slots < CUDA_CHECKED_SLOTS ? x->slots : CUDA_CHECKED_SLOTS;
}

static Access plan_access(Emit *e, const IrOp *op, const IrValue *mask, unsigned elem_bytes)
{
    const IrMem *mem = &op->attr.mem;
    Access x = { .pointer = op->args[0], .mask = mask, .layout = op->args[0]->layout };
    const bool is_array_mask = mask && cuda_place(e, mask).kind == PLACE_ARRAY;
    x.slots = cuda_slots(op->args[0]);
    x.stored = "";
    x.vec = mem->vec ? mem->vec : 1;
    while (x.vec > x.slots || x.vec * elem_bytes > 16)
        x.vec /= 2;
    if (cuda_place(e, x.pointer).kind == PLACE_SAME)
        x.vec = 1;
    if (x.vec > 1) {
        x.unproved = (mem->contiguous ? 0 : CONSECUTIVE) | (mem->aligned ? 0 : ALIGNED);
        if (is_array_mask && !mem->mask_uniform)
            x.unproved |= UNIFORM;
    }
    // In a loop nearly all iterations load everything: without masks the loads go out together.
    const bool whole = op->code == IR_LOAD && e->loops > 0 && x.slots > 1 && is_array_mask &&
                       mem->mask_falls && cuda_place(e, x.pointer).kind == PLACE_ARRAY;
    if (whole)
        x.helpful = WHOLE;
    else if (x.unproved & UNIFORM && mem->mask_falls)
        x.helpful = FALLING;
    if (x.unproved & ALIGNED && mem->aligned_alike)
        x.helpful |= ALIKE;
    x.step = x.unproved || whole ? checked_slots(&x) : x.vec;
    return x;
}

static bool is_checked(const Access *x)
{
    return x->unproved || x->helpful & WHOLE;
}

/// "<4>" or "<4, NT_CONSECUTIVE | NT_UNIFORM, 16": the elements at once, what is proved, and how
/// many of them one call moves.
static const char *template_args(Emit *e, const Access *x)
{
    static const char *const names[] = { "NT_CONSECUTIVE", "NT_ALIGNED", "NT_UNIFORM",
                                         "NT_ALIKE",       "NT_FALLING", "NT_WHOLE" };
    const char *known = x->unproved ? "" : "NT_PROVED";
    const unsigned facts = x->helpful | (~x->unproved & (x->mask ? 7u : 3u));
    if (!is_checked(x))
        return cuda_text(e, "<%u>", x->vec);
    for (unsigned k = x->unproved ? 0 : 3; k < sizeof names / sizeof *names; k++)
        if (facts >> k & 1)
            known = cuda_text(e, "%s%s%s", known, *known ? " | " : "", names[k]);
    return cuda_text(e, "<%u, %s, %u%s>", x->vec, *known ? known : "0", x->step, x->stored);
}

/// The call for the group that begins at `slot`; `data` is the address of its elements in
/// registers.
static void emit_access(Emit *e, const Access *x, const char *data, const char *slot, bool is_load,
                        const char *condition)
{
    const char *pointer = cuda_ref(e, x->pointer, slot),
               *mask = x->mask ? cuda_ref(e, x->mask, slot) : NULL;
    const char *guard = condition ? cuda_text(e, "if (%s) ", condition) : "";
    if (is_checked(x)) {
        pointer = cuda_address(e, cuda_place(e, x->pointer).text, x->slots, slot);
        if (mask && cuda_place(e, x->mask).kind == PLACE_ARRAY) {
            mask = cuda_address(e, cuda_place(e, x->mask).text, x->slots, slot);
        } else if (mask) {  // one mask for all slots
            guard = condition ? cuda_text(e, "if (%s && %s) ", condition, mask)
                              : cuda_text(e, "if (%s) ", mask);
            mask = NULL;
        }
    }
    cuda_line(e, "%s%s%s%s(%s, %s%s%s);", guard, x->function, is_checked(x) ? "_checked" : "",
              template_args(e, x), is_load ? data : pointer, is_load ? pointer : data,
              mask ? ", " : "", mask ? mask : "");
}

/// The value before the load: `other`, or zero, where a mask may leave it.
static void emit_fill(Emit *e, const IrOp *op, const IrValue *out, const char *ctype,
                      const char *raw)
{
    const IrValue *mask = op->args[1], *other = op->args[2];
    cuda_line(e, "%s%s;", cuda_value_decl(e, out, ctype, raw), mask && !other ? " = {}" : "");
    if (!mask || !other)
        return;
    const char *slot = cuda_loop(e, cuda_slots(out), 1);
    cuda_line(e, "%s = %s;", cuda_slot_of(e, out, raw, slot), cuda_ref(e, other, slot));
    cuda_loop_end(e, cuda_slots(out), 1);
}

bool cuda_emit_load(Emit *e, const IrOp *op)
{
    const IrValue *out = op->results[0];
    const bool is_bool = type_is_bool(out->type);
    Access x = plan_access(e, op, op->args[1], type_elem_bytes(out->type));
    const char *name = cuda_value_name(e, out);
    const char *raw = is_bool ? cuda_name(e, cuda_text(e, "%s_byte", name)) : name;

    x.function = access_function(e, "load", "NT_DEFINE_LOAD", "ld", &op->attr.mem);
    emit_fill(e, op, out, cuda_memory_type(e, out->type), raw);
    const char *owner = op->smem_bytes > 0 ? cuda_owner(e, x.layout) : NULL;
    if (owner) {
        cuda_line(e, "if (%s) {", owner);
        e->body.indent++;
    }
    const char *slot = cuda_loop(e, x.slots, x.step);
    emit_access(e, &x, cuda_address(e, raw, x.slots, slot), slot, true, NULL);
    cuda_loop_end(e, x.slots, x.step);
    if (owner) {
        e->body.indent--;
        cuda_line(e, "}");
    }
    cuda_set_place(e, out, cuda_held_as(out), name);
    if (is_bool) {
        cuda_line(e, "%s;", cuda_value_decl(e, out, "bool", name));
        slot = cuda_loop(e, x.slots, 1);
        cuda_line(e, "%s = %s != 0;", cuda_slot_of(e, out, name, slot),
                  cuda_slot_of(e, out, raw, slot));
        cuda_loop_end(e, x.slots, 1);
    }
    return owner == NULL || cuda_hand_out(e, op, name, owner);
}

/// True for a name, false for a literal and for an element of an array.
static bool is_variable(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return !isdigit((unsigned char)*text) && strncmp(text, "NT_", 3) != 0;
}

/// Registers that hold the stored elements as memory does, *count of them: all slots, or as many as
/// one group when every slot has the same value.
static const char *stored_data(Emit *e, const Access *x, const IrValue *value, unsigned *count)
{
    const Place p = cuda_place(e, value);
    *count = p.kind == PLACE_SAME ? x->vec : x->slots;
    if ((p.kind == PLACE_ARRAY || (*count == 1 && is_variable(p.text))) &&
        !type_is_bool(value->type))
        return p.text;

    const char *name = cuda_name(e, "stored"), *ctype = cuda_memory_type(e, value->type);
    if (*count == 1) {
        cuda_line(e, "const %s = %s;", cuda_decl(e, ctype, name, 0), cuda_ref(e, value, "0"));
        return name;
    }
    cuda_line(e, "%s;", cuda_decl(e, ctype, name, *count));
    const char *slot = cuda_loop(e, *count, 1);
    cuda_line(e, "%s[%s] = %s;", name, slot, cuda_ref(e, value, slot));
    cuda_loop_end(e, *count, 1);
    return name;
}

bool cuda_emit_store(Emit *e, const IrOp *op)
{
    const IrValue *value = op->args[1];
    Access x = plan_access(e, op, op->args[2], type_elem_bytes(value->type));
    unsigned count;
    const char *data = stored_data(e, &x, value, &count);
    const char *owner = cuda_owner(e, x.layout);

    x.function = access_function(e, "store", "NT_DEFINE_STORE", "st", &op->attr.mem);
    if (owner) {
        cuda_line(e, "if (%s) {", owner);
        e->body.indent++;
    }
    x.stored = count == x.slots ? ", 1" : ", 0";
    if (x.layout && layout_has_replicated_regs(x.layout))
        x.step = x.vec;  // a group that another slot stores is left out
    const char *slot = cuda_loop(e, x.slots, x.step);
    const char *group = cuda_address(e, data, count, count == x.slots ? slot : "0");
    emit_access(e, &x, group, slot, false, cuda_first_slot(e, x.layout, slot));
    cuda_loop_end(e, x.slots, x.step);
    if (owner) {
        e->body.indent--;
        cuda_line(e, "}");
    }
    return true;
}
