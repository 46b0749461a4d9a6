// pass.c - the runner: order and levels come from passes.def, checks and dumps from the context.
#include "passes/pass.h"

#include <string.h>

const PassInfo pass_info[] = {
#define PASS(name, level, doc) { #name, PASS_##level, pass_##name, doc },
#include "passes/passes.def"
#undef PASS
    { NULL, PASS_LEVEL_COUNT, NULL, NULL },
};

const PassInfo *pass_find(const char *name)
{
    for (const PassInfo *p = pass_info; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

static unsigned ordinal_of(const PassInfo *pass)
{
    unsigned ordinal = 1;
    for (const PassInfo *p = pass_info; p != pass; p++)
        ordinal += strcmp(p->name, pass->name) == 0;
    return ordinal;
}

static bool run(PassCtx *cx, IrFunc *fn, const PassInfo *pass)
{
    if (!pass->run(cx, fn))
        return false;
    if (cx->dump_after)
        cx->dump_after(cx->dump_cx, pass->name, ordinal_of(pass), fn);
    if (!cx->verify_each || ir_verify(fn, cx->diags))
        return true;
    diag_note(cx->diags, fn->span, "the IR is malformed after pass '%s'", pass->name);
    return false;
}

bool pass_run_all(PassCtx *cx, IrFunc *fn, PassLevel first, PassLevel last)
{
    for (const PassInfo *p = pass_info; p->name; p++)
        if (p->level >= first && p->level <= last && !run(cx, fn, p))
            return false;
    return true;
}

bool pass_run_named(PassCtx *cx, IrFunc *fn, const char *name)
{
    return run(cx, fn, pass_find(name));
}
