// test_pipeline.c - pipelined loops store what the loops stored before, whatever the trip count and
// the stages; loops whose loads must not run ahead stay as they are.
//
// Both are run on numbers. A copy's data arrives when somebody waits for it; until then its tile
// holds what nothing may read, and so does a tile from the moment that a copy to it begins.
#include "ir_eval.h"
#include "layout_ir_case.h"

#include <inttypes.h>

enum { MEMORY = 1 << 16, MOST_RINGS = 8, MOST_COPIES = 256 };
#define POISON INT64_MIN

typedef struct Copy {
    const IrOp *op;
    int64_t *pointers, *mask, slot;
    int group;  // -1: not committed yet
} Copy;

/// A run of one function.
typedef struct Machine {
    const IrFunc *fn;
    int64_t memory[MEMORY];  // by byte address; of elements of any type
    bool touched[MEMORY];    // by loads
    const bool *allowed;     // what they may touch; NULL: all
    int64_t *tile[MOST_RINGS];
    Copy copies[MOST_COPIES];
    unsigned count;
    int groups;
    const char *fault;
} Machine;

static Machine *machine_of(IrEval *ev)
{
    return ev->cx;
}

static int64_t load_one(Machine *m, int64_t at)
{
    if (at < 0 || at >= MEMORY || (m->allowed && !m->allowed[at])) {
        m->fault = "a load of what the loop does not load";
        return 0;
    }
    m->touched[at] = true;
    return m->memory[at];
}

static int64_t *tile_at(Machine *m, const IrOp *op, uint16_t ring, int64_t slot)
{
    const IrRing *r = &m->fn->rings[ring];
    if (slot < 0 || slot >= r->stages)
        m->fault = "a stage that the ring does not have";
    (void)op;
    return m->tile[ring] + (slot < 0 || slot >= r->stages ? 0 : slot) * r->block->numel;
}

static void begin_copy(IrEval *ev, const IrOp *op)
{
    Machine *m = machine_of(ev);
    Copy *c = &m->copies[m->count++];
    *c = (Copy){ .op = op, .pointers = ev->value[op->args[0]->id], .group = -1 };
    c->slot = *ev->value[op->args[1]->id];
    c->mask = op->args[2] ? ev->value[op->args[2]->id] : NULL;
    int64_t *tile = tile_at(m, op, op->attr.copy.ring, c->slot);
    for (uint32_t e = 0; e < op->args[0]->type->numel; e++)
        tile[e] = POISON;
}

static void commit_copies(Machine *m)
{
    for (unsigned i = 0; i < m->count; i++)
        if (m->copies[i].group < 0)
            m->copies[i].group = m->groups;
    m->groups++;
}

/// Lets the copies of all groups but the last `left` arrive.
static void wait_copies(Machine *m, int left)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < m->count; i++) {
        const Copy c = m->copies[i];
        if (c.group < 0 || c.group >= m->groups - left) {
            m->copies[kept++] = c;
            continue;
        }
        int64_t *tile = tile_at(m, c.op, c.op->attr.copy.ring, c.slot);
        for (uint32_t e = 0; e < c.op->args[0]->type->numel; e++)
            tile[e] = c.mask && !c.mask[e] ? 0 : load_one(m, c.pointers[e]);
    }
    m->count = kept;
}

static int64_t *new_elements(IrEval *ev, const IrOp *op)
{
    return ev->value[op->results[0]->id] =
               ARENA_NEW_N(ev->arena, int64_t, op->results[0]->type->numel);
}

static void load(IrEval *ev, const IrOp *op)
{
    int64_t *out = new_elements(ev, op);
    const int64_t *mask = op->args[1] ? ev->value[op->args[1]->id] : NULL;
    const int64_t *other = op->args[2] ? ev->value[op->args[2]->id] : NULL;
    for (uint32_t e = 0; e < op->results[0]->type->numel; e++)
        out[e] = mask && !mask[e] ? (other ? other[e] : 0)
                                  : load_one(machine_of(ev), ev->value[op->args[0]->id][e]);
}

/// Tiles are read where they are used.
static int64_t *elements_of(IrEval *ev, const IrValue *v)
{
    if (v->def && v->def->code == IR_TILE)
        return tile_at(machine_of(ev), v->def, v->def->attr.ring, *ev->value[v->def->args[0]->id]);
    if (!v->def || v->def->code != IR_TRANS || !ir_tile_of(v))
        return ev->value[v->id];
    const int64_t *from = elements_of(ev, v->def->args[0]);
    int64_t *out = new_elements(ev, v->def);
    for (uint32_t e = 0; e < v->type->numel; e++)
        out[e] = from[ir_eval_source(v->def, e)];
    return out;
}

static int64_t defined(Machine *m, int64_t v)
{
    if (v == POISON)
        m->fault = "a tile is read before it is there";
    return v == POISON ? 0 : v;
}

static void dot(IrEval *ev, const IrOp *op)
{
    const Type *sum = op->results[0]->type;
    const int64_t *a = elements_of(ev, op->args[0]), *b = elements_of(ev, op->args[1]);
    const int64_t *acc = ev->value[op->args[2]->id];
    int64_t *out = new_elements(ev, op);
    const int32_t inner = op->args[0]->type->shape[1];
    for (int32_t m = 0; m < sum->shape[0]; m++)
        for (int32_t n = 0; n < sum->shape[1]; n++) {
            const int32_t at = m * sum->shape[1] + n;
            out[at] = acc[at];
            for (int32_t k = 0; k < inner; k++)
                out[at] += defined(machine_of(ev), a[m * inner + k]) *
                           defined(machine_of(ev), b[k * sum->shape[1] + n]);
        }
}

static bool other(IrEval *ev, const IrOp *op)
{
    Machine *m = machine_of(ev);
    switch ((int)op->code) {
    case IR_LOAD: load(ev, op); return true;
    case IR_DOT: dot(ev, op); return true;
    case IR_CONVERT: {
        const int64_t *from = elements_of(ev, op->args[0]);
        int64_t *out = new_elements(ev, op);
        for (uint32_t e = 0; e < op->results[0]->type->numel; e++)
            out[e] = defined(m, from[e]);
        return true;
    }
    case IR_TILE: return true;
    case IR_TRANS: return ir_tile_of(op->args[0]) != NULL;
    case IR_TILE_PUT:
        memcpy(tile_at(m, op, op->attr.copy.ring, *ev->value[op->args[0]->id]),
               ev->value[op->args[1]->id], op->args[1]->type->numel * sizeof(int64_t));
        return true;
    case IR_ASYNC_COPY: begin_copy(ev, op); return true;
    case IR_ASYNC_COMMIT: commit_copies(m); return true;
    case IR_ASYNC_WAIT: wait_copies(m, op->attr.groups); return true;
    case IR_BARRIER: return true;
    default: return false;
    }
}

static void store(void *cx, const IrOp *op, const int64_t *pointers, const int64_t *elements)
{
    Machine *m = cx;
    for (uint32_t e = 0; e < op->args[1]->type->numel; e++) {
        if (pointers[e] < 0 || pointers[e] >= MEMORY)
            m->fault = "a store outside of the buffers";
        else
            m->memory[pointers[e]] = elements[e];
    }
}

static void ignore(void *cx, const IrValue *v, const int64_t *elements)
{
    (void)cx;
    (void)v;
    (void)elements;
}

/// Parameters are pointers, which get 16384 bytes each from 0 on, and integers, all `n`.
static Machine *run(Arena *arena, const IrFunc *fn, int64_t n, const bool *allowed)
{
    int64_t next = 0;
    Machine *m = ARENA_NEW(arena, Machine);
    IrEval ev = { .arena = arena, .check = ignore, .store = store, .other = other, .cx = m };
    m->fn = fn;
    m->allowed = allowed;
    ev.value = ARENA_NEW_N(arena, int64_t *, fn->value_count);
    for (uint32_t i = 0; i < fn->ring_count; i++) {
        const size_t count = (size_t)fn->rings[i].stages * fn->rings[i].block->numel;
        m->tile[i] = ARENA_NEW_N(arena, int64_t, count);
        for (size_t e = 0; e < count; e++)
            m->tile[i][e] = POISON;
    }
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        ev.value[fn->body->args[i]->id] = ARENA_NEW(arena, int64_t);
        const bool is_pointer = type_is_ptr(fn->body->args[i]->type);
        *ev.value[fn->body->args[i]->id] = is_pointer ? next : n;
        next += is_pointer ? 16384 : 0;
    }
    for (int64_t at = 0; at < MEMORY; at++)
        m->memory[at] = (at * 7 + at / 31) % 5 - 2;
    assert_true(ir_eval_block(&ev, fn->body));
    return m;
}

/* ---- cases ---- */

// A is 4 by 16 n bytes with rows of 256, B likewise and taken transposed; C is 4 by 4.
#define BEFORE                                                                                    \
    "%z = const 0 : (4, 4) i32\n%zero = const 0 : i32\n%one = const 1 : i32\n"                    \
    "%c16 = const 16 : i32\n%i = arange 0, 16 : (16) i32\n%j = arange 0, 4 : (4) i32\n"           \
    "%row = expand_dims %j {axis=1} : (4, 1) i32\n%col = expand_dims %i {axis=0} : (1, 16) i32\n" \
    "%pitch = const 256 : (4, 1) i32\n%rows = mul %row, %pitch : (4, 1) i32\n"                    \
    "%rb = broadcast %rows : (4, 16) i32\n%cb = broadcast %col : (4, 16) i32\n"                   \
    "%at = add %rb, %cb : (4, 16) i32\n%as = splat %a : (4, 16) *i8\n"                            \
    "%bs = splat %b : (4, 16) *i8\n%ap = ptr_add %as, %at : (4, 16) *i8\n"                        \
    "%bp = ptr_add %bs, %at : (4, 16) *i8\n%step = const 16 : (4, 16) i32\n"
#define AFTER                                                                             \
    "%qa = expand_dims %j {axis=0} : (1, 4) i32\n%four = const 4 : (1, 4) i32\n"          \
    "%qn = mul %qa, %four : (1, 4) i32\n%x1 = broadcast %rows : (4, 4) i32\n"             \
    "%x2 = broadcast %qn : (4, 4) i32\n%xy = add %x1, %x2 : (4, 4) i32\n"                 \
    "%cp = splat %c : (4, 4) *i32\n%cq = ptr_add %cp, %xy : (4, 4) *i32\nstore %cq, %r\n" \
    "return\n}\n"
#define PARAMS                                                                        \
    "func @f(%a: *i8 {divisor=16}, %b: *i8 {divisor=16}, %c: *i32 {divisor=16}, %n: " \
    "i32) {\n"
// The body's pointers, computed from the counter.
#define POINTERS                                              \
    "%o = mul %k, %c16 : i32\n%os = splat %o : (4, 16) i32\n" \
    "%pa = ptr_add %ap, %os : (4, 16) *i8\n%pb = ptr_add %bp, %os : (4, 16) *i8\n"
#define LOADS "%x = load %pa : (4, 16) i8\n%y = load %pb : (4, 16) i8\n"
#define DOT                                       \
    "%yt = trans %y {perm=[1, 0]} : (16, 4) i8\n" \
    "%d = dot %x, %yt, %acc {precision=ieee} : (4, 4) i32\n"
#define LOOP(bounds, body) \
    "%r = for " bounds ", %z : (4, 4) i32 (%k: i32, %acc: (4, 4) i32) {\n" body "yield %d\n}\n"
#define UP_TO_N "%zero, %n, %one"
#define LEFT    "%left = sub %n, %k : i32\n%l16 = mul %left, %c16 : i32\n"

typedef struct Case {
    const char *name, *text;
    unsigned tiles, puts;  ///< how many TILE and TILE_PUT come out
} Case;

static const Case cases[] = {
    { "carried_pointers",
      PARAMS BEFORE
      "%r, %ax, %bx = for %zero, %n, %one, %z, %ap, %bp : (4, 4) i32, (4, 16) *i8, (4, 16) *i8 "
      "(%k: i32, %acc: (4, 4) i32, %pa: (4, 16) *i8, %pb: (4, 16) *i8) {\n" LOADS DOT
      "%na = ptr_add %pa, %step : (4, 16) *i8\n%nb = ptr_add %pb, %step : (4, 16) *i8\n"
      "yield %d, %na, %nb\n}\n" AFTER,
      2, 0 },
    { "pointers_from_the_counter", PARAMS BEFORE LOOP(UP_TO_N, POINTERS LOADS DOT) AFTER, 2, 0 },
    { "steps",
      PARAMS BEFORE "%m1 = const -1 : i32\n%two = const 3 : i32\n" LOOP("%one, %n, %two",
                                                                        POINTERS LOADS DOT) AFTER,
      2, 0 },
    { "a_step_of_the_caller",
      PARAMS BEFORE "%by = max %n, %one : i32\n%end = mul %n, %by : i32\n"
                    "%most = const 15 : i32\n%hi = min %end, %most : i32\n" LOOP(
                        "%zero, %hi, %by", POINTERS LOADS DOT) AFTER,
      2, 0 },
    // The last tile is cut off at a multiple of 4, and behind it nothing is read.
    { "masks_of_whole_pieces",
      PARAMS BEFORE LOOP(UP_TO_N, POINTERS LEFT
                         "%cut = const 4 : i32\n%l4 = sub %l16, %cut : i32\n"
                         "%ls = splat %l4 : (1, 16) i32\n%in = lt %col, %ls : (1, 16) i1\n"
                         "%mask = broadcast %in : (4, 16) i1\n"
                         "%x = load %pa, mask=%mask : (4, 16) i8\n"
                         "%y = load %pb, mask=%mask : (4, 16) i8\n" DOT) AFTER,
      2, 0 },
    // 13 elements of the last tile: copies cannot move that, registers can.
    { "masks_of_parts",
      PARAMS BEFORE LOOP(UP_TO_N, POINTERS LEFT
                         "%cut = const 3 : i32\n%l3 = sub %l16, %cut : i32\n"
                         "%ls = splat %l3 : (1, 16) i32\n%in = lt %col, %ls : (1, 16) i1\n"
                         "%mask = broadcast %in : (4, 16) i1\n"
                         "%x = load %pa, mask=%mask : (4, 16) i8\n"
                         "%y = load %pb : (4, 16) i8\n" DOT) AFTER,
      2, 2 },
    { "other_than_zero",
      PARAMS BEFORE LOOP(UP_TO_N, POINTERS LEFT
                         "%ls = splat %left : (1, 16) i32\n%in = lt %col, %ls : (1, 16) i1\n"
                         "%mask = broadcast %in : (4, 16) i1\n%seven = const 7 : (4, 16) i8\n"
                         "%x = load %pa, mask=%mask, other=%seven : (4, 16) i8\n"
                         "%y = load %pb : (4, 16) i8\n" DOT) AFTER,
      2, 2 },
    { "computed_from_loads",
      PARAMS BEFORE LOOP(UP_TO_N, POINTERS
                         "%w = load %pa : (4, 16) i8\n%y = load %pb : (4, 16) i8\n"
                         "%u = neg %w : (4, 16) i8\n%x = add %u, %w : (4, 16) i8\n" DOT) AFTER,
      2, 2 },
    // Where the next tile lies stands in memory: behind the table nothing is read.
    { "a_table_of_tiles",
      PARAMS BEFORE LOOP(UP_TO_N, "%tp = ptr_add %b, %k : *i8\n%te = load %tp : i8\n"
                                  "%t32 = cast %te : i32\n%tw = add %t32, %c16 : i32\n"
                                  "%o = mul %tw, %c16 : i32\n%os = splat %o : (4, 16) i32\n"
                                  "%pa = ptr_add %ap, %os : (4, 16) *i8\n"
                                  "%pb = ptr_add %bp, %os : (4, 16) *i8\n" LOADS DOT) AFTER,
      2, 0 },
    { "a_tile_that_others_read_too",
      PARAMS BEFORE
      "%s0 = const 0 : (4, 16) i8\n%r, %sum = for %zero, %n, %one, %z, %s0 : (4, 4) i32, (4, 16) "
      "i8 (%k: i32, %acc: (4, 4) i32, %s: (4, 16) i8) {\n" POINTERS LOADS DOT
      "%s1 = add %s, %x : (4, 16) i8\nyield %d, %s1\n}\nstore %ap, %sum\n" AFTER,
      2, 0 },
    { "used_in_a_branch",
      PARAMS BEFORE LOOP(UP_TO_N, POINTERS LOADS
                         "%even = and %k, %one : i32\n%c1 = eq %even, %zero : i1\n"
                         "%d = if %c1 : (4, 4) i32 {\n%yt = trans %y {perm=[1, 0]} : (16, 4) i8\n"
                         "%e = dot %x, %yt, %acc {precision=ieee} : (4, 4) i32\nyield %e\n"
                         "} else {\nyield %acc\n}\n") AFTER,
      2, 0 },
    { "two_loops_share_their_rings",
      PARAMS BEFORE
      "%r = for %zero, %n, %one, %z : (4, 4) i32 (%t: i32, %start: (4, 4) i32) {\n"
      "%v = for %zero, %n, %one, %start : (4, 4) i32 (%k: i32, %acc: (4, 4) i32) {\n" POINTERS LOADS
          DOT "yield %d\n}\nyield %v\n}\n" AFTER,
      2, 0 },
    { "stores_that_lie_apart",
      PARAMS BEFORE LOOP(UP_TO_N,
                         POINTERS LOADS DOT "%cw = const 4096 : i32\n%cx = add %cw, %k : i32\n"
                                            "%cy = ptr_add %c, %cx : *i32\nstore %cy, %k\n") AFTER,
      2, 0 },
    // Columns wrapped around at 64, from a first one that may be negative: then they are no run.
    { "wrapped_around",
      PARAMS BEFORE
      "%three = const 3 : i32\n%q = sub %n, %three : i32\n%first = mul %q, %c16 : i32\n"
      "%fs = splat %first : (16) i32\n%fi = add %fs, %i : (16) i32\n%w64 = const 64 : (16) i32\n"
      "%wr = rem %fi, %w64 : (16) i32\n%wp = add %wr, %w64 : (16) i32\n"
      "%wc = expand_dims %wp {axis=0} : (1, 16) i32\n%wb = broadcast %wc : (4, 16) i32\n"
      "%wat = add %rb, %wb : (4, 16) i32\n%wap = ptr_add %as, %wat : (4, 16) *i8\n"
      "%wbp = ptr_add %bs, %wat : (4, 16) *i8\n"
      "%r, %ax, %bx = for %zero, %n, %one, %z, %wap, %wbp : (4, 4) i32, (4, 16) *i8, (4, 16) *i8 "
      "(%k: i32, %acc: (4, 4) i32, %pa: (4, 16) *i8, %pb: (4, 16) *i8) {\n" LOADS DOT
      "%na = ptr_add %pa, %step : (4, 16) *i8\n%nb = ptr_add %pb, %step : (4, 16) *i8\n"
      "yield %d, %na, %nb\n}\n" AFTER,
      2, 0 },
    // The next tile is known when its iteration comes: products come later, the last ones in a loop
    // of their own.
    { "addresses_from_a_branch",
      PARAMS BEFORE
      "%r, %last = for %zero, %n, %one, %z, %zero : (4, 4) i32, i32 (%k: i32, %acc: (4, 4) i32, "
      "%o: i32) {\n%os = splat %o : (4, 16) i32\n%pa = ptr_add %ap, %os : (4, 16) *i8\n"
      "%pb = ptr_add %bp, %os : (4, 16) *i8\n" LOADS DOT
      "%odd = and %k, %one : i32\n%is = eq %odd, %one : i1\n%p = if %is : i32 {\n"
      "%far = add %o, %c16 : i32\nyield %far\n} else {\n%q = mul %k, %c16 : i32\nyield %q\n}\n"
      "yield %d, %p\n}\n" AFTER,
      4, 0 },
    { "a_condition",
      PARAMS BEFORE
      "%r, %last = while %z, %zero : (4, 4) i32, i32 (%a0: (4, 4) i32, %k0: i32) {\n"
      "%more = lt %k0, %n : i1\nyield %more\n} do (%acc: (4, 4) i32, %k: i32) {\n" POINTERS LOADS
          DOT "%next = add %k, %one : i32\nyield %d, %next\n}\n" AFTER,
      4, 0 },
    { "two_sums_of_one_tile",
      PARAMS BEFORE
      "%r, %s, %last = while %z, %z, %zero : (4, 4) i32, (4, 4) i32, i32 (%a0: (4, 4) i32, %a1: "
      "(4, 4) "
      "i32, %k0: i32) {\n%more = lt %k0, %n : i1\nyield %more\n} do (%acc: (4, 4) i32, %acc2: (4, "
      "4) "
      "i32, %k: i32) {\n" POINTERS LOADS DOT "%xt = trans %x {perm=[1, 0]} : (16, 4) i8\n"
      "%e = dot %y, %xt, %acc2 {precision=ieee} : (4, 4) i32\n%next = add %k, %one : i32\n"
      "yield %d, %e, %next\n}\n%cz = splat %c : (4, 4) *i32\n%c9 = const 2048 : (4, 4) i32\n"
      "%ra = broadcast %rows : (4, 4) i32\n%co = add %c9, %ra : (4, 4) i32\n"
      "%c0 = ptr_add %cz, %co : (4, 4) *i32\nstore %c0, %s\n" AFTER,
      4, 0 },
    // From here on nothing may run ahead.
    { "a_sum_that_the_condition_reads",
      PARAMS BEFORE
      "%r, %last = while %z, %zero : (4, 4) i32, i32 (%a0: (4, 4) i32, %k0: i32) {\n"
      "%s1 = reduce %a0 {kind=max, axis=1} : (4) i32\n%s2 = reduce %s1 {kind=max, axis=0} : i32\n"
      "%few = lt %k0, %n : i1\n%low = lt %s2, %c16 : i1\n%more = and %few, %low : i1\n"
      "yield %more\n} do (%acc: (4, 4) i32, %k: i32) {\n" POINTERS LOADS DOT
      "%next = add %k, %one : i32\nyield %d, %next\n}\n" AFTER,
      0, 0 },
    { "a_tile_that_the_condition_reads",
      PARAMS BEFORE
      "%r, %last = while %z, %zero : (4, 4) i32, i32 (%a0: (4, 4) i32, %k0: i32) {\n"
      "%more = lt %k0, %n : i1\nyield %more\n} do (%acc: (4, 4) i32, %k: i32) {\n" POINTERS LOADS
          DOT
      "%s1 = reduce %x {kind=max, axis=1} : (4) i8\n%s2 = reduce %s1 {kind=max, axis=0} : i8\n"
      "%s3 = cast %s2 : i32\n%by = max %s3, %one : i32\n%next = add %k, %by : i32\n"
      "yield %d, %next\n}\n" AFTER,
      0, 0 },
    { "stores_to_what_is_loaded",
      PARAMS BEFORE LOOP(UP_TO_N, POINTERS LOADS DOT
                         "%next = ptr_add %pa, %step : (4, 16) *i8\n"
                         "%neg = neg %x : (4, 16) i8\nstore %next, %neg\n") AFTER,
      1, 0 },
    { "addresses_from_the_product",
      PARAMS BEFORE
      "%r, %last = for %zero, %n, %one, %z, %zero : (4, 4) i32, i32 (%k: i32, %acc: (4, 4) i32, "
      "%o: i32) {\n%os = splat %o : (4, 16) i32\n%pa = ptr_add %ap, %os : (4, 16) *i8\n"
      "%pb = ptr_add %bp, %os : (4, 16) *i8\n" LOADS DOT
      "%s1 = reduce %d {kind=max, axis=1} : (4) i32\n%s2 = reduce %s1 {kind=max, axis=0} : i32\n"
      "%three = const 3 : i32\n%s3 = and %s2, %three : i32\n%p = mul %s3, %c16 : i32\n"
      "yield %d, %p\n}\n" AFTER,
      0, 0 },
    { "a_loop_of_one_stage",
      PARAMS BEFORE "%r = for %zero, %n, %one, %z {num_stages=1} : (4, 4) i32 (%k: i32, %acc: (4, "
                    "4) i32) {\n" POINTERS LOADS DOT "yield %d\n}\n" AFTER,
      0, 0 },
    { "a_barrier_of_the_user",
      PARAMS BEFORE LOOP(UP_TO_N, POINTERS LOADS DOT "barrier {from_user}\n") AFTER, 0, 0 },
};

static void check_run(const Case *t, unsigned stages, int64_t n)
{
    LayoutIrCase c;
    layout_ir_init(&c);
    c.cx.features = TARGET_CP_ASYNC | TARGET_MMA_AMPERE;
    IrFunc *fn = layout_ir_read(&c, t->text);
    const Machine *before = run(&c.ir.arena, fn, n, NULL);
    assert_null(before->fault);
    fn->num_stages = (uint16_t)stages;
    layout_ir_run(&c, fn, "pipeline");
    layout_ir_run(&c, fn, "fold");
    layout_ir_run(&c, fn, "cse");
    layout_ir_run(&c, fn, "dce");
    assert_int_equal(layout_ir_count(fn, IR_TILE), stages > 1 ? t->tiles : 0);
    assert_int_equal(layout_ir_count(fn, IR_TILE_PUT), stages > 1 ? t->puts : 0);
    const Machine *after = run(&c.ir.arena, fn, n, before->touched);
    if (after->fault)
        fail_msg("%u stages, n = %" PRId64 ": %s\n%s", stages, n, after->fault,
                 layout_ir_print(&c, fn));
    if (memcmp(before->memory, after->memory, sizeof before->memory) != 0)
        fail_msg("%u stages, n = %" PRId64 ": other results\n%s", stages, n,
                 layout_ir_print(&c, fn));
    ir_case_free(&c.ir);
}

static void check(void **state)
{
    for (unsigned stages = 1; stages <= 8; stages++)
        for (int64_t n = -1; n < 11; n++)
            check_run(*state, stages, n);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check, NULL, NULL, (void *)&cases[i] };
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
