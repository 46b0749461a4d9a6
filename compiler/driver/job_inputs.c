/// job_inputs.c - what C passes to a kernel: parameters, or the tensors that they come from.
#include "driver/job_impl.h"

static ArtifactSource source_of(ParamRole role)
{
    switch (role) {
    case PARAM_DATA: return SOURCE_DATA;
    case PARAM_SIZE: return SOURCE_SIZE;
    case PARAM_STRIDE: return SOURCE_STRIDE;
    case PARAM_PLAIN: break;
    }
    return SOURCE_GIVEN;
}

/// The run-time parameters of a kernel as members of its argument record; a variant's constants
/// stay parameters. Returns where each of the function's parameters is among them.
static uint32_t *job_members(Job *job, JobKernel *k)
{
    const Function *f = k->unit->function;
    const Variant *v = k->unit->forms[k->unit->form_count - 1].general;
    uint32_t *at = ARENA_NEW_N(&job->arena, uint32_t, f->param_count + 1);
    k->params = ARENA_NEW_N(&job->arena, ArtifactParam, f->param_count + 1);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *p = &f->params[i];
        const Type *type = v->params[i].type;
        if (v->params[i].is_constexpr)
            continue;
        at[i] = k->param_count;
        k->params[k->param_count++] =
            (ArtifactParam){ .name = p->name->text,
                             .type = type,
                             .is_const = type->kind == TYPE_PTR && type->is_const,
                             .is_key = k->unit->is_key && k->unit->is_key[i],
                             .is_zeroed = k->unit->is_zeroed && k->unit->is_zeroed[i],
                             .is_restored = k->unit->is_restored && k->unit->is_restored[i],
                             .source = source_of(p->role),
                             .input = p->tensor,
                             .axis = p->axis };
    }
    return at;
}

/// The size that a constexpr parameter gives an axis; -1 when it is no size.
static int64_t job_constant(const JobKernel *k, Sym name)
{
    const Function *f = k->unit->function;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ConstVal *c = &k->unit->variants[0].params[i].value;
        if (f->params[i].name == name && c->kind == CONST_INT && c->v.i >= 0 && c->v.i <= INT32_MAX)
            return (int64_t)c->v.i;
    }
    return -1;
}

static void job_tensors(Job *job, JobKernel *k, const uint32_t *at)
{
    const Function *f = k->unit->function;
    k->inputs = ARENA_NEW_N(&job->arena, ArtifactInput, f->tensors.len);
    for (uint32_t i = 0; i < f->tensors.len; i++) {
        const TensorParam *t = &f->tensors.at[i];
        const ArtifactParam *data = &k->params[at[t->data]];
        ArtifactInput *x = &k->inputs[k->input_count++];
        *x = (ArtifactInput){ .name = t->name->text,
                              .elem = type_scalar_kind(data->type->elem),
                              .rank = t->rank,
                              .is_written = !data->is_const,
                              .dense_axis = (int)t->dense_axis };
        for (unsigned axis = 0; axis < t->rank; axis++) {
            x->sizes[axis] = t->sizes[axis] ? t->sizes[axis]->text : NULL;
            x->fixed[axis] =
                t->constants[axis] ? job_constant(k, t->constants[axis]) : t->fixed[axis];
        }
    }
}

/// Each size of a name is compared with the first one of that name.
static void job_named_rules(const Function *f, ArtifactSizeRule *rules, uint32_t *count)
{
    for (uint32_t i = 0; i < f->tensors.len * MODULE_TENSOR_RANK; i++) {
        uint32_t t = i / MODULE_TENSOR_RANK, axis = i % MODULE_TENSOR_RANK;
        Sym name = f->tensors.at[t].sizes[axis];
        for (uint32_t k = 0; k < i && name; k++) {
            uint32_t first = k / MODULE_TENSOR_RANK, at = k % MODULE_TENSOR_RANK;
            if (f->tensors.at[first].sizes[at] != name)
                continue;
            rules[(*count)++] = (ArtifactSizeRule){ name->text, true, { first, t }, { at, axis } };
            break;
        }
    }
}

static void job_rules(Job *job, JobKernel *k)
{
    const Function *f = k->unit->function;
    uint32_t most = f->tensors.len * MODULE_TENSOR_RANK + f->size_rules.len;
    k->rules = ARENA_NEW_N(&job->arena, ArtifactSizeRule, most);
    job_named_rules(f, k->rules, &k->rule_count);
    for (uint32_t i = 0; i < f->size_rules.len; i++) {
        const SizeRule *r = &f->size_rules.at[i];
        k->rules[k->rule_count++] = (ArtifactSizeRule){
            NULL, r->equal, { r->tensor[0], r->tensor[1] }, { r->axis[0], r->axis[1] }
        };
    }
}

/// The parameters of the C function in its order.
static void job_args(Job *job, JobKernel *k, const uint32_t *at)
{
    const Function *f = k->unit->function;
    bool plain = !f->call_params.len;
    k->args = ARENA_NEW_N(&job->arena, ArtifactArg, k->param_count + f->call_params.len);
    for (uint32_t i = 0; i < k->param_count && plain; i++)
        k->args[k->arg_count++] = (ArtifactArg){ false, i };
    for (uint32_t i = 0; i < f->call_params.len; i++) {
        const CallParam *p = &f->call_params.at[i];
        k->args[k->arg_count++] =
            (ArtifactArg){ p->is_tensor, p->is_tensor ? p->index : at[p->index] };
    }
}

void job_inputs(Job *job, JobKernel *k)
{
    const uint32_t *at = job_members(job, k);
    uint32_t members = k->param_count;
    if (k->unit->function->tensors.len) {
        k->params[members++] =
            (ArtifactParam){ .name = "newt_reach",
                             .c_name = "newt_reach",  // no parameter is called so in C
                             .type = type_scalar(job->program.types, SCALAR_I64),
                             .source = SOURCE_REACH };
        job_tensors(job, k, at);
        job_rules(job, k);
    }
    job_args(job, k, at);
    artifact_c_params(&job->arena, k->params, k->param_count);
    for (uint32_t i = 0; i < k->input_count; i++)  // a tensor is called as its address
        k->inputs[i].c_name = k->params[at[k->unit->function->tensors.at[i].data]].c_name;
    k->record_size = artifact_layout_params(k->params, members);
}
