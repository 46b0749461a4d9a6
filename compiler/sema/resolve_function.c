/// resolve_function.c - what stands around a function's body: decorators, parameters, docstring.
#include "sema/resolve_impl.h"
#include <string.h>

// ---- docstring ------------------------------------------------------------------------------

static uint32_t indent_of(Str line)
{
    uint32_t n = 0;
    while (n < line.len && (line.at[n] == ' ' || line.at[n] == '\t'))
        n++;
    return n;
}

/// The next line of `*rest` without its newline.
static Str take_line(Str *rest)
{
    const char *newline = memchr(rest->at, '\n', rest->len);
    uint32_t len = newline ? (uint32_t)(newline - rest->at) : rest->len;
    Str line = { rest->at, len };
    *rest = (Str){ rest->at + len + (newline != NULL), rest->len - len - (newline != NULL) };
    return line;
}

/// As Python's inspect.cleandoc: the indentation that all lines but the first share is removed,
/// blank lines at both ends too.
static const char *clean_doc(Arena *a, Str doc)
{
    uint32_t shared = UINT32_MAX;
    Str rest = doc;
    for (bool first = true; rest.len; first = false) {
        Str line = take_line(&rest);
        uint32_t indent = indent_of(line);
        if (!first && indent < line.len && indent < shared)
            shared = indent;
    }
    Buf out = { 0 };
    rest = doc;
    for (bool first = true; rest.len; first = false) {
        Str line = take_line(&rest);
        uint32_t indent = indent_of(line), drop = first || indent < shared ? indent : shared;
        while (line.len > drop && strchr(" \t\r", line.at[line.len - 1]))
            line.len--;
        if (out.len || line.len > drop) {
            buf_bytes(&out, line.at + drop, line.len - drop);
            buf_putc(&out, '\n');
        }
    }
    while (out.len && out.at[out.len - 1] == '\n')
        out.len--;
    const char *text = out.len ? arena_strndup(a, out.at, out.len) : NULL;
    buf_free(&out);
    return text;
}

// ---- decorators -----------------------------------------------------------------------------

typedef struct DecoratorArgs {
    const AstNode *at[16];  // by parameter of the builtin
} DecoratorArgs;

static void report_param(Program *p, const Builtin *b, Sym name, Span span)
{
    diag_report(p->diags, DIAG_BAD_CALL, span, "unknown argument '%s' of '%s'", name->text,
                b->name->text);
    const char *near = builtin_suggest_param(b, name->text);
    if (near)
        diag_help(p->diags, "did you mean '%s'?", near);
}

/// Binds the decorator's arguments to its parameters, reporting what does not fit.
static void bind_args(Program *p, const Builtin *b, const AstCall *call, DecoratorArgs *out)
{
    *out = (DecoratorArgs){ { NULL } };
    for (uint32_t i = 0; call && i < call->args.len; i++) {
        if (i < b->param_count)
            out->at[i] = call->args.at[i];
        else if (i == b->param_count)
            diag_report(p->diags, DIAG_BAD_CALL, call->args.at[i]->span,
                        "'%s' takes at most %u arguments", b->name->text, b->param_count);
    }
    for (uint32_t i = 0; call && i < call->keywords.len; i++) {
        if (call->keywords.at[i]->kind != AST_KEYWORD)
            continue;
        const AstKeyword *k = ast_keyword(call->keywords.at[i]);
        int at = k->name ? builtin_find_param(b, k->name) : -1;
        if (at < 0 && k->name)
            report_param(p, b, k->name, k->base.span);
        else if (at >= 0 && out->at[at])
            diag_report(p->diags, DIAG_BAD_CALL, k->base.span, "argument '%s' is given twice",
                        k->name->text);
        else if (at >= 0)
            out->at[at] = k->value;
    }
    for (uint32_t i = 0; i < b->param_count; i++)
        if (!b->params[i].has_default && !out->at[i] && call)
            diag_report(p->diags, DIAG_BAD_CALL, call->base.span, "'%s' needs the argument '%s'",
                        b->name->text, b->params[i].name->text);
}

static void apply_kernel(Function *f, const DecoratorArgs *args)
{
    f->kind = FUNC_KERNEL;
    f->grid = args->at[0];
    f->num_warps = args->at[1];
    f->num_stages = args->at[2];
    f->export_name = args->at[3];
    f->alias = args->at[4];
    f->num_ctas = args->at[5];
}

static void apply_decorator(Program *p, Function *f, const Builtin *b, const AstCall *call,
                            Span span)
{
    DecoratorArgs args;
    if (b->id != BUILTIN_INSTANCE && b->id != BUILTIN_EXAMPLE)
        bind_args(p, b, call, &args);
    bool needs_call = b->id == BUILTIN_INSTANCE || b->id == BUILTIN_EXAMPLE ||
                      b->id == BUILTIN_AUTOTUNE || b->id == BUILTIN_HEURISTICS;
    if (needs_call && !call) {
        diag_report(p->diags, DIAG_BAD_DECORATOR, span, "the decorator '%s' needs arguments",
                    b->name->text);
        return;
    }
    if (b->id == BUILTIN_KERNEL) {
        apply_kernel(f, &args);
    } else if (b->id == BUILTIN_TILE_KERNEL) {
        f->kind = FUNC_TILE;
        f->num_warps = args.at[0];
        f->num_stages = args.at[1];
        f->export_name = args.at[2];
    } else if (b->id == BUILTIN_CONSTEXPR_FUNCTION) {
        f->kind = FUNC_CONSTEXPR;
    } else if (b->id == BUILTIN_INSTANCE) {
        VEC_PUSH(p->arena, &f->instances, call);
    } else if (b->id == BUILTIN_EXAMPLE) {
        VEC_PUSH(p->arena, &f->examples, call);
    } else if (b->id == BUILTIN_AUTOTUNE) {
        f->autotune = call;
    } else if (b->id == BUILTIN_HEURISTICS) {
        f->heuristics = call;
    }
}

static void report_decorator(const Program *p, const AstNode *name)
{
    const char *text = ast_dotted_name(p->arena, name);
    diag_report(p->diags, DIAG_BAD_DECORATOR, name->span, "unknown decorator '%s'",
                text ? text : "...");
    const char *last = text && strrchr(text, '.') ? strrchr(text, '.') + 1 : text;
    const char *near = last ? builtin_suggest(p->builtins, SPACE_TOP, last) : NULL;
    if (near)
        diag_help(p->diags, "did you mean '@newt.%s'?", near);
}

/// Returns true when the decorator says what kind of function this is.
static bool take_decorator(Program *p, Module *m, Function *f, const AstNode *n, bool *failed)
{
    const AstCall *call = n->kind == AST_CALL ? ast_call(n) : NULL;
    const AstNode *name = call ? call->callee : n;
    Binding b;
    const Builtin *builtin = NULL;
    if (name->kind == AST_ERROR) {
        *failed = true;
        return false;
    }
    if (resolve_path(p, m, name, &b)) {
        if (b.value.kind == CONST_ERROR && b.decl && b.decl->state == DECL_READY) {
            *failed = true;
            return false;
        }
        builtin = b.value.kind == CONST_BUILTIN ? b.value.v.ref : NULL;
    }
    if (!builtin || builtin->use != USE_DECORATOR) {
        report_decorator(p, name);
        *failed = true;
        return false;
    }
    apply_decorator(p, f, builtin, call, n->span);
    return builtin->id == BUILTIN_JIT || builtin->id == BUILTIN_KERNEL ||
           builtin->id == BUILTIN_TILE_KERNEL || builtin->id == BUILTIN_CONSTEXPR_FUNCTION;
}

static void take_decorators(Program *p, Module *m, Function *f)
{
    const AstFunction *def = f->def;
    unsigned kinds = 0;
    bool failed = false;
    for (uint32_t i = 0; i < def->decorators.len; i++) {
        kinds += take_decorator(p, m, f, def->decorators.at[i], &failed);
        if (kinds == 2) {
            diag_report(p->diags, DIAG_BAD_DECORATOR, def->decorators.at[i]->span,
                        "'%s' already has a decorator that says what it is", def->name->text);
            kinds = 1;
        }
    }
    if (kinds == 0 && !failed) {
        diag_report(p->diags, DIAG_BAD_DECORATOR, def->name_span,
                    "function '%s' is not marked as one of newt", def->name->text);
        diag_help(p->diags, "write @newt.jit above it, or @newt.kernel for an entry point");
    }
}

// ---- parameters -----------------------------------------------------------------------------

/// `nl.constexpr`, `constexpr[int]`, or the same in quotes.
static bool means_constexpr(const Program *p, const Module *m, const AstNode *annotation)
{
    if (!annotation)
        return false;
    if (annotation->kind == AST_STRING) {
        Str text = ast_string(annotation)->value;
        static const char word[] = "constexpr";
        size_t len = sizeof word - 1;
        return text.len >= len && memcmp(text.at + text.len - len, word, len) == 0;
    }
    if (annotation->kind == AST_SUBSCRIPT)
        annotation = ast_subscript(annotation)->object;
    Binding b;
    return resolve_path(p, m, annotation, &b) && b.value.kind == CONST_ANNOTATION &&
           ((const Builtin *)b.value.v.ref)->id == BUILTIN_CONSTEXPR;
}

Function *resolve_function(Program *p, Module *m, const AstFunction *def)
{
    Function *f = ARENA_NEW(p->arena, Function);
    f->name = def->name;
    f->def = def;
    f->module = m;
    f->doc = def->doc.at ? clean_doc(p->arena, def->doc) : NULL;
    f->params = ARENA_NEW_N(p->arena, Param, def->params.len);
    for (uint32_t i = 0; i < def->params.len; i++) {
        if (def->params.at[i]->kind != AST_PARAM)
            continue;
        const AstParam *param = ast_param(def->params.at[i]);
        f->params[f->param_count++] =
            (Param){ .name = param->name,
                     .annotation = param->annotation,
                     .default_value = param->default_value,
                     .is_constexpr = means_constexpr(p, m, param->annotation),
                     .span = param->base.span };
    }
    take_decorators(p, m, f);
    if (f->kind == FUNC_KERNEL)
        resolve_descriptors(p, m, f);
    return f;
}
