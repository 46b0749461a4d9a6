// read_words.c - the small parts of IR text: words, numbers, types, constants, attributes.
//
// The text is untrusted (a fuzz target reads random bytes): every number is checked against the
// range of the field that it goes to, and offsets never pass the NUL after the file's text.
#include "ir/text_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool ir_text_fail(IrReader *r, uint32_t at, const char *format, ...)
{
    Buf text = { 0 };
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    Span span = { r->file->base + at, r->file->base + at + 1 };
    diag_report(r->diags, DIAG_IR_SYNTAX, span, "%s", text.at);
    buf_free(&text);
    return false;
}

void ir_text_blanks(IrReader *r)
{
    const char *text = r->file->text;
    while (text[r->at] == ' ' || text[r->at] == '\t' || text[r->at] == '\r')
        r->at++;
    if (text[r->at] == '#')
        while (text[r->at] != '\n' && r->at < r->file->len)
            r->at++;
}

void ir_text_lines(IrReader *r)
{
    ir_text_blanks(r);
    while (r->file->text[r->at] == '\n') {
        r->at++;
        ir_text_blanks(r);
    }
}

char ir_text_peek(IrReader *r)
{
    ir_text_blanks(r);
    return r->file->text[r->at];
}

bool ir_text_accept(IrReader *r, char c)
{
    if (ir_text_peek(r) != c)
        return false;
    r->at++;
    return true;
}

bool ir_text_expect(IrReader *r, char c)
{
    return ir_text_accept(r, c) || ir_text_fail(r, r->at, "expected '%c'", c);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

Str ir_text_word(IrReader *r)
{
    if (!is_letter(ir_text_peek(r)))
        return (Str){ NULL, 0 };
    const char *at = r->file->text + r->at;
    uint32_t len = 0;
    while (is_letter(at[len]) || is_digit(at[len]))
        len++;
    r->at += len;
    return (Str){ at, len };
}

bool ir_text_expect_word(IrReader *r, const char *word)
{
    ir_text_blanks(r);
    uint32_t at = r->at;
    return str_is(ir_text_word(r), word) || ir_text_fail(r, at, "expected '%s'", word);
}

/// An int64, or a uint64 by its bits. False when malformed or out of range.
static bool parse_int(const char *text, size_t len, int64_t *out)
{
    bool negative = len > 0 && text[0] == '-';
    uint64_t v = 0;
    size_t i = negative;
    if (i == len)
        return false;
    for (; i < len; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (!is_digit(text[i]) || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    if (negative && v > UINT64_C(1) << 63)
        return false;
    *out = (int64_t)(negative ? 0 - v : v);
    return true;
}

bool ir_text_int(IrReader *r, int64_t lo, int64_t hi, int64_t *out)
{
    ir_text_blanks(r);
    uint32_t begin = r->at;
    const char *text = r->file->text;
    r->at += text[r->at] == '-';
    while (is_digit(text[r->at]))
        r->at++;
    bool negative = text[begin] == '-';
    int64_t v;
    if (!parse_int(text + begin, r->at - begin, &v) || (!negative && v < 0) || v < lo || v > hi)
        return ir_text_fail(r, begin, "expected an integer from %" PRId64 " to %" PRId64, lo, hi);
    *out = v;
    return true;
}

bool ir_text_enum(IrReader *r, const char *const *words, int count, int *out)
{
    ir_text_blanks(r);
    uint32_t at = r->at;
    Str word = ir_text_word(r);
    for (*out = 0; *out < count; ++*out)
        if (str_is(word, words[*out]))
            return true;
    return ir_text_fail(r, at, "unknown word '%.*s'", (int)word.len, word.len ? word.at : "");
}

/* ---- types ---- */

static bool read_elem(IrReader *r, const Type **elem)
{
    bool is_ptr = ir_text_accept(r, '*');
    ir_text_blanks(r);
    uint32_t at = r->at;
    Str word = ir_text_word(r);
    bool is_const = is_ptr && str_is(word, "const");
    if (is_const) {
        ir_text_blanks(r);
        at = r->at;
        word = ir_text_word(r);
    }
    for (int k = 0; k < SCALAR_COUNT; k++) {
        if (str_is(word, scalar_info[k].ir)) {
            *elem = type_scalar(r->types, (ScalarKind)k);
            if (is_ptr)
                *elem = type_ptr(r->types, *elem, is_const);
            return true;
        }
    }
    return ir_text_fail(r, at, "expected a type");
}

static bool read_layout(IrReader *r, IrTypeText *out)
{
    uint32_t begin = r->at;
    r->at++;  // '@'
    if (!ir_text_expect(r, '['))
        return false;
    const char *text = r->file->text + r->at;
    uint32_t len = 0;
    for (int open = 1; open > 0; len++) {
        if (text[len] == '\n' || text[len] == 0)
            return ir_text_fail(r, begin, "a layout without its ']'");
        open += text[len] == '[';
        open -= text[len] == ']';
    }
    r->at += len;
    if (!r->layouts)
        return ir_text_fail(r, begin, "layouts are not read here");
    if (out->type->kind == TYPE_BLOCK)
        out->layout = r->layouts->read(r->layouts->cx, text, len - 1, out->type);
    return out->layout || ir_text_fail(r, begin, "not a layout of this type");
}

bool ir_text_type(IrReader *r, IrTypeText *out)
{
    int32_t shape[TYPE_MAX_RANK];
    unsigned rank = 0;
    int64_t numel = 1;
    *out = (IrTypeText){ NULL, NULL };
    ir_text_blanks(r);
    uint32_t begin = r->at;
    if (ir_text_accept(r, '(')) {
        do {
            int64_t extent;
            if (!ir_text_int(r, 1, TYPE_MAX_NUMEL, &extent))
                return false;
            if (rank == TYPE_MAX_RANK)
                return ir_text_fail(r, begin, "more than %d axes", TYPE_MAX_RANK);
            if ((extent & (extent - 1)) != 0 || numel * extent > TYPE_MAX_NUMEL)
                return ir_text_fail(r, begin, "not the shape of a block");
            shape[rank++] = (int32_t)extent;
            numel *= extent;
        } while (ir_text_accept(r, ','));
        if (!ir_text_expect(r, ')'))
            return false;
    }
    const Type *elem = NULL;
    if (!read_elem(r, &elem))
        return false;
    out->type = type_block(r->types, elem, rank, shape);
    return ir_text_peek(r) != '@' || read_layout(r, out);
}

bool ir_text_const(IrReader *r, Str literal, const Type *type, IrConst *out)
{
    uint32_t at = (uint32_t)(literal.at - r->file->text);
    if (type_is_bool(type)) {
        *out = ir_const_of_int(type, str_is(literal, "true"));
        if (str_is(literal, "true") || str_is(literal, "false"))
            return true;
    } else if (type_is_float(type) || type_is_fp8(type)) {
        const char *copy = arena_strndup(r->arena, literal.at, literal.len);
        char *end;
        *out = ir_const_of_float(type, strtod(copy, &end));
        if (*copy && !*end)
            return true;
    } else {
        int64_t v;
        if (parse_int(literal.at, literal.len, &v)) {
            *out = ir_const_of_int(type, v);
            return true;
        }
    }
    return ir_text_fail(r, at, "'%.*s' is not a constant of type '%s'", (int)literal.len,
                        literal.at, type_text(r->types, type));
}

/* ---- attributes ---- */

static bool hex4(const char *at, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = is_digit(c)            ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return false;
        *out = *out << 4 | digit;
    }
    return true;
}

static void put_utf8(Buf *b, uint32_t c)
{
    if (c < 0x80) {
        buf_putc(b, (char)c);
    } else if (c < 0x800) {
        buf_putc(b, (char)(0xc0 | c >> 6));
        buf_putc(b, (char)(0x80 | (c & 0x3f)));
    } else {
        buf_putc(b, (char)(0xe0 | c >> 12));
        buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_putc(b, (char)(0x80 | (c & 0x3f)));
    }
}

/// One escape of a JSON string, after its backslash; 0 characters taken means malformed.
static uint32_t read_escape(const char *at, Buf *b)
{
    static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
    const char *simple = *at ? strchr(from, *at) : NULL;
    uint32_t c;
    if (simple) {
        buf_putc(b, to[simple - from]);
        return 1;
    }
    if (*at != 'u' || !hex4(at + 1, &c) || c == 0)
        return 0;
    put_utf8(b, c);
    return 5;
}

static bool read_string(IrReader *r, const char **out)
{
    if (!ir_text_expect(r, '"'))
        return false;
    Buf b = { 0 };
    const char *text = r->file->text;
    uint32_t begin = r->at;
    while (text[r->at] != '"') {
        uint32_t taken = 1;
        if (text[r->at] == '\\')
            taken = 1 + read_escape(text + r->at + 1, &b);
        else
            buf_putc(&b, text[r->at]);
        if (text[r->at] == '\n' || text[r->at] == 0 || (text[r->at] == '\\' && taken == 1)) {
            buf_free(&b);
            return ir_text_fail(r, begin, "malformed string");
        }
        r->at += taken;
    }
    r->at++;
    *out = arena_strndup(r->arena, b.at ? b.at : "", b.len);
    buf_free(&b);
    return true;
}

static bool read_perm(IrReader *r, IrDraft *d)
{
    if (!ir_text_expect(r, '['))
        return false;
    for (d->perm_count = 0; d->perm_count < TYPE_MAX_RANK;) {
        int64_t axis;
        if (!ir_text_int(r, 0, TYPE_MAX_RANK - 1, &axis))
            return false;
        d->attr.perm[d->perm_count++] = (uint8_t)axis;
        if (!ir_text_accept(r, ','))
            break;
    }
    return ir_text_expect(r, ']');
}

typedef enum { FIELD_FLAG, FIELD_ENUM, FIELD_INT, FIELD_PERM, FIELD_TEXT } FieldKind;

typedef struct Field {
    const char *name;
    FieldKind kind;
    void *at;  // bool, enum (by its int), int32_t, uint16_t or uint8_t; see `size`
    size_t size;
    const char *const *words;  // ENUM
    int64_t hi;                // ENUM: word count - 1; INT: largest value
} Field;

/// Stores an int into the field's own type; enums have the size of an unsigned.
static void store_field(const Field *f, int64_t v)
{
    if (f->size == sizeof(uint8_t)) {
        *(uint8_t *)f->at = (uint8_t)v;
    } else if (f->size == sizeof(uint16_t)) {
        *(uint16_t *)f->at = (uint16_t)v;
    } else {
        int32_t narrow = (int32_t)v;
        memcpy(f->at, &narrow, sizeof narrow);
    }
}

static bool read_field(IrReader *r, IrDraft *d, const Field *f)
{
    if (f->kind == FIELD_FLAG) {
        *(bool *)f->at = true;
        return true;
    }
    if (!ir_text_expect(r, '='))
        return false;
    if (f->kind == FIELD_PERM)
        return read_perm(r, d);
    if (f->kind == FIELD_TEXT)
        return read_string(r, (const char **)f->at);
    int64_t v = 0;
    int word = 0;
    if (f->kind == FIELD_ENUM ? !ir_text_enum(r, f->words, (int)f->hi + 1, &word)
                              : !ir_text_int(r, 0, f->hi, &v))
        return false;
    store_field(f, f->kind == FIELD_ENUM ? word : v);
    return true;
}

#define FLAG(name, field)                                  \
    {                                                      \
        name, FIELD_FLAG, &(field), sizeof(field), NULL, 0 \
    }
#define ENUM(name, field, words)                                                            \
    {                                                                                       \
        name, FIELD_ENUM, &(field), sizeof(field), words, sizeof(words) / sizeof *(words)-1 \
    }
#define INT(name, field, hi)                               \
    {                                                      \
        name, FIELD_INT, &(field), sizeof(field), NULL, hi \
    }

enum { MAX_FIELDS = 16 };  // of a copy, and those of all

static uint32_t mem_fields(IrMem *mem, Field *out)
{
    uint32_t n = 0;
    out[n++] = (Field)ENUM("cache", mem->cache, ir_text_cache);
    out[n++] = (Field)ENUM("evict", mem->evict, ir_text_evict);
    out[n++] = (Field)FLAG("volatile", mem->is_volatile);
    out[n++] = (Field)INT("vec", mem->vec, 128);
    out[n++] = (Field)FLAG("contiguous", mem->contiguous);
    out[n++] = (Field)FLAG("aligned", mem->aligned);
    out[n++] = (Field)FLAG("mask_uniform", mem->mask_uniform);
    out[n++] = (Field)FLAG("aligned_alike", mem->aligned_alike);
    out[n++] = (Field)FLAG("mask_falls", mem->mask_falls);
    return n;
}

static uint32_t scan_fields(IrAttr *a, Field *out)
{
    out[0] = (Field)INT("axis", a->scan.axis, TYPE_MAX_RANK);
    out[1] = (Field)INT("bit", a->scan.bit, 32);
    out[2] = (Field)FLAG("reverse", a->scan.reverse);
    return 3;
}

/// The fields of this kind of attribute, then those that every operation may have.
static uint32_t attr_fields(IrDraft *d, Field *out)
{
    IrAttr *a = &d->attr;
    uint32_t n = 0;
    switch (ir_op_info[d->code].attr) {
    case ATTR_AXIS: out[n++] = (Field)INT("axis", a->axis, TYPE_MAX_RANK); break;
    case ATTR_PERM: out[n++] = (Field){ "perm", FIELD_PERM, a->perm, 0, NULL, 0 }; break;
    case ATTR_MEM: n = mem_fields(&a->mem, out); break;
    case ATTR_REDUCE:
        out[n++] = (Field)ENUM("kind", a->reduce.kind, ir_text_reduce);
        out[n++] = (Field)INT("axis", a->reduce.axis, TYPE_MAX_RANK);
        out[n++] = (Field)FLAG("propagate_nan", a->reduce.propagate_nan);
        out[n++] = (Field)FLAG("tie_break_left", a->reduce.tie_break_left);
        break;
    case ATTR_SCAN: n = scan_fields(a, out); break;
    case ATTR_ATOMIC:
        out[n++] = (Field)ENUM("kind", a->atomic.kind, ir_text_atomic);
        out[n++] = (Field)ENUM("order", a->atomic.order, ir_text_order);
        out[n++] = (Field)ENUM("scope", a->atomic.scope, ir_text_scope);
        break;
    case ATTR_NAN: out[n++] = (Field)FLAG("propagate_nan", a->propagate_nan); break;
    case ATTR_CAST: out[n++] = (Field)FLAG("rtz", a->round_to_zero); break;
    case ATTR_TEXT: out[n++] = (Field){ "text", FIELD_TEXT, &a->text, 0, NULL, 0 }; break;
    case ATTR_BARRIER: out[n++] = (Field)FLAG("from_user", a->from_user); break;
    case ATTR_DOT:
        out[n++] = (Field)ENUM("precision", a->dot.precision, ir_text_precision);
        out[n++] = (Field)INT("mma", a->dot.mma, 128);
        out[n++] = (Field)FLAG("wgmma", a->dot.wgmma);
        out[n++] = (Field)FLAG("async", a->dot.async);
        out[n++] = (Field)FLAG("carried", a->dot.carried);
        break;
    case ATTR_LOOP: out[n++] = (Field)INT("num_stages", a->num_stages, UINT8_MAX); break;
    case ATTR_RING: out[n++] = (Field)INT("ring", d->ring, UINT16_MAX); break;
    case ATTR_COPY:
        n = mem_fields(&a->copy.mem, out);
        out[n++] = (Field)INT("ring", a->copy.ring, UINT16_MAX);
        out[n++] = (Field)FLAG("ordered", a->copy.ordered);
        out[n++] = (Field)FLAG("tf32", a->copy.tf32);
        break;
    case ATTR_GROUPS: out[n++] = (Field)INT("groups", a->groups, UINT8_MAX); break;
    case ATTR_PIPE:
        out[n++] = (Field)INT("pipe", a->pipe.pipe, UINT16_MAX);
        out[n++] = (Field)INT("ring", a->pipe.ring, UINT16_MAX);
        out[n++] = (Field)INT("map", a->pipe.map, UINT16_MAX);
        out[n++] = (Field)FLAG("evict_first", a->pipe.evict_first);
        out[n++] = (Field)FLAG("multicast", a->pipe.multicast);
        break;
    case ATTR_NONE:
    case ATTR_CONST:
    case ATTR_RANGE: break;
    }
    out[n++] = (Field)INT("smem", d->smem, INT32_MAX);
    out[n++] = (Field)INT("smem_bytes", d->smem_bytes, INT32_MAX);
    out[n++] = (Field)INT("smem_turn", d->smem_turn, INT32_MAX);
    out[n++] = (Field)FLAG("smem_by_warp", d->smem_by_warp);
    return n;
}

bool ir_text_attrs(IrReader *r, IrDraft *d)
{
    Field fields[MAX_FIELDS];
    uint32_t count = attr_fields(d, fields);
    do {
        ir_text_blanks(r);
        uint32_t at = r->at, i = 0;
        Str name = ir_text_word(r);
        while (i < count && !str_is(name, fields[i].name))
            i++;
        if (i == count)
            return ir_text_fail(r, at, "'%s' has no attribute '%.*s'", ir_op_info[d->code].mnemonic,
                                (int)name.len, name.len ? name.at : "");
        if (!read_field(r, d, &fields[i]))
            return false;
    } while (ir_text_accept(r, ','));
    return ir_text_expect(r, '}');
}
