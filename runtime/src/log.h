/// What the environment asks of libnewt, read when a device is opened, and the lines of NEWT_LOG.
#ifndef NEWT_SRC_LOG_H
#define NEWT_SRC_LOG_H
#include "error.h"
#include <stdbool.h>

/// What NEWT_LOG shows; each level includes those before it.
typedef enum LogLevel {
    LOG_OFF,
    LOG_ERROR,   ///< the text of each failure
    LOG_LOAD,    ///< images as they are loaded
    LOG_CHOICE,  ///< the variant that each launch takes
    LOG_LAUNCH   ///< grid, block and shared memory of each launch
} LogLevel;

/// Ranges on the time line of a profiler, of the calling thread; both NULL: none are wanted.
typedef struct Ranges {
    int (*push)(const char *name);
    int (*pop)(void);
} Ranges;

typedef struct Options {
    LogLevel log;
    Ranges ranges;   ///< NEWT_NVTX=1, and NVTX's library is there
    bool check;      ///< NEWT_CHECK=1: wait after each launch, refuse streams of other contexts
    bool force_ptx;  ///< NEWT_FORCE_PTX=1: pass over cubins
} Options;

/// Reads NEWT_LOG, NEWT_CHECK, NEWT_FORCE_PTX and NEWT_NVTX. An unknown NEWT_LOG counts as "error".
Options newti_options_read(void);

/// Writes one line, "newt: <text>", to stderr in a single call.
void newti_log(const char *format, ...) NEWTI_FORMAT(1, 2);

/// At LOG_ERROR and above, writes this thread's last failure unless `status` is NEWT_OK.
/// Returns `status`.
NewtStatus newti_log_status(LogLevel level, NewtStatus status);
#endif
