/// The last failure of each thread, and what the driver's result codes mean as NewtStatus.
#ifndef NEWT_SRC_ERROR_H
#define NEWT_SRC_ERROR_H
#include "driver_api.h"
#include <newt/newt.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define NEWTI_FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
#define NEWTI_FORMAT(text, first)
#endif

/// Keeps the text as this thread's last failure, without a CUresult. Returns `status`.
NewtStatus newti_fail(NewtStatus status, const char *format, ...) NEWTI_FORMAT(2, 3);

/// NEWT_BAD_ARGUMENT: `who` got NULL for its argument `what`.
NewtStatus newti_fail_null(const char *who, const char *what);

/// The same for a failed driver call: the text is followed by the call and the result's name and
/// meaning. Returns newti_status_of(result).
NewtStatus newti_fail_driver(const Driver *driver, CudaResult result, const char *call,
                             const char *format, ...) NEWTI_FORMAT(4, 5);

/// The status that stands for a CUresult other than success.
NewtStatus newti_status_of(CudaResult result);

/// Whether the result means that the context is lost, whatever call returned it.
bool newti_is_fault(CudaResult result);
#endif
