/// Checks and encodes tensor maps, after the rules of cuTensorMapEncodeTiled.
#include "tensor.h"
#include <stdio.h>
#include <string.h>

/// How an element type is moved, and its bytes. It rounds only where that is asked for.
static int type_code(NewtType type, uint32_t *bytes)
{
    switch (type) {
    case NEWT_I1:
    case NEWT_I8:
    case NEWT_U8:
    case NEWT_F8E4M3:
    case NEWT_F8E5M2: return *bytes = 1, CUDA_TENSOR_UINT8;
    case NEWT_I16:
    case NEWT_U16: return *bytes = 2, CUDA_TENSOR_UINT16;
    case NEWT_F16: return *bytes = 2, CUDA_TENSOR_FLOAT16;
    case NEWT_BF16: return *bytes = 2, CUDA_TENSOR_BFLOAT16;
    case NEWT_I32: return *bytes = 4, CUDA_TENSOR_INT32;
    case NEWT_U32: return *bytes = 4, CUDA_TENSOR_UINT32;
    case NEWT_F32: return *bytes = 4, CUDA_TENSOR_FLOAT32;
    case NEWT_I64: return *bytes = 8, CUDA_TENSOR_INT64;
    case NEWT_U64: return *bytes = 8, CUDA_TENSOR_UINT64;
    case NEWT_F64: return *bytes = 8, CUDA_TENSOR_FLOAT64;
    }
    return *bytes = 0, -1;
}

/// The driver's number for 0, `least`, 2 * least or 4 * least bytes; -1 for others.
static int code_of_bytes(uint32_t bytes, uint32_t least)
{
    for (int code = 1; code <= 3; code++) {
        if (bytes == least << (code - 1))
            return code;
    }
    return bytes == 0 ? 0 : -1;
}

static int swizzle_code(uint32_t bytes)
{
    return code_of_bytes(bytes, 32);
}

static int promotion_code(uint32_t bytes)
{
    return code_of_bytes(bytes, 64);
}

// ---- what the arguments add ------------------------------------------------------------------

static bool refuse(TensorRefusal *refusal, TensorRule rule, uint32_t axis, int64_t value)
{
    refusal->rule = rule;
    refusal->axis = axis;
    refusal->value = value;
    return false;
}

/// A byte stride fits when it is a multiple of 16 in (0, 2^40).
static bool stride_fits(int64_t stride, uint32_t bytes)
{
    const int64_t limit = INT64_C(1) << 40;
    return 0 < stride && stride < limit && stride * bytes < limit && stride * bytes % 16 == 0;
}

static bool shape_convert(const NewtTensorRecipe *recipe, const NewtTensorShape *shape,
                          uint32_t bytes, uint64_t *sizes, uint64_t *strides,
                          TensorRefusal *refusal)
{
    for (uint32_t axis = 0; axis < recipe->rank; axis++) {
        int64_t size = shape->size[axis], stride = shape->stride[axis];
        if (size < 1 || size > INT64_C(1) << 32)
            return refuse(refusal, TENSOR_SIZE, axis, size);
        sizes[axis] = (uint64_t)size;
        if (axis == 0)
            continue;
        // Along an axis of one element the stride leads nowhere: any legal one will do.
        bool fits = stride_fits(stride, bytes);
        if (!fits && size > 1)
            return refuse(refusal, TENSOR_STRIDE, axis, stride);
        strides[axis - 1] = fits ? (uint64_t)stride * bytes : 16;
    }
    return true;
}

/// Makes the map whose number `refusal` holds.
static bool map_encode(const Driver *driver, const TensorCall *call, const NewtTensorShape *shape,
                       CudaTensorMap *map, TensorRefusal *refusal)
{
    const NewtTensorRecipe *recipe = &call->entry->tensors[refusal->tensor];
    static const uint32_t steps[NEWT_TENSOR_RANK_MAX] = { 1, 1, 1, 1, 1 };
    uint64_t sizes[NEWT_TENSOR_RANK_MAX], strides[NEWT_TENSOR_RANK_MAX];
    uint32_t bytes;
    const int plain = type_code(recipe->type, &bytes);
    const int type = recipe->tf32 ? CUDA_TENSOR_TFLOAT32 : plain;
    void *base;
    memcpy(&base, (const char *)call->args + call->kernel->params[recipe->param].offset,
           sizeof base);
    if ((uintptr_t)base % 16 != 0)
        return refuse(refusal, TENSOR_BASE, 0, (int64_t)((uintptr_t)base % 16));
    if (!shape_convert(recipe, shape, bytes, sizes, strides, refusal))
        return false;
    CudaResult result = driver->cuTensorMapEncodeTiled(
        map, type, recipe->rank, base, sizes, strides, recipe->box, steps, 0,
        swizzle_code(recipe->swizzle), promotion_code(recipe->promotion), 0);
    return result == CUDA_OK || refuse(refusal, TENSOR_DRIVER, 0, result);
}

bool newti_tensor_encode(const NewtDevice *device, const TensorCall *call, CudaTensorMap *maps,
                         TensorRefusal *refusal)
{
    const NewtEntry *entry = call->entry;
    NewtTensorShape shapes[NEWT_TENSOR_MAX];
    refusal->tensor = 0;
    if (!device->driver->cuTensorMapEncodeTiled)
        return refuse(refusal, TENSOR_NO_ENCODER, 0, 0);
    if (entry->tensor_expr(call->args, call->grid, shapes) != NEWT_OK)
        return refuse(refusal, TENSOR_EXPRESSION, 0, 0);
    for (uint32_t i = 0; i < entry->tensor_count; i++) {
        refusal->tensor = i;
        if (!map_encode(device->driver, call, &shapes[i], &maps[i], refusal))
            return false;
    }
    return true;
}

void newti_tensor_refusal_print(const NewtKernel *kernel, const NewtEntry *entry,
                                const TensorRefusal *refusal, char *text, size_t size)
{
    const long long value = (long long)refusal->value;
    const unsigned axis = refusal->axis;
    char of[80] = "";
    if (entry->tensor_count > 0)
        snprintf(of, sizeof of, "tensor map %u ('%.40s')", (unsigned)refusal->tensor,
                 kernel->params[entry->tensors[refusal->tensor].param].name);
    switch (refusal->rule) {
    case TENSOR_FITS: snprintf(text, size, "it fits"); break;
    case TENSOR_NO_ENCODER:
        snprintf(text, size,
                 "the driver has no cuTensorMapEncodeTiled: it needs to be of CUDA 12.0");
        break;
    case TENSOR_EXPRESSION: snprintf(text, size, "a tensor's shape overflows 64 bits"); break;
    case TENSOR_BASE:
        snprintf(text, size, "%s: the address is %lld more than a multiple of 16", of, value);
        break;
    case TENSOR_SIZE:
        snprintf(text, size, "%s: the size of axis %u is %lld, and 1 to 2^32 are possible", of,
                 axis, value);
        break;
    case TENSOR_STRIDE:
        snprintf(text, size,
                 "%s: the stride of axis %u is %lld elements, and multiples of 16 bytes between 0 "
                 "and 2^40 are possible",
                 of, axis, value);
        break;
    case TENSOR_DRIVER:
        snprintf(text, size, "%s: cuTensorMapEncodeTiled returns CUresult %lld", of, value);
        break;
    case TENSOR_PROGRAMS:
        snprintf(text, size, "a persistent grid of %lld programs, and 2^31 - 1 are possible",
                 value);
        break;
    }
}

// ---- what the compiler fixed -----------------------------------------------------------------

static NewtStatus broken(const NewtKernel *kernel, const NewtEntry *entry, uint32_t tensor,
                         const char *rule)
{
    return newti_fail(NEWT_BAD_IMAGE, "%s: tensor map %u of %s: %s", kernel->name, (unsigned)tensor,
                      entry->symbol, rule);
}

static const char *recipe_fault(const NewtKernel *kernel, const NewtTensorRecipe *recipe)
{
    uint32_t bytes;
    if (recipe->param >= kernel->param_count ||
        kernel->params[recipe->param].kind != NEWT_PARAM_POINTER)
        return "its base is no pointer parameter";
    if (type_code(recipe->type, &bytes) < 0)
        return "its element type is unknown";
    if (recipe->tf32 && recipe->type != NEWT_F32)
        return "it rounds to tf32 what is not fp32";
    if (recipe->rank < 1 || recipe->rank > NEWT_TENSOR_RANK_MAX)
        return "its rank is not 1 to 5";
    if (swizzle_code(recipe->swizzle) < 0)
        return "its swizzle is not 0, 32, 64 or 128 bytes";
    if (promotion_code(recipe->promotion) < 0)
        return "its L2 promotion is not 0, 64, 128 or 256 bytes";
    for (uint32_t axis = 0; axis < recipe->rank; axis++) {
        if (recipe->box[axis] < 1 || recipe->box[axis] > 256)
            return "a side of its box is not 1 to 256 elements";
    }
    if (recipe->box[0] * bytes % 16 != 0)
        return "the inner side of its box is no multiple of 16 bytes";
    if (recipe->swizzle != 0 && recipe->box[0] * bytes > recipe->swizzle)
        return "the inner side of its box is longer than the swizzle";
    return NULL;
}

NewtStatus newti_tensor_check(const NewtKernel *kernel, const NewtEntry *entry)
{
    if (entry->tensor_count > NEWT_TENSOR_MAX)
        return broken(kernel, entry, NEWT_TENSOR_MAX, "there are more than 16");
    if (entry->tensor_count > 0 && (!entry->tensors || !entry->tensor_expr))
        return broken(kernel, entry, 0, "it has no recipe or no expression");
    for (uint32_t i = 0; i < entry->tensor_count; i++) {
        const char *rule = recipe_fault(kernel, &entry->tensors[i]);
        if (rule)
            return broken(kernel, entry, i, rule);
    }
    return NEWT_OK;
}
