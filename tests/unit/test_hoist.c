// test_hoist.c - which loads and quotients move in front of a reduction, as a word of the operations.
//
// l load, v volatile load, s store, r reduce, d quotient; everything else is left out.
#include "layout_ir_case.h"

#define L "@[reg=[1,2];lane=[4,8,16,32,64];warp=[128,256]]"                    // 512 elements, 4 slots
#define W "@[reg=[1,2,512,1024,2048];lane=[4,8,16,32,64];warp=[128,256]]"      // 4096, 32 slots
#define E "@[reg=[1,2,512];lane=[4,8,16,32,64];warp=[128,256]]"                // 1024, 8 slots
#define S "@[reg=[1,2,512,1024];lane=[4,8,16,32,64];warp=[128,256]]"           // 2048, 16 slots
#define AT(NAME, BASE, N, LAYOUT)                                              \
    "%r" NAME " = arange 0, " N " : (" N ") i32 " LAYOUT "\n"                  \
    "%s" NAME " = splat " BASE " : (" N ") *fp32 " LAYOUT "\n"                 \
    "%p" NAME " = ptr_add %s" NAME ", %r" NAME " : (" N ") *fp32 " LAYOUT "\n"
#define LOAD(NAME, BASE) AT(NAME, BASE, "512", L) "%" NAME " = load %p" NAME " : (512) fp32 " L "\n"
#define WIDE(NAME, BASE) AT(NAME, BASE, "4096", W) "%" NAME " = load %p" NAME " : (4096) fp32 " W "\n"
#define EIGHT(NAME, BASE) AT(NAME, BASE, "1024", E) "%" NAME " = load %p" NAME " : (1024) fp32 " E "\n"
#define SIXTEEN(NAME, BASE) AT(NAME, BASE, "2048", S) "%" NAME " = load %p" NAME " : (2048) fp32 " S "\n"
#define SUM(NAME, OF) "%" NAME " = reduce %" OF " {kind=sum, axis=0} : fp32\n"
#define USE(NAME) "store %p" NAME ", %" NAME "\n"

typedef struct HoistCase {
    const char *name, *body, *want;
} HoistCase;

static const HoistCase cases[] = {
    { "weights_of_a_row", LOAD("x", "%row") SUM("m", "x") LOAD("w", "%weight") USE("x") USE("w"), "llrss" },
    { "in_front_of_the_first_of_two",
      LOAD("x", "%row") SUM("m", "x") "%d = mul %x, %x : (512) fp32 " L "\n" SUM("v", "d") LOAD("w", "%weight") USE("w")
      "store %px, %d\n", "llrrss" },
    { "not_across_a_store", LOAD("x", "%row") SUM("m", "x") USE("x") LOAD("w", "%weight") USE("w"), "lrsls" },
    { "not_across_a_volatile_load",
      LOAD("x", "%row") SUM("m", "x") "%f = load %weight {volatile} : fp32\n" LOAD("w", "%weight") USE("w") USE("x"), "lrvlss" },
    { "not_what_depends_on_the_sum",
      LOAD("x", "%row") SUM("m", "x") "%k = cast %m : i32\n%q = ptr_add %weight, %k : *fp32\n" LOAD("w", "%q") USE("w")
      USE("x"), "lrlss" },
    { "not_what_depends_on_a_load_behind",
      LOAD("x", "%row") SUM("m", "x") "%k = load %weight {volatile} : fp32\n" SUM("n", "x") "%i = cast %k : i32\n"
      "%q = ptr_add %weight, %i : *fp32\n" LOAD("w", "%q") USE("w") USE("x"), "lrvlrss" },
    { "quotients_of_numbers",
      LOAD("x", "%row") SUM("m", "x") "%n = const 3.0 : fp32\n%q = div %n, %n : fp32\n%k = mul %m, %q : fp32\n"
      USE("x") "store %row, %k\n", "ldrss" },
    { "not_quotients_of_the_sum",
      LOAD("x", "%row") SUM("m", "x") "%n = const 3.0 : fp32\n%q = div %m, %n : fp32\n" USE("x") "store %row, %q\n", "lrdss" },
    { "as_many_as_there_is_room_for", WIDE("x", "%row") SUM("m", "x") WIDE("w", "%weight") USE("x") USE("w"), "lrlss" },
    // 32 registers a thread make a full multiprocessor: 8 + 8 do not leave enough of them, 16 never did.
    { "not_where_it_empties_a_multiprocessor", EIGHT("x", "%row") SUM("m", "x") EIGHT("w", "%weight") USE("x") USE("w"),
      "lrlss" },
    { "where_it_is_not_full_anyway", SIXTEEN("x", "%row") SUM("m", "x") SIXTEEN("w", "%weight") USE("x") USE("w"),
      "llrss" },
};

static void spell(const IrBlock *b, Buf *out)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        if (op->code == IR_DIV)
            buf_putc(out, 'd');
        else if (op->code == IR_LOAD)
            buf_putc(out, op->attr.mem.is_volatile ? 'v' : 'l');
        else if (op->code == IR_STORE || op->code == IR_REDUCE)
            buf_putc(out, op->code == IR_STORE ? 's' : 'r');
    }
}

static void check_hoist(void **state)
{
    const HoistCase *t = *state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(
        &c, arena_printf(&c.ir.arena, "func @f(%s) num_warps=4 num_stages=1 layouts {\n%sreturn\n}\n",
                         "%row: *fp32, %weight: *fp32", t->body));
    layout_ir_run(&c, fn, "hoist");
    spell(fn->body, &got);
    assert_string_equal(got.at, t->want);
    buf_free(&got);
    ir_case_free(&c.ir);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_hoist, NULL, NULL, (void *)&cases[i] };
    return cmocka_run_group_tests_name("hoist", tests, NULL, NULL);
}
