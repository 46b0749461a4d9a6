/// resolve_desc.c - parameters that are tensor descriptors.
///
/// `x: desc[T, M, N]` becomes the parameter x with the address, and behind all parameters that the
/// program names hidden ones with the sizes and the strides but the last, which is 1. C passes a
/// NewtTensor in the place of x. Lowering binds x to a descriptor of these parts.
#include "sema/resolve_impl.h"
#include <string.h>

/// The annotation of a descriptor, or NULL.
static const AstSubscript *descriptor(const Program *p, const Module *m, const Param *param)
{
    const AstNode *n = param->annotation;
    Binding b;
    if (!n || n->kind != AST_SUBSCRIPT || !resolve_path(p, m, ast_subscript(n)->object, &b))
        return NULL;
    return b.value.kind == CONST_ANNOTATION && ((const Builtin *)b.value.v.ref)->id == BUILTIN_DESC
               ? ast_subscript(n)
               : NULL;
}

typedef VEC(Param) ParamVec;

static bool has_param(const ParamVec *params, Sym name)
{
    const Param *p;
    VEC_EACH (p, params)
        if (p->name == name)
            return true;
    return false;
}

/// "x_size0", with more underscores when a parameter is called so.
static Sym hidden_name(Program *p, const ParamVec *params, Sym tensor, const char *what,
                       unsigned axis)
{
    const char *gap = "_";
    for (;;) {
        Sym name =
            sym_of(p->syms, arena_printf(p->arena, "%s%s%s%u", tensor->text, gap, what, axis));
        if (!has_param(params, name))
            return name;
        gap = arena_printf(p->arena, "%s_", gap);
    }
}

static void add_hidden(Program *p, const Function *f, const TensorParam *t, ParamVec *params)
{
    const Param *data = &f->params[t->data];
    for (unsigned i = 0; i < 2 * t->rank - 1; i++) {
        const bool is_size = i < t->rank;
        const unsigned axis = is_size ? i : i - t->rank;
        Param hidden = { .span = data->span,
                         .role = is_size ? PARAM_SIZE : PARAM_STRIDE,
                         .tensor = data->tensor,
                         .axis = (uint8_t)axis,
                         .is_dense = is_size && axis + 1 == t->rank,
                         .is_hidden = true };
        hidden.name = hidden_name(p, params, t->name, is_size ? "size" : "stride", axis);
        VEC_PUSH(p->arena, params, hidden);
    }
}

static void add_tensor(Program *p, Function *f, uint32_t at, const AstSubscript *desc)
{
    TensorParam t = { .name = f->params[at].name,
                      .rank = desc->indices.len - 1,
                      .dense_axis = desc->indices.len - 2,
                      .data = at,
                      .desc = desc,
                      .span = f->params[at].span };
    for (unsigned axis = 0; axis < t.rank; axis++)
        t.fixed[axis] = -1;
    f->params[at].role = PARAM_DATA;
    f->params[at].tensor = (uint8_t)f->tensors.len;
    VEC_PUSH(p->arena, &f->tensors, t);
}

void resolve_descriptors(Program *p, const Module *m, Function *f)
{
    ParamVec params = { 0 };
    for (uint32_t i = 0; i < f->param_count; i++) {
        const AstSubscript *desc = descriptor(p, m, &f->params[i]);
        if (desc && (desc->indices.len < 2 || desc->indices.len > MODULE_TENSOR_RANK + 1))
            diag_report(p->diags, DIAG_BAD_CALL, desc->base.span,
                        "desc takes an element type and the sizes of a block of one to %d axes",
                        MODULE_TENSOR_RANK);
        else if (desc)
            add_tensor(p, f, i, desc);
    }
    if (!f->tensors.len)
        return;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *param = &f->params[i];
        if (!param->is_constexpr)
            VEC_PUSH(p->arena, &f->call_params,
                     ((CallParam){ param->role == PARAM_DATA,
                                   param->role == PARAM_DATA ? param->tensor : i }));
        VEC_PUSH(p->arena, &params, *param);
    }
    for (uint32_t i = 0; i < f->tensors.len; i++)
        add_hidden(p, f, &f->tensors.at[i], &params);
    f->params = params.at;
    f->param_count = params.len;
}
