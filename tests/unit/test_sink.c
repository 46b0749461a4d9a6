// test_sink.c - what moves behind a loop, as a word of the operations.
//
// a arange, b splat, p ptr_add, m mul, l load, s store, f for; everything else is left out.
#include "layout_ir_case.h"

#define L "@[reg=[1,2];lane=[4,8,16,32,64];warp=[128,256]]"  // 512 elements, 4 slots
#define AT(NAME, BASE)                                                                           \
    "%r" NAME " = arange 0, 512 : (512) i32 " L "\n%s" NAME " = splat " BASE " : (512) *fp32 " L \
    "\n"                                                                                         \
    "%p" NAME " = ptr_add %s" NAME ", %r" NAME " : (512) *fp32 " L "\n"
#define LOAD(NAME)       "%" NAME " = load %p" NAME " : (512) fp32 " L "\n"
#define SQUARE(NAME, OF) "%" NAME " = mul %" OF ", %" OF " : (512) fp32 " L "\n"
#define STORE(AT, WHAT)  "store %p" AT ", %" WHAT "\n"
#define LOOP(I, BODY)    "for %zero, %n, %one (%" I ": i32) {\n" BODY "yield\n}\n"
#define IDLE(I)          LOOP(I, "store %w, %" I "\n")

typedef struct SinkCase {
    const char *name, *body, *want;
} SinkCase;

static const SinkCase cases[] = {
    { "an_address_with_what_it_alone_needs",
      AT("x", "%in") IDLE("i") "%one_ = splat %f : (512) fp32 " L "\n" STORE("x", "one_"),
      "f(s)babps" },
    { "what_two_of_them_use_in_front_of_both",
      AT("x", "%in") "%q = mul %rx, %rx : (512) i32 " L "\n%k = cast %q : (512) fp32 " L
                     "\n" IDLE("i") STORE("x", "k"),
      "f(s)abpms" },
    { "not_what_the_loop_uses",
      AT("x", "%in") LOOP("i", "%v = load %px : (512) fp32 " L "\n" STORE("x", "v")), "abpf(ls)" },
    { "not_without_a_loop_between", AT("x", "%in") LOAD("x") AT("y", "%out") STORE("y", "x"),
      "abplabps" },
    { "not_a_load", AT("x", "%in") LOAD("x") IDLE("i") AT("y", "%out") STORE("y", "x"),
      "abplf(s)abps" },
    { "not_if_a_loaded_block_were_held_for_it",
      AT("x", "%in") LOAD("x") SQUARE("q", "x") IDLE("i") AT("y", "%out") STORE("y", "q"),
      "abplmf(s)abps" },
    { "if_the_loaded_block_is_held_anyway",
      AT("x", "%in") LOAD("x") SQUARE("q", "x") IDLE("i") AT("y", "%out") STORE("y", "q")
          STORE("y", "x"),
      "abplf(s)abpmss" },
    { "in_the_body_of_a_loop",
      LOOP("o", AT("x", "%in") IDLE("i") "%k = splat %f : (512) fp32 " L "\n" STORE("x", "k")),
      "f(f(s)babps)" },
    { "behind_the_last_of_two",
      AT("x", "%in") IDLE("i") IDLE("j") "%k = splat %f : (512) fp32 " L "\n" STORE("x", "k"),
      "f(s)f(s)babps" },
};

static void spell(const IrBlock *b, Buf *out)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        const char letter = op->code == IR_ARANGE    ? 'a'
                            : op->code == IR_SPLAT   ? 'b'
                            : op->code == IR_PTR_ADD ? 'p'
                            : op->code == IR_MUL     ? 'm'
                            : op->code == IR_LOAD    ? 'l'
                            : op->code == IR_STORE   ? 's'
                            : op->code == IR_FOR     ? 'f'
                                                     : 0;
        if (letter != 0)
            buf_putc(out, letter);
        for (uint32_t r = 0; r < op->regionc; r++) {
            buf_putc(out, '(');
            spell(op->regions[r], out);
            buf_putc(out, ')');
        }
    }
}

static void check_sink(void **state)
{
    const SinkCase *t = *state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    const char *head = "%in: *fp32, %out: *fp32, %w: *i32, %n: i32, %f: fp32",
               *constants = "%zero = const 0 : i32\n%one = const 1 : i32\n";
    IrFunc *fn = layout_ir_read(
        &c,
        arena_printf(&c.ir.arena, "func @f(%s) num_warps=4 num_stages=1 layouts {\n%s%sreturn\n}\n",
                     head, constants, t->body));
    layout_ir_run(&c, fn, "sink");
    spell(fn->body, &got);
    assert_string_equal(got.at, t->want);
    buf_free(&got);
    ir_case_free(&c.ir);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_sink, NULL, NULL, (void *)&cases[i] };
    return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
