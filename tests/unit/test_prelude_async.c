/// test_prelude_async.c - the prelude's asynchronous and matrix instructions: the PTX that each
/// function becomes, and that ptxas takes it; skipped where there is no NVRTC.
///
/// The wanted instructions are those of PTX's manual.
#include "backend/cuda/nvrtc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/// A call, and the instruction that the PTX has for it.
typedef struct Row {
    unsigned chips;
    const char *call, *want;
} Row;
enum { SM_80 = 1, SM_90 = 2, SM_90A = 4, FROM_90 = SM_90 | SM_90A, FROM_80 = SM_80 | FROM_90 };
static const char *const chips[] = { "sm_80", "sm_90", "sm_90a" };

#define TMA_LOAD(RANK) \
    "cp.async.bulk.tensor." #RANK "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
#define TMA_HINT(RANK)            \
    "cp.async.bulk.tensor." #RANK \
    "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
#define TMA_STORE(RANK) "cp.async.bulk.tensor." #RANK "d.global.shared::cta.tile.bulk_group "

static const Row rows[] = {
    { FROM_80, "nt_copy_async<4>(bar, p + w[0], n > 0)", "cp.async.ca.shared.global [%, %, 4, %;" },
    { FROM_80, "nt_copy_async<8>(s, p, n > 0)", "cp.async.ca.shared.global [%, %, 8, %;" },
    { FROM_80, "nt_copy_async<16>(s, p, n > 0)", "cp.async.cg.shared.global [%, %, 16, %;" },
    { FROM_80, "nt_copy_commit()", "cp.async.commit_group;" },
    { FROM_80, "nt_copy_wait<3>()", "cp.async.wait_group 3;" },
    { FROM_80, "nt_named_barrier(n, 64)", "bar.sync %, %;" },
    { FROM_90, "nt_mbar_init(bar, 3)", "mbarrier.init.shared::cta.b64 [%, %;" },
    { FROM_90, "nt_mbar_init_fence()", "fence.mbarrier_init.release.cluster;" },
    { FROM_90, "nt_mbar_expect(bar, 64)", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%, %;" },
    { FROM_90, "nt_mbar_arrive(bar)", "mbarrier.arrive.shared::cta.b64 _, [%;" },
    { FROM_90, "nt_mbar_wait(bar, n & 1)",
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%, %;" },
    { FROM_90, "nt_tma_load<1>(s, &map, bar, n)", TMA_LOAD(1) "[%, [%, {%}], [%;" },
    { FROM_90, "nt_tma_load<2>(s, &map, bar, n, 1)", TMA_LOAD(2) "[%, [%, {%, %}], [%;" },
    { FROM_90, "nt_tma_load<3>(s, &map, bar, n, 1, 2)", TMA_LOAD(3) "[%, [%, {%, %, %}], [%;" },
    { FROM_90, "nt_tma_load<4>(s, &map, bar, n, 1, 2, 3)",
      TMA_LOAD(4) "[%, [%, {%, %, %, %}], [%;" },
    { FROM_90, "nt_tma_load<5>(s, &map, bar, n, 1, 2, 3, 4)",
      TMA_LOAD(5) "[%, [%, {%, %, %, %, %}], [%;" },
    { FROM_90, "nt_tma_load_hint<2>(s, &map, bar, nt_policy_evict_first(), n, 1)",
      TMA_HINT(2) "[%, [%, {%, %}], [%, %;" },
    { FROM_90, "nt_tma_load_hint<5>(s, &map, bar, nt_policy_evict_first(), n, 1, 2, 3, 4)",
      TMA_HINT(5) "[%, [%, {%, %, %, %, %}], [%, %;" },
    { FROM_90, "", "createpolicy.fractional.L2::evict_first.b64 %, 1.0;" },
    { FROM_90, "nt_tma_store<1>(&map, s, n)", TMA_STORE(1) "[%, {%}], [%;" },
    { FROM_90, "nt_tma_store<2>(&map, s, n, 1)", TMA_STORE(2) "[%, {%, %}], [%;" },
    { FROM_90, "nt_tma_store<3>(&map, s, n, 1, 2)", TMA_STORE(3) "[%, {%, %, %}], [%;" },
    { FROM_90, "nt_tma_store<4>(&map, s, n, 1, 2, 3)", TMA_STORE(4) "[%, {%, %, %, %}], [%;" },
    { FROM_90, "nt_tma_store<5>(&map, s, n, 1, 2, 3, 4)",
      TMA_STORE(5) "[%, {%, %, %, %, %}], [%;" },
    { FROM_90, "nt_tma_store_commit()", "cp.async.bulk.commit_group;" },
    { FROM_90, "nt_tma_store_wait_read<1>()", "cp.async.bulk.wait_group.read 1;" },
    { FROM_90, "nt_tma_store_wait<2>()", "cp.async.bulk.wait_group 2;" },
    { FROM_90, "nt_tma_prefetch(&map)", "prefetch.tensormap [%;" },
    { FROM_90, "nt_fence_async()", "fence.proxy.async.shared::cta;" },
    { FROM_90, "nt_stmatrix<1>(s, w)", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%, {%};" },
    { FROM_90, "nt_stmatrix<2>(s, w)", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%, {%, %};" },
    { FROM_90, "nt_stmatrix<4>(s, w)",
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%, {%, %, %, %};" },
    { FROM_90, "nt_stmatrix_trans<1>(s, w)",
      "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%, {%};" },
    { FROM_90, "nt_stmatrix_trans<2>(s, w)",
      "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%, {%, %};" },
    { FROM_90, "nt_stmatrix_trans<4>(s, w)",
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%, {%, %, %, %};" },
    { SM_80, "nt_mma_m16n8k8_f64_f64_f64(d, d + 4, d + 8)",
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%, %}, {%}, {%}, {%, %};" },
    { FROM_90, "nt_mma_m16n8k8_f64_f64_f64(d, d + 4, d + 8)",
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%, %, %, %}, {%, %, %, %}, {%, %}, "
      "{%, %, %, %};" },
    { SM_90A, "nt_registers_up<232>()", "setmaxnreg.inc.sync.aligned.u32 232;" },
    { SM_90A, "nt_registers_down<40>()", "setmaxnreg.dec.sync.aligned.u32 40;" },
};

static Nvrtc *open_or_skip(Arena *a)
{
    Nvrtc *n = nvrtc_open(a, &(NvrtcPaths){ NULL, NULL });
    if (!n->loaded) {
        arena_free(a);
        print_message("no libnvrtc here: skipped\n");
        skip();
    }
    return n;
}

/// Whether the text has the pattern in one line; '%' stands for one operand.
static bool matches_here(const char *text, const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern == '%')
            text += strcspn(text, ",;}\n");
        else if (*text++ != *pattern)
            return false;
    }
    return true;
}

static bool has_instruction(const char *text, const char *pattern)
{
    for (const char *word = strchr(pattern, '%'); *text; text++)
        if (strncmp(text, pattern, word ? (size_t)(word - pattern) : strlen(pattern)) == 0 &&
            matches_here(text, pattern))
            return true;
    return false;
}

static CudaImage compile(const Nvrtc *n, Arena *a, const Buf *text, const char *chip, bool ptx)
{
    CudaImage image = cuda_compile(n, a,
                                   &(CudaRequest){ .name = "prelude_async.cu",
                                                   .source = text->at,
                                                   .target = target_find(chip),
                                                   .ptx = ptx });
    if (!image.ok)
        fail_msg("%s: %s", chip, image.log);
    if (strstr(image.log, "warning") || strstr(image.log, "Performance Loss"))
        fail_msg("%s: %s", chip, image.log);
    return image;
}

static void every_function_is_its_instruction(void **state)
{
    (void)state;
    Arena a = { 0 };
    Nvrtc *n = open_or_skip(&a);
    for (unsigned chip = 0; chip < sizeof chips / sizeof *chips; chip++) {
        Buf text = { 0 };
        for (const char *const *name =
                 (const char *const[]){ "mma", "async", "mbarrier", "tma", "warps", "wgmma", NULL };
             *name; name++)
            buf_printf(&text, "#include \"newt/%s.cuh\"\n", *name);
        buf_puts(
            &text,
            "extern \"C\" __global__ void __launch_bounds__(384, 1)\n"
            "k(const __grid_constant__ nt_tensor_map map, const float *p, double *out, int n)\n{\n"
            "    extern __shared__ __align__(1024) unsigned char s[];\n"
            "    unsigned long long *bar = (unsigned long long *)(s + 4096);\n"
            "    const unsigned w[4] = { threadIdx.x, 1, 2, 3 };\n"
            "    double d[10];\n"
            "    for (int i = 0; i < 10; i++)\n        d[i] = out[i];\n");
        for (const Row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
            if (r->chips >> chip & 1)
                buf_printf(&text, "    %s;\n", r->call);
        buf_puts(&text, "    for (int i = 0; i < 4; i++)\n        out[i] = d[i];\n}\n");
        CudaImage ptx = compile(n, &a, &text, chips[chip], true);
        for (const Row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
            if (has_instruction(ptx.data, r->want) != (r->chips >> chip & 1))
                fail_msg("%s: '%s' lacks '%s' or has it too much: %s", chips[chip], r->call,
                         r->want, ptx.data);
        compile(n, &a, &text, chips[chip], false);
        buf_free(&text);
    }
    arena_free(&a);
}

/// A matrix instruction; registers of the sum are N / `share`.
typedef struct MatrixRow {
    const char *types;
    unsigned k, share;
    bool swaps;  ///< either order of the factors
    const char *sum, *tail;
} MatrixRow;
static const MatrixRow matrix_rows[] = {
    { "f32.f16.f16", 16, 2, true, "float", ", 1, 1" },
    { "f32.bf16.bf16", 16, 2, true, "float", ", 1, 1" },
    { "f16.f16.f16", 16, 4, true, "unsigned", ", 1, 1" },
    { "f32.tf32.tf32", 8, 2, false, "float", ", 1, 1" },
    { "f32.e4m3.e4m3", 32, 2, false, "float", ", 1, 1" },
    { "f32.e4m3.e5m2", 32, 2, false, "float", ", 1, 1" },
    { "f32.e5m2.e4m3", 32, 2, false, "float", ", 1, 1" },
    { "f32.e5m2.e5m2", 32, 2, false, "float", ", 1, 1" },
    { "s32.s8.s8", 32, 2, false, "int", "" },
};
static const unsigned widths[] = { 8, 16, 32, 64, 96, 128, 192, 256 };

/// A kernel that adds two products to a sum, the second with A from registers, and stores it.
static void print_kernel(Buf *out, const MatrixRow *r, unsigned width, unsigned id)
{
    char name[64];
    const unsigned count = width / r->share;
    snprintf(name, sizeof name, "nt_wgmma_m64n%uk%u_%s", width, r->k, r->types);
    for (char *dot = name; (dot = strchr(dot, '.'));)
        *dot = '_';
    buf_printf(out,
               "extern \"C\" __global__ void __launch_bounds__(128) k%u(%s *to, unsigned *from, "
               "int n)\n{\n",
               id, r->sum);
    buf_puts(out, "    extern __shared__ __align__(1024) unsigned char s[];\n"
                  "    const unsigned long long a = nt_wgmma_desc(s, 16, 1024, 1);\n"
                  "    const unsigned long long b = nt_wgmma_desc(s + 8192, 1024, 512, 2);\n");
    buf_printf(out, "    %s sum[%u];\n    unsigned x[4];\n", r->sum, count);
    buf_puts(out, "    for (int i = 0; i < 4; i++)\n        x[i] = from[threadIdx.x * 4 + i];\n    "
                  "nt_wgmma_fence();\n");
    buf_printf(out, "    %s%s(sum, a, b, 0);\n", name, r->swaps ? "<0, 1>" : "");
    buf_printf(out, "    %s_rs%s(sum, x, b, n);\n", name, r->swaps ? "<1>" : "");
    buf_puts(out, "    nt_wgmma_commit();\n    nt_wgmma_wait<0>();\n    nt_wgmma_keep(sum);\n");
    buf_printf(out,
               "    for (int i = 0; i < %u; i++)\n        to[threadIdx.x * %u + i] = sum[i];\n}\n",
               count, count);
}

/// The two instructions of such a kernel.
static void check_kernel(const char *ptx, const MatrixRow *r, unsigned width)
{
    for (int from_registers = 0; from_registers < 2; from_registers++) {
        Buf want = { 0 };
        buf_printf(&want, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s {", width, r->k, r->types);
        for (unsigned i = 0; i < width / r->share; i++)
            buf_puts(&want, i ? ", %" : "%");
        buf_puts(&want, from_registers ? "}, {%, %, %, %}, %, p" : "}, %, %, p");
        buf_puts(&want, r->tail);
        if (r->swaps)
            buf_puts(&want, from_registers ? ", 1" : ", 0, 1");
        buf_puts(&want, ";");
        if (!has_instruction(ptx, want.at))
            fail_msg("no '%s' in %s", want.at, ptx);
        buf_free(&want);
    }
}

/// The text with the products of `types` for all widths that `only` allows (0: all).
static void print_matrices(Buf *out, const MatrixRow *first, const MatrixRow *end, unsigned only)
{
    unsigned id = 0;
    for (const unsigned *w = widths; w < widths + sizeof widths / sizeof *widths; w++)
        if (!only || only == *w)
            buf_printf(out, "#define NT_WGMMA_N%u\n", *w);
    buf_puts(out, "#include \"newt/wgmma.cuh\"\n");
    for (const MatrixRow *r = first; r < end; r++)
        for (const unsigned *w = widths; w < widths + sizeof widths / sizeof *widths; w++)
            if (!only || only == *w)
                print_kernel(out, r, *w, id++);
}

static void every_matrix_instruction_is_there(void **state)
{
    (void)state;
    Arena a = { 0 };
    Nvrtc *n = open_or_skip(&a);
    const MatrixRow *end = matrix_rows + sizeof matrix_rows / sizeof *matrix_rows;
    Buf text = { 0 }, narrow = { 0 }, half = { 0 };
    print_matrices(&text, matrix_rows, end, 0);
    CudaImage ptx = compile(n, &a, &text, "sm_90a", true);
    for (const MatrixRow *r = matrix_rows; r < end; r++)
        for (const unsigned *w = widths; w < widths + sizeof widths / sizeof *widths; w++)
            check_kernel(ptx.data, r, *w);
    assert_true(has_instruction(ptx.data, "wgmma.fence.sync.aligned;"));
    assert_true(has_instruction(ptx.data, "wgmma.commit_group.sync.aligned;"));
    assert_true(has_instruction(ptx.data, "wgmma.wait_group.sync.aligned 0;"));
    // ptxas on all types once, and on all widths once
    print_matrices(&narrow, matrix_rows, end, 8);
    compile(n, &a, &narrow, "sm_90a", false);
    print_matrices(&half, matrix_rows, matrix_rows + 1, 0);
    compile(n, &a, &half, "sm_90a", false);
    buf_free(&text);
    buf_free(&narrow);
    buf_free(&half);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_function_is_its_instruction),
                                        cmocka_unit_test(every_matrix_instruction_is_there) };
    return cmocka_run_group_tests_name("prelude_async", tests, NULL, NULL);
}
