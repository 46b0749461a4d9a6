/// Tensors as C passes them to a tile kernel: checked against what the kernel was compiled for, and
/// taken apart into addresses, sizes and strides.
#include "device.h"
#include "log.h"
#include <newt/module.h>
#include <stdio.h>
#include <string.h>

/// Beyond it an offset could overflow where a block runs over the end of an axis.
#define REACH_MAX (INT64_C(1) << 62)
/// The most elements of a block.
#define BLOCK_MAX (INT64_C(1) << 20)

static const char *type_name(NewtType type)
{
    static const char *const names[] = { "bool",     "int8",    "int16",    "int32",   "int64",
                                         "uint8",    "uint16",  "uint32",   "uint64",  "float8e4nv",
                                         "float8e5", "float16", "bfloat16", "float32", "float64" };
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "of an unknown type";
}

static size_t type_bytes(NewtType type)
{
    static const unsigned char bytes[] = { 1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8 };
    return bytes[type];
}

/// "float16[512, 64]"
static const char *tensor_text(const NewtTensor *t, char *at, size_t size)
{
    int used = snprintf(at, size, "%s[", type_name(t->type));
    for (int32_t i = 0; i < t->rank && i < NEWT_TENSOR_RANK_MAX && used > 0 && (size_t)used < size;
         i++)
        used += snprintf(at + used, size - (size_t)used, "%s%lld", i ? ", " : "",
                         (long long)t->shape[i]);
    if (used > 0 && (size_t)used < size)
        snprintf(at + used, size - (size_t)used, "]");
    return at;
}

static bool is_empty(const NewtTensor *t)
{
    for (int32_t i = 0; i < t->rank; i++)
        if (t->shape[i] == 0)
            return true;
    return false;
}

static NewtStatus shape_check(const char *kernel, const NewtTensorRule *rule, const NewtTensor *t)
{
    for (int32_t i = 0; i < rule->rank; i++) {
        if (t->shape[i] < 0)
            return newti_fail(NEWT_BAD_ARGUMENT, "%s: %s.shape[%d] is %lld", kernel, rule->name,
                              (int)i, (long long)t->shape[i]);
        if (rule->size[i] >= 0 && t->shape[i] != rule->size[i])
            return newti_fail(NEWT_BAD_ARGUMENT,
                              "%s: %s.shape[%d] is %lld, and the kernel takes %lld", kernel,
                              rule->name, (int)i, (long long)t->shape[i], (long long)rule->size[i]);
    }
    int32_t dense = rule->dense_axis;
    if (dense >= 0 && t->stride[dense] != 1 && t->shape[dense] > 1)
        return newti_fail(NEWT_BAD_ARGUMENT, "%s: %s.stride[%d] is %lld, and the kernel takes 1",
                          kernel, rule->name, (int)dense, (long long)t->stride[dense]);
    return NEWT_OK;
}

static NewtStatus tensor_check(const char *kernel, const NewtTensorRule *rule, const NewtTensor *t)
{
    char text[160];
    if (t->rank != rule->rank)
        return newti_fail(NEWT_BAD_ARGUMENT, "%s: %s has %d ax%s, and the kernel takes %d", kernel,
                          rule->name, (int)t->rank, t->rank == 1 ? "is" : "es", (int)rule->rank);
    if (t->type != rule->type)
        return newti_fail(NEWT_BAD_ARGUMENT, "%s: %s is %s, and the kernel takes %s", kernel,
                          rule->name, tensor_text(t, text, sizeof text), type_name(rule->type));
    NewtStatus status = shape_check(kernel, rule, t);
    if (status != NEWT_OK)
        return status;
    if (!t->data && !is_empty(t))
        return newti_fail(NEWT_BAD_ARGUMENT, "%s: the data of %s is NULL", kernel, rule->name);
    if (((uintptr_t)t->data & (type_bytes(t->type) - 1)) != 0)
        return newti_fail(NEWT_BAD_ARGUMENT, "%s: the data of %s is not aligned to its elements",
                          kernel, rule->name);
    return NEWT_OK;
}

static NewtStatus sizes_check(const NewtBinding *b, const NewtSizeRule *rule,
                              const NewtTensor *tensors)
{
    const NewtTensor *x = &tensors[rule->tensor[0]], *y = &tensors[rule->tensor[1]];
    const char *x_name = b->tensors[rule->tensor[0]].name,
               *y_name = b->tensors[rule->tensor[1]].name;
    const char *kernel = b->kernel->name;
    long long a = x->shape[rule->axis[0]], c = y->shape[rule->axis[1]];
    char x_text[160], y_text[160];
    if (rule->is_equal ? a == c : a <= c)
        return NEWT_OK;
    if (rule->name)
        return newti_fail(NEWT_BAD_ARGUMENT,
                          "%s: %s is %s, but %s is %s: %s differs (%s %lld, %s %lld)", kernel,
                          y_name, tensor_text(y, y_text, sizeof y_text), x_name,
                          tensor_text(x, x_text, sizeof x_text), rule->name, x_name, a, y_name, c);
    return newti_fail(NEWT_BAD_ARGUMENT, "%s: %s.shape[%u] is %lld, and %s.shape[%u] is %lld: %s",
                      kernel, x_name, rule->axis[0], a, y_name, rule->axis[1], c,
                      rule->is_equal ? "they must be equal" : "the first must not be larger");
}

// ---- overlap --------------------------------------------------------------------------------

/// Whether the elements lie one after another, the last axis fastest; their bytes.
static bool is_dense(const NewtTensor *t, uint64_t *bytes)
{
    int64_t next = 1;
    for (int32_t i = t->rank; i-- > 0;) {
        if (t->shape[i] > 1 && t->stride[i] != next)
            return false;
        next *= t->shape[i];
    }
    *bytes = (uint64_t)next * type_bytes(t->type);
    return true;
}

/// A tensor that is written may be another one element for element, but not overlap it otherwise.
/// Strided views that share memory are the caller's responsibility.
static NewtStatus overlap_check(const NewtBinding *b, const NewtTensor *tensors)
{
    for (uint32_t i = 0; i < b->tensor_count; i++) {
        for (uint32_t k = 0; k < b->tensor_count && b->tensors[i].is_written; k++) {
            uint64_t size, other;
            if (k == i || !is_dense(&tensors[i], &size) || !is_dense(&tensors[k], &other))
                continue;
            uintptr_t x = (uintptr_t)tensors[i].data, y = (uintptr_t)tensors[k].data;
            if ((x == y && size == other) || x + size <= y || y + other <= x || !size || !other)
                continue;
            return newti_fail(NEWT_BAD_ARGUMENT,
                              "%s: %s is written and overlaps %s without being the same elements",
                              b->kernel->name, b->tensors[i].name, b->tensors[k].name);
        }
    }
    return NEWT_OK;
}

// ---- the record -----------------------------------------------------------------------------

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/// Above every size, stride and offset of `t`; REACH_MAX when that is too much.
static int64_t reach_of(const NewtTensor *t)
{
    int64_t reach = 0, last = 0;
    for (int32_t i = 0; i < t->rank; i++) {
        if (t->stride[i] <= -REACH_MAX || t->stride[i] >= REACH_MAX)
            return REACH_MAX;
        int64_t stride = t->stride[i] < 0 ? -t->stride[i] : t->stride[i];
        int64_t steps = t->shape[i] > 0 ? t->shape[i] - 1 : 0;
        if (stride && steps > REACH_MAX / stride)
            return REACH_MAX;
        last += steps * stride;
        if (last >= REACH_MAX)
            return REACH_MAX;
        reach = larger(larger(reach, t->shape[i]), stride);
    }
    return larger(reach, last);
}

static NewtStatus record_fill(const NewtBinding *b, const NewtTensor *tensors, void *args)
{
    int64_t reach = 0;
    for (uint32_t i = 0; i < b->tensor_count; i++)
        reach = larger(reach, reach_of(&tensors[i]));
    if (reach > REACH_MAX - BLOCK_MAX)
        return newti_fail(NEWT_TOO_LARGE, "%s: offsets into the tensors do not fit 62 bits",
                          b->kernel->name);
    reach += BLOCK_MAX;
    for (uint32_t i = 0; i < b->fill_count; i++) {
        const NewtFill *fill = &b->fills[i];
        const NewtTensor *t = &tensors[fill->tensor];
        char *at = (char *)args + fill->offset;
        switch (fill->kind) {
        case NEWT_FILL_DATA: memcpy(at, &t->data, sizeof t->data); break;
        case NEWT_FILL_SIZE: memcpy(at, &t->shape[fill->axis], sizeof(int64_t)); break;
        case NEWT_FILL_STRIDE: memcpy(at, &t->stride[fill->axis], sizeof(int64_t)); break;
        case NEWT_FILL_REACH: memcpy(at, &reach, sizeof reach); break;
        }
    }
    return NEWT_OK;
}

static NewtStatus bind(const NewtBinding *b, const NewtTensor *tensors, void *args)
{
    NewtStatus status = NEWT_OK;
    for (uint32_t i = 0; i < b->tensor_count && status == NEWT_OK; i++)
        status = tensor_check(b->kernel->name, &b->tensors[i], &tensors[i]);
    for (uint32_t i = 0; i < b->rule_count && status == NEWT_OK; i++)
        status = sizes_check(b, &b->rules[i], tensors);
    if (status == NEWT_OK)
        status = overlap_check(b, tensors);
    return status == NEWT_OK ? record_fill(b, tensors, args) : status;
}

NewtStatus newt_bind_(const NewtBinding *binding, const NewtDevice *device,
                      const NewtTensor *tensors, void *args)
{
    NewtStatus status =
        tensors ? bind(binding, tensors, args) : newti_fail_null(binding->kernel->name, "args");
    return newti_log_status(device ? device->options.log : LOG_OFF, status);
}
