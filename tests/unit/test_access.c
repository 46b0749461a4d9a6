// test_access.c - how wide accesses are and what is proved of them.
#include "layout_ir_case.h"

#define L4 "@[reg=[1,2];lane=[4,8,16,32,64];warp=[]]"   // 128 elements, one warp
#define L1 "@[reg=[32,64];lane=[1,2,4,8,16];warp=[]]"
#define L8 "@[reg=[1,2,4];lane=[8,16,32,64,0];warp=[]]"
#define LR "@[reg=[1,2,64];lane=[4,8,16,32,0];warp=[]]" // (8, 16): four of a row, and of the row 4 below
#define LC "@[reg=[16,32];lane=[64,1,2,4,8];warp=[]]"   // (8, 16): down the columns
/// %a: 128 addresses BASE + OFFSET + 0..127 of elements ELEM.
#define ADDRESSES(BASE, OFFSET, ELEM, L)                    \
    "%r = arange 0, 128 : (128) i32 " L "\n"                \
    "%o = splat " OFFSET " : (128) i32 " L "\n"             \
    "%i = add %r, %o : (128) i32 " L "\n"                   \
    "%s = splat " BASE " : (128) *" ELEM " " L "\n"         \
    "%a = ptr_add %s, %i : (128) *" ELEM " " L "\n"
#define LOAD(ELEM, L) "%v = load %a : (128) " ELEM " " L "\n"
#define MASKED(ELEM, L)                                     \
    "%ls = splat %limit : (128) i32 " L "\n%m = lt %i, %ls : (128) i1 " L "\n" \
    "%v = load %a, mask=%m : (128) " ELEM " " L "\n"
#define PID "%p = program_id {axis=0} : i32\n%n128 = const 128 : i32\n%off = mul %p, %n128 : i32\n"

typedef struct AccessCase {
    const char *name, *params, *body;
    unsigned vec;
    const char *facts;  // c: contiguous, a: aligned, u: uniform mask, l: aligned alike, f: mask falls
    unsigned pointers, masks;  // IrValue.slot_run of both
} AccessCase;

static const AccessCase cases[] = {
    { "aligned_parameter", "%x: *fp32 {divisor=16}", PID ADDRESSES("%x", "%off", "fp32", L4) LOAD("fp32", L4),
      4, "cau", 3, 0 },
    { "unaligned_parameter", "%x: *fp32", PID ADDRESSES("%x", "%off", "fp32", L4) LOAD("fp32", L4),
      4, "cul", 3, 0 },
    { "offset_unknown", "%x: *fp32 {divisor=16}, %off: i32",
      ADDRESSES("%x", "%off", "fp32", L4) LOAD("fp32", L4), 4, "ul", 0, 0 },
    { "mask_of_multiples", "%x: *fp32 {divisor=16}, %limit: i32 {divisor=16}",
      PID ADDRESSES("%x", "%off", "fp32", L4) MASKED("fp32", L4), 4, "cauf", 3, 3 },
    { "mask_unknown", "%x: *fp32 {divisor=16}, %limit: i32",
      PID ADDRESSES("%x", "%off", "fp32", L4) MASKED("fp32", L4), 4, "caf", 3, 0 },
    { "mask_of_numbers_that_may_wrap", "%x: *fp32 {divisor=16}, %limit: i32, %off: i32",
      ADDRESSES("%x", "%off", "fp32", L4) MASKED("fp32", L4), 4, "l", 0, 0 },
    { "mask_that_rises", "%x: *fp32 {divisor=16}, %limit: i32",
      PID ADDRESSES("%x", "%off", "fp32", L4) "%ls = splat %limit : (128) i32 " L4 "\n"
      "%m = ge %i, %ls : (128) i1 " L4 "\n%v = load %a, mask=%m : (128) fp32 " L4 "\n",
      4, "ca", 3, 0 },
    { "both_of_two_masks", "%x: *fp32 {divisor=16}, %limit: i32, %row: i1",
      PID ADDRESSES("%x", "%off", "fp32", L4) "%ls = splat %limit : (128) i32 " L4 "\n"
      "%m = gt %ls, %i : (128) i1 " L4 "\n%rs = splat %row : (128) i1 " L4 "\n"
      "%mr = and %rs, %m : (128) i1 " L4 "\n%v = load %a, mask=%mr : (128) fp32 " L4 "\n",
      4, "caf", 3, 0 },
    { "eight_halves", "%x: *fp16 {divisor=16}", PID ADDRESSES("%x", "%off", "fp16", L8) LOAD("fp16", L8),
      8, "cau", 7, 0 },
    { "sixteen_bytes_at_most", "%x: *fp64 {divisor=16}", PID ADDRESSES("%x", "%off", "fp64", L4)
      LOAD("fp64", L4), 2, "cau", 3, 0 },
    { "slots_apart", "%x: *fp32 {divisor=16}", PID ADDRESSES("%x", "%off", "fp32", L1) LOAD("fp32", L1),
      1, "cau", 3, 0 },
    { "scalar", "%x: *fp32", "%v = load %x : fp32\n", 1, "cau", 0, 0 },
    { "gather", "%x: *fp32 {divisor=16}, %t: *i32",
      "%s0 = splat %t : (128) *i32 " L4 "\n%k = load %s0 : (128) i32 " L4 "\n"
      "%s = splat %x : (128) *fp32 " L4 "\n%a = ptr_add %s, %k : (128) *fp32 " L4 "\n" LOAD("fp32", L4),
      1, "cau", 0, 0 },
    { "every_third", "%x: *fp32 {divisor=16}, %off: i32",
      "%r = arange 0, 128 : (128) i32 " L4 "\n%o = splat %off : (128) i32 " L4 "\n"
      "%c = const 3 : (128) i32 " L4 "\n%t = mul %r, %c : (128) i32 " L4 "\n%i = add %o, %t : (128) i32 " L4 "\n"
      "%s = splat %x : (128) *fp32 " L4 "\n%a = ptr_add %s, %i : (128) *fp32 " L4 "\n" LOAD("fp32", L4),
      1, "cau", 0, 0 },
    { "backwards", "%x: *fp32 {divisor=16}, %off: i32",
      "%r = arange 0, 128 : (128) i32 " L4 "\n%o = splat %off : (128) i32 " L4 "\n"
      "%i = sub %o, %r : (128) i32 " L4 "\n"
      "%s = splat %x : (128) *fp32 " L4 "\n%a = ptr_add %s, %i : (128) *fp32 " L4 "\n" LOAD("fp32", L4),
      1, "cau", 0, 0 },
    { "a_stride_that_may_be_1", "%x: *fp32 {divisor=16}, %stride: i32",
      "%r = arange 0, 128 : (128) i32 " L4 "\n%c = splat %stride : (128) i32 " L4 "\n"
      "%i = mul %r, %c : (128) i32 " L4 "\n"
      "%s = splat %x : (128) *fp32 " L4 "\n%a = ptr_add %s, %i : (128) *fp32 " L4 "\n" LOAD("fp32", L4),
      4, "u", 0, 0 },
    { "one_address_for_all", "%x: *fp32 {divisor=16}",
      "%a = splat %x : (128) *fp32 " L4 "\n" LOAD("fp32", L4), 1, "cau", 0, 0 },
    { "runtime_stride_is_checked_at_run_time", "%x: *fp32 {divisor=16}, %n: i32",
      "%r = arange 0, 128 : (128) i32 " L4 "\n%o = splat %n : (128) i32 " L4 "\n"
      "%i = mul %r, %o : (128) i32 " L4 "\n%s = splat %x : (128) *fp32 " L4 "\n"
      "%a = ptr_add %s, %i : (128) *fp32 " L4 "\n" LOAD("fp32", L4),
      4, "u", 0, 0 },
    { "down_the_columns", "%x: *fp32 {divisor=16}, %n: i32 {divisor=16}",
      "%r = arange 0, 8 : (8) i32 @[reg=[1,2];lane=[4,0,0,0,0];warp=[]]\n"
      "%re = expand_dims %r {axis=1} : (8, 1) i32 @[reg=[1,2];lane=[4,0,0,0,0];warp=[]]\n"
      "%rb = broadcast %re : (8, 16) i32 " LC "\n"
      "%c = arange 0, 16 : (16) i32 @[reg=[];lane=[0,1,2,4,8];warp=[]]\n"
      "%ce = expand_dims %c {axis=0} : (1, 16) i32 @[reg=[];lane=[0,1,2,4,8];warp=[]]\n"
      "%cb = broadcast %ce : (8, 16) i32 " LC "\n%ns = splat %n : (8, 16) i32 " LC "\n"
      "%cn = mul %cb, %ns : (8, 16) i32 " LC "\n%s = splat %x : (8, 16) *fp32 " LC "\n"
      "%b = ptr_add %s, %cn : (8, 16) *fp32 " LC "\n%a = ptr_add %b, %rb : (8, 16) *fp32 " LC "\n"
      "%v = load %a : (8, 16) fp32 " LC "\n",
      4, "cau", 3, 0 },
    { "a_row_of_each_mask", "%x: *fp32 {divisor=16}, %rows: i32, %width: i32 {divisor=4}",
      "%r = arange 0, 8 : (8) i32 @[reg=[4];lane=[0,0,1,2,0];warp=[]]\n"
      "%re = expand_dims %r {axis=1} : (8, 1) i32 @[reg=[4];lane=[0,0,1,2,0];warp=[]]\n"
      "%rb = broadcast %re : (8, 16) i32 " LR "\n%rs = splat %rows : (8, 16) i32 " LR "\n"
      "%c = arange 0, 16 : (16) i32 @[reg=[1,2];lane=[4,8,0,0,0];warp=[]]\n"
      "%ce = expand_dims %c {axis=0} : (1, 16) i32 @[reg=[1,2];lane=[4,8,0,0,0];warp=[]]\n"
      "%cb = broadcast %ce : (8, 16) i32 " LR "\n%ws = splat %width : (8, 16) i32 " LR "\n"
      "%mr = lt %rb, %rs : (8, 16) i1 " LR "\n%mc = lt %cb, %ws : (8, 16) i1 " LR "\n"
      "%m = and %mr, %mc : (8, 16) i1 " LR "\n"
      "%k = const 64 : (8, 16) i32 " LR "\n%rk = mul %rb, %k : (8, 16) i32 " LR "\n"
      "%s = splat %x : (8, 16) *fp32 " LR "\n%b = ptr_add %s, %rk : (8, 16) *fp32 " LR "\n"
      "%a = ptr_add %b, %cb : (8, 16) *fp32 " LR "\n%v = load %a, mask=%m : (8, 16) fp32 " LR "\n",
      4, "cauf", 3, 3 },
};

static void check_access(void **state)
{
    const AccessCase *t = *state;
    LayoutIrCase c;
    const IrOp *found[8];
    unsigned count = 0;
    layout_ir_init(&c);
    IrFunc *fn =
        layout_ir_read(&c, arena_printf(&c.ir.arena,
                                        "func @f(%s) num_warps=1 num_stages=1 layouts {\n%sreturn\n}\n",
                                        t->params, t->body));
    layout_ir_run(&c, fn, "access");
    layout_ir_collect(fn->body, IR_LOAD, found, 8, &count);
    const IrMem *mem = &found[count - 1]->attr.mem;
    char facts[6] = "";
    snprintf(facts, sizeof facts, "%s%s%s%s%s", mem->contiguous ? "c" : "", mem->aligned ? "a" : "",
             mem->mask_uniform ? "u" : "", mem->aligned_alike ? "l" : "", mem->mask_falls ? "f" : "");
    const IrOp *load = found[count - 1];
    const unsigned pointers = load->args[0]->slot_run, masks = load->args[1] ? load->args[1]->slot_run : 0;
    if (mem->vec != t->vec || strcmp(facts, t->facts) != 0)
        fail_msg("%s", layout_ir_print(&c, fn));
    if (pointers != t->pointers || masks != t->masks)
        fail_msg("runs of slots: %u and %u, not %u and %u", pointers, masks, t->pointers, t->masks);
    ir_case_free(&c.ir);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_access, NULL, NULL, (void *)&cases[i] };
    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
