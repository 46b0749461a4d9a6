/// Opening, interning and closing devices; making a context current.
///
/// The registry below is the only process-wide state of libnewt: the driver's table and the list
/// of open devices. It changes under its mutex, which the fork handler holds across a fork, so a
/// child always finds it whole. CUDA does not survive a fork: a child counts one fork more than
/// its parent's devices and refuses them.
#include "device.h"
#include "host.h"
#include "image_file.h"
#include "load.h"
#include "memory.h"
#include "tune_book.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Registry {
    pthread_mutex_t lock;
    bool has_driver;
    Driver driver;
    NewtDevice *devices;
    atomic_uint forks;  // how often this process and its parents forked since the first open
    bool has_fork_handler;
    char *image_path;  // what newt_image_path() was given, or NULL
} Registry;

static Registry registry = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void before_fork(void)
{
    pthread_mutex_lock(&registry.lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&registry.lock);
}

static void after_fork_in_child(void)
{
    atomic_fetch_add(&registry.forks, 1);
    pthread_mutex_unlock(&registry.lock);
}

/// Loads and starts the driver unless it is. The registry is locked, as for all functions below
/// that do not say otherwise.
static NewtStatus driver_start(void)
{
    if (!registry.has_driver) {
        NewtStatus status = newti_driver_load(&registry.driver);
        if (status != NEWT_OK)
            return status;
        registry.has_driver = true;
    }
    const Driver *driver = &registry.driver;
    CudaResult result = driver->cuInit(0);
    if (result == CUDA_OK)
        return NEWT_OK;
    const char *what = "cannot start the CUDA driver";
    if (result == CUDA_STUB_LIBRARY)
        what = "the libcuda.so.1 found first is the CUDA toolkit's stub, not a driver; take its "
               "folder out of LD_LIBRARY_PATH";
    else if (result == CUDA_NOT_INITIALIZED && atomic_load(&registry.forks) > 0)
        what = "CUDA cannot be used in a child after fork: start the child with exec, or open "
               "devices only in the child";
    return newti_fail_driver(driver, result, "cuInit", "%s", what);
}

static NewtDevice *device_find(CudaContext context, unsigned long long id)
{
    unsigned forks = atomic_load(&registry.forks);
    for (NewtDevice *device = registry.devices; device; device = device->next) {
        if (device->context == context && device->context_id == id && device->forks == forks)
            return device;
    }
    return NULL;
}

/// A copy of `text`, or NULL for NULL and "". False when out of memory.
static bool text_copy(const char *text, char **out)
{
    const size_t size = text && *text ? strlen(text) + 1 : 0;
    *out = size ? malloc(size) : NULL;
    if (*out)
        memcpy(*out, text, size);
    return *out || !size;
}

static NewtDevice *device_new(const Options *options)
{
    if (!registry.has_fork_handler) {
        if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0)
            return NULL;
        registry.has_fork_handler = true;
    }
    NewtDevice *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    if (!text_copy(getenv("NEWT_IMAGE_PATH"), &device->image_path) ||
        pthread_mutex_init(&device->load_lock, NULL) != 0) {
        free(device->image_path);
        free(device);
        return NULL;
    }
    device->options = *options;
    device->forks = atomic_load(&registry.forks);
    return device;
}

/// A device begins with what the store of NEWT_TUNE_DB knows; one that cannot be read is reported
/// in the log and changes nothing.
static void device_publish(NewtDevice *device)
{
    const char *store = getenv("NEWT_TUNE_DB");
    newti_tune_name(device, device->tune_name, sizeof device->tune_name);
    device->tune_hash = newti_checksum(device->tune_name, strlen(device->tune_name));
    if (store && *store)
        newti_log_status(device->options.log, newti_book_load(device, store));
    device->next = registry.devices;
    registry.devices = device;
}

static void device_free(NewtDevice *device)
{
    newti_book_free(device);
    newti_memory_leave(device);
    pthread_mutex_destroy(&device->load_lock);
    free(device->image_path);
    free(device);
}

static NewtStatus no_memory(const char *label)
{
    return newti_fail(NEWT_NO_MEMORY, "newt_device_open: no memory for the handle of %s", label);
}

static NewtStatus host_open(const Options *options, NewtDevice **out)
{
    NewtDevice *device = device_find(NULL, 0);
    if (!device) {
        device = device_new(options);
        if (!device)
            return no_memory("host");
        device->cpus = newti_host_cpus();
        strcpy(device->label, "host");
        strcpy(device->arch_name, "host");
        strcpy(device->name, "host");
        device_publish(device);
    }
    device->opens++;
    *out = device;
    return NEWT_OK;
}

/// Fills in what the driver says about the device's ordinal.
static NewtStatus device_describe(NewtDevice *device)
{
    const Driver *driver = device->driver;
    CudaOrdinal ordinal = device->ordinal;
    int major = 0, minor = 0, shared = 0, sms = 0;
    snprintf(device->label, sizeof device->label, "cuda:%d", ordinal);

    const char *call = "cuDeviceGetAttribute";
    CudaResult result = driver->cuDeviceGetAttribute(&major, CUDA_DEVICE_MAJOR, ordinal);
    if (result == CUDA_OK)
        result = driver->cuDeviceGetAttribute(&minor, CUDA_DEVICE_MINOR, ordinal);
    if (result == CUDA_OK)
        result = driver->cuDeviceGetAttribute(&shared, CUDA_DEVICE_SHARED_OPTIN, ordinal);
    if (result == CUDA_OK)
        result = driver->cuDeviceGetAttribute(&sms, CUDA_DEVICE_MULTIPROCESSORS, ordinal);
    if (result == CUDA_OK) {
        call = "cuDeviceGetName";
        result = driver->cuDeviceGetName(device->name, (int)sizeof device->name - 1, ordinal);
    }
    if (result != CUDA_OK)
        return newti_fail_driver(driver, result, call, "cannot open %s", device->label);

    device->arch = 10 * major + minor;
    device->shared_max = (uint32_t)shared;
    device->sms = (uint32_t)sms;
    snprintf(device->arch_name, sizeof device->arch_name, "sm_%d%s", device->arch,
             major >= 9 ? "a" : "");
    return NEWT_OK;
}

/// Finds or makes the handle of a context, which the caller keeps alive until it fails.
static NewtStatus context_intern(CudaContext context, CudaOrdinal ordinal, const Options *options,
                                 NewtDevice **out)
{
    const Driver *driver = &registry.driver;
    unsigned long long id = 0;
    CudaResult result = driver->cuCtxGetId ? driver->cuCtxGetId(context, &id) : CUDA_OK;
    if (result != CUDA_OK)
        return newti_fail_driver(driver, result, "cuCtxGetId", "cannot open cuda:%d", ordinal);

    NewtDevice *device = device_find(context, id);
    if (!device) {
        device = device_new(options);
        if (!device)
            return no_memory("a CUDA device");
        device->driver = driver;
        device->context = context;
        device->context_id = id;
        device->ordinal = ordinal;
        NewtStatus status = device_describe(device);
        if (status != NEWT_OK) {
            device_free(device);
            return status;
        }
        device_publish(device);
    }
    device->opens++;
    *out = device;
    return NEWT_OK;
}

static NewtStatus cuda_open(int ordinal, const Options *options, NewtDevice **out)
{
    NewtStatus status = driver_start();
    if (status != NEWT_OK)
        return status;
    const Driver *driver = &registry.driver;
    int count = 0;
    CudaResult result = driver->cuDeviceGetCount(&count);
    if (result != CUDA_OK)
        return newti_fail_driver(driver, result, "cuDeviceGetCount", "cannot open cuda:%d",
                                 ordinal);
    if (ordinal >= count)
        return newti_fail(NEWT_NO_DEVICE, "cannot open cuda:%d: the driver sees %d device%s",
                          ordinal, count, count == 1 ? "" : "s");
    CudaOrdinal handle;
    result = driver->cuDeviceGet(&handle, ordinal);
    if (result != CUDA_OK)
        return newti_fail_driver(driver, result, "cuDeviceGet", "cannot open cuda:%d", ordinal);
    CudaContext context;
    result = driver->cuDevicePrimaryCtxRetain(&context, handle);
    if (result != CUDA_OK)
        return newti_fail_driver(driver, result, "cuDevicePrimaryCtxRetain", "cannot open cuda:%d",
                                 ordinal);
    status = context_intern(context, handle, options, out);
    // One retain for all opens of the handle: give back this one if it is not the first.
    if (status == NEWT_OK && !(*out)->retained)
        (*out)->retained = true;
    else
        driver->cuDevicePrimaryCtxRelease(handle);
    return status;
}

/// Reads "cuda:N"; false if `name` is anything else.
static bool parse_ordinal(const char *name, int *ordinal)
{
    static const char prefix[] = "cuda:";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *digits = name + sizeof prefix - 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 4 || digits[count] != '\0')
        return false;
    *ordinal = (int)strtol(digits, NULL, 10);
    return true;
}

static NewtStatus open_named(const char *name, const Options *options, NewtDevice **out)
{
    int ordinal;
    if (strcmp(name, "host") == 0)
        return host_open(options, out);
    if (parse_ordinal(name, &ordinal))
        return cuda_open(ordinal, options, out);
    return newti_fail(NEWT_BAD_ARGUMENT,
                      "newt_device_open: '%s' is no device; wanted \"cuda:N\" or \"host\"", name);
}

NewtStatus newt_device_open(const char *name, NewtDevice **out)
{
    if (!out)
        return newti_fail_null("newt_device_open", "out");
    Options options = newti_options_read();
    if (!name)
        name = getenv("NEWT_DEVICE");
    bool any = !name || *name == '\0';
    pthread_mutex_lock(&registry.lock);
    NewtStatus status = open_named(any ? "cuda:0" : name, &options, out);
    if (any && (status == NEWT_NO_DRIVER || status == NEWT_NO_DEVICE))
        status = host_open(&options, out);
    pthread_mutex_unlock(&registry.lock);
    return newti_log_status(options.log, status);
}

static NewtStatus current_open(const Options *options, NewtDevice **out)
{
    NewtStatus status = driver_start();
    if (status != NEWT_OK)
        return status;
    const Driver *driver = &registry.driver;
    CudaContext context = NULL;
    CudaResult result = driver->cuCtxGetCurrent(&context);
    if (result != CUDA_OK)
        return newti_fail_driver(driver, result, "cuCtxGetCurrent", "newt_device_current");
    if (!context)
        return newti_fail(NEWT_NO_DEVICE,
                          "newt_device_current: no CUDA context is current on this thread");
    CudaOrdinal ordinal;
    result = driver->cuCtxGetDevice(&ordinal);
    if (result != CUDA_OK)
        return newti_fail_driver(driver, result, "cuCtxGetDevice", "newt_device_current");
    return context_intern(context, ordinal, options, out);
}

NewtStatus newt_device_current(NewtDevice **out)
{
    if (!out)
        return newti_fail_null("newt_device_current", "out");
    Options options = newti_options_read();
    pthread_mutex_lock(&registry.lock);
    NewtStatus status = current_open(&options, out);
    pthread_mutex_unlock(&registry.lock);
    return newti_log_status(options.log, status);
}

/// Gives back what the device holds. The registry is not locked: unloading may wait for the GPU.
static void device_destroy(NewtDevice *device)
{
    const Driver *driver = device->driver;
    bool pushed = false;
    bool is_current = driver && newti_device_check(device, "newt_device_close") == NEWT_OK &&
                      newti_device_enter(device, "newt_device_close", &pushed) == NEWT_OK;
    newti_modules_free(device, is_current);
    if (is_current)
        newti_device_leave(device, pushed);
    if (driver && device->retained)
        driver->cuDevicePrimaryCtxRelease(device->ordinal);
    device_free(device);
}

void newt_device_close(NewtDevice *device)
{
    // A child leaves its parent's CUDA handles alone: the driver may hold locks that died with
    // the parent's threads.
    if (!device || (device->driver && device->forks != atomic_load(&registry.forks)))
        return;
    pthread_mutex_lock(&registry.lock);
    bool last = --device->opens == 0;
    if (last) {
        NewtDevice **at = &registry.devices;
        while (*at != device)
            at = &(*at)->next;
        *at = device->next;
    }
    pthread_mutex_unlock(&registry.lock);
    if (last)
        device_destroy(device);
}

NewtStatus newt_image_path(const char *folders)
{
    char *copy;
    if (!text_copy(folders, &copy))
        return newti_fail(NEWT_NO_MEMORY, "newt_image_path: no memory for the list of folders");
    pthread_mutex_lock(&registry.lock);
    char *before = registry.image_path;
    registry.image_path = copy;
    pthread_mutex_unlock(&registry.lock);
    free(before);
    return NEWT_OK;
}

NewtStatus newti_image_path_get(char **out)
{
    pthread_mutex_lock(&registry.lock);
    bool copied = text_copy(registry.image_path, out);
    pthread_mutex_unlock(&registry.lock);
    return copied ? NEWT_OK : newti_fail(NEWT_NO_MEMORY, "no memory for the path of images");
}

uint32_t newt_device_processors_(const NewtDevice *device)
{
    return device->driver ? device->sms : newti_host_cpus();
}

const char *newt_device_arch(const NewtDevice *device)
{
    return device ? device->arch_name : "";
}

const char *newt_device_name(const NewtDevice *device)
{
    return device ? device->name : "";
}

int newt_device_is_host(const NewtDevice *device)
{
    return device && !device->driver;
}

NewtStatus newti_device_check(const NewtDevice *device, const char *who)
{
    if (!device)
        return newti_fail_null(who, "the device");
    if (!device->driver)
        return NEWT_OK;
    if (device->forks != atomic_load_explicit(&registry.forks, memory_order_relaxed))
        return newti_fail(NEWT_UNSUPPORTED,
                          "%s: %s was opened before fork, and CUDA cannot be used in the child",
                          who, device->label);
    CudaResult fault = atomic_load_explicit(&device->fault, memory_order_relaxed);
    if (fault == CUDA_CONTEXT_IS_DESTROYED)
        return newti_fail_driver(device->driver, fault, "lost",
                                 "%s: the context of %s was destroyed or reset", who,
                                 device->label);
    if (fault != CUDA_OK)
        return newti_fail_driver(device->driver, fault, "lost",
                                 "%s: an earlier kernel on %s faulted%s", who, device->label,
                                 device->options.check ? "" : " (NEWT_CHECK=1 tells which)");
    return NEWT_OK;
}

void newti_device_note(NewtDevice *device, CudaResult result)
{
    if (newti_is_fault(result))
        atomic_store(&device->fault, result);
}

NewtStatus newti_device_fail(NewtDevice *device, CudaResult result, const char *call,
                             const char *who)
{
    newti_device_note(device, result);
    return newti_fail_driver(device->driver, result, call, "%s on %s", who, device->label);
}

NewtStatus newti_device_enter(NewtDevice *device, const char *who, bool *pushed)
{
    const Driver *driver = device->driver;
    CudaContext current = NULL;
    *pushed = false;
    CudaResult result = driver->cuCtxGetCurrent(&current);
    if (result != CUDA_OK)
        return newti_device_fail(device, result, "cuCtxGetCurrent", who);
    if (current == device->context)
        return NEWT_OK;
    result = driver->cuCtxPushCurrent(device->context);
    if (result != CUDA_OK)
        return newti_device_fail(device, result, "cuCtxPushCurrent", who);
    *pushed = true;
    return NEWT_OK;
}

void newti_device_leave(NewtDevice *device, bool pushed)
{
    CudaContext popped;
    if (pushed)
        device->driver->cuCtxPopCurrent(&popped);
}
