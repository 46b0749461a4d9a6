/// builtin_table.c - builds the table of builtins from lang/builtins.def, ops.def and types.def.
///
/// Signatures are Python's parameter lists with constant defaults; a bad one trips an assertion,
/// and tests/unit/test_builtin.c reads them all.
#include "sema/builtin_impl.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { B = 1u << SPACE_BARE, T = 1u << SPACE_TOP, L = 1u << SPACE_LANG, C = 1u << SPACE_CUDA };

typedef struct BuiltinRow {
    BuiltinId id;
    const char *names, *signature, *later, *doc;
    unsigned spaces;
    BuiltinUse use;
} BuiltinRow;

static const BuiltinRow rows[] = {
#define FUNCTION     USE_FUNCTION
#define METHOD       USE_METHOD
#define DTYPE_METHOD USE_DTYPE_METHOD
#define DESC_METHOD  USE_DESC_METHOD
#define ANNOTATION   USE_ANNOTATION
#define DECORATOR    USE_DECORATOR
#define DTYPE        USE_DTYPE
#define BUILTIN(ID, names, spaces, use, signature, later, doc) \
    { BUILTIN_##ID, names, signature, later, doc, spaces, use },
#include "builtins.def"
#undef FUNCTION
#undef METHOD
#undef DTYPE_METHOD
#undef DESC_METHOD
#undef ANNOTATION
#undef DECORATOR
#undef DTYPE
};

static const struct {
    const char *surface, *doc;
    TypeRule rule;
} ops[] = {
#define OP(ID, mnemonic, surface, rule, cls, effects, attr, doc) { surface, doc, RULE_##rule },
#include "ops.def"
#undef OP
};

static const struct {
    BuiltinSpace space;
    const char *name;
} spaces[] = {
#define SPACE(ID, name) { SPACE_##ID, name },
#include "builtins.def"
};

static const struct {
    const char *name;
    BuiltinSpace space, child;
} children[] = {
#define CHILD(SPACE_ID, name, CHILD_ID) { name, SPACE_##SPACE_ID, SPACE_##CHILD_ID },
#include "builtins.def"
};

static const struct {
    const char *names;
    BuiltinSpace space;
    BuiltinId id;
} aliases[] = {
#define ALIAS(SPACE_ID, names, ID) { names, SPACE_##SPACE_ID, BUILTIN_##ID },
#include "builtins.def"
};

static const struct {
    BuiltinSpace space;
    const char *names;
} laters[] = {
#define LATER(SPACE_ID, names) { SPACE_##SPACE_ID, names },
#include "builtins.def"
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// ---- signatures -----------------------------------------------------------------------------

typedef struct Signature {
    const char *at;
    BuiltinTable *table;
} Signature;

static const char *take_word(Signature *s)
{
    size_t len = strspn(s->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    const char *word = arena_strndup(s->table->arena, s->at, len);
    assert(len > 0);
    s->at += len;
    return word;
}

static ConstVal take_default(Signature *s)
{
    if (*s->at == '\'') {
        size_t len = strcspn(++s->at, "'");
        ConstVal v = const_str((Str){ s->at, (uint32_t)len });
        s->at += len + 1;
        return v;
    }
    if (strncmp(s->at, "()", 2) == 0) {
        s->at += 2;
        return const_tuple(NULL, 0);
    }
    const char *word = take_word(s);
    if (strcmp(word, "None") == 0)
        return const_none();
    if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
        return const_bool(*word == 'T');
    return strchr(word, '.') ? const_float(strtod(word, NULL)) : const_int(strtol(word, NULL, 10));
}

static void read_signature(BuiltinTable *t, Builtin *b, const char *text)
{
    VEC(BuiltinParam) params = { 0 };
    Signature s = { text, t };
    while (*s.at) {
        BuiltinParam p = { .default_value = const_error() };
        p.variadic = *s.at == '*';
        s.at += p.variadic;
        p.name = sym_of(t->syms, take_word(&s));
        if (p.variadic)
            p.default_value = const_tuple(NULL, 0);
        p.has_default = *s.at == '=' || p.variadic;
        if (*s.at == '=') {
            s.at++;
            p.default_value = take_default(&s);
        }
        VEC_PUSH(t->arena, &params, p);
        s.at += strspn(s.at, ", ");
    }
    b->params = params.at;
    b->param_count = params.len;
}

// Operations name their parameters by their rule.
static const char *signature_of_rule(TypeRule rule)
{
    switch (rule) {
    case RULE_NONE: return "";
    case RULE_FLOAT1:
    case RULE_ANY1:
    case RULE_INT1:
    case RULE_FPRED: return "x";
    case RULE_FMA3: return "x, y, z";
    case RULE_CLAMP3: return "x, min, max, propagate_nan=False";
    case RULE_SELECT3: return "condition, x, y";
    case RULE_MINMAX2: return "x, y, propagate_nan=False";
    case RULE_IDIV2: return "x, div";
    case RULE_ARITH2:
    case RULE_DIV2:
    case RULE_REM2:
    case RULE_BIT2:
    case RULE_SHIFT2:
    case RULE_CMP2:
    case RULE_FLOAT2:
    case RULE_UMULHI2: break;
    }
    return "x, y";
}

// ---- names ----------------------------------------------------------------------------------

static void grow(BuiltinTable *t)
{
    BuiltinEntry *old = t->slots;
    uint32_t old_cap = t->cap;
    t->cap = old_cap ? old_cap * 2 : 2048;
    t->slots = ARENA_NEW_N(t->arena, BuiltinEntry, t->cap);
    for (uint32_t i = 0; i < old_cap; i++)
        if (old[i].name)
            *builtin_slot(t, old[i].space, old[i].name) = old[i];
}

static void enter(BuiltinTable *t, unsigned space, Sym name, ConstVal value)
{
    if (t->count * 2 >= t->cap)
        grow(t);
    BuiltinEntry *e = builtin_slot(t, space, name);
    assert(!e->name);
    *e = (BuiltinEntry){ space, name, value };
    t->count++;
}

/// The next of the names in `*text`, or NULL at the end.
static Sym take_name(BuiltinTable *t, const char **text)
{
    size_t len = strcspn(*text, " ");
    Sym name = len ? sym_intern(t->syms, *text, len) : NULL;
    *text += len + ((*text)[len] == ' ');
    return name;
}

static ConstVal value_of(const Builtin *b)
{
    return const_ref(b->use == USE_ANNOTATION ? CONST_ANNOTATION : CONST_BUILTIN, b);
}

static void enter_rows(BuiltinTable *t)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const BuiltinRow *row = &rows[i];
        Builtin *b = &t->rows[row->id];
        *b = (Builtin){
            .id = row->id, .use = row->use, .op = -1, .unsupported = row->later, .doc = row->doc
        };
        read_signature(t, b, row->signature);
        const char *names = row->names;
        for (Sym name; (name = take_name(t, &names));) {
            b->name = b->name ? b->name : name;
            for (unsigned space = 0; space < SPACE_COUNT; space++)
                if (row->spaces & 1u << space)
                    enter(t, space, name, value_of(b));
            const unsigned methods = builtin_method_space(row->use);
            if (methods != SPACE_SLOTS)
                enter(t, methods, name, value_of(b));
        }
    }
}

static void enter_ops(BuiltinTable *t)
{
    for (size_t i = 0; i < COUNT(ops); i++) {
        if (!ops[i].surface)
            continue;
        BuiltinId id = (BuiltinId)(BUILTIN_OP_CONST + i);
        Builtin *b = &t->rows[id];
        *b = (Builtin){ .id = id,
                        .name = sym_of(t->syms, ops[i].surface),
                        .use = USE_METHOD,
                        .op = (int)i,
                        .rule = ops[i].rule,
                        .doc = ops[i].doc };
        read_signature(t, b, signature_of_rule(b->rule));
        enter(t, SPACE_LANG, b->name, value_of(b));
        enter(t, SPACE_METHODS, b->name, value_of(b));
    }
}

static void enter_aliases(BuiltinTable *t)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        const char *names = aliases[i].names;
        for (Sym name; (name = take_name(t, &names));)
            enter(t, aliases[i].space, name, value_of(&t->rows[aliases[i].id]));
    }
    for (size_t i = 0; i < COUNT(laters); i++) {
        const char *names = laters[i].names;
        for (Sym name; (name = take_name(t, &names));) {
            Builtin *b = ARENA_NEW(t->arena, Builtin);
            *b = (Builtin){ .id = BUILTIN_LATER,
                            .name = name,
                            .op = -1,
                            .unsupported = laters[i].space == SPACE_LIBDEVICE
                                               ? "CUDA's math library"
                                               : "questions to the target",
                            .doc = "" };
            enter(t, laters[i].space, name, value_of(b));
        }
    }
}

static void enter_spaces(BuiltinTable *t)
{
    for (size_t i = 0; i < COUNT(spaces); i++)
        t->spaces[spaces[i].space] =
            (Namespace){ .space = spaces[i].space, .name = spaces[i].name };
    for (size_t i = 0; i < COUNT(children); i++)
        enter(t, children[i].space, sym_of(t->syms, children[i].name),
              const_ref(CONST_NAMESPACE, &t->spaces[children[i].child]));
#define CONSTANT(SPACE_ID, name, value) enter(t, SPACE_##SPACE_ID, sym_of(t->syms, name), value);
#include "builtins.def"
}

// `float` and `bool` are long names of types, but bare they are Python's functions.
static void enter_dtypes(BuiltinTable *t, TypeTable *types)
{
    for (int k = 0; k < SCALAR_COUNT; k++) {
        ConstVal v = const_dtype(type_scalar(types, (ScalarKind)k));
        enter(t, SPACE_LANG, sym_of(t->syms, scalar_info[k].name), v);
        if (scalar_info[k].long_name)
            enter(t, SPACE_LANG, sym_of(t->syms, scalar_info[k].long_name), v);
    }
    enter(t, SPACE_LANG, sym_of(t->syms, "void"), const_dtype(type_void(types)));
}

static void collect_names(BuiltinTable *t)
{
    for (uint32_t i = 0; i < t->cap; i++)
        t->name_count[t->slots[i].space] += t->slots[i].name != NULL;
    for (unsigned space = 0; space < SPACE_SLOTS; space++) {
        t->names[space] = ARENA_NEW_N(t->arena, const char *, t->name_count[space]);
        t->name_count[space] = 0;
    }
    for (uint32_t i = 0; i < t->cap; i++)
        if (t->slots[i].name)
            t->names[t->slots[i].space][t->name_count[t->slots[i].space]++] =
                t->slots[i].name->text;
}

BuiltinTable *builtin_table_new(Arena *a, SymTable *syms, TypeTable *types)
{
    BuiltinTable *t = ARENA_NEW(a, BuiltinTable);
    t->arena = a;
    t->syms = syms;
    enter_spaces(t);
    enter_rows(t);
    enter_ops(t);
    enter_aliases(t);
    enter_dtypes(t, types);
    collect_names(t);
    return t;
}
