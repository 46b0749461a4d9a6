/// target.c - look-up in targets.def.
#include "target/target.h"

#include <stdio.h>
#include <string.h>

// The table speaks of features by their short names.
#define CP_ASYNC   TARGET_CP_ASYNC
#define BF16       TARGET_BF16
#define NAN_MINMAX TARGET_NAN_MINMAX
#define REDUX      TARGET_REDUX
#define CVT_FP8    TARGET_CVT_FP8
#define ATOM_BF16  TARGET_ATOM_BF16
#define CLUSTER    TARGET_CLUSTER
#define TMA        TARGET_TMA
#define MBARRIER   TARGET_MBARRIER
#define WGMMA      TARGET_WGMMA
#define TCGEN05    TARGET_TCGEN05
#define PACKED_F32 TARGET_PACKED_F32
#define MMA_AMPERE TARGET_MMA_AMPERE
#define MMA_FP8    TARGET_MMA_FP8
#define STMATRIX   TARGET_STMATRIX
#define MMA_FP64   TARGET_MMA_FP64

// The last character of a name that ends in a letter, else 0.
#define SUFFIX(name)                                                                               \
    ((name)[sizeof(name) - 2] >= 'a' && (name)[sizeof(name) - 2] <= 'z' ? (name)[sizeof(name) - 2] \
                                                                        : 0)

#define CHIP(name, sm, cuda, shared, features) { name, sm, cuda, SUFFIX(name), shared, features },
static const Target targets[] = {
#include "target/targets.def"
};
#undef CHIP

#define CHIP(name, sm, cuda, shared, features) name,
static const char *const target_names[] = {
#include "target/targets.def"
};
#undef CHIP

enum { TARGET_COUNT = sizeof targets / sizeof *targets };

const Target *target_list(size_t *count)
{
    *count = TARGET_COUNT;
    return targets;
}

const Target *target_find(const char *name)
{
    for (size_t i = 0; i < TARGET_COUNT; i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}

const Target *target_get(const char *name, Span span, DiagSink *diags)
{
    const Target *t = target_find(name);
    if (t)
        return t;

    diag_report(diags, DIAG_UNKNOWN_ARCH, span, "unknown architecture '%s'", name);
    const char *near = diag_did_you_mean(name, target_names, TARGET_COUNT);
    if (near)
        diag_help(diags, "did you mean '%s'?", near);
    else
        diag_help(diags, "architectures are written like sm_80, sm_90a or host");
    return NULL;
}

bool target_is_major(const Target *t)
{
    return t->suffix == 0 && (t->sm % 10 == 0 || t->sm == 75);
}

void target_ptx_name(const Target *t, char out[16])
{
    snprintf(out, 16, "compute_%s", t->name + strlen("sm_"));
}
