// test_tensor_host.c - where the launcher's function says that tensor maps can stand for accesses,
// they do: element by element, for arguments that wrap, reach below zero or beyond the tensor too.
//
// Kernels are interpreted (ir_eval.h). At each load a tile as the copy engine would take it, from
// the starts of the analysis and the sizes and strides of the function, is held against the
// pointers and the mask that the source computes.
#include "ir_case.h"
#include "ir_eval.h"
#include "passes/tensor_access.h"
#include "passes/tensor_host.h"

enum { MAX_PARAMS = 8, BASE = 1 << 20 };

/* 4 rows from a start on, 8 columns */
#define TILE(start)                                                                              \
    "%r = arange 0, 4 : (4) i32\n%r1 = splat " start " : (4) i32\n%r2 = add %r1, %r : (4) i32\n" \
    "%m = expand_dims %r2 {axis=1} : (4, 1) i32\n"                                               \
    "%c = arange 0, 8 : (8) i32\n%k = expand_dims %c {axis=0} : (1, 8) i32\n"                    \
    "%ld = splat %lda : (4, 1) i32\n%mo = mul %m, %ld : (4, 1) i32\n"                            \
    "%p0 = splat %a : (4, 1) *fp16\n%p1 = ptr_add %p0, %mo : (4, 1) *fp16\n"                     \
    "%p2 = broadcast %p1 : (4, 8) *fp16\n%k2 = broadcast %k : (4, 8) i32\n"                      \
    "%p = ptr_add %p2, %k2 : (4, 8) *fp16\n"                                                     \
    "%ms = splat %M : (4, 1) i32\n%m1 = lt %m, %ms : (4, 1) i1\n"                                \
    "%m2 = broadcast %m1 : (4, 8) i1\n"
#define COLUMNS(bound)                                                   \
    "%ks = splat " bound " : (1, 8) i32\n%k1 = lt %k, %ks : (1, 8) i1\n" \
    "%k3 = broadcast %k1 : (4, 8) i1\n%mask = and %m2, %k3 : (4, 8) i1\n"
#define HEAD  "func @f(%a: *fp16, %M: i32, %K: i32, %lda: i32) {\n%pm = program_id {axis=0} : i32\n"
#define START "%four = const 4 : i32\n%s0 = mul %pm, %four : i32\n"

#define BELOW                                                         \
    "%zero = const 0 : (4, 8) i32\n%mb = broadcast %m : (4, 8) i32\n" \
    "%ge = ge %mb, %zero : (4, 8) i1\n%mg = and %m2, %ge : (4, 8) i1\n"
#define SHIFTED "%by = const -3 : i32\n%sh = add %s0, %by : i32\n"

typedef struct HostCase {
    const char *name, *text;
    bool fits;  ///< some of the arguments below
} HostCase;

static const HostCase kernels[] = {
    { "bounded",
      HEAD START TILE("%s0") COLUMNS("%K") "%x = load %p, mask=%mask : (4, 8) fp16\nreturn\n}\n",
      true },
    { "columns_unbounded",
      HEAD START TILE("%s0") "%x = load %p, mask=%m2 : (4, 8) fp16\nreturn\n}\n", true },
    { "unbounded", HEAD START TILE("%s0") "%x = load %p : (4, 8) fp16\nreturn\n}\n", true },
    { "starts_below_zero",
      HEAD START SHIFTED TILE("%sh") "%x = load %p, mask=%m2 : (4, 8) fp16\nreturn\n}\n", false },
    { "masked_below_zero",
      HEAD START SHIFTED TILE("%sh") BELOW "%x = load %p, mask=%mg : (4, 8) fp16\nreturn\n}\n",
      true },
    // programs in groups of rows
    { "programs_in_groups",
      HEAD "%two = const 2 : i32\n%n = cdiv %M, %two : i32\n%g = idiv %pm, %two : i32\n"
           "%f = mul %g, %two : i32\n%left = sub %n, %f : i32\n%h = min %left, %two : i32\n"
           "%in = rem %pm, %h : i32\n%row = add %f, %in : i32\n%s0 = mul %row, %two : i32\n" TILE(
               "%s0") COLUMNS("%K") "%x = load %p, mask=%mask : (4, 8) fp16\nreturn\n}\n",
      true },
    // the loop moves the pointers, and the mask with them
    { "pointers_moved",
      HEAD START TILE(
          "%s0") "%z = const 0 : i32\n%one = const 1 : i32\n%bk = const 8 : i32\n"
                 "%n = cdiv %K, %bk : i32\n"
                 "%e = for %z, %n, %one, %p : (4, 8) *fp16 (%i: i32, %q: (4, 8) *fp16) {\n"
                 "%done = mul %i, %bk : i32\n%left = sub %K, %done : i32\n" COLUMNS(
                     "%left") "%x = load %q, mask=%mask : (4, 8) fp16\n"
                              "%by = const 8 : (4, 8) i32\n%next = ptr_add %q, %by : (4, 8) "
                              "*fp16\nyield %next\n}\n"
                              "return\n}\n",
      true },
    // rows with the counter, the columns bounded by what the host computes
    { "rows_by_counter",
      HEAD "%lo = const 4 : i32\n%by = const 12 : i32\n%half = idiv %K, %lo : i32\n"
           "for %lo, %M, %by (%i: i32) {\n" TILE("%i")
               COLUMNS("%half") "%x = load %p, mask=%mask : (4, 8) fp16\nyield\n}\nreturn\n}\n",
      true },
    // a batch as a dimension of its own
    { "batch",
      HEAD "%sb = mul %pm, %lda : i32\n%four = const 4 : i32\n%sb4 = mul %sb, %four : i32\n"
           "%z = const 0 : i32\n%pk = ptr_add %a, %sb4 : *fp16\n"
           "%q0 = splat %pk : (4, 8) *fp16\n" TILE(
               "%z") "%d0 = broadcast %mo : (4, 8) i32\n"
                     "%d1 = add %d0, %k2 : (4, 8) i32\n%q = ptr_add %q0, %d1 : (4, 8) *fp16\n"
                     "%x = load %q, mask=%m2 : (4, 8) fp16\nreturn\n}\n",
      true },
};

/// A kernel, the launcher's function for its load, and what both compute for some arguments.
typedef struct Run {
    IrFunc *fn;
    const IrOp *load;
    const TensorAccess *access;
    unsigned line;
    int64_t size[TENSOR_MAX_RANK], stride[TENSOR_MAX_RANK];  ///< by dimension of the access
    int64_t params[MAX_PARAMS];
    IrEval eval;
    bool fits;
    unsigned tiles;  ///< compared
} Run;

static int64_t atom_value(const Run *r, const IrValue *v)
{
    const int64_t at = *r->eval.value[v->id];
    if (v->def || !v->block->parent)
        return at;
    const IrOp *loop = v->block->parent;
    return (at - *r->eval.value[loop->args[0]->id]) / *r->eval.value[loop->args[2]->id];
}

static int64_t poly_value(const Run *r, const Poly *p)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < p->count; i++) {
        int64_t product = p->terms[i].factor;
        for (unsigned k = 0; k < p->terms[i].degree; k++)
            product *= atom_value(r, p->terms[i].atoms[k]);
        sum += product;
    }
    return sum;
}

/// Each element of the tile against the source's pointer and mask.
static void compare_tile(Run *r)
{
    const IrOp *load = r->load;
    const int64_t *pointers = r->eval.value[load->args[0]->id];
    const int64_t *mask = load->args[1] ? r->eval.value[load->args[1]->id] : NULL;
    const Type *block = load->args[0]->type;
    r->tiles++;
    for (uint32_t e = 0; e < block->numel; e++) {
        uint32_t coord[TYPE_MAX_RANK];
        int64_t address = BASE;
        bool inside = true;
        ir_eval_split(block, e, coord);
        for (unsigned k = 0; k < r->access->rank; k++) {
            const TensorDim *d = &r->access->dims[k];
            const int64_t at = poly_value(r, &d->start) + (d->axis >= 0 ? coord[d->axis] : 0);
            inside &= at >= 0 && at < r->size[k];
            address += at * r->stride[k] * 2;
        }
        assert_int_equal(inside, mask ? mask[e] != 0 : true);
        if (inside)
            assert_int_equal(address, pointers[e]);
    }
}

static void check_value(void *cx, const IrValue *v, const int64_t *elements)
{
    (void)elements;
    Run *r = cx;
    if (r->fits && v->def == r->load)
        compare_tile(r);
}

static void ignore_value(void *cx, const IrValue *v, const int64_t *elements)
{
    (void)cx;
    (void)v;
    (void)elements;
}

static bool evaluate(Run *r, const IrFunc *fn, Arena *a)
{
    r->eval.arena = a;
    r->eval.cx = r;
    r->eval.value = ARENA_NEW_N(a, int64_t *, fn->value_count);
    for (uint32_t i = 0; i < fn->body->argc; i++)
        r->eval.value[fn->body->args[i]->id] = &r->params[i];
    return ir_eval_block(&r->eval, fn->body);
}

/// Fills sizes, strides and r->fits.
static void ask_host(Run *r, const IrFunc *host, Arena *a)
{
    r->eval.check = ignore_value;
    r->fits = evaluate(r, host, a);
    const IrOp *ret = host->body->last;
    uint32_t at = 0;
    for (unsigned i = 0; i < 2 * r->access->rank - 1 && r->fits; i++) {
        const unsigned n = i < r->access->rank ? i : i - r->access->rank + 1;
        const unsigned k = n == 0 ? r->line : n <= r->line ? n - 1 : n;
        int64_t *to = i < r->access->rank ? &r->size[k] : &r->stride[k];
        *to = *r->eval.value[ret->args[at++]->id];
    }
    r->stride[r->line] = 1;
    r->fits = r->fits && *r->eval.value[ret->args[ret->argc - 1]->id];
    for (unsigned k = 0; k < r->access->rank; k++)
        r->fits &= r->size[k] >= 1 && r->stride[k] >= 1;  // what the launcher asks for besides
}

static bool find_load(IrOp *op, void *cx)
{
    Run *r = cx;
    r->load = op->code == IR_LOAD ? op : r->load;
    return r->load == NULL;
}

static void run_case(IrCase *c, const char *text, const int64_t *args, int64_t programs,
                     unsigned *tiles)
{
    Run r = { .fn = ir_case_valid(c, text) };
    ir_walk(r.fn, find_load, &r);
    const AxisInfo *axes = axis_info_compute(r.fn, &c->arena);
    Tensors *tensors = tensor_analysis(r.fn, axes, &c->arena);
    r.access = tensor_access_of(tensors, r.load);
    assert_null(r.access->reason);
    int64_t one;
    while (!poly_is_const(&r.access->dims[r.line].stride, &one) || one != 1)
        r.line++;
    TensorHost *h = tensor_host_begin(r.fn, &c->arena);
    assert_null(tensor_host_add(h, r.load, r.access, r.line, true));
    const IrFunc *host = tensor_host_end(h);
    if (!ir_verify(host, &c->diags))
        fail_msg("%s", ir_case_diags(c));
    r.params[0] = BASE;
    memcpy(r.params + 1, args, 3 * sizeof *args);
    r.eval.programs[0] = programs;
    r.eval.programs[1] = r.eval.programs[2] = 1;
    ask_host(&r, host, &c->arena);
    r.eval.check = check_value;
    const int64_t ids[] = { 0, 1, 2, programs / 2, programs - 1 };
    for (unsigned i = 0; i < sizeof ids / sizeof *ids && r.fits; i++) {
        r.eval.program_id = ids[i] < programs ? ids[i] : 0;
        evaluate(&r, r.fn, &c->arena);
    }
    *tiles += r.tiles;
}

static const int64_t sizes[] = { 0, 1, 3, 4, 7, 8, 9, 16, 31, 100, -1, -8 };
static const int64_t strides[] = { 1, 8, 16, 100, 1 << 20, 1 << 28, 1 << 30, INT32_MAX, 0, -8 };
static const int64_t grids[] = { 1, 2, 3, 8, 1 << 20, 1 << 29, INT32_MAX };
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_kernel(void **state)
{
    const HostCase *t = *state;
    unsigned tiles = 0;
    uint32_t seed = 7;
    for (int i = 0; i < 1500; i++) {
        int64_t args[3];
        uint32_t picks[4];
        for (int k = 0; k < 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            picks[k] = seed >> 16;
        }
        args[0] = sizes[picks[0] % COUNT(sizes)];
        args[1] = sizes[picks[1] % COUNT(sizes)];
        args[2] = strides[picks[2] % COUNT(strides)];
        IrCase c;
        ir_case_init(&c);
        run_case(&c, t->text, args, grids[picks[3] % COUNT(grids)], &tiles);
        ir_case_free(&c);
    }
    assert_true(t->fits ? tiles > 100 : tiles == 0);
}

int main(void)
{
    struct CMUnitTest tests[COUNT(kernels)];
    for (unsigned i = 0; i < COUNT(kernels); i++)
        tests[i] =
            (struct CMUnitTest){ kernels[i].name, test_kernel, NULL, NULL, (void *)&kernels[i] };
    return cmocka_run_group_tests_name("tensor_host", tests, NULL, NULL);
}
