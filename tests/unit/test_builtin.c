/// test_builtin.c - where names are found, what their parameters are, which ones are compiled.
#include "sema/builtin.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    Arena arena;
    SymTable syms;
    TypeTable *types;
    BuiltinTable *table;
} Fixture;

static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->syms.arena = &f->arena;
    f->types = type_table_new(&f->arena);
    f->table = builtin_table_new(&f->arena, &f->syms, f->types);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    arena_free(&f->arena);
    free(f);
    return 0;
}

static ConstVal find_path(Fixture *f, const char *path)
{
    BuiltinSpace space = SPACE_BARE;
    for (;;) {
        size_t len = strcspn(path, ".");
        ConstVal v = builtin_find(f->table, space, sym_intern(&f->syms, path, len));
        if (!path[len] || v.kind != CONST_NAMESPACE)
            return v;
        space = ((const Namespace *)v.v.ref)->space;
        path += len + 1;
    }
}

static const struct {
    const char *path;
    BuiltinId id;
} functions[] = {
    { "load", BUILTIN_LOAD },
    { "nl.load", BUILTIN_LOAD },
    { "tl.load", BUILTIN_LOAD },
    { "newt.language.load", BUILTIN_LOAD },
    { "triton.language.load", BUILTIN_LOAD },
    { "triton.language.core.load", BUILTIN_LOAD },
    { "newt.jit", BUILTIN_JIT },
    { "triton.jit", BUILTIN_JIT },
    { "newt.kernel", BUILTIN_KERNEL },
    { "newt.tile", BUILTIN_TILE_KERNEL },
    { "deuteron.kernel", BUILTIN_TILE_KERNEL },
    { "deuteron.instance", BUILTIN_INSTANCE },
    { "dt.kernel", BUILTIN_TILE_KERNEL },
    { "dt.tile", BUILTIN_TILE },
    { "deuteron.language.exp", BUILTIN_OP_EXP },
    { "newt.cdiv", BUILTIN_OP_CDIV },
    { "nl.cdiv", BUILTIN_OP_CDIV },
    { "triton.next_power_of_2", BUILTIN_NEXT_POWER_OF_2 },
    { "triton.Config", BUILTIN_CONFIG },
    { "nl.exp", BUILTIN_OP_EXP },
    { "nl.math.exp", BUILTIN_OP_EXP },
    { "nl.maximum", BUILTIN_OP_MAX },
    { "nl.where", BUILTIN_OP_SELECT },
    { "tl.extra.libdevice.tanh", BUILTIN_OP_TANH },
    { "nl.extra.cuda.libdevice.tanh", BUILTIN_OP_TANH },
    { "tl.extra.libdevice.fast_expf", BUILTIN_OP_EXP },
    { "tl.extra.libdevice.fast_dividef", BUILTIN_FDIV },
    { "tl.extra.libdevice.asinh", BUILTIN_LATER },
    { "max", BUILTIN_PY_MAX },
    { "nl.max", BUILTIN_MAX },
    { "sum", BUILTIN_SUM },
    { "abs", BUILTIN_OP_ABS },
    { "round", BUILTIN_OP_RINT },
    { "nl.round", BUILTIN_OP_ROUND },
    { "float", BUILTIN_PY_FLOAT },
    { "bool", BUILTIN_PY_BOOL },
    { "range", BUILTIN_RANGE },
    { "nl.static_range", BUILTIN_STATIC_RANGE },
    { "tl.extra.cuda.smid", BUILTIN_SMID },
};

static void names_are_found(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        ConstVal v = find_path(f, functions[i].path);
        if (v.kind != CONST_BUILTIN)
            fail_msg("%s is not found", functions[i].path);
        const Builtin *b = v.v.ref;
        if (b->id != functions[i].id)
            fail_msg("%s is '%s'", functions[i].path, b->name->text);
    }
}

static void names_are_not_found(void **state)
{
    static const char *const paths[] = { "jit",    "nonexist",      "nl.jit",      "nl.print",
                                         "nl.len", "nl.isinstance", "to",          "is_floating",
                                         "nl.to",  "newt.load",     "nl.math.dot", "numpy" };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (find_path(*state, paths[i]).kind != CONST_ERROR)
            fail_msg("%s is found", paths[i]);
}

static void dtypes_and_words(void **state)
{
    Fixture *f = *state;
    static const struct {
        const char *path;
        ScalarKind kind;
    } dtypes[] = {
        { "nl.float32", SCALAR_F32 },     { "float16", SCALAR_F16 },
        { "nl.half", SCALAR_F16 },        { "nl.int1", SCALAR_I1 },
        { "tl.float8e4nv", SCALAR_E4M3 }, { "tl.float8e5", SCALAR_E5M2 },
        { "bfloat16", SCALAR_BF16 },      { "nl.uint64", SCALAR_U64 },
        { "double", SCALAR_F64 },         { "nl.float", SCALAR_F32 },
        { "nl.bool", SCALAR_I1 },
    };
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        ConstVal v = find_path(f, dtypes[i].path);
        assert_int_equal(v.kind, CONST_DTYPE);
        assert_ptr_equal(v.v.dtype, type_scalar(f->types, dtypes[i].kind));
    }
    static const char *const words[] = { "constexpr", "ptr",     "const",    "tensor",
                                         "desc",      "aligned", "multiple", "nl.dtype" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(find_path(f, words[i]).kind, CONST_ANNOTATION);
    ConstVal all = find_path(f, "nl.PropagateNan.ALL");
    assert_int_equal(all.kind, CONST_BOOL);
    assert_true(all.v.b);
}

static void spaces_by_import_path(void **state)
{
    Fixture *f = *state;
    assert_int_equal(builtin_find_space(f->table, "newt")->space, SPACE_TOP);
    assert_int_equal(builtin_find_space(f->table, "triton.language")->space, SPACE_LANG);
    assert_string_equal(builtin_find_space(f->table, "triton.language")->name, "newt.language");
    assert_int_equal(builtin_find_space(f->table, "triton.language.extra.cuda.libdevice")->space,
                     SPACE_LIBDEVICE);
    assert_null(builtin_find_space(f->table, "nl"));
    assert_null(builtin_find_space(f->table, "tl.math"));
    assert_null(builtin_find_space(f->table, "newt.nowhere"));
    assert_null(builtin_find_space(f->table, "newt.language.load"));
    assert_null(builtin_find_space(f->table, "torch"));
}

static void parameters(void **state)
{
    Fixture *f = *state;
    const Builtin *b = builtin_get(f->table, BUILTIN_LOAD);
    static const char *const names[] = { "pointer",         "mask",           "other",
                                         "boundary_check",  "padding_option", "cache_modifier",
                                         "eviction_policy", "volatile" };
    assert_int_equal(b->param_count, 8);
    for (uint32_t i = 0; i < b->param_count; i++) {
        assert_string_equal(b->params[i].name->text, names[i]);
        assert_int_equal(b->params[i].has_default, i > 0);
        assert_false(b->params[i].variadic);
    }
    ConstVal defaults[8];
    builtin_default_args(b, defaults);
    assert_int_equal(defaults[0].kind, CONST_ERROR);
    assert_int_equal(defaults[1].kind, CONST_NONE);
    assert_int_equal(defaults[3].kind, CONST_TUPLE);
    assert_int_equal(defaults[5].kind, CONST_STR);
    assert_int_equal(defaults[5].v.s.len, 0);
    assert_int_equal(defaults[7].kind, CONST_BOOL);
    assert_int_equal(builtin_find_param(b, sym_of(&f->syms, "other")), 2);
    assert_int_equal(builtin_find_param(b, sym_of(&f->syms, "masks")), -1);
    assert_string_equal(builtin_suggest_param(b, "masks"), "mask");
    b = builtin_get(f->table, BUILTIN_RESHAPE);
    assert_true(b->params[1].variadic);
    assert_string_equal(b->params[1].name->text, "shape");
    b = builtin_get(f->table, BUILTIN_PY_FLOAT);
    assert_int_equal(b->params[0].default_value.kind, CONST_FLOAT);
    b = builtin_get(f->table, BUILTIN_CONFIG);
    assert_int_equal(b->params[1].default_value.v.i, 4);
    b = builtin_get(f->table, BUILTIN_OP_CLAMP);
    assert_int_equal(b->param_count, 4);
    assert_int_equal(b->op, BUILTIN_OP_CLAMP - BUILTIN_OP_CONST);
    assert_int_equal(b->rule, RULE_CLAMP3);
}

static void methods(void **state)
{
    Fixture *f = *state;
    static const struct {
        const char *name;
        BuiltinUse use;
        int id;  // -1: none
    } cases[] = {
        { "to", USE_METHOD, BUILTIN_TO },
        { "sum", USE_METHOD, BUILTIN_SUM },
        { "reshape", USE_METHOD, BUILTIN_RESHAPE },
        { "exp", USE_METHOD, BUILTIN_OP_EXP },
        { "program_id", USE_METHOD, -1 },
        { "zeros", USE_METHOD, -1 },
        { "is_floating", USE_DTYPE_METHOD, BUILTIN_IS_FLOATING },
        { "is_int1", USE_DTYPE_METHOD, BUILTIN_IS_BOOL },
        { "is_floating", USE_METHOD, -1 },
        { "to", USE_DTYPE_METHOD, -1 },
        { "dot", USE_METHOD, -1 },
        { "load", USE_METHOD, BUILTIN_LOAD },
        { "load", USE_DESC_METHOD, BUILTIN_DESC_LOAD },
        { "advance", USE_DESC_METHOD, -1 },
        { "load", USE_FUNCTION, -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Builtin *b =
            builtin_find_method(f->table, sym_of(&f->syms, cases[i].name), cases[i].use);
        assert_int_equal(b ? (int)b->id : -1, cases[i].id);
    }
}

static void suggestions(void **state)
{
    Fixture *f = *state;
    assert_string_equal(builtin_suggest(f->table, SPACE_LANG, "maximun"), "maximum");
    assert_string_equal(builtin_suggest(f->table, SPACE_BARE, "prnit"), "print");
    assert_string_equal(builtin_suggest(f->table, SPACE_BARE, "program_di"), "program_id");
    assert_string_equal(builtin_suggest(f->table, SPACE_TOP, "autotnue"), "autotune");
    assert_null(builtin_suggest(f->table, SPACE_LANG, "zzzzzzzzzzz"));
}

static void every_row_is_complete(void **state)
{
    Fixture *f = *state;
    for (int id = 0; id < BUILTIN_LATER; id++) {
        const Builtin *b = builtin_get(f->table, (BuiltinId)id);
        if (!b)
            continue;
        assert_int_equal(b->id, id);
        assert_true(b->doc[0] != 0);
        for (uint32_t i = 1; i < b->param_count; i++)
            assert_true(b->params[i].has_default || !b->params[i - 1].has_default);
    }
}

static void unsupported_message(void **state)
{
    Fixture *f = *state;
    SourceMap sources = { .arena = &f->arena };
    DiagSink diags;
    diag_init(&diags, &f->arena, &sources);
    builtin_report_unsupported(&diags, (Span){ 0, 0 }, builtin_get(f->table, BUILTIN_SORT));
    assert_int_equal(diags.list.len, 1);
    assert_string_equal(diags.list.at[0]->text,
                        "'sort' is not compiled by this version yet (sorting)");
    assert_int_equal(diags.list.at[0]->id, DIAG_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),     cmocka_unit_test(names_are_not_found),
        cmocka_unit_test(dtypes_and_words),    cmocka_unit_test(spaces_by_import_path),
        cmocka_unit_test(parameters),          cmocka_unit_test(methods),
        cmocka_unit_test(suggestions),         cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(unsupported_message),
    };
    return cmocka_run_group_tests_name("builtin", tests, set_up, tear_down);
}
