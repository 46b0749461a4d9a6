/// test_emit.c - kernels of emit/*.ir through all passes to CUDA C++: run on the host, compiled by
/// NVRTC.
///
/// The host run (emit_run.cc, fibers for threads) checks values for 1, 2 and 8 warps; NVRTC checks
/// that every text compiles for each generation of chips without spills or local memory. Either is
/// skipped where its compiler is missing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "backend/cuda/emit.h"
#include "backend/cuda/nvrtc.h"
#include "passes/pass.h"
#include "simt_case.h"
#include "support/fs.h"

static const char *const kernels[] = { "vadd",       "sums",    "transpose",
                                       "loops",      "softmax", "reduce_kinds",
                                       "neighbours", "order",   "casts",
                                       "turns",      "tiles" };
enum { KERNEL_COUNT = sizeof kernels / sizeof *kernels };

typedef struct EmitCase {
    Arena arena;
    TypeTable *types;
    SymTable syms;
    SourceMap sources;
    DiagSink diags;
    LayoutTable *layouts;
    const Target *target;  // of the passes
    DotChoice dots;        // fibers have no matrix instructions
    uint32_t features;     // of the chips
    PassLevel first;       // passes before are left out
} EmitCase;

static void emit_case_init(EmitCase *c)
{
    memset(c, 0, sizeof *c);
    c->types = type_table_new(&c->arena);
    c->layouts = layout_table_new(&c->arena);
    c->target = target_find("sm_80");
    c->syms.arena = c->sources.arena = &c->arena;
    diag_init(&c->diags, &c->arena, &c->sources);
}

static void fail_with_diags(EmitCase *c)
{
    Buf text = { 0 };
    diag_print(&c->diags, DIAG_TEXT, false, &text);
    fail_msg("%s", text.at);
}

static const char *emit_path(EmitCase *c, const char *name)
{
    return arena_printf(&c->arena, "%s/tests/unit/emit/%s.ir", TEST_SOURCE_DIR, name);
}

/// The kernel's text for that many warps, in the arena. `source` may be NULL: emit/<name>.ir.
static const char *emit_text(EmitCase *c, const char *name, const char *source, unsigned warps,
                             CudaLines lines)
{
    const char *error;
    Buf out = { 0 };
    size_t len;
    if (!source)
        source = fs_read(&c->arena, emit_path(c, name), &len, &error);
    assert_non_null(source);
    const SourceFile *file =
        source_add(&c->sources, arena_printf(&c->arena, "%s.ir", name), source, strlen(source));
    const IrLayoutText layouts = layout_ir_text(c->layouts);
    IrFunc *fn = ir_read(&c->arena, c->types, &c->syms, file, &layouts, &c->diags);
    if (!fn)
        fail_with_diags(c);
    fn->num_warps = (uint16_t)warps;
    PassCtx passes = { .arena = &c->arena,
                       .diags = &c->diags,
                       .layouts = c->layouts,
                       .target = c->target,
                       .dots = c->dots,
                       .verify_each = true };
    const CudaEmitOptions options = {
        .entry = name, .layouts = c->layouts, .sources = &c->sources, .lines = lines,
        .features = c->features
    };
    if (!pass_run_all(&passes, fn, c->first, PASS_MEMORY) ||
        !cuda_emit(fn, &options, &c->diags, &out))
        fail_with_diags(c);
    const char *text = arena_strndup(&c->arena, out.at, out.len);
    buf_free(&out);
    return text;
}

/// True for a line that has no place in a namespace: includes, and the guards around what kernels
/// share.
static bool is_shared_line(const char *line)
{
    static const char *const beginnings[] = { "#include", "#ifndef", "#define", "#endif" };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(line, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/// The text in a namespace of its own, with the shared memory it declares.
static void append_kernel(Buf *out, const char *name, unsigned warps, const char *text)
{
    buf_printf(out, "namespace %s_w%u {\nalignas(16) static unsigned char nt_smem[1 << 17];\n",
               name, warps);
    while (*text) {
        if (strncmp(text, "extern \"C\" ", 11) == 0)
            text += 11;  // in each namespace a function of its own
        const size_t len = strcspn(text, "\n") + 1;
        if (!is_shared_line(text))
            buf_bytes(out, text, len);
        text += len;
    }
    buf_puts(out, "}\n");
}

/// transpose.ir for a chip whose shared memory holds a quarter of its block.
static void append_pieces(EmitCase *c, Buf *all)
{
    Target small = *c->target;
    const char *error;
    size_t len;
    const char *source = fs_read(&c->arena, emit_path(c, "transpose"), &len, &error);
    assert_non_null(source);
    small.shared_max = 4096 + 2048;
    c->target = &small;
    for (unsigned warps = 2; warps <= 8; warps *= 4) {
        const char *text = emit_text(c, "pieces", source, warps, CUDA_LINES_NONE);
        assert_non_null(strstr(text, "for (int piece = 0; piece < 4; piece++) {"));
        append_kernel(all, "pieces", warps, text);
    }
    c->target = target_find("sm_80");
}

/// A layout stands in the text, so that no instruction but stmatrix is needed.
static void append_matrices(EmitCase *c, Buf *all)
{
    c->features = TARGET_STMATRIX;
    c->first = PASS_MEMORY;
    const char *text = emit_text(c, "matrices", NULL, 4, CUDA_LINES_NONE);
    assert_non_null(strstr(text, "nt_stmatrix<4>("));
    append_kernel(all, "matrices", 4, text);
    c->features = 0;
    c->first = PASS_TILE;
}

static void kernels_compute_what_they_should(void **state)
{
    (void)state;
    static const unsigned warps[] = { 1, 2, 8 };
    EmitCase c;
    SimtCase simt;
    Buf all = { 0 };
    emit_case_init(&c);
    c.dots = DOT_FMA;
    simt_case_open(&simt);
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        for (size_t w = 0; w < 3; w++)
            append_kernel(&all, kernels[k], warps[w],
                          emit_text(&c, kernels[k], NULL, warps[w], CUDA_LINES_NONE));
    append_pieces(&c, &all);
    append_matrices(&c, &all);
    simt_case_write(&simt, "kernels.h", &all);
    buf_free(&all);
    simt_case_run(&simt, "emit_run.cc");
    simt_case_close(&simt);
    arena_free(&c.arena);
}

static Nvrtc *open_or_skip(EmitCase *c)
{
    Nvrtc *n = nvrtc_open(&c->arena, &(NvrtcPaths){ NULL, NULL });
    if (!n->loaded) {
        print_message("no libnvrtc here: skipped\n");
        skip();
    }
    return n;
}

static void nvrtc_takes_every_text(void **state)
{
    (void)state;
    static const char *const chips[] = { "sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120" };
    enum { CHIP_COUNT = sizeof chips / sizeof *chips };
    CudaRequest requests[KERNEL_COUNT * CHIP_COUNT];
    CudaImage images[KERNEL_COUNT * CHIP_COUNT];
    EmitCase c;
    emit_case_init(&c);
    Nvrtc *n = open_or_skip(&c);
    for (size_t k = 0; k < KERNEL_COUNT; k++) {
        const char *text = emit_text(&c, kernels[k], NULL, 4, CUDA_LINES_EXACT);
        for (size_t i = 0; i < CHIP_COUNT; i++)
            requests[k * CHIP_COUNT + i] = (CudaRequest){ .name = kernels[k],
                                                          .source = text,
                                                          .target = target_find(chips[i]),
                                                          .line_info = true };
    }
    cuda_compile_all(n, &c.arena, requests, images, KERNEL_COUNT * CHIP_COUNT, (CudaJobs){ .threads = 2 });
    for (size_t i = 0; i < KERNEL_COUNT * CHIP_COUNT; i++) {
        if (!images[i].ok)
            fail_msg("%s for %s: %s", requests[i].name, requests[i].target->name, images[i].log);
        assert_int_equal(images[i].usage.spill_stores, 0);
        assert_int_equal(images[i].usage.stack, 0);
        assert_null(strstr(images[i].log, "warning"));
    }
    arena_free(&c.arena);
}

/// True when operations of the rule take elements of the type.
static bool rule_takes(TypeRule rule, const ScalarInfo *type)
{
    const bool is_float = type->cls == SCLASS_FLOAT, is_fp8 = type->cls == SCLASS_FP8;
    const bool is_bool = type->cls == SCLASS_BOOL, is_int = !is_float && !is_fp8 && !is_bool;
    switch (rule) {
    case RULE_FLOAT1:
    case RULE_FLOAT2:
    case RULE_FPRED:
    case RULE_FMA3: return is_float;
    case RULE_DIV2: return is_float || is_fp8;
    case RULE_INT1:
    case RULE_IDIV2:
    case RULE_BIT2:
    case RULE_SHIFT2: return is_int || is_bool;
    case RULE_UMULHI2: return is_int && type->bits >= 32;
    case RULE_ANY1:
    case RULE_ARITH2:
    case RULE_REM2:
    case RULE_MINMAX2:
    case RULE_CLAMP3:
    case RULE_CMP2: return true;
    case RULE_SELECT3:
    case RULE_NONE: return false;
    }
    return false;
}

/// Every atomic that the type has; for int32 in every order and scope.
static void add_atomics(Buf *text, ScalarKind kind)
{
    static const char *const kinds[] = { "add", "max", "min", "xchg", "and", "or", "xor" };
    static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel" };
    static const char *const scopes[] = { "cta", "gpu", "sys" };
    const ScalarInfo *type = &scalar_info[kind];
    const bool is_float = type->cls == SCLASS_FLOAT;
    if (type->bits < (is_float ? 16 : 32))
        return;
    for (unsigned i = 0; i < (is_float ? 4u : 7u); i++)
        buf_printf(text, "%%a%u = atomic_rmw %%p, %%x0 {kind=%s, order=acq_rel, scope=gpu} : %s\n",
                   i, kinds[i], type->ir);
    buf_printf(text,
               "%%cas = atomic_cas %%p, %%x0, %%x1 {kind=add, order=acq_rel, scope=gpu} : %s\n",
               type->ir);
    for (unsigned i = 0; kind == SCALAR_I32 && i < 12; i++)
        buf_printf(text, "%%o%u = atomic_rmw %%p, %%x0 {kind=add, order=%s, scope=%s} : i32\n", i,
                   orders[i / 3], scopes[i % 3]);
}

/// Every modifier of loads and stores.
static void add_modifiers(Buf *text, const char *ir)
{
    static const char *const loads[] = { "cache=ca",    "cache=cg",   "cache=cv",
                                         "evict=first", "evict=last", "volatile" };
    static const char *const stores[] = { "cache=wb", "cache=cg",    "cache=cs",
                                          "cache=wt", "evict=first", "evict=last" };
    for (unsigned i = 0; i < 6; i++)
        buf_printf(text, "%%l%u = load %%p {%s} : %s\nstore %%p, %%l%u {%s}\n", i, loads[i], ir, i,
                   stores[i]);
}

/// A kernel with every elementwise operation that the type has, and casts from and to every type.
static const char *every_op(EmitCase *c, ScalarKind kind)
{
    const ScalarInfo *type = &scalar_info[kind];
    const char *ir = type->ir;
    Buf text = { 0 };
    buf_printf(&text, "func @k(%%p: *%s, %%b: *i1) num_warps=1 {\n", ir);
    for (unsigned i = 0; i < 3; i++)
        buf_printf(&text, "%%x%u = load %%p {volatile} : %s\n", i, ir);
    for (IrCode code = 0; code < IR_CODE_COUNT; code++) {
        const IrOpInfo *op = &ir_op_info[code];
        const bool predicate = op->rule == RULE_FPRED || op->rule == RULE_CMP2;
        if (!rule_takes(op->rule, type))
            continue;
        for (unsigned nan = 0; nan < (op->attr == ATTR_NAN ? 2u : 1u); nan++) {
            buf_printf(&text, "%%r%u_%u = %s %%x0%s%s%s : %s\n", code, nan, op->mnemonic,
                       ir_arity(code).required > 1 ? ", %x1" : "",
                       ir_arity(code).required > 2 ? ", %x2" : "", nan ? " {propagate_nan}" : "",
                       predicate ? "i1" : ir);
            buf_printf(&text, "store %%%c, %%r%u_%u {volatile}\n", predicate ? 'b' : 'p', code,
                       nan);
        }
    }
    for (ScalarKind to = 0; to < SCALAR_COUNT; to++) {
        if (to == kind)
            continue;
        buf_printf(&text,
                   "%%t%u = cast %%x0 : %s\n%%u%u = cast %%t%u : %s\nstore %%p, %%u%u {volatile}\n",
                   to, scalar_info[to].ir, to, to, ir, to);
    }
    add_atomics(&text, kind);
    add_modifiers(&text, ir);
    buf_puts(&text, "return\n}\n");
    const char *source = arena_strndup(&c->arena, text.at, text.len);
    buf_free(&text);
    return emit_text(c, arena_printf(&c->arena, "every_%s", ir), source, 1, CUDA_LINES_NONE);
}

static void prelude_has_every_op_on_every_type(void **state)
{
    (void)state;
    CudaRequest requests[2 * SCALAR_COUNT];
    CudaImage images[2 * SCALAR_COUNT];
    EmitCase c;
    emit_case_init(&c);
    Nvrtc *n = open_or_skip(&c);
    for (ScalarKind kind = 0; kind < SCALAR_COUNT; kind++) {
        requests[2 * kind] = (CudaRequest){ .name = scalar_info[kind].ir,
                                            .source = every_op(&c, kind),
                                            .target = target_find("sm_75"),
                                            .unoptimised = true };
        requests[2 * kind + 1] = requests[2 * kind];
        requests[2 * kind + 1].target = target_find("sm_90a");
    }
    cuda_compile_all(n, &c.arena, requests, images, 2 * SCALAR_COUNT, (CudaJobs){ .threads = 2 });
    for (size_t i = 0; i < 2 * SCALAR_COUNT; i++)
        if (!images[i].ok)
            fail_msg("%s for %s: %s", requests[i].name, requests[i].target->name, images[i].log);
    arena_free(&c.arena);
}

/// The listing of a cubin by nvdisasm; NULL where that is not installed.
static const char *disassemble(EmitCase *c, const CudaImage *image)
{
    char path[] = "/tmp/newt_cubin_XXXXXX";
    Buf listing = { 0 };
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, image->data, image->size), image->size);
    close(fd);
    const char *const argv[] = { "nvdisasm", "-c", path, NULL };
    const int status = proc_run(argv, &listing);
    unlink(path);
    const char *text = status == 0 ? arena_strndup(&c->arena, listing.at, listing.len) : NULL;
    buf_free(&listing);
    return text;
}

static void proved_accesses_are_wide(void **state)
{
    (void)state;
    EmitCase c;
    emit_case_init(&c);
    Nvrtc *n = open_or_skip(&c);
    CudaImage image =
        cuda_compile(n, &c.arena,
                     &(CudaRequest){ .name = "vadd",
                                     .source = emit_text(&c, "vadd", NULL, 4, CUDA_LINES_NONE),
                                     .target = target_find("sm_90a") });
    const char *sass = disassemble(&c, &image);
    if (!sass) {
        print_message("no nvdisasm here: skipped\n");
        arena_free(&c.arena);
        skip();
    }
    assert_non_null(strstr(sass, "LDG.E.128"));
    assert_non_null(strstr(sass, "STG.E.128"));
    assert_null(strstr(sass, "LDL"));
    assert_null(strstr(sass, "STL"));
    arena_free(&c.arena);
}

typedef struct {
    const char *name, *body, *want;
} TextCase;

// What a line of IR becomes; num_warps is 1, so that small blocks have few slots.
static const TextCase text_cases[] = {
    { "scalars_are_variables", "%a = program_id {axis=1} : i32\nstore %p, %a\n",
      "const int a = (int)blockIdx.y;" },
    { "only_thread_0_stores_a_scalar", "%c = const 7 : i32\nstore %p, %c\n",
      "if (tid == 0) {\n        nt_store<1>(p, &stored);" },
    { "replicas_do_not_store",
      "%i = arange 0, 8 : (8) i32\n%s = splat %p : (8) *i32\n%q = ptr_add %s, %i : (8) *i32\n"
      "store %q, %i\n",
      "const bool own_L0 = (tid & 24) == 0;" },
    { "counted_loop",
      "%z = const 0 : i32\n%n = const 9 : i32\n%one = const 1 : i32\n"
      "%r = for %z, %n, %one, %z : i32 (%i: i32, %a: i32) {\n%b = atomic_rmw %p, %a "
      "{kind=add, order=relaxed, scope=cta} : i32\nyield %b\n}\nstore %p, %r\n",
      "for (int i = 0; i < 9; i++) {" },
    { "loads_of_a_loop_have_a_path_without_masks",
      "%z = const 0 : i32\n%k = const 128 : i32\n%n = load %p : i32\n%zb = const 0 : (128) i32\n"
      "%i = arange 0, 128 : (128) i32\n%s = splat %p : (128) *i32\n%ns = splat %n : (128) i32\n"
      "%r = for %z, %n, %k, %zb : (128) i32 (%b: i32, %a: (128) i32) {\n"
      "%bs = splat %b : (128) i32\n%o = add %bs, %i : (128) i32\n%m = lt %o, %ns : (128) i1\n"
      "%q = ptr_add %s, %o : (128) *i32\n%v = load %q, mask=%m : (128) i32\n"
      "%t = add %a, %v : (128) i32\nyield %t\n}\nstore %s, %r\n",
      "nt_load_checked<4, NT_CONSECUTIVE | NT_ALIKE | NT_WHOLE, 4>(v, q, m);" },
    { "what_fits_no_registers_stays_a_loop",
      "%i = arange 0, 16384 : (16384) i32\n%s = splat %p : (16384) *i32\n%q = ptr_add %s, %i : (16384) *i32\n"
      "store %q, %i\n",
      "NT_UNROLL_SOME for (int r = 0; r < 512; r++)\n" },
    { "cache_operators", "%v = load %p {cache=cg} : i32\nstore %p, %v {evict=first}\n",
      "NT_DEFINE_LOAD(nt_load_cg, \"ld.global.cg\")\n" },
    { "eviction_priorities", "%v = load %p : i32\nstore %p, %v {evict=first}\n",
      "NT_DEFINE_STORE(nt_store_evict_first, \"st.global.L1::evict_first\")\n" },
    { "words_of_cpp_are_renamed", "%int = load %p : i32\nstore %p, %int\n", "int int_" },
    { "line_directives", "%v = load %p : i32\nstore %p, %v\n",
      "// %v = load %p : i32\n#line 2 \"line_directives.ir\"\n" },
};

static void check_text(void **state)
{
    const TextCase *t = *state;
    EmitCase c;
    emit_case_init(&c);
    const char *source =
        arena_printf(&c.arena, "func @f(%%p: *i32) num_warps=1 {\n%sreturn\n}\n", t->body);
    const char *text = emit_text(&c, t->name, source, 1, CUDA_LINES_STATEMENT);
    if (!strstr(text, t->want))
        fail_msg("no '%s' in\n%s", t->want, text);
    arena_free(&c.arena);
}

static void same_input_gives_same_text(void **state)
{
    (void)state;
    EmitCase a, b;
    emit_case_init(&a);
    emit_case_init(&b);
    emit_text(&b, "sums", NULL, 4,
              CUDA_LINES_STATEMENT);  // what was emitted before leaves no trace
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        assert_string_equal(emit_text(&a, kernels[k], NULL, 4, CUDA_LINES_STATEMENT),
                            emit_text(&b, kernels[k], NULL, 4, CUDA_LINES_STATEMENT));
    arena_free(&a.arena);
    arena_free(&b.arena);
}

int main(void)
{
    enum { TEXT_COUNT = sizeof text_cases / sizeof *text_cases };
    struct CMUnitTest tests[TEXT_COUNT + 5] = {
        [TEXT_COUNT] = cmocka_unit_test(same_input_gives_same_text),
        [TEXT_COUNT + 1] = cmocka_unit_test(kernels_compute_what_they_should),
        [TEXT_COUNT + 2] = cmocka_unit_test(nvrtc_takes_every_text),
        [TEXT_COUNT + 3] = cmocka_unit_test(proved_accesses_are_wide),
        [TEXT_COUNT + 4] = cmocka_unit_test(prelude_has_every_op_on_every_type),
    };
    for (size_t i = 0; i < TEXT_COUNT; i++)
        tests[i] = (struct CMUnitTest){ text_cases[i].name, check_text, NULL, NULL,
                                        (void *)&text_cases[i] };
    return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
