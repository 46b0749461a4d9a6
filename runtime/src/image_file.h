/// Images that stand in files beside the program (newtc --embed=file).
#ifndef NEWT_SRC_IMAGE_FILE_H
#define NEWT_SRC_IMAGE_FILE_H
#include "device.h"
#include <newt/module.h>

/// Reads the file of `image` into malloc'd `*out`; PTX gets its NUL. Looks in the folders of
/// newt_image_path(), else in those of NEWT_IMAGE_PATH as it was when `device` was opened, else in
/// the folder of the program or library that `module` is part of.
/// NEWT_NO_IMAGE where there is none, NEWT_BAD_IMAGE for another file of the name, NEWT_NO_MEMORY.
NewtStatus newti_image_read(const NewtDevice *device, const NewtModuleDesc *module,
                            const NewtImage *image, char **out);

/// FNV-1a in 64 bits, as newtc computes it.
uint64_t newti_checksum(const char *at, size_t size);
#endif
