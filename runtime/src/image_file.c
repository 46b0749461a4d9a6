/// Reads images from files, and knows them again by their size and a checksum: a file that another
/// run of newtc wrote has other kernels in it.
#define _GNU_SOURCE  // dladdr
#include "image_file.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

uint64_t newti_checksum(const char *at, size_t size)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)at[i]) * UINT64_C(1099511628211);
    return sum;
}

/// The whole file, with a NUL behind it, unless it has another size. Errors are those of errno; a
/// file of another size is EFBIG.
static char *file_read(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *at = malloc(size + 1);
    errno = ENOMEM;
    size_t got = 0;
    if (at) {
        errno = EFBIG;
        got = fread(at, 1, size + 1, file);  // one byte more than there should be
        if (ferror(file))
            errno = EIO;
    }
    int why = errno;
    fclose(file);
    errno = why;
    if (at && got == size) {
        at[size] = '\0';
        return at;
    }
    free(at);
    errno = why;
    return NULL;
}

/// The folder of the program or library that holds `module`, in `room`.
static const char *own_folder(const NewtModuleDesc *module, char room[PATH_ROOM])
{
    Dl_info info;
    if (!dladdr(module, &info) || !info.dli_fname)
        return ".";
    const char *slash = strrchr(info.dli_fname, '/');
    size_t len = slash ? (size_t)(slash - info.dli_fname) : 0;
    if (len >= PATH_ROOM || !slash)
        return ".";
    memcpy(room, info.dli_fname, len);
    room[len] = '\0';
    return len ? room : "/";
}

/// Tries one folder of a list; NEWT_NO_IMAGE without a report when the file is not there.
static NewtStatus folder_try(const char *folder, size_t len, const NewtModuleDesc *module,
                             const NewtImage *image, char **out)
{
    char path[PATH_ROOM];
    bool is_ptx = image->kind == NEWT_IMAGE_PTX;
    size_t size = (size_t)image->size - is_ptx;  // its NUL is not in the file
    int used = snprintf(path, sizeof path, "%.*s/%s", (int)len, folder, image->file);
    if (used < 0 || (size_t)used >= sizeof path)
        return NEWT_NO_IMAGE;
    char *at = file_read(path, size);
    if (!at && errno == ENOMEM)
        return newti_fail(NEWT_NO_MEMORY, "%s: no memory to read %s", module->name, path);
    if (!at && errno != EFBIG)
        return NEWT_NO_IMAGE;
    if (!at || newti_checksum(at, size) != image->checksum) {
        free(at);
        return newti_fail(NEWT_BAD_IMAGE,
                          "%s: %s is not the image that newtc wrote with this module", module->name,
                          path);
    }
    *out = at;
    return NEWT_OK;
}

/// Tries the folders of `list`, which colons separate.
static NewtStatus folders_try(const char *list, const NewtModuleDesc *module,
                              const NewtImage *image, char **out)
{
    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ":");
        NewtStatus status = len ? folder_try(at, len, module, image, out) : NEWT_NO_IMAGE;
        if (status != NEWT_NO_IMAGE)
            return status;
        at += len + (at[len] == ':');
    }
    return newti_fail(NEWT_NO_IMAGE,
                      "%s: cannot read the image %s in '%s'; newt_image_path() or NEWT_IMAGE_PATH "
                      "gives its folder",
                      module->name, image->file, list);
}

NewtStatus newti_image_read(const NewtDevice *device, const NewtModuleDesc *module,
                            const NewtImage *image, char **out)
{
    char room[PATH_ROOM], *given;
    NewtStatus status = newti_image_path_get(&given);
    if (status != NEWT_OK)
        return status;
    const char *list = given                ? given
                       : device->image_path ? device->image_path
                                            : own_folder(module, room);
    status = folders_try(list, module, image, out);
    free(given);
    return status;
}
