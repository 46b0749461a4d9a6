/// What a device knows of tuned kernels: records that launches look at without a lock.
///
/// Chains only grow, newest first, and are freed with the device.
#ifndef NEWT_SRC_TUNE_BOOK_H
#define NEWT_SRC_TUNE_BOOK_H
#include "device.h"
#include "tune_store.h"

/// The configuration of `kernel` for these arguments, or -1 when nothing is known.
///
/// Records for the same GPU go before those for another one of the same architecture; among them
/// the class that is exactly the call's, else the nearest: the smallest sum over the keys of
/// |log2(a / b)|, values below 1 counted as 1; of equally near ones the latest. A record whose
/// configuration was not compiled is passed over. Where there is none, the table that the build made
/// of a store is looked at in the same way.
int newti_book_find(const NewtDevice *device, const NewtKernel *kernel, const void *args);

/// Notes what `subject` was tuned to, from now on. NEWT_NO_MEMORY.
NewtStatus newti_book_add(NewtDevice *device, const TuneSubject *subject, const char *best);

/// Reads all records of a store that are for the device's architecture. A missing or damaged store
/// has none. NEWT_BAD_FILE for a newer schema, NEWT_NO_MEMORY.
NewtStatus newti_book_load(NewtDevice *device, const char *path);

/// The values of the kernel's keys in an argument record.
void newti_tune_class(const NewtKernel *kernel, const void *args, int64_t class[TUNE_KEY_MAX]);

/// What stores call the device: a GPU's product name, or the processor's.
void newti_tune_name(const NewtDevice *device, char *out, size_t size);

void newti_book_free(NewtDevice *device);
#endif
