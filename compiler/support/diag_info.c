/// diag_info.c - the rows of diags.def as a table indexed by DiagId, and the look-up by slug.
#include "support/diag.h"
#include <string.h>

const DiagInfo diag_info[DIAG_COUNT] = {
#define DIAG(ID, slug, severity, group, explain) \
    [DIAG_##ID] = { slug, SEVERITY_##severity, DIAG_GROUP_##group, explain },
#include "support/diags.def"
#undef DIAG
};

DiagId diag_find(const char *slug)
{
    unsigned id = 0;

    while (id < DIAG_COUNT && strcmp(diag_info[id].slug, slug) != 0)
        id++;
    return (DiagId)id;
}
