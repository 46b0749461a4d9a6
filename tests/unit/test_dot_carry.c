// test_dot_carry.c - products of warpgroups that run on into the loop's next iteration.
#include "layout_ir_case.h"

#define SUM "@[reg=[1,256,8,16];lane=[2,4,32,64,128];warp=[512,1024]]"
#define FUNC(STAGES, BODY)                                                                                \
    "func @f() num_warps=4 ring[(64, 32) fp16 stages=" STAGES " fast=1 smem=0 bytes=4096] "             \
    "ring[(32, 32) fp16 stages=" STAGES " fast=1 smem=16384 bytes=2048] pipe[stages=" STAGES " bytes=6144] layouts {\n" \
    "%lo = const 0 : i32\n%n = const 7 : i32\n%by = const 1 : i32\n%zero = const 0.0 : (64, 32) fp32 " SUM "\n" BODY "return\n}\n"
#define LOOP(BODY) "%sum = for %lo, %n, %by, %zero : (64, 32) fp32 " SUM " (%i: i32, %c: (64, 32) fp32 " SUM ") {\n" BODY "}\n"
#define TILES "%s = pipe_wait {pipe=0} : i32\n%x = tile %s {ring=0} : (64, 32) fp16\n%y = tile %s {ring=1} : (32, 32) fp16\n"
#define PRODUCT(NAME, ADDS) "%" NAME " = dot %x, %y, %" ADDS " {precision=ieee, mma=16, wgmma} : (64, 32) fp32 " SUM "\n"
#define RELEASE "pipe_release %s {pipe=0}\n"
#define ROUND(NAME, OF) "%" NAME " = neg %" OF " : (64, 32) fp32 " SUM "\n"

typedef struct CarryCase {
    const char *name, *text;
    /// p: a wait for a stage, r: it is handed back, d: a product, C: one that runs on, w<n>: a wait that leaves n,
    /// n: other work, t: the other team's turn; loops and branches in brackets
    const char *want;
} CarryCase;

static const CarryCase carry_cases[] = {
    { "one_product", FUNC("4", LOOP(TILES PRODUCT("d", "c") RELEASE "yield %d\n") ROUND("r", "sum")), "( p C w1 ( r ) ( ) ) w0 ( r ) ( ) n" },
    { "the_other_team_first", FUNC("4", LOOP(TILES PRODUCT("d", "c") RELEASE "yield %d\n") "team_pass\n" ROUND("r", "sum")),
      "( p C w1 ( r ) ( ) ) t w0 ( r ) ( ) n" },
    { "two_stages_are_too_few", FUNC("2", LOOP(TILES PRODUCT("d", "c") RELEASE "yield %d\n") ROUND("r", "sum")), "( p d r ) n" },
    { "a_sum_that_is_looked_at", FUNC("4", LOOP(TILES PRODUCT("d", "c") RELEASE ROUND("e", "d") "yield %e\n")), "( p d r n )" },
    { "a_sum_that_is_changed_first", FUNC("4", LOOP(TILES ROUND("e", "c") PRODUCT("d", "e") RELEASE "yield %d\n")), "( p n d r )" },
    { "a_sum_that_begins_anew", FUNC("4", LOOP(TILES PRODUCT("d", "zero") RELEASE "yield %d\n")), "( p d r )" },
    { "a_product_behind_the_release", FUNC("4", LOOP(TILES RELEASE PRODUCT("d", "c") "yield %d\n")), "( p r d )" },
    { "no_pipe", FUNC("4", LOOP("%x = tile %lo {ring=0} : (64, 32) fp16\n%y = tile %lo {ring=1} : (32, 32) fp16\n" PRODUCT("d", "c") "yield %d\n")),
      "( d )" },
};

static const char *letter(const IrOp *op)
{
    switch ((int)op->code) {
    case IR_PIPE_WAIT: return "p ";
    case IR_PIPE_RELEASE: return "r ";
    case IR_DOT: return op->attr.dot.carried ? "C " : "d ";
    case IR_NEG: return "n ";
    case IR_TEAM_PASS: return "t ";
    default: return "";
    }
}

static void list(const IrBlock *b, Buf *out)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        buf_puts(out, letter(op));
        if (op->code == IR_DOT_WAIT)
            buf_printf(out, "w%u ", op->attr.groups);
        for (uint32_t r = 0; r < op->regionc; r++) {
            buf_puts(out, "( ");
            list(op->regions[r], out);
            buf_puts(out, ") ");
        }
    }
}

static void check_carry(void **state)
{
    const CarryCase *t = *state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(&c, t->text);
    layout_ir_run(&c, fn, "dot_carry");
    list(fn->body, &got);
    assert_true(got.len > 0 && got.at[got.len - 1] == ' ');
    assert_int_equal(got.len - 1, strlen(t->want));
    assert_memory_equal(got.at, t->want, got.len - 1);
    buf_free(&got);
    ir_case_free(&c.ir);
}

/// The stage that an iteration hands back is the one before its own; the loop carries -1 at first.
static void check_stages(void **state)
{
    (void)state;
    LayoutIrCase c;
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(&c, carry_cases[0].text);
    layout_ir_run(&c, fn, "dot_carry");
    const IrOp *loop = fn->body->first;
    while (loop->code != IR_FOR)
        loop = loop->next;
    const IrBlock *body = loop->regions[0];
    assert_int_equal(loop->args[4]->def->attr.konst.i, -1);
    assert_int_equal(body->last->args[1]->def->code, IR_PIPE_WAIT);
    const IrOp *choice = body->last->prev;
    assert_int_equal(choice->code, IR_IF);
    assert_ptr_equal(choice->regions[0]->first->args[0], body->args[2]);
    assert_int_equal(choice->args[0]->def->code, IR_GE);
    assert_ptr_equal(choice->args[0]->def->args[0], body->args[2]);
    ir_case_free(&c.ir);
}

int main(void)
{
    enum { COUNT = sizeof carry_cases / sizeof *carry_cases };
    struct CMUnitTest tests[COUNT + 1];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){ carry_cases[i].name, check_carry, NULL, NULL, (void *)&carry_cases[i] };
    tests[COUNT] = (struct CMUnitTest)cmocka_unit_test(check_stages);
    return cmocka_run_group_tests_name("dot_carry", tests, NULL, NULL);
}
