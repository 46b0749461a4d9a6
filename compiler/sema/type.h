/// type.h - the types of values: scalars, pointers, blocks. Interned, so `==` compares.
///
/// A block's dimensions are powers of two and its element count is at most 2^20; its elements are
/// numbered in row-major order everywhere (layouts map to that number). TypeTable owns the types.
#ifndef NEWT_SEMA_TYPE_H
#define NEWT_SEMA_TYPE_H
#include "support/buf.h"
#include "support/str.h"
#include <stdbool.h>

typedef enum ScalarKind {
#define SCALAR(ID, name, long_name, sig, bits, cls, cuda, c, newt, ir) SCALAR_##ID,
#include "types.def"
#undef SCALAR
    SCALAR_COUNT
} ScalarKind;

typedef enum { SCLASS_BOOL, SCLASS_SINT, SCLASS_UINT, SCLASS_FLOAT, SCLASS_FP8 } ScalarClass;

typedef struct ScalarInfo {
    const char *name, *long_name, *signature;
    uint8_t bits;   ///< 1 for int1
    uint8_t bytes;  ///< in memory: 1 for int1
    ScalarClass cls;
    const char *cuda, *c, *newt, *ir;
} ScalarInfo;
extern const ScalarInfo scalar_info[SCALAR_COUNT];

typedef enum { TYPE_ERROR, TYPE_VOID, TYPE_SCALAR, TYPE_PTR, TYPE_BLOCK } TypeKind;

enum { TYPE_MAX_RANK = 20, TYPE_MAX_NUMEL = 1 << 20 };

typedef struct Type Type;
struct Type {
    TypeKind kind;
    ScalarKind scalar;  ///< SCALAR
    bool is_const;      ///< PTR: stores through it are errors
    uint8_t rank;       ///< BLOCK: 1..TYPE_MAX_RANK
    const Type *elem;   ///< PTR: pointee (a SCALAR); BLOCK: element (SCALAR or PTR)
    int32_t shape[TYPE_MAX_RANK];
    uint32_t numel;  ///< BLOCK: product of shape; else 1
};

typedef struct TypeTable TypeTable;
TypeTable *type_table_new(Arena *a);

const Type *type_error(TypeTable *t);
const Type *type_void(TypeTable *t);
const Type *type_scalar(TypeTable *t, ScalarKind k);
const Type *type_ptr(TypeTable *t, const Type *pointee, bool is_const);
/// `elem` SCALAR or PTR; every extent a power of two >= 1; product <= TYPE_MAX_NUMEL (asserted).
/// Rank 0 gives `elem` itself.
const Type *type_block(TypeTable *t, const Type *elem, unsigned rank, const int32_t *shape);
/// The same shape as `like` (a scalar or a block) with another element type.
const Type *type_with_elem(TypeTable *t, const Type *like, const Type *elem);

static inline bool type_is_error(const Type *t)
{
    return t->kind == TYPE_ERROR;
}
static inline bool type_is_block(const Type *t)
{
    return t->kind == TYPE_BLOCK;
}
/// The element type of a block, else the type itself.
static inline const Type *type_elem(const Type *t)
{
    return t->kind == TYPE_BLOCK ? t->elem : t;
}
static inline bool type_is_ptr(const Type *t)
{
    return type_elem(t)->kind == TYPE_PTR;
}
static inline bool type_is_num(const Type *t)
{
    return type_elem(t)->kind == TYPE_SCALAR;
}
static inline unsigned type_rank(const Type *t)
{
    return t->kind == TYPE_BLOCK ? t->rank : 0;
}

/// By element, for scalars and blocks; false for pointers.
bool type_is_bool(const Type *t);
bool type_is_int(const Type *t);  ///< signed or unsigned, not bool
bool type_is_signed(const Type *t);
bool type_is_unsigned(const Type *t);  ///< not bool
bool type_is_float(const Type *t);     ///< fp16, bf16, fp32, fp64
bool type_is_fp8(const Type *t);
ScalarKind type_scalar_kind(const Type *t);  ///< of the element; asserts that it is a number
unsigned type_elem_bytes(const Type *t);     ///< of the element in memory; 8 for pointers
bool type_same_shape(const Type *a, const Type *b);

/// As block IR writes it: "fp32", "i32", "*fp16", "*const fp32", "(16, 128) fp32", "(64) *fp32".
void type_print(Buf *b, const Type *t);
/// As messages write it, in the table's arena: integers are "int32", the rest as type_print.
const char *type_text(TypeTable *t, const Type *type);
/// The same for a scalar: "int32", "fp32".
const char *scalar_text(ScalarKind k);
/// "(16, 128)"; "()" for a scalar.
const char *type_shape_text(TypeTable *t, const Type *type);

/// By surface name ("float32", "half"), or by signature spelling ("fp32"); SCALAR_COUNT if none.
ScalarKind scalar_find(const char *name);
ScalarKind scalar_find_signature(const char *name);

#endif
