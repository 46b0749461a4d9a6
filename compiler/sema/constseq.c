/// constseq.c - strings and tuples of compile time: joining, repeating, order, membership,
/// indexing.
#include "sema/constval_impl.h"
#include <string.h>

enum { SEQUENCE_LIMIT = 1 << 20 };  // longest string or tuple that `*` and `+` may make

static uint32_t length_of(const ConstVal *v)
{
    return v->kind == CONST_STR ? v->v.s.len : v->v.tuple.len;
}

static bool is_sequence(const ConstVal *v)
{
    return v->kind == CONST_STR || v->kind == CONST_TUPLE;
}

// Room for `len` elements of a sequence of the kind of `v`.
static ConstVal make(ConstCx *cx, const ConstVal *v, uint32_t len)
{
    if (v->kind == CONST_STR)
        return const_str((Str){ ARENA_NEW_N(cx->arena, char, (size_t)len + 1), len });
    return const_tuple(ARENA_NEW_N(cx->arena, ConstVal, (size_t)len + 1), len);
}

static void put(ConstVal *out, uint32_t at, const ConstVal *v)
{
    uint32_t n = length_of(v);
    if (n == 0)
        return;
    if (v->kind == CONST_STR)
        memcpy((char *)out->v.s.at + at, v->v.s.at, n);
    else
        memcpy((ConstVal *)out->v.tuple.at + at, v->v.tuple.at, n * sizeof(ConstVal));
}

static ConstVal join(ConstCx *cx, const ConstVal *a, const ConstVal *b, Span span)
{
    if (length_of(a) > SEQUENCE_LIMIT - length_of(b)) {
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "the result of '+' is longer than %d",
                    SEQUENCE_LIMIT);
        return const_error();
    }
    ConstVal out = make(cx, a, length_of(a) + length_of(b));
    put(&out, 0, a);
    put(&out, length_of(a), b);
    return out;
}

static ConstVal repeat(ConstCx *cx, const ConstVal *v, const ConstVal *count, Span span)
{
    Int128 times = const_int_of(count);
    uint32_t n = length_of(v);
    times = times < 0 || n == 0 ? 0 : times;
    if (n > 0 && times > SEQUENCE_LIMIT / n) {
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "the result of '*' is longer than %d",
                    SEQUENCE_LIMIT);
        return const_error();
    }
    ConstVal out = make(cx, v, n * (uint32_t)times);
    for (uint32_t i = 0; i < (uint32_t)times; i++)
        put(&out, i * n, v);
    return out;
}

ConstVal const_sequence_binary(ConstCx *cx, AstBinaryOp op, const ConstVal *a, const ConstVal *b,
                               Span span)
{
    if (op == AST_ADD && is_sequence(a) && a->kind == b->kind)
        return join(cx, a, b, span);
    if (op == AST_MUL && is_sequence(a) && const_is_int(b))
        return repeat(cx, a, b, span);
    if (op == AST_MUL && is_sequence(b) && const_is_int(a))
        return repeat(cx, b, a, span);
    if (op == AST_MOD && a->kind == CONST_STR)
        return const_format(cx, a->v.s, b, span);
    return const_bad_operands(cx, ast_binary_text[op], a, b, span);
}

static bool order_of(const ConstVal *a, const ConstVal *b, int *out)
{
    bool numbers =
        (const_is_int(a) || a->kind == CONST_FLOAT) && (const_is_int(b) || b->kind == CONST_FLOAT);
    if (!numbers)
        return const_sequence_order(a, b, out);
    *out = const_number_order(a, b);
    return true;
}

bool const_sequence_order(const ConstVal *a, const ConstVal *b, int *out)
{
    if (!is_sequence(a) || a->kind != b->kind)
        return false;
    uint32_t n = length_of(a), m = length_of(b), shared = n < m ? n : m;
    *out = (n > m) - (n < m);
    if (a->kind == CONST_STR) {
        int order = shared ? memcmp(a->v.s.at, b->v.s.at, shared) : 0;
        *out = order ? (order > 0) - (order < 0) : *out;
        return true;
    }
    for (uint32_t i = 0; i < shared; i++)
        if (!const_equal(&a->v.tuple.at[i], &b->v.tuple.at[i]))
            return order_of(&a->v.tuple.at[i], &b->v.tuple.at[i], out);
    return true;
}

bool const_contains(ConstCx *cx, const ConstVal *a, const ConstVal *b, Span span, bool *ok)
{
    *ok = true;
    if (b->kind == CONST_TUPLE) {
        for (uint32_t i = 0; i < b->v.tuple.len; i++)
            if (const_equal(a, &b->v.tuple.at[i]))
                return true;
        return false;
    }
    if (b->kind == CONST_STR && a->kind == CONST_STR) {
        Str in = b->v.s, what = a->v.s;
        for (uint32_t i = 0; i + what.len <= in.len; i++)
            if (memcmp(in.at + i, what.at, what.len) == 0)
                return true;
        return false;
    }
    *ok = false;
    const_bad_operands(cx, "in", a, b, span);
    return false;
}

static ConstVal no_sequence(ConstCx *cx, const ConstVal *v, Span span)
{
    if (v->kind != CONST_ERROR)
        diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "%s cannot be indexed",
                    const_kind_text(v));
    return const_error();
}

static ConstVal element(const ConstVal *v, uint32_t i)
{
    return v->kind == CONST_STR ? const_str((Str){ v->v.s.at + i, 1 }) : v->v.tuple.at[i];
}

ConstVal const_index(ConstCx *cx, ConstVal v, ConstVal index, Span span)
{
    if (!is_sequence(&v) || index.kind == CONST_ERROR)
        return no_sequence(cx, index.kind == CONST_ERROR ? &index : &v, span);
    if (!const_is_int(&index)) {
        diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "an index must be an int, got %s",
                    const_kind_text(&index));
        return const_error();
    }
    Int128 i = const_int_of(&index), n = length_of(&v);
    if (i < -n || i >= n) {
        Buf b = { 0 };
        const_print(&b, &index);
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "index %s is outside %s of length %d", b.at,
                    const_kind_text(&v), (int)n);
        buf_free(&b);
        return const_error();
    }
    return element(&v, (uint32_t)(i < 0 ? i + n : i));
}

// One bound of a slice, clamped as Python does; *out stays what it is for None. False: it is no
// int.
static bool slice_bound(ConstCx *cx, const ConstVal *bound, Int128 n, bool down, Span span,
                        Int128 *out)
{
    if (bound->kind == CONST_NONE)
        return true;
    if (!const_is_int(bound)) {
        diag_report(cx->diags, DIAG_TYPE_MISMATCH, span, "a slice bound must be an int, got %s",
                    const_kind_text(bound));
        return false;
    }
    Int128 i = const_int_of(bound), lowest = down ? -1 : 0, highest = down ? n - 1 : n;
    i = i < 0 ? i + n : i;
    *out = i < lowest ? lowest : i > highest ? highest : i;
    return true;
}

ConstVal const_slice(ConstCx *cx, ConstVal v, ConstVal lower, ConstVal upper, ConstVal step,
                     Span span)
{
    if (lower.kind == CONST_ERROR || upper.kind == CONST_ERROR || step.kind == CONST_ERROR)
        return const_error();
    if (!is_sequence(&v))
        return no_sequence(cx, &v, span);
    if (step.kind == CONST_NONE)
        step = const_int(1);
    if (!const_is_int(&step) || const_int_of(&step) == 0) {
        diag_report(cx->diags, DIAG_BAD_VALUE, span, "a slice step must be an int other than 0");
        return const_error();
    }
    Int128 n = length_of(&v), by = const_int_of(&step);
    bool down = by < 0;
    Int128 lo = down ? n - 1 : 0, hi = down ? -1 : n;
    if (!slice_bound(cx, &lower, n, down, span, &lo) ||
        !slice_bound(cx, &upper, n, down, span, &hi))
        return const_error();
    // A step beyond the length takes one element, as the length does.
    by = by > n + 1 ? n + 1 : by < -n - 1 ? -n - 1 : by;
    ConstVal *at = ARENA_NEW_N(cx->arena, ConstVal, (size_t)n + 1);
    char *text = ARENA_NEW_N(cx->arena, char, (size_t)n + 1);
    uint32_t count = 0;
    for (Int128 i = lo; down ? i > hi : i < hi; i += by, count++) {
        if (v.kind == CONST_STR)
            text[count] = v.v.s.at[(uint32_t)i];
        else
            at[count] = v.v.tuple.at[(uint32_t)i];
    }
    return v.kind == CONST_STR ? const_str((Str){ text, count }) : const_tuple(at, count);
}
