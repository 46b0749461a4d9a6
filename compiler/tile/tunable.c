/// tunable.c - what a program leaves open by itself: register_block_size, register_tunable.
///
/// Each becomes a constexpr parameter of the generated kernel, called as the variable that it is
/// assigned to, or as register_tunable says.
#include "tile/tile_impl.h"
#include <string.h>

static const char *upper(Tile *t, const char *prefix, const char *name)
{
    char *text = arena_printf(t->arena, "%s%s", prefix, name);
    for (char *c = text; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return text;
}

static Value open_value(Tile *t, Tunable tunable, Sym name)
{
    OpenParam *open = ARENA_NEW(t->arena, OpenParam);
    *open = (OpenParam){ .tunable = tunable };
    open->tunable.name = name;
    VEC_PUSH(t->arena, &t->opens, open);
    Value v = tile_scalar(name ? tile_sym(t, name) : NULL, SCALAR_COUNT);
    v.is_weak = true;
    v.open = open;
    return v;
}

Value tile_name_open(Tile *t, Value v, Sym variable)
{
    if (!v.open || v.ast)
        return v;
    v.open->tunable.name = tile_fresh(t, upper(t, "", variable->text));
    v.ast = tile_sym(t, v.open->tunable.name);
    return v;
}

static bool want(Tile *t, const TileArgs *args, unsigned i, int64_t least, int64_t *out)
{
    if (args->at[i].kind == VALUE_ERROR)
        return false;
    if (tile_constant_int(t, &args->at[i], out) && *out >= least)
        return true;
    tile_fault(t, DIAG_NOT_CONSTEXPR, args->nodes[i]->span,
               "'%s' of '%s' must be a constant of at least %d", args->names[i],
               args->builtin->name->text, (int)least);
    return false;
}

static bool is_power(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/// Bounds of powers of two, and where a search starts between them.
static bool check_powers(Tile *t, const TileArgs *args, const Tunable *x)
{
    if (is_power(x->lo) && is_power(x->hi) && is_power(x->start) && x->lo <= x->start &&
        x->start <= x->hi)
        return true;
    tile_fault(t, DIAG_BAD_VALUE, args->span,
               "'%s' takes powers of two, the first not above the second",
               args->builtin->name->text);
    return false;
}

// register_block_size(min, max), register_block_size(max), register_block_size(size)
Value tile_register_block(Tile *t, const TileArgs *args)
{
    enum { MOST = 16384 };
    Tunable x = { .kind = TUNE_POWER, .lo = 1, .hi = MOST };
    int64_t n;
    if (args->given[1] && (!want(t, args, 0, 1, &x.lo) || !want(t, args, 1, 1, &x.hi)))
        return tile_error();
    if (!args->given[1] && tile_constant_int(t, &args->at[0], &n) && is_power(n))
        x.hi = n;
    x.start = x.lo;
    return check_powers(t, args, &x) ? open_value(t, x, NULL) : tile_error();
}

/// PowerOfTwoFragment(low, high, default), IntegerFragment(...), BooleanFragment(),
/// EnumFragment(choices): what a tunable may be.
static bool take_fragment(Tile *t, const AstNode *n, Tunable *x)
{
    Binding b;
    TileArgs args;
    if (n->kind != AST_CALL || !resolve_path(t->program, t->module, ast_call(n)->callee, &b) ||
        b.value.kind != CONST_BUILTIN || !tile_bind_args(t, b.value.v.ref, ast_call(n), &args))
        return false;
    const BuiltinId id = args.builtin->id;
    if (id == BUILTIN_BOOLEAN_FRAGMENT) {
        *x = (Tunable){ .kind = TUNE_INT, .lo = 0, .hi = 1 };
        return true;
    }
    if (id == BUILTIN_ENUM_FRAGMENT) {
        const Value *list = &args.at[0];
        int64_t *values = ARENA_NEW_N(t->arena, int64_t, list->items.len + 1);
        for (uint32_t i = 0; i < list->items.len; i++)
            if (!tile_constant_int(t, &list->items.at[i], &values[i]))
                return false;
        *x = (Tunable){ .kind = TUNE_CHOICE,
                        .values = values,
                        .value_count = list->items.len,
                        .start = values[0] };
        return list->kind == VALUE_TUPLE && list->items.len > 0;
    }
    if (id != BUILTIN_POWER_OF_TWO_FRAGMENT && id != BUILTIN_INTEGER_FRAGMENT)
        return false;
    const int64_t least = id == BUILTIN_POWER_OF_TWO_FRAGMENT ? 1 : INT32_MIN;
    *x = (Tunable){ .kind = id == BUILTIN_POWER_OF_TWO_FRAGMENT ? TUNE_POWER : TUNE_INT };
    if (!want(t, &args, 0, least, &x->lo) || !want(t, &args, 1, least, &x->hi))
        return false;
    x->start = x->lo;
    if (args.given[2] && !want(t, &args, 2, least, &x->start))
        return false;
    return x->kind == TUNE_POWER ? check_powers(t, &args, x)
                                 : x->lo <= x->start && x->start <= x->hi;
}

// register_tunable("NAME", PowerOfTwoFragment(1, 64, 8))
Value tile_register_tunable(Tile *t, const AstCall *n)
{
    Tunable x;
    const unsigned met = diag_error_met(t->program->diags);
    bool text = n->args.len == 2 && n->args.at[0]->kind == AST_STRING && !n->keywords.len;
    if (!text || !take_fragment(t, n->args.at[1], &x)) {
        if (diag_error_met(t->program->diags) == met)
            tile_fault(t, DIAG_BAD_CALL, n->base.span,
                       "'register_tunable' takes a name and a fragment");
        diag_help(t->program->diags,
                  "write register_tunable(\"NAME\", PowerOfTwoFragment(1, 64, 8))");
        return tile_error();
    }
    const Str name = ast_string(n->args.at[0])->value;
    return open_value(t, x, tile_fresh(t, arena_strndup(t->arena, name.at, name.len)));
}

void tile_open_registered(Tile *t, Function *f)
{
    for (uint32_t i = 0; i < t->opens.len; i++) {
        Tunable x = t->opens.at[i]->tunable;
        if (!x.name)
            continue;
        for (uint32_t k = 0; k < t->axes.len; k++) {
            const Axis *a = t->axes.at[k];
            if (a->block->kind != AST_NAME || ast_name(a->block)->name != x.name)
                continue;
            const int64_t first = tile_first_block(t, a);
            x.start = first < x.lo ? x.lo : first > x.hi ? x.hi : first;
        }
        VEC_PUSH(t->arena, &f->tunables, x);
    }
}
