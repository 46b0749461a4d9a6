// test_tile_passes.c - random programs store the same before and after the tile passes.
//
// Values of every type that a program computes are stored at its end, so nothing is dead at first.
#include "ir_random.h"
#include "passes/pass.h"

#include <inttypes.h>

typedef struct Trace {
    VEC(int64_t) log;  // pointers and elements of every store in order
    Arena *arena;
} Trace;

static void ignore(void *cx, const IrValue *v, const int64_t *elements)
{
    (void)cx;
    (void)v;
    (void)elements;
}

static void record(void *cx, const IrOp *op, const int64_t *pointers, const int64_t *elements)
{
    Trace *t = cx;
    for (uint32_t e = 0; e < op->args[1]->type->numel; e++) {
        VEC_PUSH(t->arena, &t->log, pointers[e]);
        VEC_PUSH(t->arena, &t->log, elements[e]);
    }
}

static void store_everything(Maker *m)
{
    TypeTable *types = m->b.fn->types;
    IrValue *base = m->b.fn->body->args[3];
    for (uint32_t i = 0; i < m->values.len; i++) {
        IrValue *v = m->values.at[i];
        if (type_is_ptr(v->type))
            v = ir_cast(&m->b, v, type_scalar(types, SCALAR_I64));
        IrValue *p = ir_cast(&m->b, base, type_ptr(types, type_elem(v->type), false));
        if (type_is_block(v->type))
            p = ir_splat(&m->b, p, type_with_elem(types, v->type, p->type));
        ir_store(&m->b, p, v, NULL, (IrMem){ .cache = CACHE_DEFAULT });
    }
    ir_op0(&m->b, IR_RETURN, 0, NULL);
}

/// False when a division by zero ended the run.
static bool run(IrFunc *fn, uint64_t seed, Trace *t)
{
    Random r = { seed };
    int64_t args[MAKER_PARAMS];
    IrEval ev = { .arena = t->arena, .check = ignore, .store = record, .cx = t };
    make_arguments(&r, fn, &ev, args);
    return ir_eval_block(&ev, fn->body);
}

static void check_seed(uint64_t seed)
{
    enum { RUNS = 3 };
    IrCase c;
    ir_case_init(&c);
    Maker m;
    IrFunc *fn = make_program(&m, &c, seed);
    store_everything(&m);
    Trace before[RUNS], after;
    bool ran[RUNS];
    for (uint64_t i = 0; i < RUNS; i++) {
        before[i] = (Trace){ .arena = &c.arena };
        ran[i] = run(fn, seed * RUNS + i + 1, &before[i]);
    }
    PassCtx cx = { .arena = &c.arena, .diags = &c.diags, .verify_each = true };
    if (!pass_run_all(&cx, fn, PASS_TILE, PASS_TILE))
        fail_msg("seed %" PRIu64 ": %s", seed, ir_case_diags(&c));
    for (uint64_t i = 0; i < RUNS; i++) {
        after = (Trace){ .arena = &c.arena };
        // The optimised program may have lost the division that ended the other one.
        bool again = run(fn, seed * RUNS + i + 1, &after);
        if (!ran[i] || !again)
            continue;
        assert_int_equal(after.log.len, before[i].log.len);
        for (uint32_t k = 0; k < after.log.len; k++)
            if (after.log.at[k] != before[i].log.at[k])
                fail_msg("seed %" PRIu64 " run %" PRIu64 ": stored number %u differs\n%s", seed, i,
                         (unsigned)k, ir_case_print(&c, fn));
    }
    ir_case_free(&c);
}

static void the_same_is_stored(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++)
        check_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_same_is_stored) };
    return cmocka_run_group_tests_name("tile_passes", tests, NULL, NULL);
}
