/// inputs.c - the arguments to tune with: from --shape, --arg and @newt.example, as lines of text
/// that the worker makes buffers and numbers of.
#include "tuner/tuner_impl.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Given {
    const char *name, *spec;
} Given;

typedef struct Inputs {
    Arena *arena;
    VEC(Given) given;  ///< later ones win
} Inputs;

static void give(Inputs *in, const char *name, size_t name_len, const char *spec, size_t spec_len)
{
    while (spec_len && spec[spec_len - 1] == ' ')
        spec_len--;
    while (spec_len && *spec == ' ')
        spec++, spec_len--;
    VEC_PUSH(in->arena, &in->given,
             ((Given){ arena_strndup(in->arena, name, name_len),
                       arena_strndup(in->arena, spec, spec_len) }));
}

static const char *find(const Inputs *in, const char *name)
{
    for (uint32_t i = in->given.len; i-- > 0;)
        if (strcmp(in->given.at[i].name, name) == 0)
            return in->given.at[i].spec;
    return NULL;
}

/// "M=512,N=512": also with spaces.
static bool give_shape(Inputs *in, const char *shape)
{
    while (*shape) {
        const size_t gap = strspn(shape, ", \t\r"), len = strcspn(shape + gap, ", \t\r");
        const char *word = shape + gap, *equals = memchr(word, '=', len);
        if (len && !equals)
            return tuner_fail("--shape: '%.*s' is no NAME=VALUE", (int)len, word);
        if (len)
            give(in, word, (size_t)(equals - word), equals + 1, len - (size_t)(equals - word) - 1);
        shape = word + len;
    }
    return true;
}

/// The keywords of @newt.example(x=normal(n), n=1500) as they are written.
static void give_example(Inputs *in, const Job *job, const AstCall *example)
{
    for (uint32_t i = 0; i < example->keywords.len; i++) {
        if (example->keywords.at[i]->kind != AST_KEYWORD)
            continue;
        const AstKeyword *k = ast_keyword(example->keywords.at[i]);
        const Str text = source_text(&job->sources, k->value->span);
        if (k->name)
            give(in, k->name->text, k->name->len, text.at, text.len);
    }
}

/// The integer that a size means: digits, or the name of one that was given.
static bool size_of(const Inputs *in, const char *text, size_t len, int64_t *out)
{
    const char *word = arena_strndup(in->arena, text, len);
    for (int depth = 0; word && depth < 8; depth++) {
        char *end;
        *out = strtoll(word, &end, 0);
        if (end != word && *end == '\0')
            return true;
        word = find(in, word);
    }
    return false;
}

/// "normal(M, N)" as "normal 512 512".
static bool put_generator(const Inputs *in, const char *name, const char *spec, Buf *out)
{
    static const char *const known[] = {
        "normal", "uniform", "integers", "arange", "zeros", "empty"
    };
    const char *open = strchr(spec, '(');
    const size_t len = open ? (size_t)(open - spec) : 0;
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is_known |= len == strlen(known[i]) && memcmp(spec, known[i], len) == 0;
    if (!is_known)
        return tuner_fail(
            "'%s' of %s is none of normal, uniform, integers, arange, zeros, empty with "
            "sizes, as normal(M, N)",
            spec, name);
    buf_printf(out, " %.*s", (int)len, spec);
    for (const char *at = open + 1; *at && *at != ')';) {
        const size_t gap = strspn(at, ", "), n = strcspn(at + gap, ", )");
        int64_t size;
        if (n && !size_of(in, at + gap, n, &size))
            return tuner_fail("the size '%.*s' of %s has no value; give it with --shape", (int)n,
                              at + gap, name);
        if (n)
            buf_printf(out, " %" PRId64, size);
        at += gap + n;
    }
    return true;
}

/// A tensor whose sizes have names or are fixed needs no --arg.
static bool put_tensor(const Inputs *in, const TensorParam *t, Buf *out)
{
    const char *spec = find(in, t->name->text);
    if (!spec) {
        Buf made = { 0 };
        buf_puts(&made, "normal(");
        for (unsigned i = 0; i < t->rank; i++) {
            if (t->fixed[i] >= 0)
                buf_printf(&made, "%" PRId64 ", ", t->fixed[i]);
            else if (t->sizes[i])
                buf_printf(&made, "%s, ", t->sizes[i]->text);
        }
        buf_puts(&made, ")");
        spec = arena_strndup(in->arena, made.at, made.len);
        buf_free(&made);
    }
    buf_printf(out, "%s tensor", t->name->text);
    const bool ok = put_generator(in, t->name->text, spec, out);
    buf_putc(out, '\n');
    return ok;
}

static bool put_plain(const Inputs *in, const Param *p, const Type *type, Buf *out)
{
    const char *name = p->name->text, *spec = find(in, name);
    const bool is_pointer = type->kind == TYPE_PTR;
    int64_t value;
    if (!spec)
        return tuner_fail(is_pointer
                              ? "argument '%s' has no buffer; give it as --arg=%s='normal(M, N)' "
                                "or in an @newt.example"
                              : "argument '%s' has no value; give it as --shape=%s=VALUE",
                          name, name);
    if (is_pointer) {
        buf_printf(out, "%s buffer", name);
        if (!put_generator(in, name, spec, out))
            return false;
        buf_putc(out, '\n');
        return true;
    }
    if (size_of(in, spec, strlen(spec), &value))
        buf_printf(out, "%s scalar %" PRId64 "\n", name, value);
    else if (strcmp(spec, "True") == 0 || strcmp(spec, "False") == 0)
        buf_printf(out, "%s scalar %d\n", name, *spec == 'T');
    else
        buf_printf(out, "%s scalar %s\n", name, spec);
    return true;
}

/* ---- what the compiler is to know ---- */

/// Sizes of a tensor as put_tensor gave them: the words behind its name, "tensor" and the
/// generator's. 0 where its line is not there.
static unsigned sizes_of(const char *lines, const char *name, int64_t *sizes)
{
    const size_t len = strlen(name);
    while (*lines && (strncmp(lines, name, len) != 0 || lines[len] != ' '))
        lines += strcspn(lines, "\n"), lines += *lines == '\n';
    const char *at = lines;
    for (int word = 0; word < 3 && *at && *at != '\n'; word++)
        at += strcspn(at, " \n"), at += *at == ' ';
    unsigned rank = 0;
    while (*at && *at != '\n' && rank < MODULE_TENSOR_RANK) {
        char *end;
        sizes[rank++] = strtoll(at, &end, 10);
        at = *end == ' ' ? end + 1 : end;
    }
    return rank;
}

static void put_value(Buf *out, const char *name, int64_t value)
{
    buf_printf(out, "%s%s=%" PRId64, out->len ? " " : "", name, value);
}

/// The worker's tensors are dense: a stride is the product of the sizes behind it.
static void put_tensor_value(const char *lines, const Function *f, const Param *p, Buf *out)
{
    int64_t sizes[MODULE_TENSOR_RANK], value = 1;
    const unsigned rank = sizes_of(lines, f->tensors.at[p->tensor].name->text, sizes);
    for (unsigned i = p->axis + 1; i < rank && p->role == PARAM_STRIDE; i++)
        value *= sizes[i];
    if (p->axis < rank)
        put_value(out, p->name->text, p->role == PARAM_SIZE ? sizes[p->axis] : value);
}

/// A tensor whose offsets need 64 bits is left to the launcher's own tests.
static bool is_large(const char *lines, const Function *f)
{
    for (uint32_t i = 0; i < f->tensors.len; i++) {
        int64_t sizes[MODULE_TENSOR_RANK], count = 1;
        const unsigned rank = sizes_of(lines, f->tensors.at[i].name->text, sizes);
        for (unsigned k = 0; k < rank; k++)
            count = sizes[k] > INT32_MAX || count > INT32_MAX ? INT64_MAX / 2 : count * sizes[k];
        if (count > INT32_MAX)
            return true;
    }
    return false;
}

const char *inputs_values(Arena *a, const KernelUnit *unit, const char *lines)
{
    const Function *f = unit->function;
    Buf out = { 0 };
    if (is_large(lines, f))
        return NULL;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const Param *p = &f->params[i];
        const char *at = arena_printf(a, "\n%s scalar ", p->name->text);
        const char *line = strstr(arena_printf(a, "\n%s", lines), at);
        if (p->role == PARAM_SIZE || p->role == PARAM_STRIDE)
            put_tensor_value(lines, f, p, &out);
        else if (line && unit->variants[0].params[i].type &&
                 type_is_int(unit->variants[0].params[i].type))
            put_value(&out, p->name->text, strtoll(line + strlen(at), NULL, 10));
    }
    const char *text = arena_strndup(a, out.at ? out.at : "", out.len);
    buf_free(&out);
    return text;
}

bool inputs_write(Arena *a, const TunerOptions *opt, const Job *job, const KernelUnit *unit,
                  const char *shape, Buf *out)
{
    const Function *f = unit->function;
    Inputs in = { .arena = a };
    if (f->examples.len)
        give_example(&in, job, f->examples.at[0]);
    for (uint32_t i = 0; i < opt->args.len; i++) {
        const char *text = opt->args.at[i], *equals = strchr(text, '=');
        if (!equals)
            return tuner_fail("--arg: '%s' is no NAME=SPEC", text);
        give(&in, text, (size_t)(equals - text), equals + 1, strlen(equals + 1));
    }
    if (!give_shape(&in, shape))
        return false;
    for (uint32_t i = 0; i < f->tensors.len; i++)
        if (!put_tensor(&in, &f->tensors.at[i], out))
            return false;
    for (uint32_t i = 0; i < f->param_count; i++) {
        const ParamBinding *b = &unit->variants[0].params[i];
        if (!b->is_constexpr && f->params[i].role == PARAM_PLAIN &&
            !put_plain(&in, &f->params[i], b->type, out))
            return false;
    }
    return true;
}
