// test_dot_wait.c - where products of warpgroups are waited for.
#include "layout_ir_case.h"

#define SUM "@[reg=[1,256,8,16];lane=[2,4,32,64,128];warp=[512,1024]]"
#define WAITS(BODY)                                                                                  \
    "func @f() num_warps=4 ring[(64, 32) fp16 stages=2 fast=1 smem=0 bytes=4096] "                   \
    "ring[(32, 32) fp16 stages=2 fast=1 smem=8192 bytes=2048] pipe[stages=2 bytes=2048] layouts {\n" \
    "%c = const 0.0 : (64, 32) fp32 " SUM "\n%zero = const 0 : i32\n"                                \
    "%x = tile %zero {ring=0} : (64, 32) fp16\n%y = tile %zero {ring=1} : (32, 32) fp16\n" BODY      \
    "return\n}\n"
#define PRODUCT(NAME) "%" NAME " = dot %x, %y, %c {precision=ieee, mma=16, wgmma} : (64, 32) fp32 " SUM "\n"
#define ROUND(NAME) "%r" NAME " = neg %" NAME " : (64, 32) fp32 " SUM "\n"
#define OTHER "%t = neg %c : (64, 32) fp32 " SUM "\n"

typedef struct WaitCase {
    const char *name, *text;
    const char *want;  ///< d: a product, D: one that runs on, w<n>: a wait that leaves n, n: the work
} WaitCase;

static const WaitCase wait_cases[] = {
    { "wanted_at_once", WAITS(PRODUCT("a") ROUND("a")), "d n" },
    { "other_work_meanwhile", WAITS(PRODUCT("a") OTHER ROUND("a")), "D n w0 n" },
    { "two_at_a_time", WAITS(PRODUCT("a") PRODUCT("b") ROUND("a") ROUND("b")), "D D w1 n w0 n" },
    { "the_newer_one_first", WAITS(PRODUCT("a") PRODUCT("b") ROUND("b") ROUND("a")), "D d w0 n n" },
    { "nobody_wants_it", WAITS(PRODUCT("a") OTHER), "D n w0" },
    { "a_barrier_gives_tiles_away", WAITS(PRODUCT("a") OTHER "barrier\n%u = neg %c : (64, 32) fp32 " SUM "\n" ROUND("a")), "D n w0 b n n" },
};

static void list(const IrBlock *b, Buf *out)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        const char *space = out->len > 0 ? " " : "";
        if (op->code == IR_DOT)
            buf_printf(out, "%s%s", space, op->attr.dot.async ? "D" : "d");
        else if (op->code == IR_DOT_WAIT)
            buf_printf(out, "%sw%u", space, op->attr.groups);
        else if (op->code == IR_NEG)
            buf_printf(out, "%sn", space);
        else if (op->code == IR_BARRIER)
            buf_printf(out, "%sb", space);
    }
}

static void check_wait(void **state)
{
    const WaitCase *t = *state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(&c, t->text);
    layout_ir_run(&c, fn, "dot_wait");
    list(fn->body, &got);
    assert_string_equal(got.at, t->want);
    buf_free(&got);
    ir_case_free(&c.ir);
}

int main(void)
{
    enum { COUNT = sizeof wait_cases / sizeof *wait_cases };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){ wait_cases[i].name, check_wait, NULL, NULL, (void *)&wait_cases[i] };
    return cmocka_run_group_tests_name("dot_wait", tests, NULL, NULL);
}
