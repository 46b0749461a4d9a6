// test_barriers.c - where barriers are needed, written by hand as a word of the operations.
//
// Each case's function is run through barriers; what comes out is reduced to one letter an
// operation: l load, s store, a atomic, r reduce, c convert, p tile_put, y async_copy, w
// async_wait, | barrier, ( ) a loop's body, { } an
// arm. Everything else is left out.
#include "layout_ir_case.h"

#define L4 "@[reg=[1,2];lane=[4,8,16,32,64];warp=[128,256]]"    // 512 elements, 4 warps, fours
#define L1 "@[reg=[128,256];lane=[1,2,4,8,16];warp=[32,64]]"    // the same, ones
#define LR "@[reg=[];lane=[1,2,4,8,16];warp=[0,0]]"             // 32 elements, a copy in each warp
#define FN(params, body) "func @f(" params ") num_warps=4 num_stages=1 layouts {\n" body "return\n}\n"
#define PTRS "%p: *fp32, %q: *fp32, %n: i32"

/// %NAME = addresses BASE + 0..511 in layout L.
#define ADDRESSES(NAME, BASE, L)                                     \
    "%r" NAME " = arange 0, 512 : (512) i32 " L "\n"                 \
    "%s" NAME " = splat " BASE " : (512) *fp32 " L "\n"              \
    "%" NAME " = ptr_add %s" NAME ", %r" NAME " : (512) *fp32 " L "\n"
/// %NAME = addresses of FROM moved by the constant BY.
#define MOVED(NAME, FROM, BY, L)                                     \
    "%c" NAME " = const " BY " : (512) i32 " L "\n"                  \
    "%" NAME " = ptr_add " FROM ", %c" NAME " : (512) *fp32 " L "\n"
/// %NAME = addresses BASE - (0..511), by negative numbers of type T.
#define MIRRORED(NAME, BASE, T)                                      \
    "%r" NAME " = arange 0, 512 : (512) i32 " L4 "\n"                \
    "%t" NAME " = cast %r" NAME " : (512) " T " " L4 "\n"            \
    "%n" NAME " = neg %t" NAME " : (512) " T " " L4 "\n"             \
    "%w" NAME " = cast %n" NAME " : (512) i64 " L4 "\n"              \
    "%s" NAME " = splat " BASE " : (512) *fp32 " L4 "\n"             \
    "%" NAME " = ptr_add %s" NAME ", %w" NAME " : (512) *fp32 " L4 "\n"
/// %NAME = addresses BASE + 8 * (0..511), by a shift.
#define SHIFTED(NAME, BASE)                                          \
    "%r" NAME " = arange 0, 512 : (512) i32 " L4 "\n"                \
    "%c" NAME " = const 3 : (512) i32 " L4 "\n"                      \
    "%n" NAME " = shl %r" NAME ", %c" NAME " : (512) i32 " L4 "\n"   \
    "%s" NAME " = splat " BASE " : (512) *fp32 " L4 "\n"             \
    "%" NAME " = ptr_add %s" NAME ", %n" NAME " : (512) *fp32 " L4 "\n"
#define ONES(L) "%one = const 1.0 : (512) fp32 " L "\n"
#define REDUCE(NAME, OF, SMEM)                                       \
    "%" NAME " = reduce " OF " {kind=sum, axis=0, smem=" SMEM ", smem_bytes=16} : fp32\n"
#define REDUCE_TURNS(NAME, OF, SMEM)                                 \
    "%" NAME " = reduce " OF " {kind=sum, axis=0, smem=" SMEM ", smem_bytes=32, smem_turn=16} : fp32\n"
#define LOOP "%zero = const 0 : i32\n%step = const 512 : i32\n"

// Rings 0 and 1 lie apart.
#define FN_RINGS(params, body)                                                               \
    "func @f(" params ") num_warps=4 num_stages=1 "                                          \
    "ring[(16, 32) fp32 stages=2 fast=1 smem=0 bytes=2048] "                                 \
    "ring[(16, 32) fp32 stages=2 fast=1 smem=4096 bytes=2048] layouts {\n" body "return\n}\n"
#define RINGS(body) FN_RINGS("%n: i32, %s: i32, %v: (16, 32) fp32 " L4, body)
#define READ(RING) \
    "%t = tile %s {ring=" RING "} : (16, 32) fp32\n%x = convert %t : (16, 32) fp32 " L4 "\n"
#define PUT(RING, FLAGS) "tile_put %s, %v {ring=" RING FLAGS "}\n"

typedef struct BarrierCase {
    const char *name, *text, *want;
} BarrierCase;

static const BarrierCase cases[] = {
    { "vector_add",
      FN(PTRS, ADDRESSES("x", "%p", L4) ADDRESSES("y", "%q", L4) "%v = load %x : (512) fp32 " L4 "\n"
                                                                 "store %y, %v\n"),
      "ls" },
    { "in_place",
      FN(PTRS, ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L4) "%v = load %x : (512) fp32 " L4 "\n"
                                                                 "store %y, %v\n"),
      "ls" },
    { "in_place_with_replicas",
      FN(PTRS, "%r = arange 0, 32 : (32) i32 " LR "\n%s = splat %p : (32) *fp32 " LR "\n"
               "%x = ptr_add %s, %r : (32) *fp32 " LR "\n%v = load %x : (32) fp32 " LR "\n"
               "store %x, %v\n"),
      "l|s" },
    { "two_stores_with_replicas",
      FN(PTRS, "%r = arange 0, 32 : (32) i32 " LR "\n%s = splat %p : (32) *fp32 " LR "\n"
               "%x = ptr_add %s, %r : (32) *fp32 " LR "\n%v = const 1.0 : (32) fp32 " LR "\n"
               "store %x, %v\nstore %x, %v\n"),
      "ss" },
    { "overlapping_stores_keep_order",
      FN(PTRS, ADDRESSES("x", "%p", L4) MOVED("y", "%x", "1", L4) ONES(L4)
                   "store %x, %one\nstore %y, %one\n%v = load %y : (512) fp32 " L4 "\n"),
      "s|sl" },
    { "one_address_two_layouts",
      FN(PTRS, ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1) ONES(L4)
                   "store %x, %one\n%v = load %y : (512) fp32 " L1 "\n"),
      "s|l" },
    { "halves_are_apart",
      FN(PTRS, ADDRESSES("x", "%p", L4) MOVED("y", "%x", "512", L4) ONES(L4)
                   "store %x, %one\nstore %y, %one\n"),
      "ss" },
    { "a_whole_block_and_a_shorter_one_behind_it",
      FN(PTRS, ADDRESSES("x", "%p", L4) ONES(L4) "%r = arange 512, 544 : (32) i32 " LR "\n%s = splat %p : (32) *fp32 " LR
               "\n%y = ptr_add %s, %r : (32) *fp32 " LR "\n%v = const 1.0 : (32) fp32 " LR "\n"
               "store %x, %one\nstore %y, %v\n"),
      "ss" },
    { "a_whole_block_and_a_shorter_one_at_its_end",
      FN(PTRS, ADDRESSES("x", "%p", L4) ONES(L4) "%r = arange 511, 543 : (32) i32 " LR "\n%s = splat %p : (32) *fp32 " LR
               "\n%y = ptr_add %s, %r : (32) *fp32 " LR "\n%v = const 1.0 : (32) fp32 " LR "\n"
               "store %x, %one\nstore %y, %v\n"),
      "s|s" },
    { "mirrored_and_behind_it",
      FN(PTRS, MIRRORED("x", "%p", "i32") ADDRESSES("z", "%p", L4) MOVED("y", "%z", "1", L4) ONES(L4)
                   "store %x, %one\nstore %y, %one\n"),
      "ss" },
    { "mirrored_and_over_its_middle",
      FN(PTRS, MIRRORED("x", "%p", "i32") ADDRESSES("z", "%p", L4) MOVED("y", "%z", "0", L4) ONES(L4)
                   "store %x, %one\nstore %y, %one\n"),
      "s|s" },
    { "mirrored_by_numbers_that_wrap",  // -i is 2^32 - i there
      FN(PTRS, MIRRORED("x", "%p", "u32") ADDRESSES("z", "%p", L4) MOVED("y", "%z", "1", L4) ONES(L4)
                   "store %x, %one\nstore %y, %one\n"),
      "s|s" },
    { "shifted_and_behind_it",
      FN(PTRS, SHIFTED("x", "%p") ADDRESSES("z", "%p", L4) MOVED("y", "%z", "4089", L4) ONES(L4)
                   "store %x, %one\nstore %y, %one\n"),
      "ss" },
    { "shifted_and_at_its_end",
      FN(PTRS, SHIFTED("x", "%p") ADDRESSES("z", "%p", L4) MOVED("y", "%z", "4088", L4) ONES(L4)
                   "store %x, %one\nstore %y, %one\n"),
      "s|s" },
    { "addresses_may_repeat",
      FN(PTRS, "%r = arange 0, 512 : (512) i32 " L4 "\n%two = const 2 : (512) i32 " L4 "\n"
               "%h = idiv %r, %two : (512) i32 " L4 "\n%s = splat %p : (512) *fp32 " L4 "\n"
               "%x = ptr_add %s, %h : (512) *fp32 " L4 "\n" ONES(L4)
               "store %x, %one\nstore %x, %one\n"),
      "s|s" },
    { "two_loads", FN(PTRS, ADDRESSES("x", "%p", L4) "%v = load %x : (512) fp32 " L4 "\n"
                                                     "%w = load %x : (512) fp32 " L4 "\n"),
      "ll" },
    { "users_barrier_counts",
      FN(PTRS, ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1) ONES(L4)
                   "store %x, %one\nbarrier {from_user}\n%v = load %y : (512) fp32 " L1 "\n"),
      "s|l" },
    { "scalar_store_then_load",
      FN(PTRS, "%c = const 1.0 : fp32\nstore %p, %c\n%v = load %p : fp32\nstore %q, %v\n"), "s|ls" },
    { "scalar_stores", FN(PTRS, "%c = const 1.0 : fp32\nstore %p, %c\nstore %p, %c\n"), "ss" },
    { "scratch_reused",
      FN(PTRS, ONES(L4) REDUCE("a", "%one", "0") REDUCE("b", "%one", "0")), "r|r" },
    { "scratch_apart",
      FN(PTRS, ONES(L4) REDUCE("a", "%one", "0") REDUCE("b", "%one", "16") REDUCE("c", "%one", "0")),
      "rrr" },
    { "barrier_inside_reduce_orders_memory",
      FN(PTRS, ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1) ONES(L4) "store %x, %one\n"
         REDUCE("a", "%one", "0") "%v = load %y : (512) fp32 " L1 "\n"),
      "srl" },
    { "shuffled_convert_orders_nothing",
      FN(PTRS, ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1) ONES(L4) "store %x, %one\n"
         "%k = convert %one : (512) fp32 " L1 "\n%v = load %y : (512) fp32 " L1 "\n"),
      "sc|l" },
    { "loop_reuses_scratch",
      FN(PTRS, ONES(L4) LOOP "for %zero, %n, %step (%i: i32) {\n" REDUCE("a", "%one", "0") "yield\n}\n"),
      "(|r)" },
    { "loop_takes_turns",
      FN(PTRS, LOOP ONES(L4) "for %zero, %n, %step (%i: i32) {\n" REDUCE_TURNS("a", "%one", "0") "yield\n}\n"
         REDUCE("b", "%one", "16")),
      "(r)|r" },
    { "volatile_load_by_one_thread",
      FN("%p: *i32, %q: *i32",
         "%k = const 1 : i32\nstore %p, %k\n%v = load %p {volatile, smem=0, smem_bytes=4} : i32\n"
         "%w = load %p {volatile, smem=16, smem_bytes=4} : i32\nstore %p, %w\n%u = load %p : i32\n"),
      "slls|l" },
    { "loop_alternates_scratch",
      FN(PTRS, ONES(L4) LOOP "for %zero, %n, %step (%i: i32) {\n" REDUCE("a", "%one", "0")
                   REDUCE("b", "%one", "16") "yield\n}\n"),
      "(rr)" },
    { "loop_over_rows_of_blocks",
      FN(PTRS, LOOP ONES(L4) "for %zero, %n, %step (%i: i32) {\n%o = splat %i : (512) i32 " L4 "\n"
         ADDRESSES("x", "%p", L4) "%y = ptr_add %x, %o : (512) *fp32 " L4 "\n"
         "%v = load %y : (512) fp32 " L4 "\nstore %y, %v\nyield\n}\n"),
      "(ls)" },
    { "loop_with_overlap",
      FN(PTRS, "%zero = const 0 : i32\n%step = const 511 : i32\n" ONES(L4)
         "for %zero, %n, %step (%i: i32) {\n%o = splat %i : (512) i32 " L4 "\n"
         ADDRESSES("x", "%p", L4) "%y = ptr_add %x, %o : (512) *fp32 " L4 "\n"
         "store %y, %one\nyield\n}\n"),
      "(|s)" },
    { "grid_stride_loop",
      FN(PTRS, "%zero = const 0 : i32\n%w = const 512 : i32\n%g = num_programs {axis=0} : i32\n"
         "%step = mul %g, %w : i32\n" ONES(L4)
         "for %zero, %n, %step (%i: i32) {\n%o = splat %i : (512) i32 " L4 "\n"
         ADDRESSES("x", "%p", L4) "%y = ptr_add %x, %o : (512) *fp32 " L4 "\n"
         "store %y, %one\nyield\n}\n"),
      "(s)" },
    { "stride_unknown",
      FN(PTRS, "%zero = const 0 : i32\n" ONES(L4)
         "for %zero, %n, %n (%i: i32) {\n%o = splat %i : (512) i32 " L4 "\n"
         ADDRESSES("x", "%p", L4) "%y = ptr_add %x, %o : (512) *fp32 " L4 "\n"
         "store %y, %one\nyield\n}\n"),
      "(|s)" },
    { "loop_carried_pointer",
      FN(PTRS, LOOP ONES(L4) ADDRESSES("x", "%p", L4)
         "%e = for %zero, %n, %step, %x : (512) *fp32 " L4 " (%i: i32, %y: (512) *fp32 " L4 ") {\n"
         "store %y, %one\n" MOVED("z", "%y", "512", L4) "yield %z\n}\n"),
      "(s)" },
    { "loop_at_one_place",
      FN(PTRS, LOOP ONES(L4) ADDRESSES("x", "%p", L4) "for %zero, %n, %step (%i: i32) {\n"
         "%v = load %x : (512) fp32 " L4 "\nstore %x, %v\nyield\n}\n"),
      "(ls)" },
    { "hazard_before_a_loop_stays_outside",
      FN(PTRS, LOOP ONES(L4) ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1) "store %x, %one\n"
         "for %zero, %n, %step (%i: i32) {\n%v = load %y : (512) fp32 " L1 "\nyield\n}\n"),
      "s|(l)" },
    { "outer_loop_orders_inner",
      FN(PTRS, LOOP ONES(L4) ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1)
         "for %zero, %n, %step (%i: i32) {\nstore %x, %one\n"
         "for %zero, %n, %step (%j: i32) {\n%v = load %y : (512) fp32 " L1 "\nyield\n}\nyield\n}\n"),
      "(|s|(l))" },
    { "only_the_arm_that_needs_it",
      FN(PTRS ", %c: i1", ONES(L4) ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1)
         "store %x, %one\nif %c {\n%v = load %y : (512) fp32 " L1 "\nyield\n} else {\nyield\n}\n"
         "%w = load %y : (512) fp32 " L1 "\n"),
      "s{|l}{}|l" },
    { "pointer_from_memory_meets_everything",
      FN("%p: *fp32, %t: *u64", ONES(L4) "%a = load %t : u64\n%m = bitcast %a : *fp32\n"
         ADDRESSES("x", "%p", L4) ADDRESSES("y", "%m", L4) "store %x, %one\nstore %y, %one\n"),
      "ls|s" },
    { "constant_parameter_is_never_met",
      FN("%p: *const fp32, %t: *u64", ONES(L4) "%a = load %t : u64\n%m = bitcast %a : *fp32\n"
         "%s1 = splat %p : (512) *const fp32 " L4 "\n%v = load %s1 : (512) fp32 " L4 "\n"
         "%s2 = splat %m : (512) *fp32 " L4 "\nstore %s2, %one\n"),
      "ll|s" },
    { "histogram_needs_none",
      FN(PTRS, LOOP ONES(L4) ADDRESSES("x", "%p", L4) "for %zero, %n, %step (%i: i32) {\n"
         "%o = atomic_rmw %x, %one {kind=add, order=acq_rel, scope=gpu} : (512) fp32 " L4 "\nyield\n}\n"),
      "(a)" },
    { "release_of_a_lock_waits_for_all",
      FN(PTRS, ONES(L4) ADDRESSES("x", "%p", L4) "store %x, %one\n%c = const 0.0 : fp32\n"
         "%o = atomic_rmw %q, %c {kind=xchg, order=release, scope=gpu} : fp32\n"),
      "s|a" },
    { "relaxed_atomic_elsewhere_does_not",
      FN(PTRS, ONES(L4) ADDRESSES("x", "%p", L4) "store %x, %one\n%c = const 0.0 : fp32\n"
         "%o = atomic_rmw %q, %c {kind=add, order=relaxed, scope=gpu} : fp32\n"),
      "sa" },
    { "spin_lock",
      FN("%p: *fp32, %l: *i32, %n: i32",
         "%free = const 0 : i32\n%held = const 1 : i32\n"
         "%k = while %held : i32 (%s: i32) {\n%b = ne %s, %free : i1\nyield %b\n} do (%s2: i32) {\n"
         "%o = atomic_cas %l, %free, %held {kind=add, order=acq_rel, scope=gpu, smem=0, smem_bytes=4} : i32\n"
         "yield %o\n}\n"
         "%v = load %p : fp32\n%w = add %v, %v : fp32\nstore %p, %w\n"
         "%u = atomic_rmw %l, %free {kind=xchg, order=acq_rel, scope=gpu} : i32\n"),
      "()(|a)l|s|a" },
    { "tile_waits_for_its_readers", RINGS(READ("0") PUT("0", "")), "c|p" },
    { "tile_of_another_ring", RINGS(READ("0") PUT("1", "")), "cp" },
    { "tile_that_its_maker_keeps_clear", RINGS(READ("0") PUT("0", ", ordered")), "cp" },
    { "tiles_that_nobody_reads",
      FN_RINGS("%s: i32, %v: (16, 32) fp32 " L4 ", %o: (512) fp32 " L4,
               PUT("0", "") PUT("0", "") REDUCE("r", "%o", "2048")),
      "pp|r" },
    { "tiles_beside_scratch",
      FN_RINGS("%s: i32, %v: (16, 32) fp32 " L4 ", %o: (512) fp32 " L4,
               PUT("0", "") REDUCE("r", "%o", "8192")),
      "pr" },
    { "tiles_of_overlapping_rings",
      "func @f(%s: i32, %v: (16, 32) fp32 " L4 ") num_warps=4 num_stages=1 "
      "ring[(16, 32) fp32 stages=2 fast=1 smem=0 bytes=2048] "
      "ring[(16, 32) fp32 stages=2 fast=1 smem=2048 bytes=2048] layouts {\n"
      PUT("0", ", ordered") PUT("1", "") "return\n}\n",
      "p|p" },
    { "wait_is_a_barrier", RINGS(READ("0") "async_wait {groups=1}\n" PUT("0", "")), "cwp" },
    { "tiles_of_a_loop_run_twice",
      RINGS(LOOP "for %zero, %n, %step (%j: i32) {\n" PUT("0", "")
            "for %zero, %n, %step (%i: i32) {\nbarrier\n" READ("0") PUT("0", ", ordered")
            "yield\n}\nyield\n}\n"),
      "(|p(|cp))" },
    { "copy_reads_what_was_stored",
      FN_RINGS(PTRS ", %s: i32",
               ADDRESSES("x", "%p", L4) ADDRESSES("y", "%p", L1) ONES(L4)
               "store %x, %one\n%m = reshape %y : (16, 32) *fp32 " L1 "\n"
               "async_copy %m, %s {ring=0, vec=1}\n"),
      "s|y" },
};

static void spell(const IrBlock *b, Buf *out)
{
    for (const IrOp *op = b->first; op != NULL; op = op->next) {
        switch (op->code) {
        case IR_LOAD: buf_putc(out, 'l'); break;
        case IR_STORE: buf_putc(out, 's'); break;
        case IR_ATOMIC_RMW:
        case IR_ATOMIC_CAS: buf_putc(out, 'a'); break;
        case IR_REDUCE: buf_putc(out, 'r'); break;
        case IR_CONVERT: buf_putc(out, 'c'); break;
        case IR_BARRIER: buf_putc(out, '|'); break;
        case IR_TILE_PUT: buf_putc(out, 'p'); break;
        case IR_ASYNC_COPY: buf_putc(out, 'y'); break;
        case IR_ASYNC_WAIT: buf_putc(out, 'w'); break;
        default: break;
        }
        for (uint32_t r = 0; r < op->regionc; r++) {
            buf_putc(out, op->code == IR_IF ? '{' : '(');
            spell(op->regions[r], out);
            buf_putc(out, op->code == IR_IF ? '}' : ')');
        }
    }
}

static void check_barriers(void **state)
{
    const BarrierCase *t = *state;
    LayoutIrCase c;
    Buf got = { 0 };
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(&c, t->text);
    layout_ir_run(&c, fn, "barriers");
    spell(fn->body, &got);
    assert_string_equal(got.at, t->want);
    buf_free(&got);
    ir_case_free(&c.ir);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_barriers, NULL, NULL, (void *)&cases[i] };
    return cmocka_run_group_tests_name("barriers", tests, NULL, NULL);
}
