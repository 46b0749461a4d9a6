// scalar.c - the table of scalar types, from lang/types.def, and the ways to find one by name.
#include "sema/type.h"

#include <string.h>

const ScalarInfo scalar_info[SCALAR_COUNT] = {
#define SCALAR(ID, name, long_name, sig, bits, cls, cuda, c, newt, ir) \
    [SCALAR_##                                                         \
        ID] = { name, long_name, sig, bits, ((bits) + 7) / 8, SCLASS_##cls, cuda, c, #newt, ir },
#include "types.def"
#undef SCALAR
};

const char *scalar_text(ScalarKind k)
{
    const ScalarInfo *s = &scalar_info[k];
    return s->cls == SCLASS_FLOAT || s->cls == SCLASS_FP8 ? s->signature : s->name;
}

ScalarKind scalar_find(const char *name)
{
    for (int k = 0; k < SCALAR_COUNT; k++) {
        const ScalarInfo *s = &scalar_info[k];
        if (strcmp(name, s->name) == 0 || (s->long_name && strcmp(name, s->long_name) == 0))
            return (ScalarKind)k;
    }
    return SCALAR_COUNT;
}

ScalarKind scalar_find_signature(const char *name)
{
    for (int k = 0; k < SCALAR_COUNT; k++)
        if (strcmp(name, scalar_info[k].signature) == 0)
            return (ScalarKind)k;
    return SCALAR_COUNT;
}
