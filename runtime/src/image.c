/// Which image of a module a device runs.
///
/// NVIDIA's rules: a plain cubin for X.y runs on X.z with z >= y; one for X.ya on X.y alone; one
/// for X.yf on X.z with z >= y of the same family; PTX compiles for its own and for later
/// architectures, with the same two restrictions for 'a' and 'f'.
#include "image.h"
#include "error.h"
#include <stdio.h>

static bool runs_on(const NewtImage *image, int arch)
{
    bool same_major = image->arch / 10 == arch / 10;
    switch (image->set) {
    case NEWT_SET_ACCELERATED: return image->arch == arch;
    case NEWT_SET_FAMILY: return same_major && image->arch <= arch;
    case NEWT_SET_COMMON:
        return image->arch <= arch && (same_major || image->kind == NEWT_IMAGE_PTX);
    }
    return false;
}

/// The more the better; 0: does not run there.
static int rank(const NewtImage *image, int arch, bool force_ptx)
{
    bool is_cubin = image->kind == NEWT_IMAGE_CUBIN;
    if (!runs_on(image, arch) || (is_cubin && force_ptx))
        return 0;
    int set = image->set == NEWT_SET_ACCELERATED ? 2 : image->set == NEWT_SET_FAMILY ? 1 : 0;
    return (is_cubin ? 100000 : 0) + 10000 * set + image->arch;
}

const NewtEntry *newti_entry_find(const NewtModuleDesc *module, const NewtVariant *variant,
                                  int arch, bool force_ptx)
{
    const NewtEntry *best = NULL;
    int best_rank = 0;
    for (uint32_t i = 0; i < variant->entry_count; i++) {
        const NewtEntry *entry = &variant->entries[i];
        int r = rank(&module->images[entry->image], arch, force_ptx);
        if (r > best_rank) {
            best = entry;
            best_rank = r;
        }
    }
    return best;
}

void newti_image_print(const NewtImage *image, char *text, size_t size)
{
    static const char *const suffixes[] = {
        [NEWT_SET_COMMON] = "",
        [NEWT_SET_ACCELERATED] = "a",
        [NEWT_SET_FAMILY] = "f",
    };
    bool is_ptx = image->kind == NEWT_IMAGE_PTX;
    snprintf(text, size, "%s_%d%s%s", is_ptx ? "compute" : "sm", (int)image->arch,
             suffixes[image->set], is_ptx ? " (PTX)" : "");
}

NewtStatus newti_image_missing(const NewtKernel *kernel, int arch)
{
    const NewtModuleDesc *module = kernel->module;
    char list[256] = "no GPU images";
    size_t used = 0;
    for (uint32_t i = 0; i < module->image_count && used < sizeof list; i++) {
        char one[32];
        newti_image_print(&module->images[i], one, sizeof one);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0 ? "images for " : ", ", one);
    }
    const char *none = module->image_count ? ", none of them for this call" : "";
    return newti_fail(NEWT_NO_IMAGE,
                      "%s has %s%s; this device is sm_%d; compile %s with --arch=sm_%d or add "
                      "--arch=ptx:compute_80",
                      kernel->name, list, none, arch, module->name, arch);
}
