/// test_nvrtc.c - finding NVRTC and compiling with it; skipped where there is none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "backend/cuda/nvrtc.h"

#include <string.h>

static const char add_kernel[] = "#include \"newt/float.cuh\"\n"
                                 "#line 7 \"vadd.newt\"\n"
                                 "extern \"C\" __global__ void vadd(const float *x, float *y)\n"
                                 "{ y[threadIdx.x] = nt_add(x[threadIdx.x], 1.0f); }\n";

static Nvrtc *open_or_skip(Arena *a)
{
    Nvrtc *n = nvrtc_open(a, &(NvrtcPaths){ NULL, NULL });
    assert_true(n->places.len > 0);
    if (!n->loaded) {
        print_message("no libnvrtc here: skipped\n");
        skip();
    }
    return n;
}

static void named_library_excludes_others(void **state)
{
    (void)state;
    Arena a = { 0 };
    Nvrtc *n = nvrtc_open(&a, &(NvrtcPaths){ "/nonexistent/libnvrtc.so", NULL });
    assert_false(n->loaded);
    assert_int_equal(n->places.len, 1);
    assert_string_equal(n->places.at[0].path, "/nonexistent/libnvrtc.so");
    arena_free(&a);
}

static void missing_library_is_reported_with_places(void **state)
{
    (void)state;
    Arena a = { 0 };
    SourceMap sources = { .arena = &a };
    DiagSink diags;
    Buf out = { 0 };
    diag_init(&diags, &a, &sources);
    Nvrtc *n = nvrtc_open(&a, &(NvrtcPaths){ NULL, "/nonexistent" });
    assert_false(nvrtc_check_target(n, target_find("sm_80"), (Span){ 0, 0 }, &diags));
    diag_print(&diags, DIAG_TEXT, false, &out);
    assert_non_null(strstr(out.at, "no libnvrtc found"));
    assert_non_null(strstr(out.at, "/nonexistent"));
    buf_free(&out);
    arena_free(&a);
}

static void compiles_for_every_listed_chip(void **state)
{
    (void)state;
    Arena a = { 0 };
    Nvrtc *n = open_or_skip(&a);
    static const char *const names[] = { "sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120" };
    enum { COUNT = sizeof names / sizeof *names };
    CudaRequest requests[COUNT];
    CudaImage images[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        requests[i] = (CudaRequest){ .name = "vadd.cu",
                                     .source = add_kernel,
                                     .target = target_find(names[i]) };
    cuda_compile_all(n, &a, requests, images, COUNT, (CudaJobs){ .threads = 2 });
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(images[i].ok);
        assert_memory_equal(images[i].data, "\177ELF", 4);
        assert_in_range(images[i].usage.registers, 4, 32);
        assert_int_equal(images[i].usage.spill_stores, 0);
        CudaImage again = cuda_compile(n, &a, &requests[i]);
        assert_int_equal(again.size, images[i].size);
        assert_memory_equal(again.data, images[i].data, again.size);
    }
    arena_free(&a);
}

static void makes_ptx(void **state)
{
    (void)state;
    Arena a = { 0 };
    Nvrtc *n = open_or_skip(&a);
    CudaImage image = cuda_compile(
        n, &a,
        &(CudaRequest){
            .name = "vadd.cu", .source = add_kernel, .target = target_find("sm_80"), .ptx = true });
    assert_true(image.ok);
    assert_int_equal(image.data[image.size - 1], 0);
    assert_non_null(strstr(image.data, ".target sm_80"));
    arena_free(&a);
}

static void rejected_text_names_the_source_line(void **state)
{
    (void)state;
    Arena a = { 0 };
    Nvrtc *n = open_or_skip(&a);
    SourceMap sources = { .arena = &a };
    DiagSink diags;
    Buf out = { 0 };
    diag_init(&diags, &a, &sources);
    CudaRequest request = { .name = "k.cu",
                            .source = "#line 5 \"k.newt\"\nint f() { return oops; }\n",
                            .target = target_find("sm_80") };
    CudaImage image = cuda_compile(n, &a, &request);
    assert_false(image.ok);
    cuda_report_rejected(&request, &image, (Span){ 0, 0 }, &diags);
    diag_print(&diags, DIAG_TEXT, false, &out);
    assert_non_null(strstr(out.at, "[internal]"));
    assert_non_null(strstr(out.at, "k.newt(5)"));
    buf_free(&out);
    arena_free(&a);
}

/// ptxas's notes about wgmma, as NVRTC 13.0 wrote them of a sum that was changed between two products.
static void mended_text_is_a_fault(void **state)
{
    (void)state;
    Arena a = { 0 };
    SourceMap sources = { .arena = &a };
    DiagSink diags;
    Buf out = { 0 };
    diag_init(&diags, &a, &sources);
    CudaRequest request = { .name = "k.cu", .target = target_find("sm_90a") };
    CudaImage image = { .ok = true, .log = "ptxas info    : 0 bytes gmem\n" };
    cuda_report_mended(&request, &image, (Span){ 0, 0 }, &diags);
    assert_int_equal(diag_error_count(&diags), 0);
    image.log = "ptxas info    : (C7519) warpgroup.arrive is injected in around line 74\n"
                "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are "
                "serialized\nptxas info    : 0 bytes gmem\n";
    request.unoptimised = true;
    cuda_report_mended(&request, &image, (Span){ 0, 0 }, &diags);
    assert_int_equal(diag_error_count(&diags), 0);
    request.unoptimised = false;
    cuda_report_mended(&request, &image, (Span){ 0, 0 }, &diags);
    assert_int_equal(diag_error_count(&diags), 0);  // -Wperf wants to know it
    assert_true(diag_set_option(&diags, "error=serial-products"));
    cuda_report_mended(&request, &image, (Span){ 0, 0 }, &diags);
    assert_int_equal(diag_error_count(&diags), 1);
    diag_print(&diags, DIAG_TEXT, false, &out);
    assert_non_null(strstr(out.at, "wait for each other in the CUDA C++ made for 'sm_90a' (k.cu)"));
    assert_non_null(strstr(out.at, "(C7519) warpgroup.arrive is injected in around line 74\n"));
    assert_non_null(strstr(out.at, "(C7511) Potential Performance Loss"));
    assert_null(strstr(out.at, "gmem"));
    buf_free(&out);
    arena_free(&a);
}

static void old_library_is_told_from_unknown_chip(void **state)
{
    (void)state;
    Arena a = { 0 };
    SourceMap sources = { .arena = &a };
    DiagSink diags;
    Buf out = { 0 };
    const int archs[] = { 75, 80, 90 };
    Nvrtc n = { .loaded = true,
                .path = "libnvrtc.so.12",
                .major = 12,
                .minor = 4,
                .archs = archs,
                .arch_count = 3 };
    diag_init(&diags, &a, &sources);
    assert_true(nvrtc_check_target(&n, target_find("sm_90a"), (Span){ 0, 0 }, &diags));
    assert_false(nvrtc_check_target(&n, target_find("sm_121a"), (Span){ 0, 0 }, &diags));
    diag_print(&diags, DIAG_TEXT, false, &out);
    assert_non_null(strstr(out.at, "'sm_121a' needs CUDA 12.9 or newer; libnvrtc.so.12 is 12.4"));
    assert_non_null(strstr(out.at, "it supports sm_75, sm_80, sm_90"));
    buf_free(&out);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_library_excludes_others),
        cmocka_unit_test(missing_library_is_reported_with_places),
        cmocka_unit_test(compiles_for_every_listed_chip),
        cmocka_unit_test(makes_ptx),
        cmocka_unit_test(rejected_text_names_the_source_line),
        cmocka_unit_test(mended_text_is_a_fault),
        cmocka_unit_test(old_library_is_told_from_unknown_chip),
    };
    return cmocka_run_group_tests_name("nvrtc", tests, NULL, NULL);
}
