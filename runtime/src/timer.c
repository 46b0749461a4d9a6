/// Times a stretch of a stream: CUDA events, or the clock on the host.
#include "device.h"
#include "host.h"
#include <stdlib.h>

struct NewtTimer {
    NewtDevice *device;
    CudaEvent start, stop;  // CUDA devices only
    int64_t start_ns;       // the host only
    bool is_started;
};

/// A call of one of the functions below, and what the last of them measures.
typedef struct TimerCall {
    NewtTimer *timer;
    NewtStream stream;
    const char *who;
    double microseconds;
} TimerCall;

/// Calls `work` with the timer's context current, and logs a failure. Nothing calls it for the
/// host.
static NewtStatus with_context(TimerCall *call, NewtStatus (*work)(TimerCall *call))
{
    bool pushed;
    NewtDevice *device = call->timer->device;
    NewtStatus status = newti_device_check(device, call->who);
    if (status == NEWT_OK)
        status = newti_device_enter(device, call->who, &pushed);
    if (status == NEWT_OK) {
        status = work(call);
        newti_device_leave(device, pushed);
    }
    return newti_log_status(device->options.log, status);
}

static NewtStatus events_new(TimerCall *call)
{
    NewtTimer *timer = call->timer;
    const Driver *driver = timer->device->driver;
    CudaResult result = driver->cuEventCreate(&timer->start, 0);
    if (result == CUDA_OK) {
        result = driver->cuEventCreate(&timer->stop, 0);
        if (result != CUDA_OK)
            driver->cuEventDestroy(timer->start);
    }
    return result == CUDA_OK ? NEWT_OK
                             : newti_device_fail(timer->device, result, "cuEventCreate", call->who);
}

NewtStatus newt_timer_new(NewtDevice *device, NewtTimer **out)
{
    NewtStatus status = newti_device_check(device, "newt_timer_new");
    if (status != NEWT_OK)
        return status;
    if (!out)
        return newti_fail_null("newt_timer_new", "out");
    NewtTimer *timer = calloc(1, sizeof *timer);
    if (!timer)
        return newti_fail(NEWT_NO_MEMORY, "newt_timer_new: no memory for a timer");
    timer->device = device;
    if (device->driver)
        status = with_context(&(TimerCall){ timer, NULL, "newt_timer_new", 0 }, events_new);
    if (status != NEWT_OK) {
        free(timer);
        return status;
    }
    *out = timer;
    return NEWT_OK;
}

static NewtStatus start_record(TimerCall *call)
{
    const NewtTimer *timer = call->timer;
    CudaResult result = timer->device->driver->cuEventRecord(timer->start, call->stream);
    return result == CUDA_OK ? NEWT_OK
                             : newti_device_fail(timer->device, result, "cuEventRecord", call->who);
}

NewtStatus newt_timer_start(NewtTimer *timer, NewtStream stream)
{
    NewtStatus status = NEWT_OK;
    if (!timer)
        return newti_fail_null("newt_timer_start", "the timer");
    if (timer->device->driver)
        status = with_context(&(TimerCall){ timer, stream, "newt_timer_start", 0 }, start_record);
    else
        timer->start_ns = newti_clock_ns();
    timer->is_started = status == NEWT_OK;
    return status;
}

static NewtStatus stop_record(TimerCall *call)
{
    const NewtTimer *timer = call->timer;
    const Driver *driver = timer->device->driver;
    float milliseconds = 0;
    const char *name = "cuEventRecord";
    CudaResult result = driver->cuEventRecord(timer->stop, call->stream);
    if (result == CUDA_OK) {
        name = "cuEventSynchronize";
        result = driver->cuEventSynchronize(timer->stop);
    }
    if (result == CUDA_OK) {
        name = "cuEventElapsedTime";
        result = driver->cuEventElapsedTime(&milliseconds, timer->start, timer->stop);
    }
    if (result != CUDA_OK)
        return newti_device_fail(timer->device, result, name, call->who);
    call->microseconds = 1000.0 * (double)milliseconds;
    return NEWT_OK;
}

NewtStatus newt_timer_stop(NewtTimer *timer, NewtStream stream, double *microseconds)
{
    if (!timer || !microseconds)
        return newti_fail_null("newt_timer_stop", timer ? "microseconds" : "the timer");
    if (!timer->is_started)
        return newti_fail(NEWT_BAD_ARGUMENT, "newt_timer_stop: the timer was not started");
    if (timer->device->driver) {
        TimerCall call = { timer, stream, "newt_timer_stop", *microseconds };
        NewtStatus status = with_context(&call, stop_record);
        *microseconds = call.microseconds;
        return status;
    }
    *microseconds = 1e-3 * (double)(newti_clock_ns() - timer->start_ns);
    return NEWT_OK;
}

void newt_timer_free(NewtTimer *timer)
{
    bool pushed;
    if (!timer)
        return;
    NewtDevice *device = timer->device;
    if (device->driver && newti_device_check(device, "newt_timer_free") == NEWT_OK &&
        newti_device_enter(device, "newt_timer_free", &pushed) == NEWT_OK) {
        device->driver->cuEventDestroy(timer->start);
        device->driver->cuEventDestroy(timer->stop);
        newti_device_leave(device, pushed);
    }
    free(timer);
}
