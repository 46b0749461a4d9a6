/// The last failure of each thread, status names and texts, and the reading of CUresults.
///
/// The failure lives in thread-local storage: no allocation, so running out of memory can be
/// reported too, and no lock. Texts are cut at the size of the buffer.
#include "error.h"
#include <stdarg.h>
#include <stdio.h>

typedef struct LastError {
    CudaResult result;
    char text[1024];
} LastError;

static _Thread_local LastError last_error;

typedef struct StatusText {
    const char *name, *text;
} StatusText;

static const StatusText status_texts[] = {
    [NEWT_OK] = { "NEWT_OK", "success" },
    [NEWT_BAD_ARGUMENT] = { "NEWT_BAD_ARGUMENT",
                            "an argument is one that the function or kernel cannot take; "
                            "newt_last_error() names it" },
    [NEWT_NO_DRIVER] = { "NEWT_NO_DRIVER", "there is no CUDA driver: install NVIDIA's, take the "
                                           "toolkit's stubs out of LD_LIBRARY_PATH, or open "
                                           "\"host\"" },
    [NEWT_OLD_DRIVER] = { "NEWT_OLD_DRIVER",
                          "the CUDA driver is too old for libnewt or for the module's PTX: update "
                          "it, or compile with an --arch that matches the device" },
    [NEWT_NO_DEVICE] = { "NEWT_NO_DEVICE", "there is no such device, or it was lost: see "
                                           "nvidia-smi and CUDA_VISIBLE_DEVICES" },
    [NEWT_NO_IMAGE] = { "NEWT_NO_IMAGE", "the module holds nothing for this device: compile it "
                                         "with another --arch" },
    [NEWT_BAD_IMAGE] = { "NEWT_BAD_IMAGE",
                         "the module is damaged or of another ABI: run newtc again" },
    [NEWT_TOO_LARGE] = { "NEWT_TOO_LARGE",
                         "the grid, shared memory or cluster is beyond what the device allows" },
    [NEWT_NO_MEMORY] = { "NEWT_NO_MEMORY", "out of memory on the device or the host" },
    [NEWT_NOT_LOADED] = { "NEWT_NOT_LOADED", "the kernel is used for the first time inside a "
                                             "stream capture: call its _preload() before" },
    [NEWT_UNSUPPORTED] = { "NEWT_UNSUPPORTED", "the operation does not exist on this device" },
    [NEWT_KERNEL_FAULT] = { "NEWT_KERNEL_FAULT",
                            "a kernel faulted and its context is gone: set NEWT_CHECK=1 to learn "
                            "which, and restart the process" },
    [NEWT_DRIVER_ERROR] = { "NEWT_DRIVER_ERROR",
                            "the CUDA driver failed; newt_last_driver_error() is its CUresult" },
    [NEWT_BAD_FILE] = { "NEWT_BAD_FILE", "a tuning store cannot be read, or is of another schema" },
    [NEWT_WRONG_RESULT] = { "NEWT_WRONG_RESULT", "no configuration agreed with the reference" },
};

static const StatusText *status_text_get(NewtStatus status)
{
    static const StatusText unknown = { "NEWT_?", "not a status of libnewt" };
    size_t count = sizeof status_texts / sizeof status_texts[0];
    return (size_t)status < count ? &status_texts[status] : &unknown;
}

const char *newt_status_name(NewtStatus status)
{
    return status_text_get(status)->name;
}

const char *newt_status_text(NewtStatus status)
{
    return status_text_get(status)->text;
}

const char *newt_last_error(void)
{
    return last_error.text;
}

int newt_last_driver_error(void)
{
    return last_error.result;
}

uint32_t newt_version(void)
{
    return NEWT_VERSION;
}

NewtStatus newti_fail(NewtStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    last_error.result = CUDA_OK;
    vsnprintf(last_error.text, sizeof last_error.text, format, args);
    va_end(args);
    return status;
}

NewtStatus newti_fail_null(const char *who, const char *what)
{
    return newti_fail(NEWT_BAD_ARGUMENT, "%s: %s is NULL", who, what);
}

NewtStatus newti_fail_driver(const Driver *driver, CudaResult result, const char *call,
                             const char *format, ...)
{
    const char *name = NULL, *meaning = NULL;
    if (driver->cuGetErrorName(result, &name) != CUDA_OK || !name)
        name = "an unknown CUresult";
    if (driver->cuGetErrorString(result, &meaning) != CUDA_OK || !meaning)
        meaning = "no description";

    va_list args;
    va_start(args, format);
    size_t size = sizeof last_error.text;
    int used = vsnprintf(last_error.text, size, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < size)
        snprintf(last_error.text + used, size - (size_t)used, ": %s: %s (%d): %s", call, name,
                 result, meaning);
    last_error.result = result;
    return newti_status_of(result);
}

NewtStatus newti_status_of(CudaResult result)
{
    if (newti_is_fault(result))
        return NEWT_KERNEL_FAULT;
    switch (result) {
    case CUDA_OUT_OF_MEMORY: return NEWT_NO_MEMORY;
    case CUDA_STUB_LIBRARY: return NEWT_NO_DRIVER;
    case CUDA_SYSTEM_DRIVER_MISMATCH:
    case CUDA_UNSUPPORTED_PTX_VERSION:
    case CUDA_JIT_COMPILER_NOT_FOUND: return NEWT_OLD_DRIVER;
    case CUDA_NO_DEVICE:
    case CUDA_INVALID_DEVICE:
    case CUDA_DEVICE_UNAVAILABLE: return NEWT_NO_DEVICE;
    case CUDA_NO_BINARY_FOR_GPU: return NEWT_NO_IMAGE;
    case CUDA_INVALID_IMAGE:
    case CUDA_INVALID_PTX: return NEWT_BAD_IMAGE;
    case CUDA_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_INVALID_CLUSTER_SIZE: return NEWT_TOO_LARGE;
    default: return NEWT_DRIVER_ERROR;
    }
}

bool newti_is_fault(CudaResult result)
{
    switch (result) {
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_LAUNCH_TIMEOUT:
    case CUDA_CONTEXT_IS_DESTROYED:
    case CUDA_ASSERT:
    case CUDA_HARDWARE_STACK_ERROR:
    case CUDA_ILLEGAL_INSTRUCTION:
    case CUDA_MISALIGNED_ADDRESS:
    case CUDA_INVALID_ADDRESS_SPACE:
    case CUDA_INVALID_PC:
    case CUDA_LAUNCH_FAILED: return true;
    default: return false;
    }
}
