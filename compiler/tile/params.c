/// params.c - parameters: tensors become addresses, and the sizes and strides that the body uses.
#include "sema/module.h"
#include "tile/tile_impl.h"
#include <string.h>

static const Builtin *word_of(const Tile *t, const AstNode *n)
{
    Binding b;
    if (!n || !resolve_path(t->program, t->module, n, &b) || b.value.kind != CONST_ANNOTATION)
        return NULL;
    return b.value.v.ref;
}

static const Param *constexpr_param(const Tile *t, const AstNode *n)
{
    for (uint32_t i = 0; n->kind == AST_NAME && i < t->function->param_count; i++)
        if (t->function->params[i].name == ast_name(n)->name && t->function->params[i].is_constexpr)
            return &t->function->params[i];
    return NULL;
}

static const AstNode *instance_value(const AstCall *instance, Sym name)
{
    for (uint32_t i = 0; i < instance->keywords.len; i++)
        if (instance->keywords.at[i]->kind == AST_KEYWORD &&
            ast_keyword(instance->keywords.at[i])->name == name)
            return ast_keyword(instance->keywords.at[i])->value;
    return NULL;
}

static ScalarKind scalar_of(Tile *t, const AstNode *n)
{
    ConstVal c = lower_const_expr(t->program, t->module, n);
    if (c.kind == CONST_DTYPE && c.v.dtype->kind == TYPE_SCALAR)
        return c.v.dtype->scalar;
    if (c.kind != CONST_ERROR)
        tile_fault(t, DIAG_TYPE_MISMATCH, n->span,
                   "a tensor's element must be a type such as float32, got %s",
                   const_kind_text(&c));
    return SCALAR_COUNT;
}

/// The element type; of one that is a constexpr parameter the first value it gets stands for all.
static bool element_type(Tile *t, TileTensor *x, const AstNode *n)
{
    const Param *param = constexpr_param(t, n);
    x->dtype = n;
    if (!param) {
        x->elem = scalar_of(t, n);
        return x->elem != SCALAR_COUNT;
    }
    x->elem = SCALAR_COUNT;
    const AstNode *value = param->default_value;
    for (uint32_t i = 0; i < t->function->instances.len && !value; i++)
        value = instance_value(t->function->instances.at[i], param->name);
    if (value)
        x->elem = scalar_of(t, value);
    return !value || x->elem != SCALAR_COUNT;
}

static Size *new_size(Tile *t, TileTensor *x, unsigned axis, Sym name)
{
    for (uint32_t i = 0; name && i < t->sizes.len; i++)
        if (t->sizes.at[i]->name == name)
            return t->sizes.at[i];
    Size *s = ARENA_NEW(t->arena, Size);
    *s = (Size){ .name = name, .fixed = -1, .tensor = x->index, .axis = (uint8_t)axis };
    s->is_named = name != NULL;
    s->same = s;
    if (name)
        VEC_PUSH(t->arena, &t->names, name);
    else
        s->name = tile_fresh(t, arena_printf(t->arena, "%s_d%u", x->name->text, axis));
    VEC_PUSH(t->arena, &t->sizes, s);
    return s;
}

static bool bad_axes(Tile *t, const TileTensor *x, const AstNode *n)
{
    tile_fault(t, DIAG_TYPE_MISMATCH, n->span,
               "'%s' needs a rank from 1 to %d, or names and sizes of its axes", x->name->text,
               TILE_MAX_RANK);
    diag_help(t->program->diags, "write tensor[float32, \"M\", \"N\"], or tensor[float32, 2]");
    return false;
}

static bool take_rank(Tile *t, TileTensor *x, Int128 rank, const AstNode *n)
{
    if (rank < 1 || rank > TILE_MAX_RANK)
        return bad_axes(t, x, n);
    x->rank = (unsigned)rank;
    for (unsigned i = 0; i < x->rank; i++)
        x->sizes[i] = new_size(t, x, i, NULL);
    return true;
}

static bool take_axis(Tile *t, TileTensor *x, const AstNode *n)
{
    const Param *param = constexpr_param(t, n);
    if (param && x->rank < TILE_MAX_RANK) {
        Size *s = x->sizes[x->rank] = new_size(t, x, x->rank, param->name);
        s->is_constexpr = true;
        x->rank++;
        return true;
    }
    ConstVal c = lower_const_expr(t->program, t->module, n);
    bool is_size = c.kind == CONST_INT && c.v.i >= 1 && c.v.i <= INT32_MAX;
    if (c.kind == CONST_ERROR)
        return false;
    if (x->rank == TILE_MAX_RANK || (!is_size && (c.kind != CONST_STR || !c.v.s.len)))
        return bad_axes(t, x, n);
    for (uint32_t i = 0; !is_size && i < t->function->param_count; i++)
        if (str_is(c.v.s, t->function->params[i].name->text)) {
            tile_fault(t, DIAG_REDEFINITION, n->span,
                       "a size of '%s' has the name of the parameter '%s'", x->name->text,
                       t->function->params[i].name->text);
            return false;
        }
    Sym name = is_size ? NULL : sym_intern(t->program->syms, c.v.s.at, c.v.s.len);
    Size *s = x->sizes[x->rank] = new_size(t, x, x->rank, name);
    if (is_size)
        s->fixed = (int64_t)c.v.i;
    x->rank++;
    return true;
}

/// `"row"` or `"col"` behind the axes.
static bool layout_word(const AstNode *n, const char *word)
{
    return n->kind == AST_STRING && str_is(ast_string(n)->value, word);
}

static bool take_tensor(Tile *t, TileTensor *x, const AstSubscript *n)
{
    AstNodes items = n->indices;
    if (!element_type(t, x, items.at[0]))
        return false;
    bool row = items.len > 2 && layout_word(items.at[items.len - 1], "row");
    bool col = items.len > 2 && layout_word(items.at[items.len - 1], "col");
    items.len -= row || col;
    if (items.len < 2)
        return bad_axes(t, x, &n->base);
    bool ok = true;
    if (items.len == 2 && items.at[1]->kind == AST_INT)
        ok = take_rank(t, x, ast_int(items.at[1])->value, items.at[1]);
    else
        for (uint32_t i = 1; i < items.len && ok; i++)
            ok = take_axis(t, x, items.at[i]);
    if (ok && col && x->rank < 2)
        return bad_axes(t, x, &n->base);
    x->dense_axis = row ? (int)x->rank - 1 : col ? (int)x->rank - 2 : -1;
    for (unsigned i = 0; ok && i < x->rank; i++)
        x->strides[i] = tile_fresh(t, arena_printf(t->arena, "%s_s%u", x->name->text, i));
    return ok;
}

static bool take_param(Tile *t, const Param *param)
{
    const AstNode *a = param->annotation;
    if (param->is_constexpr) {
        Value v = tile_scalar(tile_sym(t, param->name), SCALAR_COUNT);
        v.is_weak = true;
        if (param->default_value)
            v.literal = lower_const_expr(t->program, t->module, param->default_value);
        tile_bind(t, param->name, v);
        return true;
    }
    const AstNode *word = a && a->kind == AST_SUBSCRIPT ? ast_subscript(a)->object : a;
    const Builtin *b = word_of(t, word);
    if (b && b->id == BUILTIN_TENSOR && a->kind == AST_SUBSCRIPT) {
        TileTensor *x = ARENA_NEW(t->arena, TileTensor);
        *x = (TileTensor){ .name = param->name, .span = param->span, .dense_axis = -1 };
        x->index = (uint8_t)t->tensors.len;
        VEC_PUSH(t->arena, &t->tensors, x);
        Value v = { .kind = VALUE_TENSOR, .ast = tile_sym(t, param->name), .tensor = x };
        tile_bind(t, param->name, v);
        return take_tensor(t, x, ast_subscript(a));
    }
    if (!a || (b && b->id == BUILTIN_TENSOR)) {
        tile_fault(t, DIAG_BAD_CALL, param->span, "parameter '%s' of tile kernel '%s' has no type",
                   param->name->text, t->function->name->text);
        diag_help(t->program->diags, "write %s: tensor[float32, \"M\", \"N\"], or a scalar type",
                  param->name->text);
        return false;
    }
    ConstVal c = b ? const_none() : lower_const_expr(t->program, t->module, a);
    bool scalar = c.kind == CONST_DTYPE && c.v.dtype->kind == TYPE_SCALAR;
    tile_bind(t, param->name,
              tile_scalar(tile_sym(t, param->name), scalar ? c.v.dtype->scalar : SCALAR_COUNT));
    return c.kind != CONST_ERROR;
}

bool tile_take_params(Tile *t)
{
    bool ok = true;
    for (uint32_t i = 0; i < t->function->param_count; i++)
        ok = take_param(t, &t->function->params[i]) && ok;
    if (ok && !t->tensors.len) {
        tile_fault(t, DIAG_TILE_FORM, t->function->def->name_span,
                   "tile kernel '%s' has no tensor among its parameters", t->function->name->text);
        return false;
    }
    // Names of sizes may be used as they are.
    for (uint32_t i = 0; i < t->sizes.len; i++)
        if (t->sizes.at[i]->is_constexpr)
            tile_find(t, t->sizes.at[i]->name)->value.size = t->sizes.at[i];
        else if (t->sizes.at[i]->is_named && !tile_find(t, t->sizes.at[i]->name))
            tile_bind(t, t->sizes.at[i]->name,
                      (Value){ .kind = VALUE_SCALAR, .elem = SCALAR_I32, .size = t->sizes.at[i] });
    return ok;
}

// ---- what comes out -------------------------------------------------------------------------

typedef struct ParamList {
    Tile *t;
    Function *f;
    VEC(Param) params;
    TileNodes nodes;
} ParamList;

static void add_param(ParamList *l, Param p, AstNode *annotation, const AstNode *default_value)
{
    p.annotation = annotation;
    p.default_value = default_value;
    VEC_PUSH(l->t->arena, &l->params, p);
    VEC_PUSH(l->t->arena, &l->nodes,
             AST_MAKE(l->t->arena, PARAM, Param, p.span, .name = p.name, .annotation = annotation,
                      .default_value = (AstNode *)(uintptr_t)default_value));
}

static AstNode *type_of(Tile *t, const char *word, AstNode *elem)
{
    AstNode **indices = ARENA_NEW(t->arena, AstNode *);
    *indices = elem;
    return AST_MAKE(t->arena, SUBSCRIPT, Subscript, t->span, .object = tile_nl(t, word),
                    .indices = { indices, 1 });
}

static void add_address(ParamList *l, TileTensor *x)
{
    Tile *t = l->t;
    AstNode *elem = tile_expr(t, x->dtype).ast;
    if (!x->is_stored)
        elem = type_of(t, "const", elem);
    TensorParam tensor = { .name = x->name,
                           .rank = x->rank,
                           .dense_axis = x->dense_axis,
                           .data = l->params.len,
                           .span = x->span };
    for (unsigned i = 0; i < x->rank; i++) {
        bool constant = x->sizes[i]->is_constexpr;
        tensor.sizes[i] = x->sizes[i]->is_named && !constant ? x->sizes[i]->name : NULL;
        tensor.fixed[i] = x->sizes[i]->fixed;
        tensor.constants[i] = constant ? x->sizes[i]->name : NULL;
    }
    VEC_PUSH(t->arena, &l->f->call_params, ((CallParam){ true, l->f->tensors.len }));
    VEC_PUSH(t->arena, &l->f->tensors, tensor);
    add_param(l,
              (Param){ .name = x->name, .span = x->span, .role = PARAM_DATA, .tensor = x->index },
              type_of(t, "ptr", elem), NULL);
}

static void add_given(ParamList *l)
{
    const Function *f = l->t->function;
    uint32_t next = 0;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *p = &f->params[i];
        if (p->is_constexpr)
            continue;
        if (next < l->t->tensors.len && l->t->tensors.at[next]->name == p->name) {
            add_address(l, l->t->tensors.at[next++]);
            continue;
        }
        VEC_PUSH(l->t->arena, &l->f->call_params, ((CallParam){ false, l->params.len }));
        add_param(l, *p, (AstNode *)(uintptr_t)p->annotation, p->default_value);
    }
}

/// Whether elements lie side by side along a size. Vectors count where no tensor of more axes says
/// that it is a number of rows.
static bool is_dense(Tile *t, const Size *s)
{
    bool vector = false, rows = false;
    for (uint32_t i = 0; i < t->tensors.len; i++) {
        const TileTensor *x = t->tensors.at[i];
        bool last = tile_size_root(x->sizes[x->rank - 1]) == s;
        if (last && x->rank > 1)
            return true;
        vector = vector || last;
        for (unsigned k = 0; k + 1 < x->rank; k++)
            rows = rows || tile_size_root(x->sizes[k]) == s;
    }
    return vector && !rows;
}

static void add_sizes(ParamList *l)
{
    Tile *t = l->t;
    for (uint32_t i = 0; i < t->sizes.len; i++) {
        Size *s = t->sizes.at[i];
        if (s->is_used)
            add_param(l,
                      (Param){ .name = s->name,
                               .span = t->tensors.at[s->tensor]->span,
                               .role = PARAM_SIZE,
                               .tensor = s->tensor,
                               .axis = s->axis,
                               .is_dense = is_dense(t, s) },
                      tile_nl(t, "int32"), NULL);
    }
    for (uint32_t i = 0; i < t->tensors.len; i++) {
        const TileTensor *x = t->tensors.at[i];
        for (unsigned k = 0; k < x->rank; k++)
            if (x->stride_used[k])
                add_param(l,
                          (Param){ .name = x->strides[k],
                                   .span = x->span,
                                   .role = PARAM_STRIDE,
                                   .tensor = x->index,
                                   .axis = (uint8_t)k,
                                   .is_dense = k + 1 == x->rank },
                          tile_nl(t, "int32"), NULL);
    }
}

/// How many elements stand beside each index of a whole axis, with the blocks that a search begins
/// at.
static int64_t beside(Tile *t, const Axis *a)
{
    int64_t n = 1;
    for (unsigned i = 0; i < a->beside_count; i++) {
        const Axis *other = a->beside[i];
        if (other->is_open)
            n *= tile_first_block(t, other);
        else if (other->block->kind == AST_INT)
            n *= (int64_t)ast_int(other->block)->value;
    }
    return n;
}

/// The block over all of a size knows the size.
static void cover(ParamList *l, const Axis *a)
{
    if (a->loop || !a->is_open)
        return;
    for (uint32_t i = 0; i < l->params.len; i++)
        for (uint32_t k = 0; k < l->params.len; k++)
            if (l->params.at[i].name == ast_name(a->block)->name &&
                l->params.at[k].name == tile_size_root(a->size)->name) {
                l->params.at[i].covers = k + 1;
                l->params.at[i].beside = beside(l->t, a);
            }
}

void tile_make_params(Tile *t, Function *f, AstNodes *nodes)
{
    ParamList l = { .t = t, .f = f };
    add_given(&l);
    add_sizes(&l);
    for (uint32_t i = 0; i < t->function->param_count; i++) {
        const Param *p = &t->function->params[i];
        if (p->is_constexpr)
            add_param(&l, *p, tile_nl(t, "constexpr"), p->default_value);
    }
    for (uint32_t i = 0; i < f->tunables.len; i++)
        add_param(&l,
                  (Param){ .name = f->tunables.at[i].name,
                           .is_constexpr = true,
                           .is_loop = f->tunables.at[i].name == t->loop_param,
                           .span = t->function->def->name_span },
                  tile_nl(t, "constexpr"), tile_int(t, f->tunables.at[i].start));
    for (uint32_t i = 0; i < t->axes.len; i++)
        cover(&l, t->axes.at[i]);
    f->params = l.params.at;
    f->param_count = l.params.len;
    *nodes = (AstNodes){ l.nodes.at, l.nodes.len };
}
