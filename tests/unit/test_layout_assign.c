// test_layout_assign.c - which layouts come out and how many conversions, by kernels of the usual kinds.
//
// Each function is also assigned for 1 to 32 warps and checked against the rules that the verifier
// cannot know: what shape operations and reductions do to a layout.
#include "layout_ir_case.h"

/// C[r][c] of a 64 x 64 block as (64, 64) i32: %rows and %cols; rows and columns of a runtime stride.
#define GRID                                              \
    "%r = arange 0, 64 : (64) i32\n"                      \
    "%ra = expand_dims %r {axis=1} : (64, 1) i32\n"       \
    "%ca = expand_dims %r {axis=0} : (1, 64) i32\n"       \
    "%rows = broadcast %ra : (64, 64) i32\n"              \
    "%cols = broadcast %ca : (64, 64) i32\n"              \
    "%strides = splat %n : (64, 64) i32\n"
#define BY_ROW                                            \
    "%ro = mul %rows, %strides : (64, 64) i32\n"          \
    "%by_row = add %ro, %cols : (64, 64) i32\n"
#define BY_COLUMN                                         \
    "%co = mul %cols, %strides : (64, 64) i32\n"          \
    "%by_column = add %co, %rows : (64, 64) i32\n"
#define AT(NAME, BASE, OFFSETS, TYPE)                     \
    "%s" NAME " = splat " BASE " : " TYPE "\n"            \
    "%" NAME " = ptr_add %s" NAME ", " OFFSETS " : " TYPE "\n"
#define PARAMS "%x: *fp32, %y: *fp32, %h: *fp16, %t: *i32, %n: i32 {divisor=16}"

#define ROW_LAYOUT "reg=[1,2,512,1024,2048];lane=[4,8,16,32,64];warp=[128,256]"
#define COLUMN_LAYOUT "reg=[64,128,8,16,32];lane=[256,512,1024,2048,1];warp=[2,4]"

typedef struct AssignCase {
    const char *name, *body;
    unsigned converts;
    IrCode code;              ///< of the operation looked at: its n-th, in layout `layout`
    unsigned n;
    const char *layout;
} AssignCase;

static const AssignCase cases[] = {
    { "vector_add",
      "%r = arange 0, 1024 : (1024) i32\n" AT("a", "%x", "%r", "(1024) *fp32")
      "%v = load %a : (1024) fp32\n%w = add %v, %v : (1024) fp32\n"
      AT("b", "%y", "%r", "(1024) *fp32") "store %b, %w\n",
      0, IR_LOAD, 0, "reg=[1,2,512];lane=[4,8,16,32,64];warp=[128,256]" },
    { "no_thread_idles_for_a_wide_access",
      "%r = arange 0, 256 : (256) i32\n" AT("a", "%x", "%r", "(256) *fp32")
      "%v = load %a : (256) fp32\nstore %a, %v\n",
      0, IR_LOAD, 0, "reg=[1];lane=[2,4,8,16,32];warp=[64,128]" },
    { "small_blocks_are_replicated",
      "%r = arange 0, 16 : (16) i32\n" AT("a", "%x", "%r", "(16) *fp32")
      "%v = load %a : (16) fp32\nstore %a, %v\n",
      0, IR_LOAD, 0, "reg=[];lane=[1,2,4,8,0];warp=[0,0]" },
    { "half_precision_takes_eights",
      "%r = arange 0, 1024 : (1024) i32\n" AT("a", "%h", "%r", "(1024) *fp16")
      "%v = load %a : (1024) fp16\nstore %a, %v\n",
      0, IR_LOAD, 0, "reg=[1,2,4];lane=[8,16,32,64,128];warp=[256,512]" },
    { "mixed_widths_share_a_layout",
      "%r = arange 0, 1024 : (1024) i32\n" AT("a", "%h", "%r", "(1024) *fp16")
      "%v = load %a : (1024) fp16\n%w = cast %v : (1024) fp32\n"
      AT("b", "%y", "%r", "(1024) *fp32") "store %b, %w\n",
      0, IR_LOAD, 0, "reg=[1,2,512];lane=[4,8,16,32,64];warp=[128,256]" },
    { "softmax_row",
      "%r = arange 0, 1024 : (1024) i32\n" AT("a", "%x", "%r", "(1024) *fp32")
      "%v = load %a : (1024) fp32\n%m = reduce %v {kind=max, axis=0} : fp32\n"
      "%ms = splat %m : (1024) fp32\n%d = sub %v, %ms : (1024) fp32\n%e = exp %d : (1024) fp32\n"
      "%s = reduce %e {kind=sum, axis=0} : fp32\n%ss = splat %s : (1024) fp32\n"
      "%o = div %e, %ss : (1024) fp32\n" AT("b", "%y", "%r", "(1024) *fp32") "store %b, %o\n",
      0, IR_STORE, 0, "reg=[1,2,512];lane=[4,8,16,32,64];warp=[128,256]" },
    { "rows_of_a_matrix", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\n%m = reduce %v {kind=max, axis=1} : (64) fp32\n"
      "%m1 = expand_dims %m {axis=1} : (64, 1) fp32\n%mb = broadcast %m1 : (64, 64) fp32\n"
      "%d = sub %v, %mb : (64, 64) fp32\n" AT("b", "%y", "%by_row", "(64, 64) *fp32") "store %b, %d\n",
      0, IR_LOAD, 0, ROW_LAYOUT },
    { "columns_are_loaded_along_columns", GRID BY_COLUMN AT("a", "%x", "%by_column", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\nstore %a, %v\n",
      0, IR_LOAD, 0, COLUMN_LAYOUT },
    { "transposed_store_converts_once", GRID BY_ROW BY_COLUMN AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\n" AT("b", "%y", "%by_column", "(64, 64) *fp32") "store %b, %v\n",
      1, IR_STORE, 0, COLUMN_LAYOUT },
    { "trans_moves_nothing", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\n%w = trans %v {perm=[1, 0]} : (64, 64) fp32\n"
      BY_COLUMN AT("b", "%y", "%by_column", "(64, 64) *fp32") "store %b, %w\n",
      0, IR_STORE, 0, COLUMN_LAYOUT },
    { "reshape_moves_nothing", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\n%w = reshape %v : (4096) fp32\n%k = arange 0, 4096 : (4096) i32\n"
      AT("b", "%y", "%k", "(4096) *fp32") "store %b, %w\n",
      0, IR_STORE, 0, ROW_LAYOUT },
    { "weights_load_where_they_are_broadcast", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\n" AT("w", "%y", "%r", "(64) *fp32") "%wv = load %w : (64) fp32\n"
      "%w1 = expand_dims %wv {axis=0} : (1, 64) fp32\n%wb = broadcast %w1 : (64, 64) fp32\n"
      "%d = mul %v, %wb : (64, 64) fp32\nstore %a, %d\n",
      0, IR_LOAD, 1, "reg=[1,2];lane=[4,8,16,32,0];warp=[0,0]" },
    { "gather_of_rows", GRID AT("i", "%t", "%r", "(64) *i32") "%iv = load %i : (64) i32\n"
      "%i1 = expand_dims %iv {axis=1} : (64, 1) i32\n%ib = broadcast %i1 : (64, 64) i32\n"
      "%io = mul %ib, %strides : (64, 64) i32\n%ix = add %io, %cols : (64, 64) i32\n"
      AT("a", "%x", "%ix", "(64, 64) *fp32") "%v = load %a : (64, 64) fp32\n"
      BY_ROW AT("b", "%y", "%by_row", "(64, 64) *fp32") "store %b, %v\n",
      0, IR_LOAD, 1, ROW_LAYOUT },
    { "gather_follows_its_indices",
      "%r = arange 0, 1024 : (1024) i32\n" AT("i", "%t", "%r", "(1024) *i32")
      "%iv = load %i : (1024) i32\n" AT("a", "%x", "%iv", "(1024) *fp32") "%v = load %a : (1024) fp32\n"
      AT("b", "%y", "%r", "(1024) *fp32") "store %b, %v\n",
      0, IR_LOAD, 1, "reg=[1,2,512];lane=[4,8,16,32,64];warp=[128,256]" },
    { "sum_in_a_loop", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%zero = const 0 : i32\n%step = const 64 : i32\n%init = const 0.0 : (64, 64) fp32\n"
      "%acc = for %zero, %n, %step, %init : (64, 64) fp32 (%i: i32, %c: (64, 64) fp32) {\n"
      "%o = splat %i : (64, 64) i32\n%p = ptr_add %a, %o : (64, 64) *fp32\n"
      "%v = load %p : (64, 64) fp32\n%s = add %c, %v : (64, 64) fp32\nyield %s\n}\n"
      "%m = reduce %acc {kind=sum, axis=1} : (64) fp32\n" AT("b", "%y", "%r", "(64) *fp32") "store %b, %m\n",
      0, IR_FOR, 0, ROW_LAYOUT },
    { "pointers_carried_by_a_loop", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%zero = const 0 : i32\n%step = const 64 : i32\n%move = const 64 : (64, 64) i32\n"
      "%e = for %zero, %n, %step, %a : (64, 64) *fp32 (%i: i32, %p: (64, 64) *fp32) {\n"
      "%v = load %p : (64, 64) fp32\n%w = exp %v : (64, 64) fp32\nstore %p, %w\n"
      "%q = ptr_add %p, %move : (64, 64) *fp32\nyield %q\n}\n",
      0, IR_FOR, 0, ROW_LAYOUT },
    { "row_sums_in_a_loop", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%zero = const 0 : i32\n%step = const 64 : i32\n%init = const 0.0 : (64) fp32\n"
      "%acc = for %zero, %n, %step, %init : (64) fp32 (%i: i32, %c: (64) fp32) {\n"
      "%v = load %a : (64, 64) fp32\n%m = reduce %v {kind=sum, axis=1} : (64) fp32\n"
      "%s = add %c, %m : (64) fp32\nyield %s\n}\n" AT("b", "%y", "%r", "(64) *fp32") "store %b, %acc\n",
      0, IR_FOR, 0, "reg=[8,16,32];lane=[0,0,0,0,1];warp=[2,4]" },
    { "conversion_leaves_the_loop", GRID BY_ROW BY_COLUMN AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\n" AT("b", "%y", "%by_column", "(64, 64) *fp32")
      "%zero = const 0 : i32\n%step = const 1 : i32\n"
      "for %zero, %n, %step (%i: i32) {\n%o = splat %i : (64, 64) i32\n"
      "%p = ptr_add %b, %o : (64, 64) *fp32\nstore %p, %v\nyield\n}\n",
      1, IR_CONVERT, 0, COLUMN_LAYOUT },
    { "narrow_values_move", GRID BY_ROW BY_COLUMN AT("a", "%h", "%by_row", "(64, 64) *fp16")
      "%v = load %a : (64, 64) fp16\n%w = cast %v : (64, 64) fp32\n"
      AT("b", "%y", "%by_column", "(64, 64) *fp32") "store %b, %w\n",
      1, IR_CONVERT, 0, COLUMN_LAYOUT },
    { "if_results", GRID BY_ROW "%c = eq %n, %n : i1\n" AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%w = if %c : (64, 64) fp32 {\n%k = const 0.0 : (64, 64) fp32\nyield %k\n} else {\n"
      "%v = load %a : (64, 64) fp32\nyield %v\n}\nstore %a, %w\n",
      0, IR_IF, 0, ROW_LAYOUT },
    { "while_carries", "%r = arange 0, 256 : (256) i32\n" AT("a", "%x", "%r", "(256) *fp32")
      "%z = const 0 : i32\n%k = const 1.0 : (256) fp32\n"
      "%e, %f = while %z, %k : i32, (256) fp32 (%i: i32, %u: (256) fp32) {\n%b = lt %i, %n : i1\nyield %b\n"
      "} do (%j: i32, %w: (256) fp32) {\n%one = const 1 : i32\n%i2 = add %j, %one : i32\n"
      "%w2 = exp %w : (256) fp32\nyield %i2, %w2\n}\nstore %a, %f\n",
      0, IR_STORE, 0, "reg=[1];lane=[2,4,8,16,32];warp=[64,128]" },
    { "computed_values_follow_their_store",
      "%r = arange 0, 1024 : (1024) i32\n%f = cast %r : (1024) fp32\n%e = exp %f : (1024) fp32\n"
      AT("b", "%h", "%r", "(1024) *fp16") "%g = cast %e : (1024) fp16\nstore %b, %g\n",
      0, IR_EXP, 0, "reg=[1,2,4];lane=[8,16,32,64,128];warp=[256,512]" },
    { "outer_product_follows_its_store", GRID BY_COLUMN AT("w", "%y", "%r", "(64) *fp32")
      "%wv = load %w : (64) fp32\n%w0 = expand_dims %wv {axis=0} : (1, 64) fp32\n"
      "%w1 = expand_dims %wv {axis=1} : (64, 1) fp32\n%b0 = broadcast %w0 : (64, 64) fp32\n"
      "%b1 = broadcast %w1 : (64, 64) fp32\n%o = mul %b0, %b1 : (64, 64) fp32\n"
      AT("a", "%x", "%by_column", "(64, 64) *fp32") "store %a, %o\n",
      1, IR_STORE, 0, COLUMN_LAYOUT },
    { "histogram",
      "%r = arange 0, 1024 : (1024) i32\n" AT("a", "%t", "%r", "(1024) *i32")
      "%v = load %a : (1024) i32\n" AT("b", "%t", "%v", "(1024) *i32") "%one = const 1 : (1024) i32\n"
      "%old = atomic_rmw %b, %one {kind=add, order=acq_rel, scope=gpu} : (1024) i32\n",
      0, IR_ATOMIC_RMW, 0, "reg=[1,2,512];lane=[4,8,16,32,64];warp=[128,256]" },
    { "atomics_alone_go_one_by_one",
      "%r = arange 0, 256 : (256) i32\n" AT("b", "%t", "%r", "(256) *i32") "%one = const 1 : (256) i32\n"
      "%old = atomic_rmw %b, %one {kind=add, order=acq_rel, scope=gpu} : (256) i32\n",
      0, IR_ATOMIC_RMW, 0, "reg=[128];lane=[1,2,4,8,16];warp=[32,64]" },
    { "sum_of_a_mask",
      "%r = arange 0, 256 : (256) i32\n%s = splat %n : (256) i32\n%m = lt %r, %s : (256) i1\n"
      "%i = cast %m : (256) i32\n%c = reduce %i {kind=sum, axis=0} : i32\nstore %t, %c\n",
      0, IR_CAST, 0, "reg=[1];lane=[2,4,8,16,32];warp=[64,128]" },
    { "sum_of_computed_values_is_their_slice", GRID BY_ROW
      "%f = cast %by_row : (64, 64) fp32\n%e = exp %f : (64, 64) fp32\n"
      "%m = reduce %e {kind=sum, axis=1} : (64) fp32\n" AT("b", "%y", "%r", "(64) *fp32") "store %b, %m\n",
      0, IR_EXP, 0, ROW_LAYOUT },
    { "carried_value_has_one_layout_inside_and_outside", GRID BY_ROW BY_COLUMN
      "%zero = const 0 : i32\n%step = const 1 : i32\n%init = const 0.0 : (64, 64) fp32\n"
      AT("a", "%x", "%by_row", "(64, 64) *fp32") AT("b", "%y", "%by_column", "(64, 64) *fp32")
      "%e = for %zero, %n, %step, %init : (64, 64) fp32 (%i: i32, %c: (64, 64) fp32) {\n"
      "store %a, %c\nyield %c\n}\nstore %b, %e\n",
      1, IR_FOR, 0, COLUMN_LAYOUT },
    { "sum_of_a_sum", GRID BY_ROW AT("a", "%x", "%by_row", "(64, 64) *fp32")
      "%v = load %a : (64, 64) fp32\n%m = reduce %v {kind=sum, axis=1} : (64) fp32\n"
      "%s = reduce %m {kind=sum, axis=0} : fp32\nstore %y, %s\n",
      0, IR_REDUCE, 0, "reg=[8,16,32];lane=[0,0,0,0,1];warp=[2,4]" },
    { "four_axes",
      "%r = arange 0, 128 : (128) i32\n%k = reshape %r : (4, 8, 2, 2) i32\n"
      AT("a", "%x", "%k", "(4, 8, 2, 2) *fp32") "%v = load %a : (4, 8, 2, 2) fp32\n"
      "%m = reduce %v {kind=sum, axis=3} : (4, 8, 2) fp32\n%s = reduce %m {kind=sum, axis=2} : (4, 8) fp32\n"
      "%f = reshape %s : (32) fp32\n%q = arange 0, 32 : (32) i32\n" AT("b", "%y", "%q", "(32) *fp32")
      "store %b, %f\n",
      0, IR_STORE, 0, "reg=[];lane=[0,0,1,2,4];warp=[8,16]" },
};

static bool check_moves(IrOp *op, void *cx)
{
    LayoutTable *t = cx;
    const IrValue *from = op->argc > 0 ? op->args[0] : NULL, *to = op->resultc > 0 ? op->results[0] : NULL;
    switch (op->code) {
    case IR_EXPAND_DIMS:
    case IR_RESHAPE: assert_ptr_equal(from->layout, to->layout); break;
    case IR_TRANS:
        assert_ptr_equal(to->layout, layout_trans(t, from->layout, from->type, op->attr.perm));
        break;
    case IR_BROADCAST:
        assert_ptr_equal(from->layout, layout_unbroadcast(t, to->layout, to->type, from->type, NULL));
        break;
    case IR_REDUCE:
        if (type_is_block(to->type))
            assert_ptr_equal(to->layout, layout_slice(t, from->layout, from->type,
                                                      (unsigned)op->attr.reduce.axis, NULL));
        break;
    case IR_CONVERT: assert_ptr_not_equal(from->layout, to->layout); break;
    default: break;
    }
    return true;
}

static IrFunc *assign(LayoutIrCase *c, const AssignCase *t, unsigned num_warps)
{
    layout_ir_init(c);
    IrFunc *fn = layout_ir_read(c, arena_printf(&c->ir.arena,
                                                "func @f(%s) num_warps=%u num_stages=1 {\n%sreturn\n}\n",
                                                PARAMS, num_warps, t->body));
    layout_ir_run(c, fn, "layout_assign");
    ir_walk(fn, check_moves, c->layouts);
    return fn;
}

static void check_assign(void **state)
{
    const AssignCase *t = *state;
    LayoutIrCase c;
    for (unsigned num_warps = 1; num_warps <= 32; num_warps *= 2) {
        IrFunc *fn = assign(&c, t, num_warps);
        layout_ir_run(&c, fn, "access");
        layout_ir_run(&c, fn, "smem_plan");
        layout_ir_run(&c, fn, "barriers");
        ir_case_free(&c.ir);
    }
    IrFunc *fn = assign(&c, t, 4);
    if (layout_ir_count(fn, IR_CONVERT) != t->converts)
        fail_msg("wanted %u conversions:\n%s", t->converts, layout_ir_print(&c, fn));
    const IrOp *op = layout_ir_op(fn, t->code, t->n);
    Buf got = { 0 };
    const struct Layout *l = op->resultc > 0 ? op->results[0]->layout : op->args[0]->layout;
    assert_non_null(l);
    layout_print(&got, l);
    if (strcmp(got.at, t->layout) != 0)
        fail_msg("wanted %s:\n%s", t->layout, layout_ir_print(&c, fn));
    buf_free(&got);
    ir_case_free(&c.ir);
}

/// The conversion stands in front of the loop, beside the definition.
static void check_conversion_outside(void **state)
{
    (void)state;
    LayoutIrCase c;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, "conversion_leaves_the_loop") != 0)
            continue;
        IrFunc *fn = assign(&c, &cases[i], 4);
        assert_ptr_equal(layout_ir_op(fn, IR_CONVERT, 0)->block, fn->body);
        ir_case_free(&c.ir);
    }
}

/// What is cast to wider elements moves before that.
static void check_narrow_conversion(void **state)
{
    (void)state;
    LayoutIrCase c;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, "narrow_values_move") != 0)
            continue;
        IrFunc *fn = assign(&c, &cases[i], 4);
        assert_int_equal(type_elem_bytes(layout_ir_op(fn, IR_CONVERT, 0)->results[0]->type), 2);
        ir_case_free(&c.ir);
    }
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 2];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_assign, NULL, NULL, (void *)&cases[i] };
    tests[COUNT] = (struct CMUnitTest)cmocka_unit_test(check_conversion_outside);
    tests[COUNT + 1] = (struct CMUnitTest)cmocka_unit_test(check_narrow_conversion);
    return cmocka_run_group_tests_name("layout_assign", tests, NULL, NULL);
}
