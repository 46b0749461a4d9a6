/// The environment of libnewt and the lines of NEWT_LOG.
#include "log.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {
    [LOG_ERROR] = "error",
    [LOG_LOAD] = "load",
    [LOG_CHOICE] = "choice",
    [LOG_LAUNCH] = "launch",
};

/// The variable's value, or NULL when it is not set, empty or "0".
static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && strcmp(value, "") != 0 && strcmp(value, "0") != 0 ? value : NULL;
}

/// NVTX as a library: CUDA 13 has it under another name than those before. It stays loaded.
static Ranges ranges_load(void)
{
    static const char *const names[] = { "libnvToolsExt.so.1", "libnvtx3interop.so.1" };
    Ranges ranges = { NULL, NULL };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            continue;
        // POSIX has object pointers from dlsym() stand for functions; ISO C cannot convert them.
        *(void **)&ranges.push = dlsym(library, "nvtxRangePushA");
        *(void **)&ranges.pop = dlsym(library, "nvtxRangePop");
        if (ranges.push && ranges.pop)
            return ranges;
        dlclose(library);
    }
    return (Ranges){ NULL, NULL };
}

Options newti_options_read(void)
{
    Options options = {
        .check = value_of("NEWT_CHECK") != NULL,
        .force_ptx = value_of("NEWT_FORCE_PTX") != NULL,
    };
    if (value_of("NEWT_NVTX"))
        options.ranges = ranges_load();
    const char *log = value_of("NEWT_LOG");
    if (log) {
        options.log = LOG_ERROR;
        for (LogLevel level = LOG_ERROR; level <= LOG_LAUNCH; level++) {
            if (strcmp(log, level_names[level]) == 0)
                options.log = level;
        }
    }
    return options;
}

void newti_log(const char *format, ...)
{
    char line[1200] = "newt: ";
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, sizeof line - used - 1, format, args);
    va_end(args);
    used = strlen(line);
    line[used] = '\n';  // room for it was kept above
    line[used + 1] = '\0';
    fputs(line, stderr);
}

NewtStatus newti_log_status(LogLevel level, NewtStatus status)
{
    if (status != NEWT_OK && level >= LOG_ERROR)
        newti_log("%s: %s", newt_status_name(status), newt_last_error());
    return status;
}
