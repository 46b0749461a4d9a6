// test_estimate.c - which kernels NVRTC is expected to take long for, and what is said of them.
#include "backend/cuda/emit.h"
#include "layout_ir_case.h"

#define L8 "@[reg=[1,2,128];lane=[4,8,16,32,64];warp=[]]"                            // 256 elements, 8 slots
#define L256 "@[reg=[1,2,128,256,512,1024,2048,4096];lane=[4,8,16,32,64];warp=[]]"   // 8192, 256 slots
#define L512 "@[reg=[1,2,128,256,512,1024,2048,4096,8192];lane=[4,8,16,32,64];warp=[]]"
#define ONES(N, L) "%x = const 1.0 : (" N ") fp32 " L "\n"
#define CHAIN(OP, N, L)                                                              \
    "%a = " OP " %x : (" N ") fp32 " L "\n%b = " OP " %a : (" N ") fp32 " L "\n"     \
    "%c = " OP " %b : (" N ") fp32 " L "\n%d = " OP " %c : (" N ") fp32 " L "\n"

typedef struct EstimateCase {
    const char *name, *body;
    double statements, budget;
    const char *said;
} EstimateCase;

static const EstimateCase cases[] = {
    { "plain_statements", ONES("256", L8) CHAIN("neg", "256", L8), 32, 1, "" },
    { "scalars", "%x = const 1.0 : fp32\n%y = neg %x : fp32\n", 1, 1, "" },
    { "functions_cost_more", ONES("256", L8) CHAIN("sin", "256", L8), 32 * 81, 1, "" },
    { "over_the_budget", ONES("8192", L256) CHAIN("sin", "8192", L256), 1024 * 81, 15,
      "1:1: 'f' becomes about 82944 statements a thread, which take NVRTC about 21 s: more than the 15 s of "
      "--compile-budget\n" },
    { "slow_without_a_budget", ONES("8192", L256) CHAIN("sin", "8192", L256), 1024 * 81, 0,
      "1:1: 'f' becomes about 82944 statements a thread, which take NVRTC about 21 s\n" },
    { "more_than_a_thread_has",
      "%n = const 4 : i32\n" ONES("16384", L512)
      "%y = for %n, %n, %n, %x : (16384) fp32 " L512 " (%i: i32, %v: (16384) fp32 " L512 ") {\nyield %v\n}\n", 0, 60,
      "1:1: 'f' keeps a block of 512 registers a thread, of which a thread has 255\n" },
    { "what_stays_a_loop_is_short", ONES("16384", L512) CHAIN("sin", "16384", L512), 128 * 81, 5, "" },
};

static void check_estimate(void **state)
{
    const EstimateCase *t = *state;
    LayoutIrCase c;
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(
        &c, arena_printf(&c.ir.arena, "func @f() num_warps=1 num_stages=1 layouts {\n%sreturn\n}\n", t->body));
    assert_int_equal((int)cuda_estimate(fn).statements, (int)t->statements);
    const bool ok = cuda_check_time(fn, t->budget, &c.ir.diags);
    assert_int_equal(ok, *t->said == 0 || t->budget == 0);
    assert_string_equal(ir_case_diags(&c.ir), t->said);
    ir_case_free(&c.ir);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_estimate, NULL, NULL, (void *)&cases[i] };
    return cmocka_run_group_tests_name("estimate", tests, NULL, NULL);
}
