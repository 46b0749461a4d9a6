/// builtin.c - questions to the table of builtins. It is built in builtin_table.c.
#include "sema/builtin_impl.h"
#include <string.h>

BuiltinEntry *builtin_slot(const BuiltinTable *t, unsigned space, Sym name)
{
    uint32_t at = (name->hash ^ (space * 0x9e3779b9u)) & (t->cap - 1);
    while (t->slots[at].name && (t->slots[at].name != name || t->slots[at].space != space))
        at = (at + 1) & (t->cap - 1);
    return &t->slots[at];
}

static ConstVal find_in(const BuiltinTable *t, unsigned space, Sym name)
{
    const BuiltinEntry *e = builtin_slot(t, space, name);
    return e->name ? e->value : const_error();
}

ConstVal builtin_find(const BuiltinTable *t, BuiltinSpace space, Sym name)
{
    ConstVal v = find_in(t, space, name);
    if (v.kind == CONST_ERROR && (space == SPACE_BARE || space == SPACE_DEUTERON))
        v = find_in(t, SPACE_LANG, name);
    return v.kind == CONST_ERROR && space == SPACE_DEUTERON ? find_in(t, SPACE_TOP, name) : v;
}

const Namespace *builtin_find_space(const BuiltinTable *t, const char *path)
{
    BuiltinSpace space = SPACE_BARE;
    while (*path) {
        size_t len = strcspn(path, ".");
        // A first part "nl" is a shorthand of the text, not a package that can be imported.
        if (space == SPACE_BARE && len < 4)
            return NULL;
        ConstVal v = find_in(t, space, sym_intern(t->syms, path, len));
        if (v.kind != CONST_NAMESPACE)
            return NULL;
        space = ((const Namespace *)v.v.ref)->space;
        path += len + (path[len] == '.');
    }
    return space == SPACE_BARE ? NULL : &t->spaces[space];
}

unsigned builtin_method_space(BuiltinUse use)
{
    switch (use) {
    case USE_METHOD: return SPACE_METHODS;
    case USE_DTYPE_METHOD: return SPACE_DTYPE_METHODS;
    case USE_DESC_METHOD: return SPACE_DESC_METHODS;
    case USE_FUNCTION:
    case USE_ANNOTATION:
    case USE_DECORATOR:
    case USE_DTYPE: break;
    }
    return SPACE_SLOTS;
}

const Builtin *builtin_find_method(const BuiltinTable *t, Sym name, BuiltinUse use)
{
    ConstVal v = find_in(t, builtin_method_space(use), name);
    return v.kind == CONST_BUILTIN ? v.v.ref : NULL;
}

const Builtin *builtin_get(const BuiltinTable *t, BuiltinId id)
{
    return t->rows[id].name ? &t->rows[id] : NULL;
}

const char *builtin_suggest(const BuiltinTable *t, BuiltinSpace space, const char *name)
{
    const char *near = diag_did_you_mean(name, t->names[space], t->name_count[space]);
    return near || (space != SPACE_BARE && space != SPACE_DEUTERON)
               ? near
               : diag_did_you_mean(name, t->names[SPACE_LANG], t->name_count[SPACE_LANG]);
}

const char *builtin_suggest_method(const BuiltinTable *t, const char *name, BuiltinUse use)
{
    unsigned space = builtin_method_space(use);
    return diag_did_you_mean(name, t->names[space], t->name_count[space]);
}

int builtin_find_param(const Builtin *b, Sym name)
{
    for (uint32_t i = 0; i < b->param_count; i++)
        if (b->params[i].name == name)
            return (int)i;
    return -1;
}

const char *builtin_suggest_param(const Builtin *b, const char *name)
{
    enum { MOST_PARAMS = 16 };
    const char *names[MOST_PARAMS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->param_count && count < MOST_PARAMS; i++)
        names[count++] = b->params[i].name->text;
    return diag_did_you_mean(name, names, count);
}

void builtin_default_args(const Builtin *b, ConstVal *out)
{
    for (uint32_t i = 0; i < b->param_count; i++)
        out[i] = b->params[i].default_value;
}

void builtin_report_unsupported(DiagSink *d, Span span, const Builtin *b)
{
    diag_report(d, DIAG_UNSUPPORTED, span, "'%s' is not compiled by this version yet (%s)",
                b->name->text, b->unsupported);
}
