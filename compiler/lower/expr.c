// expr.c - expressions but for calls: names, literals, tuples, indexing, logic, comparison chains.
#include "lower/lower_impl.h"

#include <string.h>

/* ---- names and literals ---- */

/// Where the function's first use of an unknown name was reported, else `here`: to report it there
/// again shows nothing.
static Span lower_first_report(const Lower *cx, Sym name, Span here)
{
    const Function *f = cx->frame->function;
    const DiagSink *diags = cx->program->diags;
    const char *text = arena_printf(cx->arena, "name '%s' is not defined", name->text);
    for (uint32_t i = 0; f && i < diags->list.len; i++) {
        const Diag *d = diags->list.at[i];
        const Span all = f->def->base.span;
        if (d->id == DIAG_UNDEFINED_NAME && all.lo <= d->span.lo && d->span.hi <= all.hi &&
            strcmp(d->text, text) == 0)
            return d->span;
    }
    return here;
}

static Val lower_name(Lower *cx, const AstNode *n)
{
    Sym name = ast_name(n)->name;
    uint32_t slot = lower_slot_find(cx->frame, name);
    if (slot != UINT32_MAX && lower_slot_get(cx, slot))
        return lower_read_slot(cx, slot, n->span);
    Binding found;
    if (resolve_name(cx->program, cx->frame->module, name, &found)) {
        if (found.decl && found.decl->state != DECL_READY)
            return lower_decl(cx, found.decl, n->span);
        return lower_from_const(cx, found.value);
    }
    if (slot != UINT32_MAX)
        return lower_read_slot(cx, slot, n->span);
    const Span at = lower_first_report(cx, name, n->span);
    resolve_report_undefined(cx->program, cx->frame->module, NULL, name, at);
    lower_note_calls(cx);
    return val_error();
}

static unsigned digit_value(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

static Val lower_int(Lower *cx, const AstInt *n)
{
    if (!n->overflow)
        return val_const(const_int((Int128)n->value));
    const Int128 limit = (Int128)1 << 120;
    unsigned base = 10;
    uint32_t at = 0;
    if (n->text.len > 2 && n->text.at[0] == '0' && n->text.at[1] > '9') {
        char kind = (char)(n->text.at[1] | 0x20);
        base = kind == 'x' ? 16 : kind == 'o' ? 8 : 2;
        at = 2;
    }
    Int128 v = 0;
    for (; at < n->text.len; at++) {
        v = v * base + digit_value(n->text.at[at]);
        if (v > limit) {
            lower_error(cx, DIAG_BAD_VALUE, n->base.span, "integer literal has more than 120 bits");
            return val_error();
        }
    }
    return val_const(const_int(v));
}

static bool append_field(Lower *cx, const AstField *field, Buf *out)
{
    ConstVal c;
    Val v = lower_expr(cx, field->value);
    if (v.kind == VAL_ERROR)
        return false;
    if (!lower_as_const(cx, v, &c)) {
        lower_error(cx, DIAG_NOT_CONSTEXPR, field->value->span,
                    "an f-string takes compile-time constants; '%s' is a run-time %s",
                    lower_source(cx, field->value->span), lower_text(cx, v));
        return false;
    }
    if (field->spec) {
        lower_error(cx, DIAG_UNSUPPORTED, field->spec->span,
                    "format specifications are not compiled by this version yet");
        return false;
    }
    if (field->debug.at)
        buf_bytes(out, field->debug.at, field->debug.len);
    bool repr = field->conversion == 'r' || field->conversion == 'a' ||
                (field->debug.at && !field->conversion);
    if (c.kind == CONST_STR && !repr)
        buf_bytes(out, c.v.s.at, c.v.s.len);
    else
        const_print(out, &c);
    return true;
}

static Val lower_fstring(Lower *cx, const AstFstring *n)
{
    Buf text = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < n->parts.len && ok; i++) {
        const AstNode *part = n->parts.at[i];
        if (part->kind == AST_STRING)
            buf_bytes(&text, ast_string(part)->value.at, ast_string(part)->value.len);
        else if (part->kind == AST_FIELD)
            ok = append_field(cx, ast_field(part), &text);
    }
    Val out = val_error();
    if (ok) {
        const char *at = arena_strndup(cx->arena, text.at ? text.at : "", text.len);
        out = val_const((ConstVal){ .kind = CONST_STR, .v.s = { at, (uint32_t)text.len } });
    }
    buf_free(&text);
    return out;
}

/* ---- tuples ---- */

typedef VEC(Val) ValVec;

static Val tuple_of(const ValVec *items)
{
    return (Val){ .kind = VAL_TUPLE, .tuple = { items->at, items->len } };
}

static Val lower_items(Lower *cx, AstNodes nodes)
{
    ValVec items = { 0 };
    for (uint32_t i = 0; i < nodes.len; i++) {
        const AstNode *n = nodes.at[i];
        Val v = lower_expr(cx, n->kind == AST_STARRED ? ast_starred(n)->value : n);
        if (v.kind == VAL_ERROR)
            return v;
        if (n->kind != AST_STARRED) {
            VEC_PUSH(cx->arena, &items, v);
            continue;
        }
        if (v.kind != VAL_TUPLE) {
            lower_error(cx, DIAG_TYPE_MISMATCH, n->span, "'*' needs a tuple, got %s",
                        lower_text(cx, v));
            return val_error();
        }
        for (uint32_t k = 0; k < v.tuple.len; k++)
            VEC_PUSH(cx->arena, &items, v.tuple.at[k]);
    }
    return tuple_of(&items);
}

// The values a comprehension runs over: a tuple, or a range of constants.
static bool iteration_values(Lower *cx, const AstNode *iter, ValVec *out)
{
    if (iter->kind == AST_CALL) {
        const AstCall *call = ast_call(iter);
        Val callee = lower_expr(cx, call->callee);
        bool range = callee.kind == VAL_CONST && callee.c.kind == CONST_BUILTIN &&
                     (((const Builtin *)callee.c.v.ref)->id == BUILTIN_RANGE ||
                      ((const Builtin *)callee.c.v.ref)->id == BUILTIN_STATIC_RANGE);
        Int128 b[3] = { 0, 0, 1 };
        ArgumentVec args = { 0 };
        if (range && lower_arguments(cx, call, &args)) {
            for (uint32_t i = 0; i < args.len && i < 3; i++) {
                if (args.at[i].val.kind != VAL_CONST || args.at[i].val.c.kind != CONST_INT)
                    return false;
                b[args.len == 1 ? 1 : i] = args.at[i].val.c.v.i;
            }
            for (Int128 i = b[0]; b[2] && (b[2] > 0 ? i < b[1] : i > b[1]); i += b[2]) {
                lower_count_step(cx, iter->span);
                if (cx->stopped)
                    return false;
                VEC_PUSH(cx->arena, out, val_const(const_int(i)));
            }
            return true;
        }
    }
    Val v = lower_expr(cx, iter);
    if (v.kind != VAL_TUPLE)
        return false;
    for (uint32_t i = 0; i < v.tuple.len; i++)
        VEC_PUSH(cx->arena, out, v.tuple.at[i]);
    return true;
}

static Val lower_comprehension(Lower *cx, const AstComprehension *n)
{
    ValVec values = { 0 }, items = { 0 };
    if (!iteration_values(cx, n->iter, &values)) {
        if (!cx->stopped)
            lower_error(cx, DIAG_TYPE_MISMATCH, n->iter->span,
                        "a comprehension runs over a tuple or a range of constants");
        return val_error();
    }
    // Its variables are its own: what they were before comes back.
    Arm own = { 0 };
    uint32_t mark = lower_mark(cx);
    bool failed = false;
    for (uint32_t i = 0; i < values.len && !failed; i++) {
        bool take = true, ok = true;
        lower_assign(cx, n->target, values.at[i], NULL, n->iter->span);
        for (uint32_t k = 0; k < n->conditions.len && take; k++) {
            take = lower_const_truth(cx, lower_expr(cx, n->conditions.at[k]),
                                     n->conditions.at[k]->span, &ok);
            failed = failed || !ok;
        }
        if (!take || failed)
            continue;
        Val v = lower_expr(cx, n->element);
        failed = v.kind == VAL_ERROR;
        VEC_PUSH(cx->arena, &items, v);
    }
    lower_take_changes(cx, mark, &own);
    return failed ? val_error() : tuple_of(&items);
}

/* ---- indexing ---- */

static bool tuple_index(Lower *cx, const AstNode *n, int64_t *out)
{
    Val v = lower_expr(cx, n);
    if (v.kind == VAL_CONST && v.c.kind == CONST_INT && v.c.v.i >= INT32_MIN &&
        v.c.v.i <= INT32_MAX) {
        *out = (int64_t)v.c.v.i;
        return true;
    }
    if (v.kind == VAL_VALUE)
        lower_error(cx, DIAG_NOT_CONSTEXPR, n->span,
                    "the index of a tuple must be a compile-time constant; '%s' is a run-time %s",
                    lower_source(cx, n->span), lower_text(cx, v));
    else if (v.kind == VAL_CONST && v.c.kind == CONST_INT)
        lower_error(cx, DIAG_BAD_VALUE, n->span, "index %s is outside every tuple",
                    lower_source(cx, n->span));
    else if (v.kind != VAL_ERROR)
        lower_error(cx, DIAG_TYPE_MISMATCH, n->span, "the index of a tuple must be an int, got %s",
                    lower_text(cx, v));
    return false;
}

static int64_t clamp_index(int64_t i, int64_t len)
{
    i = i < 0 ? i + len : i;
    return i < 0 ? 0 : i > len ? len : i;
}

static Val slice_tuple(Lower *cx, Val v, const AstSlice *s)
{
    int64_t len = v.tuple.len, step = 1, lo = 0, hi = len;
    if ((s->step && !tuple_index(cx, s->step, &step)) ||
        (s->lower && !tuple_index(cx, s->lower, &lo)) ||
        (s->upper && !tuple_index(cx, s->upper, &hi)))
        return val_error();
    if (step < 1) {
        lower_error(cx, DIAG_BAD_VALUE, s->base.span, "the step of a slice must be positive");
        return val_error();
    }
    ValVec items = { 0 };
    lo = clamp_index(lo, len);
    hi = clamp_index(hi, len);
    for (int64_t i = lo; i < hi; i += step)
        VEC_PUSH(cx->arena, &items, v.tuple.at[i]);
    return tuple_of(&items);
}

static Val index_tuple(Lower *cx, Val v, const AstSubscript *n)
{
    int64_t i;
    if (n->indices.len != 1 || n->is_tuple) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->base.span, "a tuple has one index");
        return val_error();
    }
    if (n->indices.at[0]->kind == AST_SLICE)
        return slice_tuple(cx, v, ast_slice(n->indices.at[0]));
    if (!tuple_index(cx, n->indices.at[0], &i))
        return val_error();
    int64_t len = v.tuple.len;
    if (i < -len || i >= len) {
        lower_error(cx, DIAG_BAD_VALUE, n->indices.at[0]->span, "index %d is outside a tuple of %u",
                    (int)i, v.tuple.len);
        return val_error();
    }
    return v.tuple.at[i < 0 ? i + len : i];
}

static bool is_full_slice(const AstNode *n)
{
    return n->kind == AST_SLICE && !ast_slice(n)->lower && !ast_slice(n)->upper &&
           !ast_slice(n)->step;
}

static bool is_new_axis(Lower *cx, const AstNode *n)
{
    if (n->kind == AST_NONE)
        return true;
    if (n->kind != AST_NAME)
        return false;
    Val v = lower_expr(cx, n);
    return v.kind == VAL_CONST && v.c.kind == CONST_NONE;
}

// x[:, None], x[None, :], x[..., None]: new axes of size 1.
static Val index_block(Lower *cx, IrValue *v, const AstSubscript *n)
{
    unsigned rank = type_rank(v->type), axes = 0, dots = 0, added = 0;
    for (uint32_t i = 0; i < n->indices.len; i++) {
        const AstNode *index = n->indices.at[i];
        if (index->kind == AST_ELLIPSIS) {
            dots++;
        } else if (is_full_slice(index)) {
            axes++;
        } else if (is_new_axis(cx, index)) {
            added++;
        } else {
            lower_error(cx, DIAG_TYPE_MISMATCH, index->span,
                        "blocks cannot be indexed; only None and ':' are allowed");
            return val_error();
        }
    }
    if (axes > rank || dots > 1) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, n->base.span, "too many indices: block has %u %s",
                    rank, rank == 1 ? "axis" : "axes");
        return val_error();
    }
    if (rank + added > TYPE_MAX_RANK) {
        lower_error(cx, DIAG_SHAPE_MISMATCH, n->base.span, "%u axes; the limit is %d", rank + added,
                    TYPE_MAX_RANK);
        return val_error();
    }
    if (rank == 0 && added) {
        int32_t ones[TYPE_MAX_RANK];
        for (unsigned k = 0; k < added; k++)
            ones[k] = 1;
        return val_of(ir_splat(&cx->b, v, type_block(cx->program->types, v->type, added, ones)));
    }
    unsigned axis = 0;
    for (uint32_t i = 0; i < n->indices.len; i++) {
        const AstNode *index = n->indices.at[i];
        if (index->kind == AST_ELLIPSIS)
            axis += rank - axes;
        else if (!is_full_slice(index))
            v = ir_expand_dims(&cx->b, v, (int)axis++);
        else
            axis++;
    }
    return val_of(v);
}

static Val lower_subscript(Lower *cx, const AstSubscript *n)
{
    if (cx->meta && n->object->kind == AST_NAME && ast_name(n->object)->name == cx->meta)
        return lower_meta_item(cx, n);
    Val v = lower_expr(cx, n->object);
    if (v.kind == VAL_ERROR)
        return v;
    if (v.kind == VAL_TUPLE)
        return index_tuple(cx, v, n);
    if (v.kind == VAL_VALUE && v.v->type->kind == TYPE_PTR) {
        lower_error(cx, DIAG_TYPE_MISMATCH, n->base.span,
                    "a pointer is not indexed; use load(%s + ...)",
                    lower_source(cx, n->object->span));
        return val_error();
    }
    if (v.kind == VAL_VALUE)
        return index_block(cx, v.v, n);
    if (v.kind == VAL_CONST && (v.c.kind == CONST_ANNOTATION || v.c.kind == CONST_BUILTIN))
        return lower_type_word(cx, n);
    lower_error(cx, DIAG_TYPE_MISMATCH, n->base.span, "%s cannot be indexed", lower_text(cx, v));
    return val_error();
}

static Val lower_member(Lower *cx, const AstAttribute *n)
{
    Val object = lower_expr(cx, n->object);
    if (object.kind == VAL_ERROR)
        return object;
    if (object.kind != VAL_CONST || object.c.kind != CONST_NAMESPACE)
        return lower_attribute(cx, object, n->name, n->base.span, n->name_span);
    Binding found;
    const Namespace *space = object.c.v.ref;
    if (!resolve_member(cx->program, space, n->name, &found)) {
        resolve_report_undefined(cx->program, cx->frame->module, space, n->name, n->name_span);
        lower_note_calls(cx);
        return val_error();
    }
    if (found.decl && found.decl->state != DECL_READY)
        return lower_decl(cx, found.decl, n->base.span);
    return lower_from_const(cx, found.value);
}

/* ---- logic ---- */

bool lower_const_truth(Lower *cx, Val v, Span span, bool *ok)
{
    ConstVal c;
    *ok = true;
    if (v.kind == VAL_TUPLE)
        return v.tuple.len != 0;
    if (lower_as_const(cx, v, &c))
        return const_truth(&cx->consts, c, span, ok);
    *ok = false;
    if (v.kind != VAL_ERROR)
        lower_error(cx, DIAG_NOT_CONSTEXPR, span,
                    "condition must be a compile-time constant here, got %s", lower_text(cx, v));
    return false;
}

// `v != 0` as a bool of its shape.
static Val truth_value(Lower *cx, Val v, Span span)
{
    if (v.kind == VAL_VALUE && type_is_num(v.v->type) && type_is_bool(v.v->type))
        return v;
    return lower_compare(cx, AST_NE, operand_at(v, span), operand_at(val_const(const_int(0)), span),
                         span);
}

IrValue *lower_condition(Lower *cx, Val v, Span span, const char *what)
{
    if (v.kind == VAL_ERROR)
        return NULL;
    if (v.kind == VAL_VALUE && type_is_block(v.v->type)) {
        lower_error(cx, DIAG_TYPE_MISMATCH, span,
                    "%s is a block of shape %s; use where, or any/all reductions", what,
                    type_shape_text(cx->program->types, v.v->type));
        return NULL;
    }
    if (v.kind == VAL_VALUE || v.kind == VAL_CONST)
        return lower_value(cx, truth_value(cx, v, span), what, span);
    lower_error(cx, DIAG_TYPE_MISMATCH, span, "%s must be a number, got %s", what,
                lower_text(cx, v));
    return NULL;
}

static bool is_known(Val v)
{
    return v.kind == VAL_CONST || v.kind == VAL_TUPLE;
}

static Val lower_logic(Lower *cx, const AstLogic *n)
{
    bool is_or = n->op == AST_OR, ok;
    Val acc = lower_expr(cx, n->operands.at[0]);
    Span before = n->operands.at[0]->span;
    for (uint32_t i = 1; i < n->operands.len; i++) {
        const AstNode *node = n->operands.at[i];
        if (acc.kind == VAL_ERROR)
            return acc;
        if (is_known(acc)) {
            // Short circuit, as Python: the operand itself is the result.
            if (lower_const_truth(cx, acc, before, &ok) == is_or)
                return ok ? acc : val_error();
            acc = lower_expr(cx, node);
            before = node->span;
            continue;
        }
        Val next = lower_expr(cx, node);
        if (next.kind == VAL_ERROR)
            return next;
        acc = truth_value(cx, acc, before);
        if (!is_known(next)) {
            next = truth_value(cx, next, node->span);
            acc = lower_binary(cx, is_or ? AST_BIT_OR : AST_BIT_AND, operand_at(acc, before),
                               operand_at(next, node->span), n->base.span);
        } else if (lower_const_truth(cx, next, node->span, &ok) == is_or) {
            return ok ? val_const(const_bool(is_or)) : val_error();
        }
        before = span_join(n->operands.at[0]->span, node->span);
    }
    return acc;
}

static Val lower_comparison(Lower *cx, const AstCompare *n)
{
    const AstNode *left = n->operands.at[0];
    Val a = lower_expr(cx, left), out = val_error();
    for (uint32_t i = 0; i < n->ops.len; i++) {
        const AstNode *right = n->operands.at[i + 1];
        Val b = lower_expr(cx, right);
        Span span = n->ops.len == 1 ? n->base.span : span_join(left->span, right->span);
        cx->b.span = span;
        Val one = lower_compare(cx, n->ops.at[i], operand_at(a, left->span),
                                operand_at(b, right->span), span);
        if (one.kind == VAL_ERROR)
            return one;
        out = i ? lower_binary(cx, AST_BIT_AND, operand_at(out, n->base.span),
                               operand_at(one, span), n->base.span)
                : one;
        left = right;
        a = b;
    }
    return out;
}

/* ---- dispatch ---- */

static Val lower_operation(Lower *cx, const AstNode *n)
{
    if (n->kind == AST_UNARY) {
        const AstUnary *u = ast_unary(n);
        Val v = lower_expr(cx, u->operand);
        cx->b.span = n->span;
        return lower_unary(cx, u->op, v, n->span);
    }
    const AstBinary *e = ast_binary(n);
    Val a = lower_expr(cx, e->lhs);
    Val b = lower_expr(cx, e->rhs);
    cx->b.span = n->span;
    return lower_binary(cx, e->op, operand_at(a, e->lhs->span), operand_at(b, e->rhs->span),
                        n->span);
}

static Val lower_any(Lower *cx, const AstNode *n)
{
    switch ((unsigned)n->kind) {
    case AST_ERROR: return val_error();
    case AST_NAME: return lower_name(cx, n);
    case AST_INT: return lower_int(cx, ast_int(n));
    case AST_FLOAT: return val_const(const_float(ast_float(n)->value));
    case AST_STRING: return val_const((ConstVal){ .kind = CONST_STR, .v.s = ast_string(n)->value });
    case AST_FSTRING: return lower_fstring(cx, ast_fstring(n));
    case AST_BOOL: return val_const(const_bool(ast_bool(n)->value));
    case AST_NONE: return val_const(const_none());
    case AST_TUPLE: return lower_items(cx, ast_tuple(n)->items);
    case AST_LIST: return lower_items(cx, ast_list(n)->items);
    case AST_DICT: return lower_dict(cx, ast_dict(n));
    case AST_COMPREHENSION: return lower_comprehension(cx, ast_comprehension(n));
    case AST_ATTRIBUTE: return lower_member(cx, ast_attribute(n));
    case AST_CALL: return lower_call(cx, ast_call(n));
    case AST_SUBSCRIPT: return lower_subscript(cx, ast_subscript(n));
    case AST_UNARY:
    case AST_BINARY: return lower_operation(cx, n);
    case AST_COMPARE: return lower_comparison(cx, ast_compare(n));
    case AST_LOGIC: return lower_logic(cx, ast_logic(n));
    case AST_TERNARY: return lower_ternary(cx, ast_ternary(n));
    default:
        lower_error(cx, DIAG_NOT_IN_LANGUAGE, n->span, "%s is not allowed here",
                    ast_kind_info[n->kind].name);
        return val_error();
    }
}

Val lower_expr(Lower *cx, const AstNode *n)
{
    if (!lower_enter(cx, n->span))
        return val_error();
    Span outer = cx->b.span;
    cx->b.span = n->span;
    Val v = lower_any(cx, n);
    cx->b.span = outer;
    lower_leave(cx);
    return v;
}
