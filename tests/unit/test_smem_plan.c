// test_smem_plan.c - which operations get scratch, how much, and where.
#include "layout_ir_case.h"

#define L4 "@[reg=[1,2];lane=[4,8,16,32,64];warp=[128,256]]"    // 512 elements, 4 warps
#define L1 "@[reg=[128,256];lane=[1,2,4,8,16];warp=[32,64]]"
#define ROWS "@[reg=[];lane=[1,2,4,8,16];warp=[32,64]]"         // (4, 32): a row a warp
#define COPY "@[reg=[];lane=[1,2,4,8,0];warp=[0,0]]"            // 16 elements, copies
#define COPIES "@[reg=[1,2,256,512,1024,2048,4096,8192,16384,32768];lane=[4,8,16,32,64];warp=[128,0]]"
#define ONES "%one = const 1.0 : (512) fp32 " L4 "\n"
#define REDUCE(NAME) "%" NAME " = reduce %one {kind=sum, axis=0} : fp32\n"
#define CONVERT(NAME) "%" NAME " = convert %one : (512) fp32 " L1 "\n"
#define LOOP(BODY) "%z = const 0 : i32\n%n1 = const 1 : i32\nfor %z, %n, %n1 (%i: i32) {\n" BODY "yield\n}\n"

typedef struct SmemCase {
    const char *name, *body, *want;  ///< "offset+bytes" of each operation with scratch, "/turn"
    uint32_t total;
} SmemCase;

static const SmemCase cases[] = {
    { "nothing", ONES, "", 0 },
    { "one_value_a_warp", ONES REDUCE("a"), "0+16", 16 },
    { "halves_are_summed_as_floats",
      "%h = const 1.0 : (512) fp16 " L4 "\n%a = reduce %h {kind=sum, axis=0} : fp16\n", "0+16", 16 },
    { "index_beside_value", ONES "%a = reduce %one {kind=argmax, axis=0} : i32\n", "0+32", 32 },
    { "row_in_a_warp_needs_none",
      "%one = const 1.0 : (4, 32) fp32 " ROWS "\n%a = reduce %one {kind=sum, axis=1} : (4) fp32 "
      "@[reg=[];lane=[0,0,0,0,0];warp=[1,2]]\n",
      "", 0 },
    { "column_across_warps",
      "%one = const 1.0 : (4, 32) fp32 " ROWS "\n%a = reduce %one {kind=sum, axis=0} : (32) fp32 "
      "@[reg=[];lane=[1,2,4,8,16];warp=[0,0]]\n",
      "0+512", 512 },
    { "neighbours_keep_apart", ONES REDUCE("a") REDUCE("b") REDUCE("c"), "0+16 16+16 0+16", 32 },
    { "loop_of_three_keeps_apart", ONES LOOP(REDUCE("a") REDUCE("b") REDUCE("c")), "0+16 16+16 32+16", 48 },
    { "after_a_loop_places_are_free", ONES LOOP(REDUCE("a") REDUCE("b")) REDUCE("c") REDUCE("d"),
      "0+16 16+16 0+16 16+16", 32 },
    { "alone_in_a_loop_takes_turns", ONES LOOP(REDUCE("a")) REDUCE("b"), "0+32/16 32+16", 48 },
    { "big_ones_do_not_take_turns", ONES LOOP("%b = const 1 : (512) i64 " L4 "\n"
      "%a = convert %b : (512) i64 " L1 "\n"), "0+4096", 4096 },
    { "volatile_load_of_a_scalar", "%v = load %t {volatile} : i32\nstore %t, %v\n", "0+4", 4 },
    { "load_of_a_scalar_that_stays", "%v = load %t : i32\nstore %t, %v\n", "", 0 },
    { "uncached_load_of_replicas",
      "%s = splat %t : (16) *i32 " COPY "\n%o = load %s {cache=cv} : (16) i32 " COPY "\nstore %s, %o\n",
      "0+64", 64 },
    { "convert_through_shared", ONES CONVERT("a"), "0+2048", 2048 },
    { "convert_in_pieces_of_what_the_chip_has",
      "%a = const 1.0 : (65536) fp32 "
      "@[reg=[1,2,512,1024,2048,4096,8192,16384,32768];lane=[4,8,16,32,64];warp=[128,256]]\n"
      "%b = convert %a : (65536) fp32 "
      "@[reg=[128,256,512,1024,2048,4096,8192,16384,32768];lane=[1,2,4,8,16];warp=[32,64]]\n",
      "0+131072", 131072 },
    { "shuffled_convert_needs_none",
      "%one = const 1.0 : (16) fp32 " COPY "\n"
      "%a = convert %one : (16) fp32 @[reg=[];lane=[8,4,2,1,0];warp=[0,0]]\n",
      "", 0 },
    { "big_ones_overlap",
      "%one = const 1 : (512) i64 " L4 "\n%a = convert %one : (512) i64 " L1 "\n"
      "%b = convert %a : (512) i64 " L4 "\n%big = const 1 : (4096) i64 "
      "@[reg=[1,2,512,1024,2048];lane=[4,8,16,32,64];warp=[128,256]]\n"
      "%c = convert %big : (4096) i64 @[reg=[128,256,512,1024,2048];lane=[1,2,4,8,16];warp=[32,64]]\n"
      "%d = convert %c : (4096) i64 @[reg=[1,2,512,1024,2048];lane=[4,8,16,32,64];warp=[128,256]]\n",
      "0+4096 4096+4096 8192+32768 0+32768", 40960 },
    { "atomic_result_reaches_replicas",
      "%s = splat %t : (16) *i32 " COPY "\n%k = const 1 : (16) i32 " COPY "\n"
      "%o = atomic_rmw %s, %k {kind=add, order=relaxed, scope=gpu} : (16) i32 " COPY "\nstore %s, %o\n",
      "0+64", 64 },
    { "atomic_result_unused",
      "%s = splat %t : (16) *i32 " COPY "\n%k = const 1 : (16) i32 " COPY "\n"
      "%o = atomic_rmw %s, %k {kind=add, order=relaxed, scope=gpu} : (16) i32 " COPY "\n",
      "", 0 },
    { "atomic_without_replicas",
      "%s = splat %t : (512) *i32 " L4 "\n%k = const 1 : (512) i32 " L4 "\n"
      "%o = atomic_rmw %s, %k {kind=add, order=relaxed, scope=gpu} : (512) i32 " L4 "\nstore %s, %o\n",
      "", 0 },
    { "scalar_atomic",
      "%k = const 1 : i32\n%o = atomic_rmw %t, %k {kind=add, order=relaxed, scope=gpu} : i32\nstore %t, %o\n",
      "0+4", 4 },
};

static void list(const IrBlock *b, Buf *out)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        if (op->smem_bytes > 0)
            buf_printf(out, "%s%d+%u", out->len > 0 ? " " : "", (int)op->smem, (unsigned)op->smem_bytes);
        if (op->smem_turn > 0)
            buf_printf(out, "/%u", (unsigned)op->smem_turn);
        for (uint32_t r = 0; r < op->regionc; r++)
            list(op->regions[r], out);
    }
}

static void check_smem(void **state)
{
    const SmemCase *t = *state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(
        &c, arena_printf(&c.ir.arena, "func @f(%s) num_warps=4 num_stages=1 layouts {\n%sreturn\n}\n",
                         "%t: *i32, %n: i32", t->body));
    layout_ir_run(&c, fn, "smem_plan");
    list(fn->body, &got);
    assert_string_equal(got.at != NULL ? got.at : "", t->want);
    assert_int_equal(fn->smem_bytes, t->total);
    buf_free(&got);
    ir_case_free(&c.ir);
}

/// Rings lie below the scratch, each aligned for its swizzle.
static void check_rings(void **state)
{
    (void)state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(
        &c, "func @f() num_warps=4 num_stages=1 ring[(16, 16) fp16 stages=3 fast=1] "
            "ring[(64, 64) fp16 stages=4 fast=0] layouts {\n" ONES REDUCE("a") "return\n}\n");
    layout_ir_run(&c, fn, "smem_plan");
    list(fn->body, &got);
    assert_int_equal(fn->rings[0].smem, 0);
    assert_int_equal(fn->rings[0].bytes, 512);
    assert_int_equal(fn->rings[1].smem, 2048);
    assert_int_equal(fn->rings[1].bytes, 8192);
    assert_int_equal(fn->smem_reserved, 2048 + 4 * 8192);
    assert_string_equal(got.at, "34816+16");
    assert_int_equal(fn->smem_bytes, 34816 + 16);
    buf_free(&got);
    ir_case_free(&c.ir);
}

/// More than the chip has is the user's error, reported once.
static void check_too_much(void **state)
{
    (void)state;
    LayoutIrCase c;
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(
        &c, "func @f(%t: *i64) num_warps=4 num_stages=1 layouts {\n"
            "%p = splat %t : (65536) *i64 " COPIES "\n%a = const 1 : (65536) i64 " COPIES "\n"
            "%o = atomic_rmw %p, %a {kind=add, order=relaxed, scope=gpu} : (65536) i64 " COPIES "\n"
            "store %p, %o\nreturn\n}\n");
    assert_false(pass_run_named(&c.cx, fn, "smem_plan"));
    assert_string_equal(ir_case_diags(&c.ir),
                        "4:1: needs 524288 bytes of shared memory, and 'sm_90a' has 232448\n");
    ir_case_free(&c.ir);
}

/// Two loops, each with a ring of its own: the rings share their place, and so do they with the
/// scratch before and behind, but not with that of the loop's own body.
static void check_loose_rings(void **state)
{
#define FILL(RING) \
    "tile_put %n, %v {ring=" RING "}\n"
#define READ(RING)                                                                        \
    "for %n, %n, %n (%i" RING ": i32) {\n%t" RING " = tile %n {ring=" RING                \
    "} : (16, 32) fp32\n%x" RING " = convert %t" RING " : (16, 32) fp32 " L4 "\n"         \
    REDUCE("q" RING) "yield\n}\n"
    (void)state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(
        &c, "func @f(%n: i32, %v: (16, 32) fp32 " L4 ") num_warps=4 num_stages=1 "
            "ring[(16, 32) fp32 stages=2 fast=1 loose=1] ring[(16, 32) fp32 stages=4 fast=0 loose=1] "
            "ring[(8, 64) fp32 stages=1 fast=1] layouts {\n" ONES REDUCE("a") FILL("0") READ("0")
                REDUCE("b") FILL("1") READ("1") REDUCE("d") "return\n}\n");
    layout_ir_run(&c, fn, "smem_plan");
    list(fn->body, &got);
    assert_int_equal(fn->rings[2].smem, 0);
    assert_int_equal(fn->smem_reserved, 2048);
    assert_int_equal(fn->rings[0].smem, 2048);
    assert_int_equal(fn->rings[1].smem, 2048);
    assert_string_equal(got.at, "2048+16 6144+32/16 2048+16 10240+32/16 2048+16");
    assert_int_equal(fn->smem_bytes, 10240 + 32);
    buf_free(&got);
    ir_case_free(&c.ir);
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 3];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_smem, NULL, NULL, (void *)&cases[i] };
    tests[COUNT] = (struct CMUnitTest)cmocka_unit_test(check_too_much);
    tests[COUNT + 1] = (struct CMUnitTest)cmocka_unit_test(check_rings);
    tests[COUNT + 2] = (struct CMUnitTest)cmocka_unit_test(check_loose_rings);
    return cmocka_run_group_tests_name("smem_plan", tests, NULL, NULL);
}
