// test_overlap.c - loops whose second product runs an iteration later store what they stored before, whatever
// the trip count; loops that cannot be treated so stay as they are.
#include "ir_eval.h"
#include "layout_ir_case.h"

enum { MEMORY = 1 << 16, BUFFER = 16384, PIPES = 2, MOST_TILES = 16 };

/// A run. A stage is told by how many of its pipe were waited for before.
typedef struct Machine {
    int64_t memory[MEMORY];  // by byte address; of elements of any type
    int64_t waited[PIPES], released[PIPES];
} Machine;

/// What the producer put into tile number `n` of a ring.
static int64_t tile_element(uint16_t ring, int64_t n, uint32_t e)
{
    return (int64_t)((e * 7 + e / 31 + (uint32_t)n * 11 + ring * 3) % 5) - 2;
}

static int64_t *new_elements(IrEval *ev, const IrOp *op)
{
    const IrValue *r = op->results[0];
    return ev->value[r->id] = ARENA_NEW_N(ev->arena, int64_t, r->type->numel);
}

static void pipe_operation(IrEval *ev, const IrOp *op)
{
    Machine *m = ev->cx;
    const uint16_t pipe = op->attr.pipe.pipe;
    if (op->code == IR_PIPE_WAIT) {
        assert_in_range(m->waited[pipe], 0, MOST_TILES - 1);
        *new_elements(ev, op) = m->waited[pipe]++;
    } else {  // stages go back in the order in which they came
        assert_int_equal(*ev->value[op->args[0]->id], m->released[pipe]);
        m->released[pipe]++;
    }
}

static void dot(IrEval *ev, const IrOp *op)
{
    const IrValue *r = op->results[0];
    const uint32_t inner = (uint32_t)op->args[0]->type->shape[1], columns = (uint32_t)r->type->shape[1];
    const int64_t *x = ev->value[op->args[0]->id], *y = ev->value[op->args[1]->id],
                  *acc = ev->value[op->args[2]->id];
    const IrOp *tile = ir_tile_of(op->args[1]);
    Machine *m = ev->cx;
    int64_t *out = new_elements(ev, op);
    if (tile != NULL)  // rings and pipes have one number here
        assert_true(*ev->value[tile->args[0]->id] >= m->released[tile->attr.ring]);
    for (uint32_t e = 0; e < r->type->numel; e++) {
        out[e] = acc[e];
        for (uint32_t k = 0; k < inner; k++)
            out[e] += x[e / columns * inner + k] * y[k * columns + e % columns];
        out[e] = ir_eval_wrap(r->type, out[e]);
    }
}

/// The largest of each row.
static void reduce(IrEval *ev, const IrOp *op)
{
    const uint32_t inner = (uint32_t)op->args[0]->type->shape[1];
    const int64_t *x = ev->value[op->args[0]->id];
    int64_t *out = new_elements(ev, op);
    for (uint32_t e = 0; e < op->results[0]->type->numel; e++) {
        out[e] = x[e * inner];
        for (uint32_t k = 1; k < inner; k++)
            out[e] = x[e * inner + k] > out[e] ? x[e * inner + k] : out[e];
    }
}

static bool other(IrEval *ev, const IrOp *op)
{
    const Machine *m = ev->cx;
    switch ((int)op->code) {
    case IR_PIPE_WAIT:
    case IR_PIPE_RELEASE: pipe_operation(ev, op); return true;
    case IR_TILE: {
        const int64_t n = *ev->value[op->args[0]->id];
        int64_t *out = new_elements(ev, op);
        for (uint32_t e = 0; e < op->results[0]->type->numel; e++)
            out[e] = tile_element(op->attr.ring, n, e);
        return true;
    }
    case IR_DOT: dot(ev, op); return true;
    case IR_REDUCE: reduce(ev, op); return true;
    case IR_LOAD: {
        int64_t *out = new_elements(ev, op);
        for (uint32_t e = 0; e < op->results[0]->type->numel; e++)
            out[e] = m->memory[ev->value[op->args[0]->id][e]];
        return true;
    }
    default: return false;
    }
}

static void store(void *cx, const IrOp *op, const int64_t *pointers, const int64_t *elements)
{
    Machine *m = cx;
    for (uint32_t e = 0; e < op->args[1]->type->numel; e++) {
        assert_in_range(pointers[e], 0, MEMORY - 1);
        m->memory[pointers[e]] = elements[e];
    }
}

static void ignore(void *cx, const IrValue *v, const int64_t *elements)
{
    (void)cx;
    (void)v;
    (void)elements;
}

/// Pointers get a buffer each.
static Machine *run(Arena *arena, const IrFunc *fn, int64_t n)
{
    int64_t next = 0;
    Machine *m = ARENA_NEW(arena, Machine);
    IrEval ev = { .arena = arena, .check = ignore, .store = store, .other = other, .cx = m };
    ev.value = ARENA_NEW_N(arena, int64_t *, fn->value_count);
    for (int64_t at = 0; at < MEMORY; at++)
        m->memory[at] = (at * 7 + at / 31) % 5 - 2;
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const bool is_pointer = type_is_ptr(fn->body->args[i]->type);
        ev.value[fn->body->args[i]->id] = ARENA_NEW(arena, int64_t);
        *ev.value[fn->body->args[i]->id] = is_pointer ? next : n;
        next += is_pointer ? BUFFER : 0;
    }
    assert_true(ir_eval_block(&ev, fn->body));
    for (unsigned p = 0; p < PIPES; p++)  // every stage has gone back
        assert_int_equal(m->released[p], m->waited[p]);
    return m;
}

// Q is 64 by 32 bytes, tiles of K and V are 32 by 32; sums are scaled as the running maximum grows.
#define BEFORE                                                                                       \
    "func @f(%q: *const i8, %o: *i32, %n: i32) num_warps=4 "                                         \
    "ring[(32, 32) i8 stages=2 fast=1] ring[(32, 32) i8 stages=2 fast=0] "                           \
    "pipe[stages=2 bytes=1024] pipe[stages=2 bytes=1024] {\n"                                        \
    "%zero = const 0 : i32\n%by = const 32 : i32\n%i = arange 0, 2048 : (2048) i32\n"               \
    "%at = reshape %i : (64, 32) i32\n%qs = splat %q : (64, 32) *const i8\n"                        \
    "%qp = ptr_add %qs, %at : (64, 32) *const i8\n%x = load %qp : (64, 32) i8\n"                    \
    "%sum0 = const 5 : (64, 32) i32\n%peak0 = const -100 : (64) i32\n"                              \
    "%none = const 0 : (64, 32) i32\n"
#define KEYS                                                                               \
    "%ks = pipe_wait {pipe=0} : i32\n%y = tile %ks {ring=0} : (32, 32) i8\n"               \
    "%yt = trans %y {perm=[1, 0]} : (32, 32) i8\n"                                         \
    "%s = dot %x, %yt, %none {precision=ieee, mma=32, wgmma} : (64, 32) i32\n"             \
    "pipe_release %ks {pipe=0}\n"
#define SCALE                                                                                    \
    "%m = reduce %s {kind=max, axis=1} : (64) i32\n%peak1 = max %peak, %m : (64) i32\n"          \
    "%pe = expand_dims %peak1 {axis=1} : (64, 1) i32\n%pb = broadcast %pe : (64, 32) i32\n"      \
    "%d = sub %s, %pb : (64, 32) i32\n%p = cast %d : (64, 32) i8\n%g = sub %peak, %peak1 : (64) i32\n" \
    "%ge = expand_dims %g {axis=1} : (64, 1) i32\n%gb = broadcast %ge : (64, 32) i32\n"
#define VALUES                                                                          \
    "%vs = pipe_wait {pipe=1} : i32\n%z = tile %vs {ring=1} : (32, 32) i8\n"            \
    "%shrunk = mul %sum, %gb : (64, 32) i32\n"                                          \
    "%sum1 = dot %p, %z, %shrunk {precision=ieee, mma=32, wgmma} : (64, 32) i32\n"      \
    "pipe_release %vs {pipe=1}\n"
#define LOOP(BODY)                                                                             \
    "%sum2, %peak2 = for %zero, %n, %by, %sum0, %peak0 : (64, 32) i32, (64) i32 (%first: i32, " \
    "%sum: (64, 32) i32, %peak: (64) i32) {\n" BODY "yield %sum1, %peak1\n}\n"
#define AFTER                                                                               \
    "%os = splat %o : (64, 32) *i32\n%op = ptr_add %os, %at : (64, 32) *i32\nstore %op, %sum2\n" \
    "return\n}\n"

typedef struct OverlapCase {
    const char *name, *text;
    unsigned dots;  ///< 4: a first part in front of the loop, a last one behind it
} OverlapCase;

static const OverlapCase cases[] = {
    { "attention", BEFORE LOOP(KEYS SCALE VALUES) AFTER, 4 },
    { "a_transposed_tile",
      BEFORE LOOP(KEYS SCALE "%vs = pipe_wait {pipe=1} : i32\n%zt = tile %vs {ring=1} : (32, 32) i8\n"
                             "%z = trans %zt {perm=[1, 0]} : (32, 32) i8\n"
                             "%sum1 = dot %p, %z, %sum {precision=ieee, mma=32, wgmma} : (64, 32) i32\n"
                             "pipe_release %vs {pipe=1}\n") AFTER,
      4 },
    { "the_sum_is_looked_at",
      BEFORE LOOP(KEYS SCALE VALUES "%look = add %sum1, %sum : (64, 32) i32\n"
                  "%lp = splat %o : (64, 32) *i32\nstore %lp, %look\n") AFTER,
      2 },
    { "the_first_needs_the_sum",
      BEFORE LOOP("%early = neg %sum : (64, 32) i32\n" KEYS "%s2 = add %s, %early : (64, 32) i32\n"
                       "%m = reduce %s2 {kind=max, axis=1} : (64) i32\n%peak1 = max %peak, %m : (64) i32\n"
                       "%g = sub %peak, %peak1 : (64) i32\n%ge = expand_dims %g {axis=1} : (64, 1) i32\n"
                       "%gb = broadcast %ge : (64, 32) i32\n%p = cast %s2 : (64, 32) i8\n" VALUES) AFTER,
      2 },
    { "the_tile_is_computed_with",
      BEFORE LOOP(KEYS SCALE "%vs = pipe_wait {pipe=1} : i32\n%zz = tile %vs {ring=1} : (32, 32) i8\n"
                  "%zr = convert %zz : (32, 32) i8\n%z = neg %zr : (32, 32) i8\n"
                  "%sum1 = dot %p, %z, %sum {precision=ieee, mma=32, wgmma} : (64, 32) i32\n"
                  "pipe_release %vs {pipe=1}\n") AFTER,
      2 },
};

static void check_overlap(void **state)
{
    const OverlapCase *t = *state;
    LayoutIrCase c;
    layout_ir_init(&c);
    IrFunc *before = layout_ir_read(&c, t->text), *after = layout_ir_read(&c, t->text);
    after->producer = layout_ir_read(&c, "func @producer() {\nreturn\n}\n");
    layout_ir_run(&c, after, "overlap");
    assert_int_equal(layout_ir_count(after, IR_DOT), t->dots);
    for (int64_t n = 0; n <= 160 && t->dots > 2; n += n < 64 ? 16 : 48) {
        Arena arena = { 0 };
        const Machine *want = run(&arena, before, n), *got = run(&arena, after, n);
        assert_memory_equal(got->memory, want->memory, sizeof got->memory);
        for (unsigned p = 0; p < PIPES; p++)
            assert_int_equal(got->waited[p], want->waited[p]);
        arena_free(&arena);
    }
    ir_case_free(&c.ir);
}

/// Without a producer there are no pipes, and nothing to do.
static void only_with_a_producer(void **state)
{
    (void)state;
    LayoutIrCase c;
    layout_ir_init(&c);
    IrFunc *fn = layout_ir_read(&c, cases[0].text);
    layout_ir_run(&c, fn, "overlap");
    assert_int_equal(layout_ir_count(fn, IR_DOT), 2);
    ir_case_free(&c.ir);
}

int main(void)
{
    enum { OVERLAPS = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[OVERLAPS + 1];
    for (size_t i = 0; i < OVERLAPS; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check_overlap, NULL, NULL, (void *)&cases[i] };
    tests[OVERLAPS] = (struct CMUnitTest)cmocka_unit_test(only_with_a_producer);
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
