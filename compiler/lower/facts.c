// facts.c - the variants of a form: one that assumes facts about the arguments, and the generic
// one.
#include "lower/variants_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct Facts {
    ParamBinding *params;
    Buf name;
    const bool *not_one;  // by parameter: strides along which a factor is not dense; NULL: none
} Facts;

static bool may_be_one(const Facts *facts, uint32_t at)
{
    return !facts->not_one || !facts->not_one[at];
}

static void add_fact(Facts *facts, const Function *f, uint32_t at, const char *word, int64_t n)
{
    buf_printf(&facts->name, "%s%s:%s%d", facts->name.len ? " " : "", f->params[at].name->text,
               word, (int)n);
}

// The elements in 16 bytes of the narrowest type that the kernel points to.
static int64_t wide_elements(const ParamBinding *params, uint32_t count)
{
    int64_t most = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!params[i].is_constexpr && params[i].type->kind == TYPE_PTR) {
            int64_t n = 16 / (int64_t)type_elem_bytes(params[i].type->elem);
            most = n > most ? n : most;
        }
    return most;
}

// The kernel in IR with what is assumed so far.
static IrFunc *lower_assumed(Enumerate *e, const Facts *facts, const Function *f, const Settings *s)
{
    const Variant plain = { .function = f,
                            .params = facts->params,
                            .num_warps = (uint16_t)s->num_warps,
                            .num_stages = (uint16_t)s->num_stages,
                            .num_ctas = (uint16_t)s->num_ctas,
                            .index64 = e->opt->index64,
                            .instance_name = s->name };
    return lower_kernel(e->p, &plain, e->p->arena);
}

// Whether a fact about the parameter's value can be added.
static bool is_free_integer(const ParamBinding *b)
{
    return !b->is_constexpr && !b->has_value && b->type->kind == TYPE_SCALAR &&
           type_is_int(b->type);
}

static bool can_be_one(const ParamBinding *b)
{
    return is_free_integer(b) && b->divisor <= 1 && (!b->has_range || b->lo <= 1);
}

static void assume_one(Facts *facts, const Function *f, uint32_t at)
{
    facts->params[at].has_value = true;
    facts->params[at].equals = 1;
    add_fact(facts, f, at, "", 1);
}

// Strides along the axis of neighbours are 1.
static void assume_unit_strides(Enumerate *e, Facts *facts, const Function *f, const Settings *s)
{
    IrFunc *fn = lower_assumed(e, facts, f, s);
    if (!fn)
        return;
    bool *ones = ARENA_NEW_N(e->p->arena, bool, fn->body->argc + 1);
    lower_reach_strides(fn, e->p->arena, ones);
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const uint32_t at = fn->params[i].source_index;
        ParamBinding *b = &facts->params[at];
        if (ones[i] && may_be_one(facts, at) && can_be_one(b))
            assume_one(facts, f, at);
    }
}

// Integers that decide where memory is touched are multiples of a wide access: strides and bounds.
static void assume_multiples(Enumerate *e, Facts *facts, const Function *f, const Settings *s)
{
    const int64_t n = wide_elements(s->params, f->param_count);
    IrFunc *fn = n > 1 ? lower_assumed(e, facts, f, s) : NULL;
    if (!fn)
        return;
    bool *reached = ARENA_NEW_N(e->p->arena, bool, fn->body->argc + 1);
    lower_reach_addresses(fn, e->p->arena, (unsigned)n, reached);
    for (uint32_t i = 0; i < fn->body->argc; i++) {
        const uint32_t at = fn->params[i].source_index;
        ParamBinding *b = &facts->params[at];
        // Of a tensor's sizes only those along which elements lie side by side bound wide accesses.
        if (f->params[at].role == PARAM_SIZE && !f->params[at].is_dense && !facts->not_one)
            continue;
        if (!reached[i] || !is_free_integer(b) || b->divisor % n == 0)
            continue;
        b->divisor = n;
        b->assumed = true;
        add_fact(facts, f, at, "div", n);
    }
}

// Every pointer 16-byte aligned: what wide loads and stores need.
static void assume_alignment(Facts *facts, const Function *f)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        ParamBinding *b = &facts->params[i];
        if (b->is_constexpr || b->type->kind != TYPE_PTR || b->divisor >= 16)
            continue;
        b->divisor = 16;
        b->assumed = true;
        add_fact(facts, f, i, "align", 16);
    }
}

static bool fact_error(Enumerate *e, const char *item, size_t len, const char *why)
{
    diag_report(e->p->diags, DIAG_BAD_VALUE, (Span){ 0, 0 }, "--specialize: '%.*s' %s", (int)len,
                item, why);
    diag_help(e->p->diags, "write facts as 'x:align16 n:div16 stride:1'");
    return false;
}

static bool assume_item(Enumerate *e, const Function *f, const char *item, size_t len, Facts *facts)
{
    const char *colon = memchr(item, ':', len);
    if (!colon)
        return fact_error(e, item, len, "is no fact");
    uint32_t at = lower_param_index(f, item, (size_t)(colon - item));
    if (at == UINT32_MAX)
        return true;  // a fact about another kernel's parameter
    ParamBinding *b = &facts->params[at];
    const char *word = colon + 1;
    char *end;
    bool pointer = !b->is_constexpr && b->type->kind == TYPE_PTR;
    bool integer = !b->is_constexpr && b->type->kind == TYPE_SCALAR && type_is_int(b->type);
    bool align = strncmp(word, "align", 5) == 0, div = strncmp(word, "div", 3) == 0;
    const char *digits = word + (align ? 5 : div ? 3 : 0);
    long n = strtol(digits, &end, 10);
    if (end == digits || end != item + len || (align && !pointer) || (!align && !integer))
        return fact_error(e, item, len, "does not fit the parameter's type");
    if (!align && !div) {
        b->has_value = true;
        b->equals = n;
        add_fact(facts, f, at, "", n);
        return true;
    }
    if (n < 1 || (align && (n & (n - 1)) != 0))
        return fact_error(e, item, len, "is not possible");
    b->divisor = n;
    b->assumed = n > 1;
    add_fact(facts, f, at, align ? "align" : "div", n);
    return true;
}

static bool assume_list(Enumerate *e, const Function *f, const char *list, Facts *facts)
{
    bool ok = true;
    while (*list) {
        size_t gap = strspn(list, " ,"), len = strcspn(list + gap, " ,");
        if (len)
            ok = assume_item(e, f, list + gap, len, facts) && ok;
        list += gap + len;
    }
    return ok;
}

static void add_variant(Enumerate *e, UnitBuild *b, const Settings *s, ParamBinding *params,
                        const char *name)
{
    Arena *a = e->p->arena;
    const VariantOptions *opt = e->opt;
    for (uint32_t i = b->unit.function->param_count; i-- > 0;)
        if (params[i].at_most)
            name = arena_printf(a, "%s:max%lld %s", b->unit.function->params[i].name->text,
                                (long long)params[i].at_most, name);
    VEC_PUSH(a, &b->names, name);
    VEC_PUSH(
        a, &b->variants,
        ((Variant){
            .function = b->unit.function,
            .params = params,
            .num_warps = (uint16_t)(opt->num_warps ? opt->num_warps : (unsigned)s->num_warps),
            .num_stages = (uint16_t)(opt->num_stages ? opt->num_stages : (unsigned)s->num_stages),
            .num_ctas = (uint16_t)s->num_ctas,
            .narrow = b->narrow,
            .index64 = opt->index64 || b->wide,
            .instance_name = b->unit.c_name }));
}

// "EVEN=True x:align16", "EVEN=True", "generic".
static const char *variant_name(Enumerate *e, const Settings *s, const char *facts)
{
    const char *name = "";
    for (uint32_t i = 0; i < s->choice_count; i++)
        name = arena_printf(e->p->arena, "%s%s%s=%lld", name, i ? " " : "", s->choices[i].name,
                            (long long)s->choices[i].equals);
    if (!*name)
        return *facts ? facts : "generic";
    return *facts ? arena_printf(e->p->arena, "%s %s", name, facts) : name;
}

// The facts of a signature's hints, named; the generic variant forgets them.
static void name_assumed(Facts *facts, const Function *f)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &facts->params[i];
        if (b->assumed)
            add_fact(facts, f, i, b->type->kind == TYPE_PTR ? "align" : "div", b->divisor);
        if (b->has_value)
            add_fact(facts, f, i, "", b->equals);
    }
}

// Strides of the last axes are 1: elements of rows lie side by side.
static void assume_dense(Facts *facts, const Function *f)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &facts->params[i];
        if (f->params[i].is_dense && f->params[i].role == PARAM_STRIDE && !b->has_value &&
            may_be_one(facts, i))
            assume_one(facts, f, i);
    }
}

// Adds the variant of these facts and forgets their name; false, and none, without facts.
static bool add_assumed(Enumerate *e, UnitBuild *b, const Settings *s, Facts *facts)
{
    const bool any = facts->name.len > 0;
    if (any)
        add_variant(
            e, b, s, facts->params,
            variant_name(e, s, arena_strndup(e->p->arena, facts->name.at, facts->name.len)));
    buf_free(&facts->name);
    return any;
}

// What is assumed unless the user says it: with what the kernel's signature does.
static void assume_usual(Enumerate *e, Facts *facts, const Function *f, const Settings *s)
{
    assume_dense(facts, f);
    assume_alignment(facts, f);
    assume_unit_strides(e, facts, f, s);
    assume_multiples(e, facts, f, s);
}

// Factors of matrix products that lie in memory by columns: a variant for each choice of them,
// behind the one in which all lie by rows.
static void add_turned(Enumerate *e, UnitBuild *b, const Settings *s)
{
    enum { MOST_TURNS = 2 };
    const Function *f = b->unit.function;
    ReachTurn turns[MOST_TURNS];
    Facts plain = { .params = lower_settings_copy(e, f, s).params };
    IrFunc *fn = lower_assumed(e, &plain, f, s);
    const uint32_t count = fn ? lower_reach_turns(fn, e->p->arena, turns, MOST_TURNS) : 0;
    if (count > MOST_TURNS)
        return;
    for (uint32_t set = 1; set < UINT32_C(1) << count; set++) {
        bool *not_one = ARENA_NEW_N(e->p->arena, bool, f->param_count);
        Facts facts = { .params = lower_settings_copy(e, f, s).params, .not_one = not_one };
        bool possible = true;
        name_assumed(&facts, f);
        for (uint32_t i = 0; i < count; i++) {
            if ((set >> i & 1) == 0)
                continue;
            const uint32_t at = fn->params[turns[i].by_columns].source_index;
            not_one[fn->params[turns[i].by_rows].source_index] = true;
            possible = possible && can_be_one(&facts.params[at]);
            if (possible)
                assume_one(&facts, f, at);
        }
        if (possible)
            assume_usual(e, &facts, f, s);
        if (possible)
            add_assumed(e, b, s, &facts);
        else
            buf_free(&facts.name);
    }
}

// Sizes and strides of tensors are 64 bits wide in C.
static void widen(Enumerate *e, UnitBuild *b, const Settings *s)
{
    const Function *f = b->unit.function;
    b->narrow = false;
    b->wide = f->tensors.len > 0;
    for (uint32_t i = 0; i < f->param_count; i++)
        if (f->params[i].role == PARAM_SIZE || f->params[i].role == PARAM_STRIDE)
            s->params[i].type = type_scalar(e->p->types, SCALAR_I64);
}

// In front of the variant that assumes nothing come those in 32 bits: dense rows, and any strides.
static void add_narrow(Enumerate *e, UnitBuild *b, const Settings *s, bool assume, bool last)
{
    const Function *f = b->unit.function;
    Facts dense = { .params = lower_settings_copy(e, f, s).params };
    if (assume)
        assume_dense(&dense, f);
    if (!add_assumed(e, b, s, &dense) || last)
        add_variant(e, b, s, lower_settings_copy(e, f, s).params, variant_name(e, s, "int32"));
    if (last)
        widen(e, b, s);
}

// The variants of one size class; only the last class has those that assume nothing else.
static bool class_variants(Enumerate *e, UnitBuild *b, const Settings *s, bool last)
{
    const Function *f = b->unit.function;
    const char *how = e->opt->specialize ? e->opt->specialize : "auto";
    const bool by_rows = strcmp(how, "rows") == 0;
    bool ok = true, assume = by_rows || strcmp(how, "auto") == 0;
    b->narrow = f->tensors.len > 0 && !e->opt->index64;
    b->wide = false;
    if (e->opt->index64)
        widen(e, b, s);
    Facts facts = { .params = lower_settings_copy(e, f, s).params };
    if (strcmp(how, "none") != 0) {
        name_assumed(&facts, f);
        if (assume)
            assume_usual(e, &facts, f, s);
        else
            ok = assume_list(e, f, how, &facts);
    }
    add_assumed(e, b, s, &facts);
    if (assume && !by_rows && last)
        add_turned(e, b, s);
    if (b->narrow)
        add_narrow(e, b, s, assume, last);
    if (!last)
        return ok;
    for (uint32_t i = 0; i < f->param_count; i++) {
        ParamBinding *p = &s->params[i];
        p->has_value = false;
        if (p->assumed) {
            p->assumed = false;
            p->divisor = 1;
        }
    }
    add_variant(e, b, s, s->params, variant_name(e, s, ""));
    return ok;
}

bool lower_make_variants(Enumerate *e, UnitBuild *b, const Settings *s)
{
    const Function *f = b->unit.function;
    const uint32_t classes = lower_size_classes(f, s);
    for (uint32_t i = 0; i + 1 < classes; i++) {
        Settings small = lower_settings_copy(e, f, s);
        lower_apply_class(f, i, &small);
        if (!class_variants(e, b, &small, false))
            return false;
    }
    Settings largest = *s;
    lower_apply_class(f, classes - 1, &largest);
    return class_variants(e, b, &largest, true);
}
