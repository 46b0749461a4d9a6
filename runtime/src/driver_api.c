/// Opens libcuda.so.1 and looks up the symbols of driver_api.def.
///
/// The only file that talks to the dynamic linker, and with nothing else in it, so that a test
/// can replace it at link time. Symbols carry their version in the name (cuMemAlloc_v2), which
/// fixes their signatures; nothing depends on the version of the driver beyond their presence.
#define _POSIX_C_SOURCE 200809L
#include "driver_api.h"
#include "error.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

typedef struct Symbol {
    const char *name;
    const char *since;
    bool required;
    size_t offset;  // of the member in Driver
} Symbol;

enum { OPTIONAL, REQUIRED };

static const Symbol symbols[] = {
#define DRIVER(need, name, symbol, since, parameters) \
    { #symbol, since, need == REQUIRED, offsetof(Driver, name) },
#include "driver_api.def"
#undef DRIVER
};

NewtStatus newti_driver_load(Driver *driver)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return newti_fail(NEWT_NO_DRIVER, "cannot load the CUDA driver: %s", dlerror());

    NewtStatus status = NEWT_OK;
    memset(driver, 0, sizeof *driver);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0] && status == NEWT_OK; i++) {
        void *found = dlsym(library, symbols[i].name);
        // POSIX promises that dlsym's object pointer holds a function pointer; C has no such cast.
        memcpy((char *)driver + symbols[i].offset, &found, sizeof found);
        if (!found && symbols[i].required)
            status = newti_fail(NEWT_OLD_DRIVER,
                                "the CUDA driver has no %s: it needs to be of CUDA %s or later",
                                symbols[i].name, symbols[i].since);
    }
    if (status != NEWT_OK)
        dlclose(library);
    return status;
}
