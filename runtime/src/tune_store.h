/// The tuning store: a JSON file of measured times, shared by processes and threads.
///
///     { "schema": 1, "kernels": [
///       { "kernel": "matmul", "source": "sha256:7d3c...", "entries": [
///         { "gpu": "NVIDIA H200", "arch": "sm_90a", "driver": "CUDA 13.0",
///           "class": { "m": "4096", "n": "4096" }, "best": "M128_N64_W4_S3",
///           "us": { "M128_N64_W4_S3": 196.4 }, "wrong": [], "too_large": [], "failed": [],
///           "configs": { "M128_N64_W4_S3": "M=128 N=64 num_warps=4 num_stages=3" } } ] } ] }
///
/// A file of one kernel may be that kernel's object with the schema in it. Changes are made under a
/// lock file (PATH.lock) and appear by a rename, so that a reader needs no lock and a process that
/// is killed loses nothing that was there before. What is not understood is kept.
#ifndef NEWT_SRC_TUNE_STORE_H
#define NEWT_SRC_TUNE_STORE_H
#include "error.h"
#include "json.h"
#include <newt/module.h>

enum { TUNE_SCHEMA = 1, TUNE_KEY_MAX = 16 };

/// What an entry is about.
typedef struct TuneSubject {
    const NewtKernel *kernel;
    const char *gpu, *arch, *driver;
    int64_t class[TUNE_KEY_MAX];  ///< values of the kernel's keys, in its order
} TuneSubject;

/// A store while it is changed.
typedef struct TuneStore {
    const char *path;
    int lock;
    Json *root;
} TuneStore;

/// Locks the store and reads it: one that is missing or damaged is empty. NEWT_BAD_FILE when it
/// cannot be locked, or is of a newer schema.
NewtStatus newti_store_begin(TuneStore *store, const char *path);

/// The subject's entry, made when there is none. Times that another driver was measured with are
/// forgotten. NULL when memory is out.
Json *newti_store_entry(TuneStore *store, const TuneSubject *subject);

/// Writes the changes, and unlocks. Without `write` they are dropped.
NewtStatus newti_store_end(TuneStore *store, bool write);

/// Reads without a lock. A missing or damaged file gives NULL and NEWT_OK; a newer schema
/// NEWT_BAD_FILE.
NewtStatus newti_store_read(const char *path, Json **root);

/// Calls `each` for every entry of a store with its kernel's object.
void newti_store_each(const Json *root,
                      void (*each)(void *cx, const Json *kernel, const Json *entry), void *cx);

/// Whether an array of an entry ("wrong", "failed", "too_large") names a configuration, and adding
/// one.
bool newti_store_lists(const Json *entry, const char *array, const char *config);
bool newti_store_list(Json *entry, const char *array, const char *config);
#endif
