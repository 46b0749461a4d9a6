/// value.c - values: their axes, how these broadcast, masks, pads, and the variables that hold
/// them.
#include "tile/tile_impl.h"
#include <stdarg.h>
#include <string.h>

Value tile_error(void)
{
    return (Value){ .kind = VALUE_ERROR, .elem = SCALAR_COUNT };
}

Value tile_scalar(AstNode *ast, ScalarKind elem)
{
    return (Value){ .kind = VALUE_SCALAR, .ast = ast, .elem = elem };
}

Value tile_block_like(const Value *like, AstNode *ast, ScalarKind elem)
{
    Value v = { .kind = like->kind == VALUE_BLOCK ? VALUE_BLOCK : VALUE_SCALAR,
                .ast = ast,
                .elem = elem,
                .rank = like->kind == VALUE_BLOCK ? like->rank : 0 };
    memcpy(v.axes, like->axes, sizeof v.axes);
    return v;
}

void tile_fault(Tile *t, DiagId id, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_report(t->program->diags, id, span, "%s", arena_vprintf(t->arena, format, args));
    va_end(args);
    t->failed = true;
}

static const char *axis_text(const Axis *axis)
{
    return axis ? axis->text : "1";
}

const char *tile_text(Tile *t, const Value *v)
{
    switch (v->kind) {
    case VALUE_SCALAR: return v->is_weak ? "a number" : "a scalar";
    case VALUE_TENSOR: return arena_printf(t->arena, "the tensor '%s'", v->tensor->name->text);
    case VALUE_TILE: return arena_printf(t->arena, "the tile '%s'", v->tile->text);
    case VALUE_TUPLE: return "a tuple";
    case VALUE_REF: return const_kind_text(&v->literal);
    case VALUE_ERROR:
    case VALUE_BLOCK: break;
    }
    Buf b = { 0 };
    for (unsigned i = 0; i < v->rank; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", axis_text(v->axes[i]));
    const char *text = arena_printf(t->arena, "a block of [%s]", b.at ? b.at : "");
    buf_free(&b);
    return text;
}

// ---- variables ------------------------------------------------------------------------------

Variable *tile_find(Tile *t, Sym name)
{
    for (uint32_t i = 0; i < t->env.len; i++)
        if (t->env.at[i].name == name)
            return &t->env.at[i];
    return NULL;
}

Value tile_keep(Tile *t, Sym name, Value v, bool is_new)
{
    if (t->chunk && tile_is_chunked(&v))
        return tile_chunk_define(t, name, v);
    Sym local = is_new ? tile_fresh(t, name->text) : tile_local(t, name);
    tile_chunk_assigned(t, local);
    tile_emit_assign(t, tile_sym(t, local), v.ast);
    v.ast = tile_sym(t, local);
    v.is_product = false;
    return v;
}

void tile_bind(Tile *t, Sym name, Value v)
{
    Variable *old = tile_find(t, name);
    if (old)
        *old = (Variable){ .name = name, .value = v, .depth = t->depth };
    else
        VEC_PUSH(t->arena, &t->env, ((Variable){ .name = name, .value = v, .depth = t->depth }));
}

// ---- sizes ----------------------------------------------------------------------------------

Size *tile_size_root(Size *s)
{
    while (s->same != s)
        s = s->same;
    return s;
}

AstNode *tile_size_ast(Tile *t, Size *s)
{
    s = tile_size_root(s);
    if (s->fixed >= 0)
        return tile_int(t, s->fixed);
    s->is_used = !s->is_constexpr;
    return tile_sym(t, s->name);
}

Value tile_size_value(Tile *t, Size *s)
{
    Value v = tile_scalar(tile_size_ast(t, s), SCALAR_I32);
    v.size = tile_size_root(s);
    v.at_most = (SizeBounds){ .of = { v.size }, .is_edge = true };
    v.is_weak = v.size->fixed >= 0 || v.size->is_constexpr;
    if (v.size->fixed >= 0)
        v.literal = const_int(v.size->fixed);
    return v;
}

bool tile_is_within(const SizeBounds *bounds, const Size *size)
{
    for (int i = 0; i < 2; i++)
        if (bounds->of[i] && tile_size_root(bounds->of[i]) == size)
            return true;
    return false;
}

SizeBounds tile_least(const SizeBounds *a, const SizeBounds *b)
{
    SizeBounds out = *a;
    out.is_edge = out.is_start = false;
    out.tile = a->tile ? a->tile : b->tile;
    for (int i = 0; i < 2; i++) {
        if (!b->of[i] || tile_is_within(&out, tile_size_root(b->of[i])))
            continue;
        if (!out.of[0])
            out.of[0] = b->of[i];
        else if (!out.of[1])
            out.of[1] = b->of[i];
    }
    return out;
}

SizeBounds tile_either(const SizeBounds *a, const SizeBounds *b)
{
    SizeBounds out = { .tile = a->tile ? a->tile : b->tile };
    int n = 0;
    for (int i = 0; i < 2; i++)
        if (a->of[i] && tile_is_within(b, tile_size_root(a->of[i])))
            out.of[n++] = a->of[i];
    out.is_edge =
        a->is_edge && b->is_edge && n == 1 && (!a->tile || !b->tile || a->tile == b->tile);
    return out;
}

void tile_join_sizes(Tile *t, Size *a, Size *b)
{
    SizeRule rule = { { a->tensor, b->tensor }, { a->axis, b->axis }, true };
    a = tile_size_root(a);
    b = tile_size_root(b);
    if (a == b)
        return;
    VEC_PUSH(t->arena, &t->rules, rule);
    // The number stays, else a name, else the first one.
    bool keep_b = (b->fixed >= 0 && a->fixed < 0) || (b->is_named && !a->is_named && a->fixed < 0);
    if (keep_b)
        a->same = b;
    else
        b->same = a;
    t->again = true;
}

/// The next power of two, for the block over a size that is a number.
static int64_t cover(int64_t size)
{
    int64_t n = 1;
    while (n < size)
        n *= 2;
    return n;
}

const char *tile_stem(const char *text)
{
    return strncmp(text, "tile_", 5) == 0 && text[5] ? text + 5 : text;
}

/// offs_m for tile_m, offs_n for a size N, offs_x_d1 for a size without a name.
Sym tile_offs_name(Tile *t, const char *text)
{
    char *lower = arena_printf(t->arena, "offs_%s", tile_stem(text));
    for (char *c = lower; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return tile_fresh(t, lower);
}

Axis *tile_plain_axis(Tile *t, int64_t n)
{
    for (uint32_t i = 0; i < t->axes.len; i++)
        if (t->axes.at[i]->fixed == n)
            return t->axes.at[i];
    Axis *a = ARENA_NEW(t->arena, Axis);
    *a = (Axis){ .text = arena_printf(t->arena, "%lld", (long long)n), .fixed = n };
    a->offs = tile_offs_name(t, a->text);
    a->block = tile_int(t, cover(n));
    if (cover(n) != n)
        a->end = tile_int(t, n);
    VEC_PUSH(t->arena, &t->axes, a);
    return a;
}

Axis *tile_whole(Tile *t, Size *s, const TileTensor *tensor, unsigned axis)
{
    s = tile_size_root(s);
    if (s->fixed >= 0)
        return s->fixed == 1 ? NULL : tile_plain_axis(t, s->fixed);
    if (s->whole)
        return s->whole;
    Axis *a = s->whole = ARENA_NEW(t->arena, Axis);
    *a = (Axis){ .text = arena_printf(t->arena, "%s.shape[%u]", tensor->name->text, axis),
                 .size = s,
                 .is_named = s->is_constexpr,
                 .is_open = !s->is_constexpr };
    a->offs = tile_offs_name(t, s->name->text);
    if (t->chunk && !s->is_constexpr) {
        a->is_chunked = true;
        a->start =
            tile_sym(t, tile_fresh(t, arena_printf(t->arena, "start_%s", a->offs->text + 5)));
    }
    a->block = tile_sym(t, tile_fresh(t, arena_printf(t->arena, "BLOCK_%s", s->name->text)));
    a->end = tile_size_ast(t, s);
    VEC_PUSH(t->arena, &t->axes, a);
    return a;
}

AstNode *tile_offs(Tile *t, Axis *axis)
{
    axis->offs_used = true;
    return tile_sym(t, axis->offs);
}

static bool is_reserved(const Tile *t, Sym name)
{
    for (uint32_t i = 0; i < t->sizes.len; i++)
        if (t->sizes.at[i]->name == name)
            return true;
    return strcmp(name->text, "nl") == 0;
}

Sym tile_local(Tile *t, Sym name)
{
    TileLocals *locals = t->frame ? &t->frame->locals : &t->locals;
    if (!t->frame && !is_reserved(t, name))
        return name;
    for (uint32_t i = 0; i < locals->len; i++)
        if (locals->at[i].name == name)
            return locals->at[i].local;
    TileLocal local = { name, tile_fresh(t, name->text) };
    VEC_PUSH(t->arena, locals, local);
    return local.local;
}

// ---- broadcasting ---------------------------------------------------------------------------

static bool report_axes(Tile *t, const Value *a, const Value *b, const Axis *x, const Axis *y)
{
    tile_fault(t, DIAG_SHAPE_MISMATCH, t->span, "%s and %s do not broadcast: '%s' meets '%s'",
               tile_text(t, a), tile_text(t, b), axis_text(x), axis_text(y));
    const Value *small = a->rank < b->rank ? a : b, *large = a->rank < b->rank ? b : a;
    if (small->rank + 1 == large->rank && small->axes[0] == large->axes[0])
        diag_help(t->program->diags, "index the smaller one with [:, None] to add an axis");
    return false;
}

/// Two sizes without names that meet are taken to be equal, which the launch checks.
static bool join_axes(Tile *t, Axis *x, Axis *y)
{
    if (x->loop || y->loop || !x->size || !y->size)
        return false;
    Size *a = tile_size_root(x->size), *b = tile_size_root(y->size);
    if (a == b)
        return true;
    if ((a->is_named && b->is_named) || (a->fixed >= 0 && b->fixed >= 0))
        return false;
    tile_join_sizes(t, x->size, y->size);
    return true;
}

bool tile_broadcast(Tile *t, const Value *v, uint32_t n, Value *out)
{
    *out = (Value){ .kind = VALUE_SCALAR, .elem = SCALAR_COUNT };
    for (uint32_t k = 0; k < n; k++) {
        if (v[k].kind == VALUE_BLOCK) {
            out->kind = VALUE_BLOCK;
            out->rank = v[k].rank > out->rank ? v[k].rank : out->rank;
        }
    }
    const Value *from[TILE_MAX_RANK] = { NULL };
    for (uint32_t k = 0; k < n; k++) {
        for (unsigned i = 0; v[k].kind == VALUE_BLOCK && i < v[k].rank; i++) {
            unsigned at = out->rank - v[k].rank + i;
            Axis *axis = v[k].axes[i];
            if (!axis || axis == out->axes[at])
                continue;
            if (from[at] && !join_axes(t, out->axes[at], axis))
                return report_axes(t, from[at], &v[k], out->axes[at], axis);
            if (!from[at]) {
                out->axes[at] = axis;
                from[at] = &v[k];
            }
        }
    }
    return true;
}

RuleOperand tile_operand(const Value *v)
{
    return v->is_weak && v->literal.kind != CONST_ERROR ? rule_weak(&v->literal)
                                                        : rule_typed(v->elem);
}

Pad tile_pad(double value)
{
    return (Pad){ true, value };
}

static bool number_of(const ConstVal *c, double *out)
{
    if (c->kind == CONST_FLOAT)
        *out = c->v.f;
    else if (c->kind == CONST_INT)
        *out = (double)c->v.i;
    else if (c->kind == CONST_BOOL)
        *out = c->v.b;
    else
        return false;
    return true;
}

bool tile_pads_of(const Value *v, uint32_t n, const Value *result, unsigned at, double *out)
{
    bool any = false;
    for (uint32_t k = 0; k < n; k++) {
        if (v[k].kind == VALUE_SCALAR) {
            if (!v[k].is_weak || !number_of(&v[k].literal, &out[k]))
                return false;
            continue;
        }
        unsigned lead = result->rank - v[k].rank;
        if (v[k].kind != VALUE_BLOCK || at < lead || !v[k].axes[at - lead] ||
            !v[k].pads[at - lead].known)
            return false;
        out[k] = v[k].pads[at - lead].value;
        any = true;
    }
    return any;
}

// ---- masks ----------------------------------------------------------------------------------

bool tile_has_end(const Axis *axis)
{
    return axis && axis->end && !axis->is_inside;
}

AstNode *tile_axis_mask(Tile *t, Axis *axis, unsigned at, unsigned rank)
{
    if (!tile_has_end(axis))
        return NULL;
    return tile_compare(t, tile_spread(t, tile_offs(t, axis), at, rank), AST_LT,
                        axis->edge ? axis->edge : axis->end);
}

AstNode *tile_where_mask(Tile *t, Axis *axis, unsigned at, unsigned rank)
{
    AstNode *mask = tile_axis_mask(t, axis, at, rank);
    if (mask)
        axis->is_cut = true;
    return mask;
}

AstNode *tile_mask(Tile *t, const Value *v)
{
    AstNode *mask = NULL;
    for (unsigned i = 0; i < v->rank; i++)
        mask = tile_both(t, AST_BIT_AND, mask, tile_axis_mask(t, v->axes[i], i, v->rank));
    return mask;
}
