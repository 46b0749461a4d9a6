// verify.c - the structure of block IR: arity, definitions, visibility, terminators, layouts.
//
// Runs between passes in tests and debug builds, and over everything that ir_read gives. It must
// survive any IR that is sound as a data structure, so each check relies only on those before it.
// The rules about types are in verify_types.c.
#include "ir/verify_impl.h"

#include <inttypes.h>

bool ir_verify_fault(IrVerifier *v, const IrOp *op, const char *format, ...)
{
    Buf text = { 0 };
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    v->ok = false;
    diag_report(v->diags, DIAG_INTERNAL, op ? op->span : v->fn->span,
                "malformed IR in '%s': %s: %s", v->fn->name->text,
                op ? ir_op_info[op->code].mnemonic : "func", text.at);
    buf_free(&text);
    return false;
}

bool ir_verify_carry(IrVerifier *v, const IrOp *op)
{
    const Type *type = op->args[0]->type;
    const int axis = op->attr.scan.axis, bit = op->attr.scan.bit;
    if (!type_is_block(type) || !type_is_num(type) || op->results[0]->type != type)
        return ir_verify_fault(v, op, "a block of numbers is carried along an axis");
    if (axis < 0 || axis >= type->rank || bit < 0 || bit > 30 ||
        INT64_C(2) << bit > type->shape[axis])
        return ir_verify_fault(v, op, "axis %d, bit %d", axis, bit);
    return true;
}

static bool check_arity(IrVerifier *v, const IrOp *op)
{
    IrArity arity = ir_arity(op->code);
    uint32_t fixed = (uint32_t)arity.required + arity.optional;
    if (op->argc < fixed || (op->argc > fixed && !arity.variadic))
        return ir_verify_fault(v, op, "%" PRIu32 " operands", op->argc);
    if (!arity.variadic && op->resultc != arity.results)
        return ir_verify_fault(v, op, "%" PRIu32 " results", op->resultc);
    if (op->regionc != arity.regions)
        return ir_verify_fault(v, op, "%u regions", op->regionc);
    for (uint32_t i = 0; i < op->argc; i++) {
        bool optional = i >= arity.required && i < fixed;
        if (!op->args[i] && !optional)
            return ir_verify_fault(v, op, "operand %" PRIu32 " is absent", i);
    }
    return true;
}

static bool check_operands(IrVerifier *v, const IrOp *op)
{
    for (uint32_t i = 0; i < op->argc; i++) {
        const IrValue *arg = op->args[i];
        if (arg && (arg->id >= v->fn->value_count || !v->visible[arg->id]))
            return ir_verify_fault(v, op, "operand %" PRIu32 " is not visible here", i);
    }
    return true;
}

/// Tiles stay where they are; these operations read them there.
static bool check_tiles(IrVerifier *v, const IrOp *op)
{
    for (uint32_t i = 0; i < op->argc; i++) {
        const bool reads = (op->code == IR_DOT && i < 2) || op->code == IR_CONVERT ||
                           op->code == IR_TRANS;
        if (op->args[i] && !reads && ir_tile_of(op->args[i]))
            return ir_verify_fault(v, op, "operand %" PRIu32 " is a tile in shared memory", i);
    }
    return true;
}

static bool check_layout(IrVerifier *v, const IrOp *op, const IrValue *value)
{
    bool wanted = v->fn->has_layouts && type_is_block(value->type) && !ir_tile_of(value);
    if (wanted == (value->layout != NULL))
        return true;
    return ir_verify_fault(v, op, wanted ? "a block without a layout" : "a layout out of place");
}

/// A definition: its id is new, its type is that of a value.
static bool define(IrVerifier *v, const IrOp *op, const IrValue *value)
{
    if (value->id >= v->fn->value_count || v->defined[value->id])
        return ir_verify_fault(v, op, "value number %" PRIu32 " is not unique", value->id);
    v->defined[value->id] = v->visible[value->id] = true;
    if (value->type->kind == TYPE_VOID || value->type->kind == TYPE_ERROR)
        return ir_verify_fault(v, op, "a value of type '%s'", type_text(v->fn->types, value->type));
    return check_layout(v, op, value);
}

static bool define_results(IrVerifier *v, const IrOp *op)
{
    for (uint32_t i = 0; i < op->resultc; i++) {
        const IrValue *r = op->results[i];
        if (r->def != op || r->index != i)
            return ir_verify_fault(v, op, "result %" PRIu32 " is linked wrongly", i);
        if (!define(v, op, r))
            return false;
    }
    return true;
}

static bool is_terminator(const IrOp *op)
{
    return op->code == IR_YIELD || op->code == IR_RETURN;
}

static bool check_terminator(IrVerifier *v, const IrBlock *b)
{
    IrCode wanted = b->parent ? IR_YIELD : IR_RETURN;
    if (!b->last || b->last->code != wanted)
        return ir_verify_fault(v, b->last ? b->last : b->parent, "the block does not end with '%s'",
                               ir_op_info[wanted].mnemonic);
    for (const IrOp *op = b->first; op != b->last; op = op->next)
        if (is_terminator(op))
            return ir_verify_fault(v, op, "it stands inside a block");
    return true;
}

static bool check_ring(IrVerifier *v, const IrRing *ring)
{
    const Type *block = ring->block;
    const unsigned rank = type_rank(block);
    if (rank < 2 || !type_is_num(block))
        return ir_verify_fault(v, NULL, "a ring of tiles of type '%s'",
                               type_text(v->fn->types, block));
    if (ring->stages == 0 || ring->fast + 2u < rank || ring->fast >= rank)
        return ir_verify_fault(v, NULL, "a ring of %u stages, fast along axis %u", ring->stages,
                               ring->fast);
    return true;
}

static bool check_links(IrVerifier *v, const IrBlock *b)
{
    const IrOp *prev = NULL;
    for (const IrOp *op = b->first; op; prev = op, op = op->next)
        if (op->block != b || op->prev != prev || op->code >= IR_CODE_COUNT)
            return ir_verify_fault(v, b->parent, "an operation is linked wrongly");
    return b->last == prev || ir_verify_fault(v, b->parent, "the block's last operation is wrong");
}

static void verify_block(IrVerifier *v, const IrBlock *b);

/// Everything about `op`; its regions are walked even after a fault elsewhere in them.
static void verify_op(IrVerifier *v, const IrOp *op)
{
    bool ok = check_arity(v, op) && check_operands(v, op);
    for (uint32_t r = 0; r < op->regionc; r++) {
        if (op->regions[r]->parent != op)
            ok = ir_verify_fault(v, op, "region %" PRIu32 " is linked wrongly", r);
        else if (ok)
            ok = check_terminator(v, op->regions[r]);
    }
    ok = ok && check_tiles(v, op);
    if (ok && ir_verify_types(v, op))
        for (uint32_t r = 0; r < op->regionc; r++)
            verify_block(v, op->regions[r]);
    define_results(v, op);
}

static void verify_block(IrVerifier *v, const IrBlock *b)
{
    if (!check_links(v, b) || !check_terminator(v, b))
        return;
    for (uint32_t i = 0; i < b->argc; i++) {
        if (b->args[i]->block != b || b->args[i]->def || b->args[i]->index != i)
            ir_verify_fault(v, b->parent, "block argument %" PRIu32 " is linked wrongly", i);
        define(v, b->parent, b->args[i]);
    }
    for (const IrOp *op = b->first; op; op = op->next)
        verify_op(v, op);
    // What a block defines ends with it.
    for (uint32_t i = 0; i < b->argc; i++)
        if (b->args[i]->id < v->fn->value_count)
            v->visible[b->args[i]->id] = false;
    for (const IrOp *op = b->first; op; op = op->next)
        for (uint32_t i = 0; i < op->resultc; i++)
            if (op->results[i]->id < v->fn->value_count)
                v->visible[op->results[i]->id] = false;
}

bool ir_verify(const IrFunc *fn, DiagSink *diags)
{
    Arena scratch = { 0 };
    IrVerifier v = { .fn = fn, .diags = diags, .ok = true };
    v.defined = ARENA_NEW_N(&scratch, bool, fn->value_count);
    v.visible = ARENA_NEW_N(&scratch, bool, fn->value_count);
    for (uint32_t i = 0; i < fn->ring_count; i++)
        check_ring(&v, &fn->rings[i]);
    verify_block(&v, fn->body);
    arena_free(&scratch);
    bool ok = v.ok;
    if (fn->producer)
        ok &= ir_verify(fn->producer, diags);
    if (fn->map_host)
        ok &= ir_verify(fn->map_host, diags);
    return ok;
}
