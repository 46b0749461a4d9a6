// test_dot_overlap.c - loops whose second product runs an iteration later store what they stored before,
// whatever the trip count; loops that cannot be treated so stay as they are. Where products are waited for.
#include "ir_eval.h"
#include "layout_ir_case.h"

enum { MEMORY = 1 << 16, BUFFER = 16384 };

static bool other(IrEval *ev, const IrOp *op)
{
    const int64_t *memory = ev->cx;
    if (op->code != IR_LOAD && op->code != IR_DOT && op->code != IR_REDUCE)
        return false;
    const IrValue *r = op->results[0];
    int64_t *out = ev->value[r->id] = ARENA_NEW_N(ev->arena, int64_t, r->type->numel);
    const int64_t *x = ev->value[op->args[0]->id];
    if (op->code == IR_LOAD) {
        for (uint32_t e = 0; e < r->type->numel; e++) {
            assert_in_range(x[e], 0, MEMORY - 1);
            out[e] = memory[x[e]];
        }
        return true;
    }
    const uint32_t inner = (uint32_t)op->args[0]->type->shape[1];
    if (op->code == IR_REDUCE) {  // the largest of a row
        for (uint32_t e = 0; e < r->type->numel; e++) {
            out[e] = x[e * inner];
            for (uint32_t k = 1; k < inner; k++)
                out[e] = x[e * inner + k] > out[e] ? x[e * inner + k] : out[e];
        }
        return true;
    }
    const uint32_t columns = (uint32_t)r->type->shape[1];
    const int64_t *y = ev->value[op->args[1]->id], *acc = ev->value[op->args[2]->id];
    for (uint32_t e = 0; e < r->type->numel; e++) {
        out[e] = acc[e];
        for (uint32_t k = 0; k < inner; k++)
            out[e] += x[e / columns * inner + k] * y[k * columns + e % columns];
        out[e] = ir_eval_wrap(r->type, out[e]);
    }
    return true;
}

static void store(void *cx, const IrOp *op, const int64_t *pointers, const int64_t *elements)
{
    int64_t *memory = cx;
    for (uint32_t e = 0; e < op->args[1]->type->numel; e++) {
        assert_in_range(pointers[e], 0, MEMORY - 1);
        memory[pointers[e]] = elements[e];
    }
}

static void ignore(void *cx, const IrValue *v, const int64_t *elements)
{
    (void)cx;
    (void)v;
    (void)elements;
}

/// Memory after a run; by byte address, of elements of any type. Pointers get a buffer each.
static int64_t *run(Arena *arena, const IrFunc *fn, int64_t n)
{
    int64_t next = 0, *memory = ARENA_NEW_N(arena, int64_t, MEMORY);
    IrEval ev = { .arena = arena, .check = ignore, .store = store, .other = other, .cx = memory };
    ev.value = ARENA_NEW_N(arena, int64_t *, fn->value_count);
    for (int64_t at = 0; at < MEMORY; at++)
        memory[at] = (at * 7 + at / 31) % 5 - 2;
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const bool is_pointer = type_is_ptr(fn->body->args[i]->type);
        ev.value[fn->body->args[i]->id] = ARENA_NEW(arena, int64_t);
        *ev.value[fn->body->args[i]->id] = is_pointer ? next : n;
        next += is_pointer ? BUFFER : 0;
    }
    assert_true(ir_eval_block(&ev, fn->body));
    return memory;
}

// Q is 64 by 32 bytes, K and V n by 32; rows of sums are scaled down as the running maximum grows.
#define BEFORE                                                                                       \
    "func @f(%q: *const i8 {divisor=16}, %k: *const i8 {divisor=16}, %v: *const i8 {divisor=16}, "   \
    "%o: *i32 {divisor=16}, %n: i32) num_warps=4 {\n"                                                \
    "%zero = const 0 : i32\n%by = const 32 : i32\n%i = arange 0, 64 : (64) i32\n"                    \
    "%j = arange 0, 32 : (32) i32\n%pitch = const 32 : (64, 1) i32\n%few = const 32 : (32, 1) i32\n" \
    "%ie = expand_dims %i {axis=1} : (64, 1) i32\n%im = mul %ie, %pitch : (64, 1) i32\n"             \
    "%ib = broadcast %im : (64, 32) i32\n%je = expand_dims %j {axis=0} : (1, 32) i32\n"              \
    "%jb = broadcast %je : (64, 32) i32\n%jk = broadcast %je : (32, 32) i32\n"                       \
    "%at = add %ib, %jb : (64, 32) i32\n%qs = splat %q : (64, 32) *const i8\n"                       \
    "%qp = ptr_add %qs, %at : (64, 32) *const i8\n%x = load %qp : (64, 32) i8\n"                     \
    "%sum0 = const 5 : (64, 32) i32\n%peak0 = const -100 : (64) i32\n"                               \
    "%none = const 0 : (64, 32) i32\n"
#define KEYS                                                                                \
    "%js = splat %first : (32) i32\n%keys = add %js, %j : (32) i32\n"                       \
    "%ke = expand_dims %keys {axis=1} : (32, 1) i32\n%km = mul %ke, %few : (32, 1) i32\n"   \
    "%kb = broadcast %km : (32, 32) i32\n%kat = add %kb, %jk : (32, 32) i32\n"              \
    "%ks = splat %k : (32, 32) *const i8\n%kp = ptr_add %ks, %kat : (32, 32) *const i8\n"   \
    "%y = load %kp : (32, 32) i8\n%yt = trans %y {perm=[1, 0]} : (32, 32) i8\n"             \
    "%s = dot %x, %yt, %none {precision=ieee, mma=32, wgmma} : (64, 32) i32\n"
#define SCALE                                                                                    \
    "%m = reduce %s {kind=max, axis=1} : (64) i32\n%peak1 = max %peak, %m : (64) i32\n"          \
    "%pe = expand_dims %peak1 {axis=1} : (64, 1) i32\n%pb = broadcast %pe : (64, 32) i32\n"      \
    "%d = sub %s, %pb : (64, 32) i32\n%p = cast %d : (64, 32) i8\n%g = sub %peak, %peak1 : (64) i32\n" \
    "%ge = expand_dims %g {axis=1} : (64, 1) i32\n%gb = broadcast %ge : (64, 32) i32\n"
#define VALUES                                                                              \
    "%vs = splat %v : (32, 32) *const i8\n%vp = ptr_add %vs, %kat : (32, 32) *const i8\n"   \
    "%z = load %vp : (32, 32) i8\n%shrunk = mul %sum, %gb : (64, 32) i32\n"                 \
    "%sum1 = dot %p, %z, %shrunk {precision=ieee, mma=32, wgmma} : (64, 32) i32\n"
#define LOOP(BODY)                                                                             \
    "%sum2, %peak2 = for %zero, %n, %by, %sum0, %peak0 : (64, 32) i32, (64) i32 (%first: i32, " \
    "%sum: (64, 32) i32, %peak: (64) i32) {\n" BODY "yield %sum1, %peak1\n}\n"
#define AFTER                                                                               \
    "%os = splat %o : (64, 32) *i32\n%op = ptr_add %os, %at : (64, 32) *i32\nstore %op, %sum2\n" \
    "return\n}\n"

typedef struct OverlapCase {
    const char *name, *text;
    unsigned dots;  ///< 4: an early part in front of the loop, a late one behind it
} OverlapCase;

static const OverlapCase cases[] = {
    { "attention", BEFORE LOOP(KEYS SCALE VALUES) AFTER, 4 },
    { "values_loaded_first",
      BEFORE LOOP("%js = splat %first : (32) i32\n%keys = add %js, %j : (32) i32\n"
                  "%ke = expand_dims %keys {axis=1} : (32, 1) i32\n%km = mul %ke, %few : (32, 1) i32\n"
                  "%kb = broadcast %km : (32, 32) i32\n%kat = add %kb, %jk : (32, 32) i32\n"
                  "%vs = splat %v : (32, 32) *const i8\n%vp = ptr_add %vs, %kat : (32, 32) *const i8\n"
                  "%z = load %vp : (32, 32) i8\n%ks = splat %k : (32, 32) *const i8\n"
                  "%kp = ptr_add %ks, %kat : (32, 32) *const i8\n%y = load %kp : (32, 32) i8\n"
                  "%yt = trans %y {perm=[1, 0]} : (32, 32) i8\n"
                  "%s = dot %x, %yt, %none {precision=ieee, mma=32, wgmma} : (64, 32) i32\n" SCALE
                  "%shrunk = mul %sum, %gb : (64, 32) i32\n"
                  "%sum1 = dot %p, %z, %shrunk {precision=ieee, mma=32, wgmma} : (64, 32) i32\n") AFTER,
      4 },
    { "the_sum_is_looked_at",
      BEFORE LOOP(KEYS SCALE VALUES "%look = add %sum1, %sum : (64, 32) i32\n"
                  "%lp = splat %o : (64, 32) *i32\nstore %lp, %look\n") AFTER,
      2 },
    { "the_first_needs_the_sum",
      BEFORE LOOP(KEYS "%s2 = add %s, %sum : (64, 32) i32\n"
                       "%m = reduce %s2 {kind=max, axis=1} : (64) i32\n%peak1 = max %peak, %m : (64) i32\n"
                       "%g = sub %peak, %peak1 : (64) i32\n%ge = expand_dims %g {axis=1} : (64, 1) i32\n"
                       "%gb = broadcast %ge : (64, 32) i32\n%p = cast %s2 : (64, 32) i8\n" VALUES) AFTER,
      2 },
    { "the_values_are_computed_with",
      BEFORE LOOP(KEYS SCALE "%vs = splat %v : (32, 32) *const i8\n"
                  "%vp = ptr_add %vs, %kat : (32, 32) *const i8\n%zz = load %vp : (32, 32) i8\n"
                  "%z = neg %zz : (32, 32) i8\n%shrunk = mul %sum, %gb : (64, 32) i32\n"
                  "%sum1 = dot %p, %z, %shrunk {precision=ieee, mma=32, wgmma} : (64, 32) i32\n") AFTER,
      2 },
};

static void check_overlap(void **state)
{
    const OverlapCase *t = *state;
    LayoutIrCase c;
    layout_ir_init(&c);
    c.cx.features = c.cx.target->features;
    IrFunc *before = layout_ir_read(&c, t->text), *after = layout_ir_read(&c, t->text);
    layout_ir_run(&c, after, "dot_overlap");
    assert_int_equal(layout_ir_count(after, IR_DOT), t->dots);
    for (int64_t n = 0; n <= 160; n += n < 64 ? 16 : 48) {
        Arena arena = { 0 };
        const int64_t *want = run(&arena, before, n), *got = run(&arena, after, n);
        assert_memory_equal(got, want, MEMORY * sizeof *got);
        arena_free(&arena);
    }
    ir_case_free(&c.ir);
}

/// Without the copy engine the loop keeps its registers for addresses.
static void only_with_the_copy_engine(void **state)
{
    (void)state;
    LayoutIrCase c;
    layout_ir_init(&c);
    c.cx.features = c.cx.target->features;
    c.cx.copies = COPY_CP_ASYNC;
    IrFunc *fn = layout_ir_read(&c, cases[0].text);
    layout_ir_run(&c, fn, "dot_overlap");
    assert_int_equal(layout_ir_count(fn, IR_DOT), 2);
    ir_case_free(&c.ir);
}

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
    enum { OVERLAPS = sizeof cases / sizeof *cases, WAIT_COUNT = sizeof wait_cases / sizeof *wait_cases };
    struct CMUnitTest tests[OVERLAPS + WAIT_COUNT + 1];
    for (size_t i = 0; i < OVERLAPS; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_overlap, NULL, NULL, (void *)&cases[i] };
    for (size_t i = 0; i < WAIT_COUNT; i++)
        tests[OVERLAPS + i] =
            (struct CMUnitTest){ wait_cases[i].name, check_wait, NULL, NULL, (void *)&wait_cases[i] };
    tests[OVERLAPS + WAIT_COUNT] = (struct CMUnitTest)cmocka_unit_test(only_with_the_copy_engine);
    return cmocka_run_group_tests_name("dot_overlap", tests, NULL, NULL);
}
