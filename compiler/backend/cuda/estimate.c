/// estimate.c - how much code a thread's part of a kernel becomes, and how long NVRTC takes for it.
///
/// A statement is what an addition becomes for one slot. What costs more was measured with
/// NVRTC 13.0, 64 slots at a time (functions with a slow path for large arguments cost most). Time
/// grows with the statements, and with the cube of the plain ones, which all compete for registers:
/// softmax over 128, 256, 512 and 1024 slots took 0.6, 1.4, 7 and 52 s. On another machine the
/// figures differ by a factor, which does not matter for finding the kernels that take minutes.
#include "backend/cuda/emit_impl.h"

typedef struct Cost {
    uint16_t narrow, wide;  // statements for elements of at most 4 bytes, of 8 bytes
} Cost;

static const Cost costs[IR_CODE_COUNT] = {
    [IR_EXP] = { 2, 25 },     [IR_EXPM1] = { 12, 30 }, [IR_LOG] = { 14, 40 },
    [IR_LOG2] = { 14, 40 },   [IR_LOG1P] = { 18, 45 }, [IR_SQRT] = { 8, 10 },
    [IR_SQRT_RN] = { 8, 10 }, [IR_RSQRT] = { 2, 10 },  [IR_SIN] = { 80, 45 },
    [IR_COS] = { 80, 45 },    [IR_TANH] = { 4, 27 },   [IR_ERF] = { 8, 42 },
    [IR_SIGMOID] = { 8, 35 }, [IR_DIV] = { 3, 8 },     [IR_DIV_RN] = { 8, 8 },
    [IR_IDIV] = { 10, 17 },   [IR_REM] = { 15, 23 },   [IR_CDIV] = { 26, 57 },
    [IR_POW] = { 50, 55 },
};
static const Cost float_remainder = { 60, 280 };

typedef struct Sum {
    double plain, other;
    unsigned widest;  // registers of the largest value that a loop or a product must keep
} Sum;

enum { REGISTERS_MAX = 255 };  // of a thread

/// How many slots of a value are written out.
static double copies(const IrValue *v)
{
    const unsigned slots = cuda_slots(v);
    return slots < CUDA_ROLL_FROM ? slots : 4 * CUDA_ROLLED_COPIES;
}

/// Sums of products, and what loops carry, cannot be made again: all of it is held at once.
static void note_kept(const IrOp *op, Sum *sum)
{
    for (unsigned i = 0; i < op->resultc; i++) {
        const IrValue *v = op->results[i];
        const unsigned registers = cuda_slots(v) * type_elem_bytes(v->type) / 4;
        sum->widest = registers > sum->widest ? registers : sum->widest;
    }
}

static double operation_cost(const IrOp *op)
{
    const IrValue *v = op->args[op->argc - 1];
    Cost cost = costs[op->code];
    if (op->code == IR_REM && type_is_float(v->type))
        cost = float_remainder;
    return type_elem_bytes(v->type) == 8 ? cost.wide : cost.narrow;
}

static bool add_operation(IrOp *op, void *cx)
{
    Sum *sum = cx;
    if (op->code == IR_FOR || ir_op_info[op->code].cls == OPCLASS_DOT)
        note_kept(op, sum);
    switch (ir_op_info[op->code].cls) {
    case OPCLASS_ELEMENTWISE: {
        const double cost = operation_cost(op), n = copies(op->results[0]);
        sum->plain += n;
        sum->other += cost * n;
        break;
    }
    case OPCLASS_MEMORY: {  // what run time must check is there twice
        const IrMem *mem = &op->attr.mem;
        sum->plain +=
            copies(op->args[0]) * (mem->contiguous && mem->aligned && mem->mask_uniform ? 1 : 3);
        break;
    }
    case OPCLASS_LAYOUT:
        if (op->argc == 0) {  // a wait for a pipe
            sum->plain += 16;
            break;
        }
        sum->plain += 2 * copies(op->args[0]) + 16;
        break;
    case OPCLASS_ATOMIC:
    case OPCLASS_SCAN:
    case OPCLASS_REDUCE: sum->plain += 2 * copies(op->args[0]) + 16; break;
    case OPCLASS_CREATE: sum->plain += copies(op->results[0]); break;
    case OPCLASS_DOT: sum->plain += 4 * copies(op->results[0]); break;  // steps of the inner axis
    case OPCLASS_TILE: sum->plain += op->argc > 1 ? copies(op->args[1]) : 1; break;
    case OPCLASS_CONST:
    case OPCLASS_SHAPE:
    case OPCLASS_CONTROL:
    case OPCLASS_DEBUG: break;
    }
    return true;
}

CudaEstimate cuda_estimate(const IrFunc *fn)
{
    Sum sum = { 0 };
    ir_walk((IrFunc *)fn, add_operation, &sum);  // changes nothing
    const double crowd = sum.plain / 3000;
    return (CudaEstimate){ .statements = sum.plain + sum.other,
                           .registers = sum.widest,
                           .seconds = 0.03 + 0.00025 * sum.other +
                                      0.0003 * sum.plain * (1 + crowd * crowd) };
}

bool cuda_check_time(const IrFunc *fn, double budget, DiagSink *diags)
{
    const CudaEstimate guess = cuda_estimate(fn);
    const bool over = budget > 0 && guess.seconds > budget;
    if (budget > 0 && guess.registers > REGISTERS_MAX) {
        diag_report(diags, DIAG_COMPILE_BUDGET, fn->span,
                    "'%s' keeps a block of %u registers a thread, of which a thread has %d",
                    fn->name->text, guess.registers, REGISTERS_MAX);
        diag_help(diags, "use smaller blocks or more warps");
        return false;
    }
    if (!over && guess.seconds <= CUDA_SLOW_SECONDS)
        return true;
    if (over)
        diag_report(diags, DIAG_COMPILE_BUDGET, fn->span,
                    "'%s' becomes about %.0f statements a thread, which take NVRTC about %.0f s: "
                    "more than the %g s of "
                    "--compile-budget",
                    fn->name->text, guess.statements, guess.seconds, budget);
    else
        diag_report(diags, DIAG_SLOW_COMPILE, fn->span,
                    "'%s' becomes about %.0f statements a thread, which take NVRTC about %.0f s",
                    fn->name->text, guess.statements, guess.seconds);
    diag_help(diags,
              "use smaller blocks or more warps, and range() where static_range() repeats much");
    return !over;
}
