/// limits.c - what a chip can hold, checked before NVRTC is asked.
#include "backend/cuda/emit.h"

static bool limits_note_buffer(IrOp *op, void *cx)
{
    if (op->smem_bytes)
        diag_note(cx, op->span, "'%s' here needs %u bytes", ir_op_info[op->code].mnemonic,
                  op->smem_bytes);
    return true;
}

bool cuda_check_limits(const IrFunc *fn, const Target *t, DiagSink *diags)
{
    if (cuda_threads(fn) > TARGET_MAX_THREADS) {
        diag_report(diags, DIAG_TOO_LARGE, fn->span,
                    "'%s' asks for %u threads a block, and %s has at most %d", fn->name->text,
                    cuda_threads(fn), t->name, TARGET_MAX_THREADS);
        return false;
    }
    if (fn->smem_bytes <= t->shared_max)
        return true;
    diag_report(diags, DIAG_SHARED_MEMORY, fn->span,
                "'%s' needs %u bytes of shared memory, and %s has %u for a block", fn->name->text,
                fn->smem_bytes, t->name, t->shared_max);
    IrFunc *walked = (IrFunc *)fn;  // the walk changes nothing
    ir_walk(walked, limits_note_buffer, diags);
    diag_help(diags, "use smaller blocks");
    return false;
}
