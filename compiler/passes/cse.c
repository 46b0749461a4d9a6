// cse.c - keeps one of several equal computations.
//
// One walk in program order with a table of what is available, scoped by regions: an operation is
// replaced by an equal one of its own or an enclosing block. Loads take part within their block
// between two writes (an epoch number is part of their key), unless they must reach memory each
// time. Keeps layouts: values in different layouts are different.
#include "passes/pass.h"

#include <string.h>

typedef struct Available {
    IrOp *op;
    uint64_t hash;
    uint32_t epoch;  // loads: the state of memory; else 0
    uint32_t next;   // chain in its bucket, index + 1
} Available;

enum { CSE_BUCKETS = 1024 };

typedef struct Cse {
    Arena scratch;
    VEC(Available) list;
    uint32_t bucket[CSE_BUCKETS];  // index + 1 into list
    uint32_t epoch;
} Cse;

static bool same_op(const IrOp *x, const IrOp *y)
{
    if (x->code != y->code || x->argc != y->argc || x->results[0]->type != y->results[0]->type ||
        x->results[0]->layout != y->results[0]->layout)
        return false;
    return memcmp(x->args, y->args, x->argc * sizeof(IrValue *)) == 0 && ir_same_attr(x, y);
}

static uint64_t hash_op(const IrOp *op)
{
    uint64_t h = hash_bytes(HASH_SEED, &op->code, sizeof op->code);
    for (uint32_t i = 0; i < op->argc; i++) {
        uint32_t id = op->args[i] ? op->args[i]->id : UINT32_MAX;
        h = hash_bytes(h, &id, sizeof id);
    }
    if (op->code == IR_CONST) {
        const IrConst *c = &op->attr.konst;
        h = c->is_float ? hash_bytes(h, &c->f, sizeof c->f) : hash_bytes(h, &c->i, sizeof c->i);
    }
    return h;
}

static bool is_candidate(const IrOp *op)
{
    if (op->regionc || op->resultc != 1)
        return false;
    if (op->code == IR_LOAD)
        return !op->attr.mem.is_volatile && op->attr.mem.cache != CACHE_CV;
    return ir_op_info[op->code].effects == EFFECT_PURE;
}

static void visit(Cse *s, IrOp *op)
{
    uint64_t hash = hash_op(op);
    uint32_t epoch = op->code == IR_LOAD ? s->epoch : 0;
    uint32_t *head = &s->bucket[hash % CSE_BUCKETS];
    for (uint32_t i = *head; i; i = s->list.at[i - 1].next) {
        const Available *a = &s->list.at[i - 1];
        if (a->hash != hash || a->epoch != epoch || !same_op(a->op, op))
            continue;
        IrValue *kept = a->op->results[0];
        if (!kept->hint)
            kept->hint = op->results[0]->hint;
        ir_replace(op->results[0], kept);
        ir_remove(op);
        return;
    }
    Available entry = { op, hash, epoch, *head };
    VEC_PUSH(&s->scratch, &s->list, entry);
    *head = s->list.len;
}

static void run_block(Cse *s, IrBlock *b)
{
    uint32_t outer = s->list.len;
    s->epoch++;
    for (IrOp *op = b->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->argc; i++)
            op->args[i] = ir_forwarded(op->args[i]);
        for (uint32_t r = 0; r < op->regionc; r++)
            run_block(s, op->regions[r]);
        if (is_candidate(op))
            visit(s, op);
        else if (ir_has_effects(op))
            s->epoch++;
    }
    s->epoch++;
    while (s->list.len > outer) {
        const Available *last = &s->list.at[--s->list.len];
        s->bucket[last->hash % CSE_BUCKETS] = last->next;
    }
}

bool pass_cse(PassCtx *cx, IrFunc *fn)
{
    (void)cx;
    Arena own = { 0 };
    Cse *s = ARENA_NEW(&own, Cse);
    run_block(s, fn->body);
    ir_apply_replacements(fn);
    arena_free(&s->scratch);
    arena_free(&own);
    return true;
}
