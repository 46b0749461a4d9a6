/// hostc.h - the host backend: plain C from block IR, before layouts exist.
///
/// One static function a kernel variant, called once for every program, and one for its grid. Independent of
/// all GPU passes, which makes it the reference for tests and tuning. Elementwise operations of one
/// shape share a loop; other block values live in the thread's scratch memory. The text needs
/// prelude/host.h in front of it (hostc_prelude).
#ifndef NEWT_BACKEND_HOSTC_HOSTC_H
#define NEWT_BACKEND_HOSTC_HOSTC_H
#include "ir/ir.h"

typedef struct HostcParam {
    const char *c_name;   ///< member of the argument record
    const Type *type;     ///< its type there (the grid function sees integers widened to int64)
} HostcParam;

typedef struct HostcOptions {
    const char *symbol;   ///< name of the static function to write
    const char *record;   ///< tag of the argument struct; NULL when there are no parameters
    const HostcParam *params;
    const SourceMap *sources;  ///< for the comments that name source lines; NULL: none
} HostcOptions;

/// Writes the kernel function and returns the scratch bytes it needs in *scratch_bytes. False after reporting an
/// operation that the host does not support.
bool hostc_emit_kernel(const IrFunc *fn, const HostcOptions *opt, DiagSink *diags, Buf *out, uint64_t *scratch_bytes);

/// Writes the grid function: scalar code with overflow and division checks.
bool hostc_emit_grid(const IrFunc *fn, const HostcOptions *opt, DiagSink *diags, Buf *out);

/// Writes the function that fills the shapes of tensor maps (IrFunc.map_host): scalar code with the same checks, given
/// the grid. It fails where the maps cannot stand for the accesses.
bool hostc_emit_maps(const IrFunc *fn, const IrTensorMap *maps, unsigned count, const HostcOptions *opt,
                     DiagSink *diags, Buf *out);

/// The support text that all need, once a module.
void hostc_prelude(Buf *out);

#endif
