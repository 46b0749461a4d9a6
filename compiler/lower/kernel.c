// kernel.c - one variant of a kernel as an IR function: parameters, facts, body.
#include "lower/view.h"

static void set_facts(IrParam *param, const ParamBinding *b, uint32_t source_index)
{
    param->source_index = source_index;
    param->divisor = b->divisor > 1 ? b->divisor : 1;
    param->has_range = b->has_range;
    param->lo = b->lo;
    param->hi = b->hi;
    param->is_const = b->type->kind == TYPE_PTR && b->type->is_const;
}

// Run-time parameters become arguments of the body; those that this variant knows, typed constants.
static bool bind_parameters(Lower *cx, const Variant *v)
{
    const Function *f = v->function;
    IrValue **args = ARENA_NEW_N(cx->arena, IrValue *, f->param_count);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *p = &f->params[i];
        const ParamBinding *b = &v->params[i];
        Val value;
        if (b->is_constexpr) {
            value = lower_from_const(cx, b->value);
        } else {
            if (!b->type) {
                lower_error(cx, DIAG_BAD_CALL, p->span, "parameter '%s' of kernel '%s' has no type",
                            p->name->text, f->name->text);
                diag_help(cx->consts.diags, "annotate it, or give --signature");
                return false;
            }
            IrValue *arg = ir_func_param(cx->b.fn, p->name, b->type);
            set_facts(&cx->b.fn->params[cx->b.fn->body->argc - 1], b, i);
            value = val_of(arg);
            // Known values and --index64 must not differ in type between the variants.
            bool wide =
                cx->index64 && b->type->kind == TYPE_SCALAR && b->type->scalar == SCALAR_I32;
            if (b->has_value)
                value =
                    lower_typed_val(cx, const_int(b->equals), wide ? SCALAR_I64 : b->type->scalar);
            else if (wide)
                value = val_of(ir_cast(&cx->b, arg, type_scalar(cx->program->types, SCALAR_I64)));
            if (value.kind == VAL_VALUE)
                value.v->hint = p->name;
            args[i] = lower_value(cx, value, "parameter", p->span);
        }
        if (!p->is_hidden)
            lower_bind(cx, lower_slot_of(cx, p->name), value, p->span);
    }
    return lower_bind_descriptors(cx, f, args);
}

IrFunc *lower_kernel(Program *p, const Variant *variant, Arena *a)
{
    const Function *f = variant->function;
    unsigned before = diag_error_met(p->diags);
    Lower *cx = lower_new(p, a, f->module);
    IrFunc *fn = cx->b.fn;
    fn->name = sym_of(p->syms, variant->instance_name ? variant->instance_name : f->name->text);
    fn->num_warps = variant->num_warps;
    fn->num_stages = variant->num_stages;
    fn->num_ctas = variant->num_ctas;
    fn->index64 = variant->index64;
    fn->span = f->def->name_span;
    cx->index64 = variant->index64;
    cx->b.span = f->def->name_span;
    // A kernel's frame has nothing around it.
    cx->frame = NULL;
    lower_frame_push(cx, f, f->module, f->def->name_span);
    if (!bind_parameters(cx, variant))
        return NULL;
    lower_block(cx, f->def->body, 0);
    if (diag_error_met(p->diags) != before)
        return NULL;
    cx->b.span = f->def->name_span;
    ir_op0(&cx->b, IR_RETURN, 0, NULL);
    ir_apply_replacements(fn);
    return fn;
}
