// test_hostc.c - the host backend: IR text becomes C that a strict compiler takes, and computes what
// plain loops compute. Each case reads IR, compiles the C text with cc, loads it and runs programs.
#include "backend/hostc/hostc.h"
#include "ir_case.h"
#include "support/fs.h"
#include "support/proc.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <newt/module.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct HostCase {
    const char *name;
    const char *ir;
    unsigned params;        // 0: (*fp32 x, *fp32 out), 1: (*i32 x, *i32 out)
    void (*fill)(void *x);  // 256 elements
    void (*check)(const void *x, const void *out);
} HostCase;

static void fill_ints(void *at)
{
    int32_t *x = at;
    for (int i = 0; i < 256; i++)
        x[i] = (i * 7919) % 1000 - 500;
}

static void fill_floats(void *at)
{
    float *x = at;
    for (int i = 0; i < 256; i++)
        x[i] = (float)((i * 7919) % 1000 - 500) / 8.0f;
}

static void check_shift(const void *x, const void *at)
{
    (void)x;
    const int32_t *out = at;
    assert_int_equal(out[0], 1);
    for (int i = 1; i <= 128; i++)
        assert_int_equal(out[i], 2);
}

static void check_reverse_in_place(const void *at_x, const void *at)
{
    const float *x = at_x, *out = at;
    for (int i = 0; i < 16; i++)
        assert_true(out[i] == x[15 - i]);
}

static void check_row_sums(const void *at_x, const void *at)
{
    const float *x = at_x, *out = at;
    for (int r = 0; r < 4; r++) {
        double sum = 0.0;
        for (int c = 0; c < 64; c++)
            sum += (double)x[r * 64 + c];
        assert_true(out[r] == (float)sum);  // multiples of 1/8: exact in any order
    }
}

static void check_column_max(const void *at_x, const void *at)
{
    const int32_t *x = at_x, *out = at;
    for (int c = 0; c < 64; c++) {
        int32_t most = x[c];
        for (int r = 1; r < 4; r++)
            most = x[r * 64 + c] > most ? x[r * 64 + c] : most;
        assert_int_equal(out[c], most);
    }
}

static void check_swap_loop(const void *x, const void *at)
{
    (void)x;
    const int32_t *out = at;  // (a, b) = (b, a + b) five times from (0, 1): 5, 8
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], 5 + 8 * 100);
}

static const HostCase host_cases[] = {
    { "stores_keep_their_order",
      "func @f(%x.0: *i32, %out.1: *i32) num_warps=4 num_stages=1 {\n"
      "    %i.2 = arange 0, 128 : (128) i32\n"
      "    %p.3 = splat %out.1 : (128) *i32\n"
      "    %q.4 = ptr_add %p.3, %i.2 : (128) *i32\n"
      "    %one.5 = const 1 : (128) i32\n"
      "    store %q.4, %one.5\n"
      "    %two.6 = const 2 : (128) i32\n"
      "    %r.7 = ptr_add %q.4, %one.5 : (128) *i32\n"
      "    store %r.7, %two.6\n"
      "    return\n}\n",
      1, fill_ints, check_shift },
    { "loads_come_before_a_store_to_other_places",
      "func @f(%x.0: *fp32, %out.1: *fp32) num_warps=4 num_stages=1 {\n"
      "    %i.2 = arange 0, 16 : (16) i32\n"
      "    %c.3 = const 15 : (16) i32\n"
      "    %j.4 = sub %c.3, %i.2 : (16) i32\n"
      "    %p.5 = splat %x.0 : (16) *fp32\n"
      "    %q.6 = ptr_add %p.5, %j.4 : (16) *fp32\n"
      "    %v.7 = load %q.6 : (16) fp32\n"
      "    %r.8 = splat %out.1 : (16) *fp32\n"
      "    %s.9 = ptr_add %r.8, %i.2 : (16) *fp32\n"
      "    store %s.9, %v.7\n"
      "    return\n}\n",
      0, fill_floats, check_reverse_in_place },
    { "row_sums_of_a_block",
      "func @f(%x.0: *fp32, %out.1: *fp32) num_warps=4 num_stages=1 {\n"
      "    %i.2 = arange 0, 256 : (256) i32\n"
      "    %p.3 = splat %x.0 : (256) *fp32\n"
      "    %q.4 = ptr_add %p.3, %i.2 : (256) *fp32\n"
      "    %v.5 = load %q.4 : (256) fp32\n"
      "    %m.6 = reshape %v.5 : (4, 64) fp32\n"
      "    %s.7 = reduce %m.6 {kind=sum, axis=1} : (4) fp32\n"
      "    %k.8 = arange 0, 4 : (4) i32\n"
      "    %r.9 = splat %out.1 : (4) *fp32\n"
      "    %t.10 = ptr_add %r.9, %k.8 : (4) *fp32\n"
      "    store %t.10, %s.7\n"
      "    return\n}\n",
      0, fill_floats, check_row_sums },
    { "column_maxima_of_a_block",
      "func @f(%x.0: *i32, %out.1: *i32) num_warps=4 num_stages=1 {\n"
      "    %i.2 = arange 0, 4 : (4) i32\n"
      "    %ie.3 = expand_dims %i.2 {axis=1} : (4, 1) i32\n"
      "    %ib.4 = broadcast %ie.3 : (4, 64) i32\n"
      "    %j.5 = arange 0, 64 : (64) i32\n"
      "    %je.6 = expand_dims %j.5 {axis=0} : (1, 64) i32\n"
      "    %jb.7 = broadcast %je.6 : (4, 64) i32\n"
      "    %w.8 = const 64 : (4, 64) i32\n"
      "    %iw.9 = mul %ib.4, %w.8 : (4, 64) i32\n"
      "    %o.10 = add %iw.9, %jb.7 : (4, 64) i32\n"
      "    %p.11 = splat %x.0 : (4, 64) *i32\n"
      "    %q.12 = ptr_add %p.11, %o.10 : (4, 64) *i32\n"
      "    %v.13 = load %q.12 : (4, 64) i32\n"
      "    %m.14 = reduce %v.13 {kind=max, axis=0} : (64) i32\n"
      "    %r.15 = splat %out.1 : (64) *i32\n"
      "    %s.16 = ptr_add %r.15, %j.5 : (64) *i32\n"
      "    store %s.16, %m.14\n"
      "    return\n}\n",
      1, fill_ints, check_column_max },
    { "carried_blocks_are_assigned_at_once",
      "func @f(%x.0: *i32, %out.1: *i32) num_warps=4 num_stages=1 {\n"
      "    %z.2 = const 0 : (8) i32\n"
      "    %o.3 = const 1 : (8) i32\n"
      "    %lo.4 = const 0 : i32\n"
      "    %hi.5 = const 5 : i32\n"
      "    %st.6 = const 1 : i32\n"
      "    %a.7, %b.8 = for %lo.4, %hi.5, %st.6, %z.2, %o.3 : (8) i32, (8) i32 (%i.9: i32, %a.10: (8) i32, %b.11: (8) i32) {\n"
      "        %s.12 = add %a.10, %b.11 : (8) i32\n"
      "        yield %b.11, %s.12\n"
      "    }\n"
      "    %h.13 = const 100 : (8) i32\n"
      "    %m.14 = mul %b.8, %h.13 : (8) i32\n"
      "    %t.15 = add %m.14, %a.7 : (8) i32\n"
      "    %k.16 = arange 0, 8 : (8) i32\n"
      "    %r.17 = splat %out.1 : (8) *i32\n"
      "    %q.18 = ptr_add %r.17, %k.16 : (8) *i32\n"
      "    store %q.18, %t.15\n"
      "    return\n}\n",
      1, fill_ints, check_swap_loop },
};

/// Writes the C of a case to `path`.
static uint64_t write_case(const HostCase *h, const char *path)
{
    IrCase c;
    Buf out = { 0 };
    uint64_t scratch = 0;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, h->ir);
    const Type *pointer = type_ptr(c.types, type_scalar(c.types, h->params ? SCALAR_I32 : SCALAR_F32), false);
    const HostcParam params[] = { { "x", pointer }, { "out", pointer } };
    const HostcOptions opt = { .symbol = "kernel", .record = "args", .params = params };
    buf_printf(&out, "#include <newt/module.h>\nstruct args { %s *x, *out; };\n", h->params ? "int32_t" : "float");
    hostc_prelude(&out);
    if (!hostc_emit_kernel(fn, &opt, &c.diags, &out, &scratch))
        fail_msg("%s", ir_case_diags(&c));
    buf_puts(&out, "extern const NewtHostEntry entry;\nconst NewtHostEntry entry = kernel;\n");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(out.at, 1, out.len, f), out.len);
    assert_int_equal(fclose(f), 0);
    buf_free(&out);
    ir_case_free(&c);
    return scratch;
}

static void check_host(void **state)
{
    const HostCase *h = *state;
    char dir[] = "/tmp/newt-hostc-XXXXXX", source[64], object[64];
    assert_non_null(mkdtemp(dir));
    snprintf(source, sizeof source, "%s/k.c", dir);
    snprintf(object, sizeof object, "%s/k.so", dir);
    uint64_t scratch = write_case(h, source);

    const char *const cc[] = { "cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-shared",
                               "-fPIC", "-I" TEST_SOURCE_DIR "/runtime/include", source, "-o", object, "-lm", NULL };
    Buf log = { 0 };
    if (proc_run(cc, &log) != 0)
        fail_msg("%s", log.at);
    buf_free(&log);
    void *library = dlopen(object, RTLD_NOW);
    assert_non_null(library);
    const NewtHostEntry *entry = dlsym(library, "entry");
    assert_non_null(entry);

    int32_t x[256], out[256];
    h->fill(x);
    memset(out, 0xff, sizeof out);
    void *const args[] = { x, out };
    NewtHostProgram program = { .grid = { 1, 1, 1 }, .scratch = aligned_alloc(64, (size_t)scratch + 64) };
    (*entry)(args, &program);
    h->check(x, out);
    free(program.scratch);
    dlclose(library);
    unlink(source);
    unlink(object);
    rmdir(dir);
}

int main(void)
{
    struct CMUnitTest tests[sizeof host_cases / sizeof *host_cases];
    for (size_t i = 0; i < sizeof host_cases / sizeof *host_cases; i++)
        tests[i] = (struct CMUnitTest){ host_cases[i].name, check_host, NULL, NULL, (void *)&host_cases[i] };
    return cmocka_run_group_tests_name("hostc", tests, NULL, NULL);
}
