// signature.c - see signature.h. Items: ['*'] ['k'] TYPE [':' HINT], or a number, which binds the
// parameter at compile time. HINT 16 is divisibility, HINT 1 a value of 1; both become facts that
// the launcher tests, never promises.
#include "lower/signature.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Item {
    const char *at;
    size_t len;
    unsigned index;
} Item;

static void trim(Item *item)
{
    while (item->len && isspace((unsigned char)item->at[0])) {
        item->at++;
        item->len--;
    }
    while (item->len && isspace((unsigned char)item->at[item->len - 1]))
        item->len--;
}

ConstVal lower_parse_literal(Program *p, const char *at, size_t len)
{
    char *text = arena_strndup(p->arena, at, len), *end;
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
        return const_bool(text[0] == 'T');
    if (strcmp(text, "None") == 0)
        return const_none();
    errno = 0;
    long long i = strtoll(text, &end, 0);
    if (*text && *end == '\0' && errno == 0)
        return const_int(i);
    double f = strtod(text, &end);
    if (*text && *end == '\0')
        return const_float(f);
    const char *dot = strrchr(text, '.');
    ScalarKind kind = scalar_find(dot ? dot + 1 : text);
    if (kind == SCALAR_COUNT)
        kind = scalar_find_signature(text);
    if (kind != SCALAR_COUNT)
        return const_dtype(type_scalar(p->types, kind));
    bool quoted = len >= 2 && (text[0] == '"' || text[0] == '\'') && text[len - 1] == text[0];
    Str s = { quoted ? text + 1 : text, (uint32_t)(quoted ? len - 2 : len) };
    return (ConstVal){ .kind = CONST_STR, .v.s = s };
}

static bool item_error(Program *p, const Function *f, const Item *item, const char *why)
{
    diag_report(p->diags, DIAG_BAD_CALL, f->def->name_span, "%s in signature item %u, '%.*s'", why,
                item->index + 1, (int)item->len, item->at);
    return false;
}

static bool apply_hint(Program *p, const Function *f, const Item *item, long hint,
                       ParamBinding *out)
{
    if (hint == 16) {
        out->divisor = 16;
        out->assumed = true;
        return true;
    }
    if (hint == 1 && out->type->kind == TYPE_SCALAR && type_is_int(out->type)) {
        out->has_value = true;
        out->equals = 1;
        return true;
    }
    return item_error(p, f, item, "the hint must be 16, or 1 for an integer");
}

static bool apply_type(Program *p, const Function *f, const Item *item, ParamBinding *out)
{
    const char *at = item->at, *end = item->at + item->len;
    const char *colon = memchr(at, ':', item->len);
    const char *stop = colon ? colon : end;
    bool pointer = at < stop && *at == '*';
    at += pointer;
    bool is_const = pointer && at < stop && *at == 'k';
    at += is_const;
    ScalarKind kind = scalar_find_signature(arena_strndup(p->arena, at, (size_t)(stop - at)));
    if (kind == SCALAR_COUNT)
        return item_error(p, f, item, "unknown type");
    const Type *scalar = type_scalar(p->types, kind);
    const Type *type = pointer ? type_ptr(p->types, scalar, is_const) : scalar;
    if (out->type && out->type != type) {
        item_error(p, f, item, "another type than the annotation's");
        diag_note(p->diags, f->params[item->index].span, "annotated as %s here",
                  type_text(p->types, out->type));
        return false;
    }
    out->type = type;
    if (!colon)
        return true;
    char *rest;
    long hint = strtol(colon + 1, &rest, 10);
    if (rest != end)
        return item_error(p, f, item, "a hint that is no number");
    return apply_hint(p, f, item, hint, out);
}

static bool apply_item(Program *p, const Function *f, const Item *item, ParamBinding *out)
{
    if (!item->len)
        return item_error(p, f, item, "nothing");
    ConstVal c = lower_parse_literal(p, item->at, item->len);
    if (c.kind != CONST_STR && c.kind != CONST_DTYPE) {
        out->is_constexpr = true;
        out->value = c;
        return true;
    }
    if (out->is_constexpr) {
        out->value = c;
        return true;
    }
    return apply_type(p, f, item, out);
}

bool lower_apply_signature(Program *p, const Function *f, const char *text, ParamBinding *params)
{
    unsigned count = 0, most = f->param_count;
    bool ok = true;
    while (most > 0 && f->params[most - 1].is_hidden)  // they stand behind all others
        most--;
    for (const char *at = text; *text;) {
        const char *comma = strchr(at, ',');
        Item item = { at, comma ? (size_t)(comma - at) : strlen(at), count };
        trim(&item);
        if (count < most)
            ok = apply_item(p, f, &item, &params[count]) && ok;
        count++;
        if (!comma)
            break;
        at = comma + 1;
    }
    // Trailing parameters with defaults may be left out.
    uint32_t wanted = most;
    while (wanted > count && params[wanted - 1].value.kind != CONST_ERROR)
        wanted--;
    if (count == wanted || (count > wanted && count <= most))
        return ok;
    diag_report(p->diags, DIAG_BAD_CALL, f->def->name_span,
                "kernel '%s' has %u parameters, the signature lists %u", f->name->text, most, count);
    if (count < wanted)
        diag_note(p->diags, f->params[count].span, "the first that is missing: '%s'",
                  f->params[count].name->text);
    return false;
}
