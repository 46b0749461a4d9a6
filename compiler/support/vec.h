/// vec.h - typed growable arrays in an arena: `VEC(Token) tokens = { 0 };`.
///
/// The old storage is left in the arena when a vector grows (doubling bounds the waste).
/// `typedef VEC(T) TVec;` once per element type; VEC_PUSH evaluates its arguments once.
#ifndef NEWT_SUPPORT_VEC_H
#define NEWT_SUPPORT_VEC_H
#include "support/arena.h"

#define VEC(T)             \
    struct {               \
        T *at;             \
        uint32_t len, cap; \
    }

/// Appends x; evaluates to the address of the new element.
#define VEC_PUSH(a, v, x)                                                                 \
    ((v)->len == (v)->cap                                                                 \
         ? (void)((v)->at = vec_grow((a), (v)->at, (v)->len, &(v)->cap, sizeof *(v)->at)) \
         : (void)0,                                                                       \
     (v)->at[(v)->len] = (x), &(v)->at[(v)->len++])

#define VEC_EACH(p, v) for ((p) = (v)->at; (v)->len && (p) != (v)->at + (v)->len; (p)++)

/// Storage for at least len + 1 elements with the first `len` copied; updates *cap.
void *vec_grow(Arena *a, const void *at, uint32_t len, uint32_t *cap, size_t size);

#endif
