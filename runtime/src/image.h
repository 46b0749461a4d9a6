/// Which image of a module a device runs. Pure functions of the module's data.
#ifndef NEWT_SRC_IMAGE_H
#define NEWT_SRC_IMAGE_H
#include <newt/module.h>
#include <stdbool.h>
#include <stddef.h>

/// The entry of `variant` that fits a device of architecture `arch` (10 * major + minor) best, or
/// NULL if none runs there. Best first: a cubin for exactly this architecture's own features, one
/// for its family, the latest plain cubin of the same major, the latest PTX. `force_ptx` passes
/// over cubins.
const NewtEntry *newti_entry_find(const NewtModuleDesc *module, const NewtVariant *variant,
                                  int arch, bool force_ptx);

/// "sm_90a", or "compute_80 (PTX)".
void newti_image_print(const NewtImage *image, char *text, size_t size);

/// Reports NEWT_NO_IMAGE: what the module has, what the device is, how to compile for it.
NewtStatus newti_image_missing(const NewtKernel *kernel, int arch);
#endif
