/// The tensor maps of a launch: made anew each time, on the caller's stack (55 ns each).
///
/// What the compiler fixed of a map is checked once, when its image is loaded; what the arguments
/// add is checked here. A map that cannot be made is no error of the launch: another variant does
/// without, so a refusal keeps numbers only, and its text is made when someone wants to read it.
#ifndef NEWT_SRC_TENSOR_H
#define NEWT_SRC_TENSOR_H
#include "device.h"
#include <newt/module.h>

typedef enum TensorRule {
    TENSOR_FITS,
    TENSOR_NO_ENCODER,  ///< the driver has no cuTensorMapEncodeTiled
    TENSOR_EXPRESSION,  ///< the shapes cannot be computed
    TENSOR_BASE,        ///< `value`: the address modulo 16
    TENSOR_SIZE,        ///< `value` elements along `axis`
    TENSOR_STRIDE,      ///< `value` elements along `axis`
    TENSOR_DRIVER,      ///< the driver refuses; `value` is the CUresult
    TENSOR_PROGRAMS     ///< no rule of maps: a persistent grid of 2^31 programs or more
} TensorRule;

/// Why an entry does not fit the arguments of a launch.
typedef struct TensorRefusal {
    TensorRule rule;
    uint32_t tensor;  ///< index into the entry's recipes
    uint32_t axis;
    int64_t value;
} TensorRefusal;

/// What maps are made for.
typedef struct TensorCall {
    const NewtKernel *kernel;
    const NewtEntry *entry;
    const void *args;      ///< the argument record
    const uint32_t *grid;  ///< three numbers
} TensorCall;

/// Makes the maps of the call's entry for its argument record; false, and why in `refusal`, when one
/// of them cannot be made.
bool newti_tensor_encode(const NewtDevice *device, const TensorCall *call, CudaTensorMap *maps,
                         TensorRefusal *refusal);

/// Writes "tensor map 0 ('x'): ..." into `text`.
void newti_tensor_refusal_print(const NewtKernel *kernel, const NewtEntry *entry,
                                const TensorRefusal *refusal, char *text, size_t size);

/// Checks what is fixed of the maps of `entry`; NEWT_BAD_IMAGE names the rule that one breaks.
NewtStatus newti_tensor_check(const NewtKernel *kernel, const NewtEntry *entry);
#endif
