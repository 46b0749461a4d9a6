// only.c - one variant a form: that which a call with given arguments takes.
//
// A search measures one shape, and the other variants of each candidate would only take time.
#include "lower/variants_impl.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_ALIGN = 256 };  // of what newt_alloc gives

// The value in "M=512 x_s0=512" of `name`; false when it is not there.
static bool given(const char *list, const char *name, int64_t *out)
{
    const size_t len = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ') {
        if (strncmp(at, name, len) != 0 || at[len] != '=')
            continue;
        *out = strtoll(at + len + 1, NULL, 10);
        return true;
    }
    return false;
}

// Whether the facts about one parameter hold; those about an unknown value do not.
static bool holds(const char *list, const char *name, const ParamBinding *b)
{
    int64_t value = 0;
    if (b->is_constexpr)
        return true;
    if (b->type->kind == TYPE_PTR)
        return !b->assumed || BUFFER_ALIGN % b->divisor == 0;
    if (!b->assumed && !b->has_value && !b->at_most)
        return true;
    return given(list, name, &value) && (!b->assumed || value % b->divisor == 0) &&
           (!b->has_value || value == b->equals) && (!b->at_most || value <= b->at_most);
}

static bool fits(const char *list, const Variant *v)
{
    for (uint32_t i = 0; i < v->function->param_count; i++)
        if (!holds(list, v->function->params[i].name->text, &v->params[i]))
            return false;
    return true;
}

bool lower_keep_fitting(Enumerate *e, UnitBuild *b, uint32_t first)
{
    const char *list = e->opt->only_for;
    if (!list)
        return true;
    for (uint32_t i = first; i < b->variants.len; i++) {
        if (!fits(list, &b->variants.at[i]))
            continue;
        b->variants.at[first] = b->variants.at[i];
        b->names.at[first] = b->names.at[i];
        b->variants.len = b->names.len = first + 1;
        return true;
    }
    const Function *f = b->unit.function;
    diag_report(e->p->diags, DIAG_BAD_VALUE, f->def->name_span,
                "no variant of '%s' takes the arguments of --only-for", f->name->text);
    return false;
}
