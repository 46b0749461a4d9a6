/// test_resolve.c - modules, decorators, parameters and undefined names, with whole messages.
#include "sema/module.h"
#include "support/diag.h"
#include "support/fs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Arena arena;
    SourceMap sources;
    SymTable syms;
    DiagSink diags;
    Program program;
    Module *module;
    const char *dirs[1];
} Fixture;

static void resolve_text(Fixture *f, const char *path, const char *text)
{
    memset(f, 0, sizeof *f);
    f->sources.arena = &f->arena;
    f->syms.arena = &f->arena;
    diag_init(&f->diags, &f->arena, &f->sources);
    f->program = (Program){ .arena = &f->arena,
                            .syms = &f->syms,
                            .types = type_table_new(&f->arena),
                            .sources = &f->sources,
                            .diags = &f->diags };
    f->module = resolve_program(&f->program, source_add(&f->sources, path, text, strlen(text)));
}

/// "line:column: message [slug]", notes as "note line: text", help as "help: text".
static const char *messages(Fixture *f)
{
    Buf b = { 0 };
    for (uint32_t i = 0; i < f->diags.list.len; i++) {
        const Diag *d = f->diags.list.at[i];
        SourcePos pos = source_pos(&f->sources, d->span.lo);
        buf_printf(&b, "%u:%u: %s [%s]\n", pos.line, pos.column, d->text, diag_info[d->id].slug);
        for (uint32_t k = 0; k < d->notes.len; k++) {
            const DiagNote *n = &d->notes.at[k];
            if (n->is_help)
                buf_printf(&b, "help: %s\n", n->text);
            else
                buf_printf(&b, "note %u: %s\n", source_pos(&f->sources, n->span.lo).line, n->text);
        }
    }
    const char *text = arena_strndup(&f->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return text;
}

typedef struct {
    const char *name, *source, *messages;
} Case;

static const Case cases[] = {
    { "a_kernel_without_faults",
      "import newt.language as nl\n"
      "@newt.jit\n"
      "def gelu(x):\n"
      "    return 0.5 * x * (1.0 + nl.erf(x * 0.70710678))\n"
      "@newt.kernel(grid=lambda n, BLOCK: (nl.cdiv(n, BLOCK),), num_warps=4)\n"
      "def k(x: nl.ptr[nl.float32], n: nl.int32, BLOCK: nl.constexpr = 1024):\n"
      "    offs = nl.program_id(0) * BLOCK + nl.arange(0, BLOCK)\n"
      "    nl.store(x + offs, gelu(nl.load(x + offs, mask=offs < n)), mask=offs < n)\n",
      "" },
    { "triton_as_it_is",
      "import triton\nimport triton.language as tl\n"
      "from triton.language.extra import libdevice\n"
      "@triton.autotune(configs=[triton.Config({'B': 128}, num_warps=4)], key=['n'])\n"
      "@triton.heuristics({'EVEN': lambda args: args['n'] % args['B'] == 0})\n"
      "@triton.jit(do_not_specialize=['n'])\n"
      "def k(x, n, B: tl.constexpr, EVEN: tl.constexpr):\n"
      "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
      "    tl.store(x + o, libdevice.tanh(tl.load(x + o)) + tl.math.exp(1.0) + "
      "tl.extra.cuda.libdevice.pow(1.0, 2.0))\n",
      "" },
    { "bare_builtins",
      "@newt.jit\ndef k(x):\n    for i in range(len((1, 2))):\n"
      "        store(x + i, max(load(x), float('inf')), mask=isinstance(i, tensor))\n",
      "" },
    { "undefined_name", "@newt.jit\ndef f():\n    y = a + 1\n",
      "3:9: name 'a' is not defined [undefined-name]\n" },
    { "undefined_name_once", "@newt.jit\ndef f():\n    y = a + a\n    z = a\n",
      "3:9: name 'a' is not defined [undefined-name]\n" },
    { "undefined_name_in_each_function",
      "@newt.jit\ndef f():\n    y = a\n@newt.jit\ndef g():\n    y = a\n",
      "3:9: name 'a' is not defined [undefined-name]\n6:9: name 'a' is not defined "
      "[undefined-name]\n" },
    { "augmented_first", "@newt.jit\ndef f():\n    a += 1\n    b = a\n",
      "3:5: 'a' is read by '+=' before it is assigned [undefined-name]\n" },
    { "augmented_constant_of_module", "a = 1\n@newt.jit\ndef f():\n    a //= 2\n",
      "4:5: 'a' is read by '//=' before it is assigned [undefined-name]\n" },
    { "assigned_anywhere_is_local",
      "@newt.jit\ndef f(n):\n    if n:\n        y = 1\n    return y\n", "" },
    { "module_constant",
      "SCALE = 0.5\nBLOCK: nl.constexpr = 16\n@newt.jit\ndef f():\n    return SCALE * BLOCK\n",
      "" },
    { "constant_of_unknown", "A = B + 1\n", "1:5: name 'B' is not defined [undefined-name]\n" },
    { "unknown_helper",
      "@newt.jit\ndef gelu(x):\n    return x\n@newt.jit\ndef f(x):\n    return gelo(x)\n",
      "6:12: name 'gelo' is not defined [undefined-name]\nhelp: did you mean 'gelu'?\n" },
    { "unknown_member", "@newt.jit\ndef f(x):\n    return nl.loda(x)\n",
      "3:15: 'newt.language' has no 'loda' [undefined-name]\nhelp: did you mean 'load'?\n" },
    { "unknown_member_of_math", "@newt.jit\ndef f(x):\n    return tl.math.nonexistent(x)\n",
      "3:20: 'newt.language.math' has no 'nonexistent' [undefined-name]\n" },
    { "unknown_bare_builtin", "@newt.jit\ndef f(x):\n    return aragne(0, 4)\n",
      "3:12: name 'aragne' is not defined [undefined-name]\nhelp: did you mean 'arange'?\n" },
    { "local_hides_namespace", "@newt.jit\ndef f(nl):\n    return nl.nonexist\n", "" },
    { "lambda_in_decorator", "@newt.kernel(grid=lambda n: (cdiv(n, BLOK),))\ndef f(n):\n    pass\n",
      "1:38: name 'BLOK' is not defined [undefined-name]\n" },
    { "tensor_sizes_are_names",
      "@newt.jit\ndef f(x: tensor[float16, 'M', 'K']):\n    return M * K\n", "" },
    { "annotation_of_unknown", "@newt.jit\ndef f(x: nl.float33):\n    pass\n",
      "2:13: 'newt.language' has no 'float33' [undefined-name]\nhelp: did you mean 'float32'?\n" },
    { "unknown_decorator", "@newt.kernl\ndef f():\n    pass\n",
      "1:2: unknown decorator 'newt.kernl' [bad-decorator]\nhelp: did you mean '@newt.kernel'?\n" },
    { "foreign_decorator", "@torch.compile\ndef f():\n    pass\n",
      "1:2: unknown decorator 'torch.compile' [bad-decorator]\n" },
    { "no_decorator", "def f():\n    pass\n",
      "1:5: function 'f' is not marked as one of newt [bad-decorator]\n"
      "help: write @newt.jit above it, or @newt.kernel for an entry point\n" },
    { "two_kinds", "@newt.jit\n@newt.kernel\ndef f():\n    pass\n",
      "2:2: 'f' already has a decorator that says what it is [bad-decorator]\n" },
    { "kernel_argument", "@newt.kernel(grid=(1,), num_warp=4)\ndef f():\n    pass\n",
      "1:25: unknown argument 'num_warp' of 'kernel' [bad-call]\nhelp: did you mean "
      "'num_warps'?\n" },
    { "kernel_argument_twice", "@newt.kernel((1,), grid=(1,))\ndef f():\n    pass\n",
      "1:20: argument 'grid' is given twice [bad-call]\n" },
    { "autotune_without_configs", "@newt.autotune(key=['n'])\n@newt.jit\ndef f(n):\n    pass\n",
      "1:2: 'autotune' needs the argument 'configs' [bad-call]\n" },
    { "instance_without_call", "@newt.instance\n@newt.jit\ndef f(n):\n    pass\n",
      "1:2: the decorator 'instance' needs arguments [bad-decorator]\n" },
    { "tile_kernel", "@newt.tile(warps=4)\ndef f(x):\n    pass\n",
      "1:12: unknown argument 'warps' of 'tile' [bad-call]\n" },
    { "function_twice", "@newt.jit\ndef f():\n    pass\n@newt.jit\ndef f():\n    pass\n",
      "5:5: 'f' is defined twice [redefinition]\nnote 2: the first definition\n" },
    { "constant_twice", "A = 1\nA = 2\n",
      "2:1: 'A' is defined twice [redefinition]\nnote 1: the first definition\n" },
    { "same_import_twice", "import newt.language as nl\nimport newt.language as nl\n", "" },
    { "statement_at_module_level", "A = 1\nwhile A:\n    pass\n",
      "2:1: only imports, constants and functions stand at module level [not-in-language]\n" },
    { "constants_unpacked", "A, B = 1, 2\n",
      "1:1: only a plain name can be assigned at module level [not-in-language]\n" },
    { "python_module", "import math\n@newt.jit\ndef f(x):\n    return math.exp(x)\n",
      "1:8: the Python module 'math' is not part of the language [not-in-language]\n"
      "help: exp, log, sqrt and others are in newt.language\n" },
    { "missing_module", "import nowhere_at_all\n",
      "1:8: there is no module 'nowhere_at_all' [bad-import]\n"
      "help: it would be the file nowhere_at_all.newt beside this one, or in a folder given with "
      "-I\n" },
    { "missing_module_from", "from a.b import c\n@newt.jit\ndef f():\n    return c()\n",
      "1:1: there is no module 'a.b' [bad-import]\n"
      "help: it would be the file a/b.newt beside this one, or in a folder given with -I\n" },
    { "missing_builtin_name", "from newt.language import tanhh\n",
      "1:27: 'newt.language' has no 'tanhh' [undefined-name]\nhelp: did you mean 'tanh'?\n" },
    { "missing_module_of_triton", "from triton.testing import do_bench\nimport triton.runtime\n",
      "1:1: the language has no module 'triton.testing' [bad-import]\n"
      "2:8: the language has no module 'triton.runtime' [bad-import]\n" },
    { "future_is_ignored", "from __future__ import annotations\n", "" },
};

static void check_case(void **state)
{
    const Case *c = *state;
    Fixture f;
    resolve_text(&f, "t.newt", c->source);
    assert_string_equal(messages(&f), c->messages);
    assert_int_equal(diag_error_count(&f.diags) > 0, c->messages[0] != 0);
    arena_free(&f.arena);
}

// ---- what a function looks like ----------------------------------------------------------------

static void check_function(void **state)
{
    (void)state;
    Fixture f;
    resolve_text(
        &f, "dir/bias.newt",
        "@newt.instance(T=nl.float16)\n"
        "@newt.instance(T=nl.float32)\n"
        "@newt.example(n=16)\n"
        "@newt.kernel(grid=(1,), num_warps=8, num_stages=2, name='bias', alias=['x'])\n"
        "def k(x, T: nl.constexpr, C: 'tl.constexpr', D: constexpr[int] = 4, n: nl.int32 = 1):\n"
        "    \"\"\"first line\n"
        "\n"
        "        indented more\n"
        "      indented less   \n"
        "    \"\"\"\n"
        "    pass\n");
    assert_string_equal(messages(&f), "");
    assert_string_equal(f.module->name->text, "bias");
    Decl *d = module_find(f.module, sym_of(&f.syms, "k"));
    assert_non_null(d);
    assert_int_equal(d->kind, DECL_FUNCTION);
    const Function *k = d->value.v.ref;
    assert_int_equal(k->kind, FUNC_KERNEL);
    assert_int_equal(k->instances.len, 2);
    assert_int_equal(k->examples.len, 1);
    assert_int_equal(k->grid->kind, AST_TUPLE);
    assert_int_equal(ast_int(k->num_warps)->value, 8);
    assert_int_equal(ast_int(k->num_stages)->value, 2);
    assert_int_equal(k->export_name->kind, AST_STRING);
    assert_int_equal(k->alias->kind, AST_LIST);
    static const bool constexprs[] = { false, true, true, true, false };
    assert_int_equal(k->param_count, 5);
    for (uint32_t i = 0; i < k->param_count; i++)
        assert_int_equal(k->params[i].is_constexpr, constexprs[i]);
    assert_null(k->params[2].default_value);
    assert_int_equal(ast_int(k->params[3].default_value)->value, 4);
    assert_string_equal(k->doc, "first line\n\n  indented more\nindented less");
    arena_free(&f.arena);
}

// ---- several files -----------------------------------------------------------------------------

static const char *write_file(Arena *a, const char *folder, const char *name, const char *text)
{
    const char *path = arena_printf(a, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    return path;
}

typedef struct {
    const char *name, *main_file;
    const char *messages;  ///< of the files beside it; the folder's name is cut out
} FileCase;

static const FileCase file_cases[] = {
    { "from_a_file", "from activations import gelu\n@newt.jit\ndef f(x):\n    return gelu(x)\n",
      "" },
    { "a_file_as_namespace",
      "import activations as act\n@newt.jit\ndef f(x):\n    return act.gelu(x) * act.SCALE\n", "" },
    { "relative", "from .activations import gelu\nfrom . import activations\n", "" },
    { "everything", "from activations import *\n@newt.jit\ndef f(x):\n    return gelu(x)\n", "" },
    { "in_a_folder", "from deep.er import one\nimport deep.er as er\n", "" },
    { "in_a_folder_without_a_name", "import deep.er\n",
      "1:8: a module in a folder needs a name of its own [bad-import]\nhelp: write 'import deep.er "
      "as er'\n" },
    { "unknown_name", "from activations import gelo\n",
      "1:25: 'activations' has no 'gelo' [undefined-name]\nhelp: did you mean 'gelu'?\n" },
    { "unknown_member", "import activations\n@newt.jit\ndef f(x):\n    return activations.gel(x)\n",
      "4:24: 'activations' has no 'gel' [undefined-name]\nhelp: did you mean 'gelu'?\n" },
    { "a_folder", "import deep\n",
      "1:8: 'deep' is a folder; a module is one .newt file [bad-import]\n" },
    { "cycle", "import ring1\n",
      "1:8: import cycle: 'ring1' imports 'ring2' imports 'ring1' [bad-import]\n" },
    { "itself", "import main\n", "1:8: import cycle: 'main' imports 'main' [bad-import]\n" },
};

/// Cuts every occurrence of "folder/" out of `text`.
static const char *without_folder(Arena *a, const char *text, const char *folder)
{
    Buf b = { 0 };
    size_t len = strlen(folder);
    for (const char *p = text; *p;) {
        if (strncmp(p, folder, len) == 0)
            p += len + 1;
        else
            buf_putc(&b, *p++);
    }
    const char *out = arena_strndup(a, b.at ? b.at : "", b.len);
    buf_free(&b);
    return out;
}

static void check_files(void **state)
{
    const FileCase *c = *state;
    Arena a = { 0 };
    char folder[] = "/tmp/newt_resolve_XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *paths[8];
    unsigned n = 0;
    assert_true(fs_make_dirs(&a, arena_printf(&a, "%s/deep", folder)));
    paths[n++] = write_file(&a, folder, "activations.newt",
                            "SCALE = 2.0\n@newt.jit\ndef gelu(x):\n    return x * SCALE\n");
    paths[n++] = write_file(&a, folder, "deep/er.newt", "@newt.jit\ndef one():\n    return 1\n");
    paths[n++] = write_file(&a, folder, "ring1.newt", "import ring2\n");
    paths[n++] = write_file(&a, folder, "ring2.newt", "import ring1\n");
    const char *main_path = paths[n++] = write_file(&a, folder, "main.newt", c->main_file);
    Fixture f;
    resolve_text(&f, main_path, c->main_file);
    assert_string_equal(without_folder(&a, messages(&f), folder), c->messages);
    while (n > 0)
        assert_int_equal(remove(paths[--n]), 0);
    assert_int_equal(rmdir(arena_printf(&a, "%s/deep", folder)), 0);
    assert_int_equal(rmdir(folder), 0);
    arena_free(&f.arena);
    arena_free(&a);
}

int main(void)
{
    enum {
        CASES = sizeof cases / sizeof cases[0],
        FILES = sizeof file_cases / sizeof file_cases[0]
    };
    struct CMUnitTest tests[CASES + FILES + 1];
    size_t n = 0;
    for (size_t i = 0; i < CASES; i++)
        tests[n++] =
            (struct CMUnitTest){ cases[i].name, check_case, NULL, NULL, (void *)&cases[i] };
    for (size_t i = 0; i < FILES; i++)
        tests[n++] = (struct CMUnitTest){ file_cases[i].name, check_files, NULL, NULL,
                                          (void *)&file_cases[i] };
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_function);
    return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
