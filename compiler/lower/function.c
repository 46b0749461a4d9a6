// function.c - calls of the program's functions: bound as Python binds, lowered in place.
//
// Constants given to any parameter stay constants (a function is specialised by its inlining),
// values keep their types. A call is a Frame; what it returns is the result slot, when all ways
// through the body set it.
#include "lower/lower_impl.h"

static void note_definition(Lower *cx, const Function *f)
{
    diag_note(cx->consts.diags, f->def->name_span, "'%s' is defined here", f->name->text);
}

static uint32_t find_param(const Function *f, Sym name)
{
    for (uint32_t i = 0; i < f->param_count; i++)
        if (f->params[i].name == name)
            return i;
    return UINT32_MAX;
}

static bool is_keyword_only(const Function *f, uint32_t at)
{
    const AstNode *p = at < f->def->params.len ? f->def->params.at[at] : NULL;
    return p && p->kind == AST_PARAM && ast_param(p)->keyword_only;
}

static bool report_missing(Lower *cx, const Function *f, const Argument *bound, Span call)
{
    unsigned count = 0;
    Buf names = { 0 };
    for (uint32_t i = 0; i < f->param_count; i++) {
        if (bound[i].val.kind != VAL_ERROR || f->params[i].default_value)
            continue;
        buf_printf(&names, "%s'%s'", count ? ", " : "", f->params[i].name->text);
        count++;
    }
    if (count) {
        lower_error(cx, DIAG_BAD_CALL, call, "'%s' is missing %u required argument%s: %s",
                    f->name->text, count, count == 1 ? "" : "s", names.at);
        note_definition(cx, f);
    }
    buf_free(&names);
    return count == 0;
}

static bool bind_arguments(Lower *cx, const Function *f, const ArgumentVec *args, Span call,
                           Argument *out)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < args->len; i++) {
        const Argument *a = &args->at[i];
        uint32_t at = a->name ? find_param(f, a->name) : next++;
        if (a->name && at == UINT32_MAX) {
            lower_error(cx, DIAG_BAD_CALL, a->whole, "'%s' got an unexpected keyword argument '%s'",
                        f->name->text, a->name->text);
            note_definition(cx, f);
            return false;
        }
        if (at >= f->param_count || (!a->name && is_keyword_only(f, at))) {
            lower_error(cx, DIAG_BAD_CALL, call, "'%s' takes %u argument%s, %u given",
                        f->name->text, f->param_count, f->param_count == 1 ? "" : "s", args->len);
            note_definition(cx, f);
            return false;
        }
        if (out[at].val.kind != VAL_ERROR) {
            lower_error(cx, DIAG_BAD_CALL, a->span, "'%s' got two values for argument '%s'",
                        f->name->text, f->params[at].name->text);
            note_definition(cx, f);
            return false;
        }
        out[at] = *a;
    }
    return report_missing(cx, f, out, call);
}

// Absent parameters take their defaults, constexpr ones must be constants.
static bool complete_arguments(Lower *cx, const Function *f, Argument *bound)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *p = &f->params[i];
        if (bound[i].val.kind == VAL_ERROR) {
            bound[i].val =
                lower_from_const(cx, lower_const_expr(cx->program, f->module, p->default_value));
            bound[i].span = p->default_value->span;
            if (bound[i].val.kind == VAL_ERROR)
                return false;
        }
        ConstVal c;
        bool constant = f->kind == FUNC_CONSTEXPR || p->is_constexpr;
        if (!constant)
            continue;
        if (!lower_as_const(cx, bound[i].val, &c)) {
            lower_error(cx, DIAG_NOT_CONSTEXPR, bound[i].span,
                        "parameter '%s' of '%s' is constexpr; '%s' is a run-time %s", p->name->text,
                        f->name->text, lower_source(cx, bound[i].span),
                        lower_text(cx, bound[i].val));
            diag_note(cx->consts.diags, p->span, "declared here");
            return false;
        }
        bound[i].val.fixed = NULL;
    }
    return true;
}

static bool may_inline(Lower *cx, const Function *f, Span call)
{
    if (f->kind == FUNC_TILE) {
        lower_error(cx, DIAG_BAD_CALL, call, "'%s' is a tile kernel, which only C calls",
                    f->name->text);
        return false;
    }
    if (cx->calls < LOWER_MAX_CALLS)
        return !cx->stopped;
    bool recursive = false;
    for (const Frame *g = cx->frame; g; g = g->caller)
        recursive = recursive || g->function == f;
    cx->stopped = true;
    if (recursive)
        lower_error(cx, DIAG_RECURSION, call,
                    "recursive call of '%s' never terminates at compile time", f->name->text);
    else
        lower_error(cx, DIAG_LIMIT, call, "more than %d calls inside each other", LOWER_MAX_CALLS);
    return false;
}

// What the current frame returns, once its body is lowered.
static Val take_result(Lower *cx, const Function *f)
{
    const Local *result = lower_slot_get(cx, cx->frame->result);
    Val returned = lower_slot_get(cx, cx->frame->returned)->val;
    if (!result || cx->stopped)
        return cx->stopped ? val_error() : val_void();
    if (result->status != BIND_SET || result->val.kind == VAL_VOID || result->val.kind == VAL_ERROR)
        return result->status == BIND_SET ? result->val : val_error();
    bool always = returned.kind == VAL_CONST && returned.c.kind == CONST_BOOL && returned.c.v.b;
    if (always || returned.kind == VAL_ERROR)
        return result->val;
    lower_error(cx, DIAG_RETURN_TYPE, f->def->name_span, "not all paths of '%s' return a value",
                f->name->text);
    diag_note(cx->consts.diags, cx->frame->first_return, "a value is returned here");
    return val_error();
}

Val lower_inline(Lower *cx, const Function *f, const ArgumentVec *args, Span call)
{
    Argument *bound = ARENA_NEW_N(cx->arena, Argument, f->param_count);
    if (!may_inline(cx, f, call) || !bind_arguments(cx, f, args, call, bound) ||
        !complete_arguments(cx, f, bound))
        return val_error();
    if (!lower_enter(cx, call))
        return val_error();
    Span outer = cx->b.span;
    cx->calls++;
    lower_frame_push(cx, f, f->module, call);
    for (uint32_t i = 0; i < f->param_count; i++)
        lower_bind(cx, lower_slot_of(cx, f->params[i].name), bound[i].val, f->params[i].span);
    lower_block(cx, f->def->body, 0);
    Val out = take_result(cx, f);
    lower_frame_pop(cx);
    cx->calls--;
    cx->b.span = outer;
    lower_leave(cx);
    return out;
}

Val lower_call_function(Lower *cx, const Function *f, const Val *args, uint32_t n, Span span)
{
    ArgumentVec list = { 0 };
    for (uint32_t i = 0; i < n; i++)
        VEC_PUSH(cx->arena, &list, ((Argument){ .val = args[i], .span = span }));
    return lower_inline(cx, f, &list, span);
}
