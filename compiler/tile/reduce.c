/// reduce.c - reductions: lanes beyond the end of an axis get the value that does not count.
#include "tile/tile_impl.h"
#include <math.h>
#include <string.h>

typedef struct Axes {
    bool on[TILE_MAX_RANK];
    unsigned count;
    bool all;
} Axes;

static bool add_axis(Tile *t, const Value *v, const Value *axis, Span span, Axes *out)
{
    int64_t at;
    if (axis->kind == VALUE_ERROR)
        return false;
    if (!tile_constant_int(t, axis, &at)) {
        tile_fault(t, DIAG_NOT_CONSTEXPR, span, "an axis must be a compile-time constant");
        return false;
    }
    if (at < -(int64_t)v->rank || at >= (int64_t)v->rank) {
        tile_fault(t, DIAG_BAD_VALUE, span, "axis %d of %s: it has %u", (int)at, tile_text(t, v),
                   v->rank);
        return false;
    }
    at += at < 0 ? (int64_t)v->rank : 0;
    out->count += !out->on[at];
    out->on[at] = true;
    return true;
}

static bool take_axes(Tile *t, const TileArgs *args, unsigned index, Axes *out)
{
    const Value *v = &args->at[0], *axis = &args->at[index];
    *out = (Axes){ 0 };
    if (!args->given[index] || (axis->kind == VALUE_REF && axis->literal.kind == CONST_NONE)) {
        out->all = true;
        out->count = v->rank;
        for (unsigned i = 0; i < v->rank; i++)
            out->on[i] = true;
        return true;
    }
    if (axis->kind != VALUE_TUPLE)
        return add_axis(t, v, axis, args->nodes[index]->span, out);
    for (uint32_t i = 0; i < axis->items.len; i++)
        if (!add_axis(t, v, &axis->items.at[i], args->nodes[index]->span, out))
            return false;
    return true;
}

// ---- identities -----------------------------------------------------------------------------

static bool is_max(BuiltinId id)
{
    return id == BUILTIN_MAX || id == BUILTIN_AMAX || id == BUILTIN_ARGMAX || id == BUILTIN_PY_MAX;
}

static bool is_min(BuiltinId id)
{
    return id == BUILTIN_MIN || id == BUILTIN_AMIN || id == BUILTIN_ARGMIN || id == BUILTIN_PY_MIN;
}

static AstNode *least_integer(Tile *t, const ScalarInfo *info, bool greatest)
{
    bool is_signed = info->cls == SCLASS_SINT;
    if (!is_signed && !greatest)
        return tile_int(t, 0);
    if (is_signed && !greatest)
        return tile_int(t, info->bits == 64 ? INT64_MIN : -(INT64_C(1) << (info->bits - 1)));
    uint64_t most = UINT64_MAX >> (64 - info->bits + (is_signed ? 1 : 0));
    const char *text = arena_printf(t->arena, "%llu", (unsigned long long)most);
    return AST_MAKE(t->arena, INT, Int, t->span, .text = { text, (uint32_t)strlen(text) },
                    .value = most);
}

/// What does not count in the reduction `id` of elements of type `elem`, and the same as a pad.
static AstNode *identity(Tile *t, BuiltinId id, ScalarKind elem, double *pad)
{
    bool low = is_max(id), high = is_min(id);
    const ScalarInfo *info = &scalar_info[elem == SCALAR_COUNT ? SCALAR_F32 : elem];
    *pad = low ? -(double)INFINITY : high ? (double)INFINITY : 0.0;
    bool is_float = info->cls == SCLASS_FLOAT || info->cls == SCLASS_FP8;
    if (is_float)
        return tile_float(t, *pad);
    if (info->cls == SCLASS_BOOL)
        return AST_MAKE(t->arena, BOOL, Bool, t->span, .value = high);
    return low || high ? least_integer(t, info, high) : tile_int(t, 0);
}

/// The variable that holds `v`, when the statements being walked have assigned it.
static Variable *variable_of(Tile *t, const Value *v)
{
    for (uint32_t i = 0; i < t->env.len; i++)
        if (t->env.at[i].value.ast == v->ast && v->ast->kind == AST_NAME &&
            t->env.at[i].depth == t->depth)
            return &t->env.at[i];
    return NULL;
}

/// To the end of these statements the variable has `pad` beyond the ends of the reduced axes: exp(x
/// - max(x)) is 0 there, so that no later sum needs a mask.
static AstNode *keep_masked(Tile *t, Variable *var, AstNode *where, const Axes *axes, double pad)
{
    AstNode *local = tile_sym(t, tile_fresh(t, var->name->text));
    tile_emit_assign(t, local, where);
    if (!var->unmasked) {
        Value *before = ARENA_NEW(t->arena, Value);
        *before = var->value;
        var->unmasked = before;
    }
    var->value.ast = local;
    for (unsigned i = 0; i < var->value.rank; i++)
        if (axes->on[i] && tile_has_end(var->value.axes[i]))
            var->value.pads[i] = tile_pad(pad);
    return local;
}

/// A sum of squares of a variable has 0 beyond the ends when the variable has: its assignment puts
/// it there from the next walk on, as one would write it, and other uses find it there, too.
static void learn_zeroed(Tile *t, const Value *v, const Axes *axes)
{
    const AstBinary *square = v->ast->kind == AST_BINARY ? ast_binary(v->ast) : NULL;
    if (!square || square->op != AST_MUL || square->lhs != square->rhs || t->chunk)
        return;
    const Value factor = { .ast = square->lhs };
    const Variable *var = variable_of(t, &factor);
    const bool is_float =
        var && var->value.elem != SCALAR_COUNT && scalar_info[var->value.elem].cls == SCLASS_FLOAT;
    if (!is_float)
        return;
    for (uint32_t i = 0; i < t->zeroed.len; i++)
        if (t->zeroed.at[i].at == var->at)
            return;
    ZeroedPads pads = { .at = var->at };
    for (unsigned i = 0; i < v->rank && i < var->value.rank; i++)
        pads.on[i] = axes->on[i];
    VEC_PUSH(t->arena, &t->zeroed, pads);
    t->again = true;
}

/// `v` with the identity in the lanes beyond the axes that are reduced, where it is not there yet.
static AstNode *masked(Tile *t, BuiltinId id, const Value *v, const Axes *axes)
{
    double pad;
    AstNode *other = identity(t, id, v->elem, &pad), *mask = NULL;
    for (unsigned i = 0; i < v->rank; i++) {
        bool holds = v->pads[i].known && v->pads[i].value == pad;
        if (axes->on[i] && !holds)
            mask = tile_both(t, AST_BIT_AND, mask, tile_where_mask(t, v->axes[i], i, v->rank));
    }
    if (!mask)
        return v->ast;
    if (pad == 0.0)
        learn_zeroed(t, v, axes);
    AstNode *where = TILE_CALL(t, "where", mask, v->ast, other);
    Variable *var = pad != 0.0 && !tile_is_chunked(v) ? variable_of(t, v) : NULL;
    return var ? keep_masked(t, var, where, axes, pad) : where;
}

// ---- results --------------------------------------------------------------------------------

/// What the reduction makes of lanes that all hold `pad`.
static Pad reduced_pad(BuiltinId id, Pad pad)
{
    bool keeps = is_max(id) || is_min(id);
    bool is_arg = id == BUILTIN_ARGMAX || id == BUILTIN_ARGMIN;
    if (pad.known && !is_arg && (keeps || pad.value == 0.0))
        return pad;
    return (Pad){ 0 };
}

static Value result_of(const TileArgs *args, const Axes *axes, bool keep)
{
    const Value *v = &args->at[0];
    Value out = { .kind = VALUE_SCALAR };
    for (unsigned i = 0; i < v->rank; i++) {
        if (axes->on[i] && !keep)
            continue;
        out.kind = VALUE_BLOCK;
        if (!axes->on[i]) {
            out.axes[out.rank] = v->axes[i];
            out.pads[out.rank] = reduced_pad(args->builtin->id, v->pads[i]);
        }
        out.rank++;
    }
    RuleReduce rule = is_max(args->builtin->id) || is_min(args->builtin->id) ? RULE_MAX : RULE_SUM;
    if (args->builtin->id == BUILTIN_ARGMAX || args->builtin->id == BUILTIN_ARGMIN)
        rule = RULE_ARG;
    if (args->builtin->id == BUILTIN_XOR_SUM || args->builtin->id == BUILTIN_REDUCE_OR)
        rule = RULE_BITS;
    out.elem = v->elem == SCALAR_COUNT ? SCALAR_COUNT : rule_reduce(rule, v->elem).kind;
    return out;
}

/// How many elements there are along the reduced axes.
static AstNode *count_of(Tile *t, const Value *v, const Axes *axes)
{
    AstNode *count = NULL;
    for (unsigned i = 0; i < v->rank; i++) {
        const Axis *axis = v->axes[i];
        if (!axes->on[i] || !axis)
            continue;
        AstNode *n = tile_has_end(axis) ? axis->end : axis->block;
        if (axis->loop && tile_has_end(axis)) {
            AstNode *left = tile_binary(t, AST_SUB, axis->end, axis->start);
            n = tile_call(t, tile_name(t, "min"), 2, (AstNode *[]){ left, axis->block });
        }
        count = tile_both(t, AST_MUL, count, n);
    }
    return count ? count : tile_int(t, 1);
}

static const char *kernel_name(BuiltinId id, const Builtin *b)
{
    switch ((unsigned)id) {
    case BUILTIN_MEAN: return "sum";
    case BUILTIN_AMAX:
    case BUILTIN_PY_MAX: return "max";
    case BUILTIN_AMIN:
    case BUILTIN_PY_MIN: return "min";
    default: return b->name->text;
    }
}

static int find_arg(const TileArgs *args, const char *name)
{
    for (uint32_t i = 0; i < args->count; i++)
        if (strcmp(args->names[i], name) == 0)
            return (int)i;
    return -1;
}

static bool flag(const TileArgs *args, const char *name)
{
    int at = find_arg(args, name);
    return at >= 0 && args->given[at] && args->at[at].literal.kind == CONST_BOOL &&
           args->at[at].literal.v.b;
}

static bool reducible(Tile *t, const TileArgs *args)
{
    const Value *v = &args->at[0];
    if (v->kind == VALUE_ERROR)
        return false;
    if (v->kind == VALUE_BLOCK)
        return true;
    tile_fault(t, DIAG_TYPE_MISMATCH, args->nodes[0] ? args->nodes[0]->span : args->span,
               "'%s' needs a block, got %s", args->builtin->name->text, tile_text(t, v));
    return false;
}

static bool over_chunks(const Value *v, const Axes *axes)
{
    for (unsigned i = 0; i < v->rank; i++)
        if (axes->on[i] && v->axes[i] && v->axes[i]->is_chunked)
            return true;
    return false;
}

/// The input of the reduction; over all chunks it is a block that each lane has collected.
static AstNode *collected(Tile *t, const TileArgs *args, const Axes *axes)
{
    const Value *v = &args->at[0];
    BuiltinId id = args->builtin->id;
    double pad;
    AstNode *input = masked(t, id, v, axes);
    if (!over_chunks(v, axes))
        return input;
    bool max = is_max(id), min = is_min(id), sum = id == BUILTIN_SUM || id == BUILTIN_MEAN;
    if (id == BUILTIN_ARGMAX || id == BUILTIN_ARGMIN || (!max && !min && !sum) ||
        v->elem == SCALAR_COUNT) {
        tile_chunk_fail(t);
        return input;
    }
    ScalarKind kind = rule_reduce(sum ? RULE_SUM : RULE_MAX, v->elem).operand;
    return tile_chunk_accumulate(t, v, input, identity(t, id, v->elem, &pad), kind,
                                 max   ? "maximum"
                                 : min ? "minimum"
                                       : NULL)
        .ast;
}

/// The call with the axes and the words behind them.
static AstNode *reduce_call(Tile *t, const TileArgs *args, const Axes *axes, bool keep)
{
    BuiltinId id = args->builtin->id;
    AstNode *ast = TILE_CALL(t, kernel_name(id, args->builtin), collected(t, args, axes));
    int axis = find_arg(args, "axis"), dtype = find_arg(args, "dtype");
    if (!axes->all)
        ast = tile_with(t, ast, "axis", args->at[axis].ast);
    if (keep)
        ast =
            tile_with(t, ast, "keep_dims", AST_MAKE(t->arena, BOOL, Bool, t->span, .value = true));
    if (dtype >= 0 && args->given[dtype])
        ast = tile_with(t, ast, "dtype", args->at[dtype].ast);
    if (over_chunks(&args->at[0], axes)) {  // computed once, in front of the loops that use it
        const char *stem = tile_chunk_axis(t)->offs->text + strlen("offs");
        AstNode *name = tile_sym(
            t, tile_fresh(t, arena_printf(t->arena, "%s%s", kernel_name(id, args->builtin), stem)));
        tile_emit_assign(t, name, ast);
        ast = name;
    }
    return ast;
}

/// A sum by a count: by its inverse where that is as good, which can be had while others are still
/// adding.
static AstNode *mean_of(Tile *t, AstNode *sum, ScalarKind elem, AstNode *count)
{
    const bool is_float = elem == SCALAR_F32 || elem == SCALAR_F16 || elem == SCALAR_BF16;
    return is_float
               ? tile_binary(t, AST_MUL, sum, tile_binary(t, AST_DIV, tile_float(t, 1.0), count))
               : tile_binary(t, AST_DIV, sum, count);
}

Value tile_reduce(Tile *t, const TileArgs *args)
{
    Axes axes;
    bool keep = flag(args, "keep_dims");
    if (!reducible(t, args) || !take_axes(t, args, (unsigned)find_arg(args, "axis"), &axes))
        return tile_error();
    t->has_reduce = true;
    Value out = result_of(args, &axes, keep);
    out.ast = reduce_call(t, args, &axes, keep);
    if (args->builtin->id != BUILTIN_MEAN)
        return out;
    out.ast = mean_of(t, out.ast, args->at[0].elem, count_of(t, &args->at[0], &axes));
    out.elem = out.elem == SCALAR_COUNT ? SCALAR_COUNT : rule_promote(out.elem, SCALAR_F32).kind;
    return out;
}

/// exp(x - max) / sum in chunks: the parts are reductions of their own.
static Value chunked_softmax(Tile *t, const TileArgs *args, const Axes *axes, ScalarKind kind)
{
    const Value x = args->at[0];
    Value out = tile_block_like(&x, NULL, kind);
    const BuiltinTable *table = t->program->builtins;
    TileArgs max = { .builtin = builtin_get(table, BUILTIN_MAX),
                     .count = 2,
                     .names = { "input", "axis" } };
    max.at[0] = x;
    max.at[1] = args->at[1];
    AstNode *peak = reduce_call(t, &max, axes, true);
    out.ast = TILE_CALL(t, "exp", tile_binary(t, AST_SUB, x.ast, peak));
    out = tile_chunk_define(t, sym_of(t->program->syms, "powers"), out);
    TileArgs sum = max;
    sum.builtin = builtin_get(table, BUILTIN_SUM);
    sum.at[0] = out;
    out.ast = tile_binary(t, AST_DIV, out.ast, reduce_call(t, &sum, axes, true));
    return out;
}

Value tile_softmax(Tile *t, const TileArgs *args)
{
    Axes axes;
    if (!reducible(t, args))
        return tile_error();
    const Value *v = &args->at[0];
    TileArgs with = *args;
    if (!args->given[1] && v->rank > 1) {
        tile_fault(t, DIAG_BAD_CALL, args->span, "'softmax' needs an axis, as in dim=%u",
                   v->rank - 1);
        return tile_error();
    }
    if (!args->given[1]) {
        with.at[1] = tile_scalar(tile_int(t, 0), SCALAR_COUNT);
        with.given[1] = false;
    }
    if (!take_axes(t, &with, 1, &axes))
        return tile_error();
    t->has_reduce = true;
    Value out = tile_block_like(
        v, NULL, v->elem == SCALAR_COUNT || v->elem == SCALAR_F64 ? v->elem : SCALAR_F32);
    if (over_chunks(v, &axes) && v->elem != SCALAR_F32 && v->elem != SCALAR_F64)
        tile_chunk_fail(t);
    if (over_chunks(v, &axes))
        out = chunked_softmax(t, &with, &axes, out.elem);
    else
        out.ast = TILE_CALL(t, "softmax", masked(t, BUILTIN_MAX, v, &axes));
    if (args->given[1] && !over_chunks(v, &axes))
        out.ast = tile_with(t, out.ast, "dim", args->at[1].ast);
    for (unsigned i = 0; i < v->rank; i++)
        if (axes.on[i])
            out.pads[i] = tile_pad(0.0);
    return out;
}

// ---- functions of the program ---------------------------------------------------------------

/// The input with `other` beyond the ends of the axes.
static AstNode *filled(Tile *t, const Value *v, const Axes *axes, AstNode *other)
{
    AstNode *mask = NULL;
    for (unsigned i = 0; i < v->rank; i++)
        if (axes->on[i])
            mask = tile_both(t, AST_BIT_AND, mask, tile_where_mask(t, v->axes[i], i, v->rank));
    return mask && other ? TILE_CALL(t, "where", mask, v->ast, other) : v->ast;
}

static bool is_padded(const Value *v, const Axes *axes)
{
    for (unsigned i = 0; i < v->rank; i++)
        if (axes->on[i] && tile_has_end(v->axes[i]))
            return true;
    return false;
}

// Forwards, what lies beyond the end comes last and disturbs nothing; backwards it comes first.
Value tile_scan(Tile *t, const TileArgs *args)
{
    Axes axes;
    const BuiltinId id = args->builtin->id;
    if (!reducible(t, args) || !take_axes(t, args, 1, &axes))
        return tile_error();
    const Value *v = &args->at[0];
    TileArgs with = *args;
    const bool reverse = flag(args, "reverse");
    if (reverse && id == BUILTIN_ASSOCIATIVE_SCAN && is_padded(v, &axes)) {
        tile_fault(t, DIAG_TILE_FORM, args->span,
                   "a scan backwards by a function would begin beyond the end of the tensor");
        return tile_error();
    }
    if (over_chunks(v, &axes))
        tile_chunk_fail(t);
    if (reverse)
        with.at[0].ast = filled(t, v, &axes, tile_int(t, id == BUILTIN_CUMPROD));
    Value out = tile_block_like(v, tile_pass_call(t, &with), SCALAR_COUNT);
    if (v->elem != SCALAR_COUNT && id != BUILTIN_ASSOCIATIVE_SCAN)
        out.elem = rule_reduce(id == BUILTIN_CUMSUM ? RULE_CUMSUM : RULE_CUMPROD, v->elem).kind;
    return out;
}

// reduce(input, axis, combine_fn, keep_dims, other)
Value tile_reduce_by(Tile *t, const TileArgs *args)
{
    Axes axes;
    if (!reducible(t, args) || !take_axes(t, args, 1, &axes))
        return tile_error();
    const Value *v = &args->at[0];
    if (!args->given[1] || !args->given[2] || (is_padded(v, &axes) && !args->given[4])) {
        tile_fault(t, DIAG_BAD_CALL, args->span,
                   args->given[1] && args->given[2]
                       ? "'reduce' needs 'other', the value that does not count"
                       : "'reduce' needs a block, an axis and a function");
        return tile_error();
    }
    if (over_chunks(v, &axes))
        tile_chunk_fail(t);
    const bool keep = flag(args, "keep_dims");
    Value out = result_of(args, &axes, keep);
    memset(out.pads, 0, sizeof out.pads);
    out.elem = v->elem;
    out.ast = TILE_CALL(t, "reduce", filled(t, v, &axes, args->at[4].ast), args->at[1].ast,
                        args->at[2].ast);
    if (keep)
        out.ast = tile_with(t, out.ast, "keep_dims",
                            AST_MAKE(t->arena, BOOL, Bool, t->span, .value = true));
    return out;
}
