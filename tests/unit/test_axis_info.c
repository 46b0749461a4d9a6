// test_axis_info.c - facts about addresses and masks: those that kernels need are found, and no
// fact is claimed that a run of the program refutes.
//
// The second part makes random programs of narrow integers (so that they wrap often), analyses
// them, runs them on several arguments and holds every claim against every computed element.
#include "ir_case.h"
#include "ir_random.h"
#include "passes/axis_info.h"

#include <inttypes.h>

/* ---- facts that must be found ---- */

typedef struct FactCase {
    const char *name, *text;  // the value is the one called %it
    const char *want;         // per axis "contiguity divisibility constancy"
} FactCase;

#define OFFSETS                                                   \
    "%pid = program_id {axis=0} : i32\n%b = const 1024 : i32\n"   \
    "%s = mul %pid, %b : i32\n%r = arange 0, 1024 : (1024) i32\n" \
    "%s1 = splat %s : (1024) i32\n%offs = add %s1, %r : (1024) i32\n"

static const FactCase fact_cases[] = {
    { "offsets_of_a_program", "func @f() {\n" OFFSETS "%it = neg %pid : i32\nreturn\n}\n",
      "1 1 1" },
    { "contiguous_pointers",
      "func @f(%p: *fp32 {divisor=16}) {\n" OFFSETS
      "%q = splat %p : (1024) *fp32\n%it = ptr_add %q, %offs : (1024) *fp32\nreturn\n}\n",
      "1024 16 1" },
    { "mask_of_divisible_length",
      "func @f(%n: i32 {divisor=16}) {\n" OFFSETS
      "%m = splat %n : (1024) i32\n%it = lt %offs, %m : (1024) i1\nreturn\n}\n",
      "1 1 16" },
    { "mask_with_the_length_on_the_left",
      "func @f(%n: i32 {divisor=16}) {\n" OFFSETS
      "%m = splat %n : (1024) i32\n%it = gt %m, %offs : (1024) i1\nreturn\n}\n",
      "1 1 16" },
    { "mask_of_any_length",
      "func @f(%n: i32) {\n" OFFSETS
      "%m = splat %n : (1024) i32\n%it = lt %offs, %m : (1024) i1\nreturn\n}\n",
      "1 1 1" },
    { "rows_with_a_divisible_stride",
      "func @f(%p: *fp16 {divisor=16}, %stride: i32 {divisor=16}) {\n"
      "%i = arange 0, 32 : (32) i32\n%i1 = expand_dims %i {axis=1} : (32, 1) i32\n"
      "%s = splat %stride : (32, 1) i32\n%row = mul %i1, %s : (32, 1) i32\n"
      "%rows = broadcast %row : (32, 64) i32\n"
      "%j = arange 0, 64 : (64) i32\n%j1 = expand_dims %j {axis=0} : (1, 64) i32\n"
      "%cols = broadcast %j1 : (32, 64) i32\n%o = add %rows, %cols : (32, 64) i32\n"
      "%q = splat %p : (32, 64) *fp16\n%it = ptr_add %q, %o : (32, 64) *fp16\nreturn\n}\n",
      "1 2 1, 16 16 1" },
    { "pointer_moved_in_a_loop",
      "func @f(%p: *fp32 {divisor=16}, %n: i32) {\n" OFFSETS
      "%q = splat %p : (1024) *fp32\n%a = ptr_add %q, %offs : (1024) *fp32\n"
      "%z = const 0 : i32\n%step = const 1024 : (1024) i32\n"
      "%e = for %z, %n, %b, %a : (1024) *fp32 (%i: i32, %it: (1024) *fp32) {\n"
      "%c = ptr_add %it, %step : (1024) *fp32\nyield %c\n}\nreturn\n}\n",
      "1024 16 1" },
    { "counter_of_a_step_that_must_be_positive",
      "func @f(%n: i32, %programs: i32) {\n%z = const 0 : i32\n%one = const 1 : i32\n"
      "%b = const 1024 : i32\n%pid = program_id {axis=0} : i32\n%lo = mul %pid, %b : i32\n"
      "%by = mul %programs, %b : i32\n%ok = gt %by, %z : i1\n"
      "%hi = select %ok, %n, %lo : i32\n%step = select %ok, %by, %one : i32\n"
      "for %lo, %hi, %step (%i: i32) {\n%it = neg %i : i32\nyield\n}\nreturn\n}\n",
      "1 1024 1" },
    { "counter_of_a_step_chosen_otherwise",
      "func @f(%n: i32, %programs: i32, %ok: i1) {\n%one = const 1 : i32\n"
      "%b = const 1024 : i32\n%pid = program_id {axis=0} : i32\n%lo = mul %pid, %b : i32\n"
      "%by = mul %programs, %b : i32\n%step = select %ok, %by, %one : i32\n"
      "for %lo, %n, %step (%i: i32) {\n%it = neg %i : i32\nyield\n}\nreturn\n}\n",
      "1 1 1" },
    { "quotient_by_a_constant",
      "func @f() {\n%r = arange 0, 64 : (64) i32\n%c = const 16 : (64) i32\n"
      "%it = idiv %r, %c : (64) i32\nreturn\n}\n",
      "1 1 16" },
    { "rest_by_a_constant",
      "func @f() {\n%r = arange 0, 64 : (64) i32\n%c = const 16 : (64) i32\n"
      "%it = rem %r, %c : (64) i32\nreturn\n}\n",
      "16 16 1" },
    { "a_sum_that_might_wrap_inside",
      "func @f(%n: i32) {\n%r = arange 0, 64 : (64) i32\n%m = splat %n : (64) i32\n"
      "%it = add %r, %m : (64) i32\nreturn\n}\n",
      "1 1 1" },
    { "a_sum_in_a_known_range",
      "func @f(%n: i32 {range=[0, 1000]}) {\n%r = arange 0, 64 : (64) i32\n"
      "%m = splat %n : (64) i32\n%it = add %r, %m : (64) i32\nreturn\n}\n",
      "64 1 1" },
    { "widened_offsets", "func @f() {\n" OFFSETS "%it = cast %offs : (1024) i64\nreturn\n}\n",
      "1024 1024 1" },
    { "transposed",
      "func @f() {\n%i = arange 0, 8 : (8) i32\n%i1 = expand_dims %i {axis=1} : (8, 1) i32\n"
      "%i2 = broadcast %i1 : (8, 4) i32\n%it = trans %i2 {perm=[1, 0]} : (4, 8) i32\nreturn\n}\n",
      "1 1 4, 8 1099511627776 1" },
    { "loaded_offsets", "func @f(%p: (8) *i32) {\n%it = load %p : (8) i32\nreturn\n}\n", "1 1 1" },
};

static const IrValue *find_in(const IrBlock *b, Sym name)
{
    const IrValue *found = NULL;
    for (uint32_t i = 0; i < b->argc; i++)
        if (b->args[i]->hint == name)
            return b->args[i];
    for (const IrOp *op = b->first; op && !found; op = op->next) {
        for (uint32_t i = 0; i < op->resultc; i++)
            if (op->results[i]->hint == name)
                return op->results[i];
        for (uint32_t r = 0; r < op->regionc && !found; r++)
            found = find_in(op->regions[r], name);
    }
    return found;
}

static void check_fact(void **state)
{
    const FactCase *t = *state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(&c, t->text);
    const AxisInfo *info = axis_info_compute(fn, &c.arena);
    const AxisFacts *f = axis_info_of(info, find_in(fn->body, sym_of(&c.syms, "it")));
    for (unsigned k = 0; k < (f->rank ? f->rank : 1u); k++)
        buf_printf(&c.out, "%s%" PRId64 " %" PRId64 " %" PRId64, k ? ", " : "",
                   f->dim[k].contiguity, f->dim[k].divisibility, f->dim[k].constancy);
    assert_string_equal(c.out.at, t->want);
    ir_case_free(&c);
}

/* ---- claims against elements ---- */

typedef struct Claims {
    const AxisInfo *info;
    const IrFunc *fn;
    uint64_t seed;
    IrCase *c;
} Claims;

static void refuted(const Claims *claims, const IrValue *v, unsigned axis, const char *what)
{
    fail_msg("seed %" PRIu64 ": value id %u (%s) axis %u: %s\n%s", claims->seed, (unsigned)v->id,
             v->def ? ir_op_info[v->def->code].mnemonic : "argument", axis, what,
             ir_case_print(claims->c, claims->fn));
}

static void check_axis(const Claims *cl, const IrValue *v, const int64_t *x, unsigned axis)
{
    const AxisDim d = axis_info_of(cl->info, v)->dim[axis];
    const Type *t = v->type;
    uint64_t unit = type_is_ptr(t) ? type_elem_bytes(type_elem(t)->elem) : 1;
    uint32_t extent = type_is_block(t) ? (uint32_t)t->shape[axis] : 1;
    uint32_t coord[TYPE_MAX_RANK];
    if (d.contiguity > extent || d.constancy > extent || d.contiguity < 1 || d.constancy < 1)
        refuted(cl, v, axis, "a group exceeds the extent");
    for (uint32_t e = 0; e < t->numel; e++) {
        ir_eval_split(t, e, coord);
        uint32_t at = type_is_block(t) ? coord[axis] : 0;
        uint32_t in_run = at % (uint32_t)d.contiguity, in_same = at % (uint32_t)d.constancy;
        coord[axis] = at - in_run;
        int64_t first = x[type_is_block(t) ? ir_eval_join(t, coord) : 0];
        if ((uint64_t)x[e] != (uint64_t)first + in_run * unit)
            refuted(cl, v, axis, "contiguity");
        if (in_run == 0 && x[e] % d.divisibility != 0)
            refuted(cl, v, axis, "divisibility");
        coord[axis] = at - in_same;
        if (x[e] != x[type_is_block(t) ? ir_eval_join(t, coord) : 0])
            refuted(cl, v, axis, "constancy");
    }
}

static void check_claims(void *cx, const IrValue *v, const int64_t *x)
{
    const Claims *cl = cx;
    const AxisFacts *f = axis_info_of(cl->info, v);
    for (unsigned k = 0; k < (f->rank ? f->rank : 1u); k++)
        check_axis(cl, v, x, k);
    for (uint32_t e = 0; f->has_range && e < v->type->numel; e++)
        if (x[e] < f->lo || x[e] > f->hi)
            refuted(cl, v, 0, "range");
}

static void run_once(const Claims *cl, IrFunc *fn, Random *r)
{
    Arena a = { 0 };
    IrEval ev = { .arena = &a, .check = check_claims, .cx = (void *)cl };
    int64_t args[MAKER_PARAMS];
    make_arguments(r, fn, &ev, args);
    ir_eval_block(&ev, fn->body);
    arena_free(&a);
}

static void no_claim_is_refuted(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        IrCase c;
        ir_case_init(&c);
        Maker m;
        IrFunc *fn = make_program(&m, &c, seed);
        ir_op0(&m.b, IR_RETURN, 0, NULL);
        if (!ir_verify(fn, &c.diags))
            fail_msg("seed %" PRIu64 ": %s", seed, ir_case_diags(&c));
        Claims claims = { axis_info_compute(fn, &c.arena), fn, seed, &c };
        for (int i = 0; i < 4; i++)
            run_once(&claims, fn, &m.random);
        ir_case_free(&c);
    }
}

enum { FACTS = sizeof fact_cases / sizeof *fact_cases };

int main(void)
{
    struct CMUnitTest tests[FACTS + 1];
    for (size_t i = 0; i < FACTS; i++)
        tests[i] = (struct CMUnitTest){ fact_cases[i].name, check_fact, NULL, NULL,
                                        (void *)&fact_cases[i] };
    tests[FACTS] = (struct CMUnitTest)cmocka_unit_test(no_claim_is_refuted);
    return cmocka_run_group_tests_name("axis_info", tests, NULL, NULL);
}
