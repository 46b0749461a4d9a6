/// builtins.h - the functions behind the builtins, and the little they share.
///
/// One BuiltinFn a builtin that is more than an elementwise operation; builtin.c has the table.
/// They get their arguments bound (lower.h, BoundArgs) and report through lower_error, so that the
/// chain of calls is shown.
#ifndef NEWT_LOWER_BUILTINS_H
#define NEWT_LOWER_BUILTINS_H
#include "lower/lower_impl.h"

static inline bool lower_is_none(Val v)
{
    return v.kind == VAL_CONST && v.c.kind == CONST_NONE;
}
static inline bool lower_is_number(Val v)
{
    return v.kind == VAL_CONST &&
           (v.c.kind == CONST_BOOL || v.c.kind == CONST_INT || v.c.kind == CONST_FLOAT);
}

/* create */
BuiltinFn lower_fn_program_id, lower_fn_arange, lower_fn_zeros, lower_fn_zeros_like, lower_fn_full,
    lower_fn_to_tensor;
/* casts */
BuiltinFn lower_fn_cast;
/* shape */
BuiltinFn lower_fn_reshape, lower_fn_ravel, lower_fn_trans, lower_fn_expand_dims,
    lower_fn_broadcast_to, lower_fn_broadcast, lower_fn_item;
/* memory, atomics */
BuiltinFn lower_fn_load, lower_fn_store, lower_fn_atomic, lower_fn_atomic_cas;
/* tensor descriptors, block pointers */
BuiltinFn lower_fn_make_descriptor, lower_fn_desc_load, lower_fn_desc_store, lower_fn_desc_atomic,
    lower_fn_desc_gather, lower_fn_desc_scatter, lower_fn_make_block_ptr, lower_fn_advance;
/* reductions */
BuiltinFn lower_fn_sum, lower_fn_max, lower_fn_argmax, lower_fn_reduce_bits, lower_fn_softmax;
/* matrix products */
BuiltinFn lower_fn_dot;
/* arithmetic */
BuiltinFn lower_fn_arithmetic, lower_fn_fdiv, lower_fn_logical, lower_fn_swizzle2d,
    lower_fn_next_power_of_2, lower_fn_abs;
/* decorators */
BuiltinFn lower_fn_config;
/* Python's own */
BuiltinFn lower_fn_py_max, lower_fn_py_int, lower_fn_py_float, lower_fn_py_bool, lower_fn_py_str,
    lower_fn_py_len, lower_fn_py_isinstance, lower_fn_tuple;
BuiltinFn lower_fn_cumulate, lower_fn_associative_scan, lower_fn_reduce;
/* random numbers */
BuiltinFn lower_fn_random, lower_fn_philox, lower_fn_uniform_float, lower_fn_normal_pair;
/* debugging, hints, types */
BuiltinFn lower_fn_static_assert, lower_fn_static_print, lower_fn_device_assert,
    lower_fn_debug_barrier, lower_fn_hint, lower_fn_assume, lower_fn_constexpr,
    lower_fn_pointer_type, lower_fn_dtype_question, lower_fn_tile_word;

/// The reduction `kind` of `x` along one axis, or over everything when axis is -1; the result keeps
/// the axes with size 1 when `keep`. `x` has the type that it is computed in.
IrValue *lower_reduce(Lower *cx, IrReduceKind kind, IrValue *x, int axis, bool keep);

/// The arguments of `load` and `store`. ORDER builtins.def
enum {
    LOAD_MASK = 1,
    LOAD_OTHER,
    LOAD_BOUNDARY,
    LOAD_PADDING,
    LOAD_CACHE,
    LOAD_EVICT,
    LOAD_VOLATILE
};
enum { STORE_VALUE = 1, STORE_MASK, STORE_BOUNDARY, STORE_CACHE, STORE_EVICT };

/// `load` and `store` whose first argument is a VIEW.
Val lower_view_load(Lower *cx, const BoundArgs *args, IrMem mem);
Val lower_view_store(Lower *cx, const BoundArgs *args, IrMem mem);

/// Reports a store, as which `args` counts, through a pointer that is const.
bool lower_check_writable(Lower *cx, const BoundArgs *args, const IrValue *pointer);
/// Whether the atomic that `args` calls takes elements of this type.
bool lower_check_atomic(Lower *cx, const BoundArgs *args, const Type *elem);
/// The operation of an atomic builtin in its default order and scope; gives the old value.
IrValue *lower_atomic(Lower *cx, BuiltinId id, IrValue *pointer, IrValue *value, IrValue *mask);

/// A mask as it must be for `load`, `store` and atomics: int1, or NULL for none (or always true).
bool lower_mask(Lower *cx, const BoundArgs *args, unsigned index, IrValue **out);
/// The pointer argument; stores and atomics need one that is not const.
IrValue *lower_pointer_arg(Lower *cx, const BoundArgs *args, bool writes);
/// A value to be put where `pointer` points: cast to its element, broadcast to its shape.
IrValue *lower_stored_value(Lower *cx, const BoundArgs *args, unsigned index,
                            const IrValue *pointer);
/// The mask brought to the pointer's shape; scalar pointers take scalar masks only.
bool lower_mask_like(Lower *cx, const BoundArgs *args, unsigned index, const IrValue *pointer,
                     IrValue **out);
/// True after reporting that `v` names an fp8 format that only other chips have.
bool lower_is_missing_dtype(Lower *cx, Val v, Span span);
/// An element type given as an argument; the fp8 formats of other chips are refused here.
bool lower_dtype_arg(Lower *cx, const BoundArgs *args, unsigned index, const Type **out);

#endif
