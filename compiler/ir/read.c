// read.c - reads the text form of block IR, for --run-pass and for tests.
//
//   function  = "func" "@" name "(" [param {"," param}] ")" {option} region
//   option    = word | word "=" number
//             | ("ring" | "map") "[" type {word "=" number} "]" | "pipe" "[" {word "=" number} "]"
//   param     = argument ["{" fact {"," fact} "}"]
//   argument  = value ":" type
//   type      = ["(" extent {"," extent} ")"] ["*" ["const"]] scalar ["@[" layout "]"]
//   region    = "{" {operation newline} "}"
//   operation = [value {"," value} "="] mnemonic [operand {"," operand}] ["{" attributes "}"]
//               [":" type {"," type}] [block [("do" | "else") block]]
//   block     = ["(" argument {"," argument} ")"] region
//   operand   = [name "="] value; the numbers of const and arange stand in their place
//
// A value is '%' and letters, digits, '_' and '.'; `%acc.12` and `%acc` both hint at the name acc.
// '#' begins a comment. Only what the data structure needs is checked here.
#include "ir/text_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { READ_MAX_DEPTH = 64 };

/* ---- names of values ---- */

static IrName *find_name(IrName *names, uint32_t cap, Sym full)
{
    uint32_t at = full->hash & (cap - 1);
    while (names[at].full && names[at].full != full)
        at = (at + 1) & (cap - 1);
    return &names[at];
}

static void grow_names(IrReader *r)
{
    uint32_t cap = r->name_cap ? 2 * r->name_cap : 64;
    IrName *names = ARENA_NEW_N(r->arena, IrName, cap);
    for (uint32_t i = 0; i < r->name_cap; i++)
        if (r->names[i].full)
            *find_name(names, cap, r->names[i].full) = r->names[i];
    r->names = names;
    r->name_cap = cap;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

static bool read_name(IrReader *r, char sigil, Sym *out)
{
    if (!ir_text_expect(r, sigil))
        return false;
    const char *at = r->file->text + r->at;
    uint32_t len = 0;
    while (is_name_char(at[len]))
        len++;
    if (len == 0)
        return ir_text_fail(r, r->at, "expected a name after '%c'", sigil);
    r->at += len;
    *out = sym_intern(r->syms, at, len);
    return true;
}

/// The user's part of a value's name: without the number after the last '.', NULL if nothing else.
static Sym hint_of(IrReader *r, Sym full)
{
    uint32_t digits = 0;
    while (digits < full->len && full->text[full->len - 1 - digits] >= '0' &&
           full->text[full->len - 1 - digits] <= '9')
        digits++;
    uint32_t len = full->len - digits;
    if (len == 0)
        return NULL;
    if (digits == 0 || full->text[len - 1] != '.')
        return full;
    return len > 1 ? sym_intern(r->syms, full->text, len - 1) : NULL;
}

static bool define(IrReader *r, uint32_t at, Sym full, IrValue *v)
{
    if (2 * (r->name_count + 1) > r->name_cap)
        grow_names(r);
    IrName *slot = find_name(r->names, r->name_cap, full);
    if (slot->full)
        return ir_text_fail(r, at, "'%%%s' is defined twice", full->text);
    *slot = (IrName){ full, v };
    r->name_count++;
    return true;
}

static bool read_value(IrReader *r, IrValue **out)
{
    Sym full;
    ir_text_blanks(r);
    uint32_t at = r->at;
    if (!read_name(r, '%', &full))
        return false;
    const IrName *slot = r->name_cap ? find_name(r->names, r->name_cap, full) : NULL;
    if (!slot || !slot->full)
        return ir_text_fail(r, at, "'%%%s' is not defined", full->text);
    *out = slot->value;
    return true;
}

/// `%name: type` as a new argument of `b`, or a new parameter when `b` is the function's body.
static bool read_argument(IrReader *r, IrBlock *b)
{
    Sym full = NULL;
    IrTypeText type = { 0 };
    ir_text_lines(r);
    uint32_t at = r->at;
    if (!read_name(r, '%', &full) || !ir_text_expect(r, ':') || !ir_text_type(r, &type))
        return false;
    assert(full);
    Sym hint = hint_of(r, full);
    IrValue *v = b == r->fn->body ? ir_func_param(r->fn, hint ? hint : full, type.type)
                                  : ir_block_arg(r->fn, b, type.type, hint);
    v->layout = type.layout;
    return define(r, at, full, v);
}

/* ---- operations ---- */

static bool read_number_operands(IrReader *r, IrDraft *d)
{
    if (d->code == IR_ARANGE)
        return ir_text_int(r, INT32_MIN, INT32_MAX, &d->attr.range.lo) && ir_text_expect(r, ',') &&
               ir_text_int(r, INT32_MIN, (int64_t)INT32_MAX + 1, &d->attr.range.hi);
    ir_text_blanks(r);
    const char *at = r->file->text + r->at;
    uint32_t len = 0;
    while (is_name_char(at[len]) || at[len] == '-' || at[len] == '+')
        len++;
    d->literal = (Str){ at, len };
    r->at += len;
    return true;
}

static bool read_named_operand(IrReader *r, IrDraft *d, const IrArity *arity)
{
    uint32_t at = r->at;
    Str name = ir_text_word(r);
    for (uint32_t i = 0; i < arity->optional; i++) {
        if (!str_is(name, arity->optional_names[i]))
            continue;
        if (d->args.at[arity->required + i])
            return ir_text_fail(r, at, "'%.*s' is given twice", (int)name.len, name.at);
        return ir_text_expect(r, '=') && read_value(r, &d->args.at[arity->required + i]);
    }
    return ir_text_fail(r, at, "'%s' has no operand '%.*s'", ir_op_info[d->code].mnemonic,
                        (int)name.len, name.at);
}

static bool read_operands(IrReader *r, IrDraft *d)
{
    IrArity arity = ir_arity(d->code);
    uint32_t given = 0;
    if (d->code == IR_CONST || d->code == IR_ARANGE)
        return read_number_operands(r, d);
    for (int i = 0; i < arity.required + arity.optional; i++)
        VEC_PUSH(r->arena, &d->args, NULL);
    char c = ir_text_peek(r);
    while (c != '\n' && c != '{' && c != '}' && c != ':' && c != '(' && c != 0) {
        if (c != '%') {
            if (!read_named_operand(r, d, &arity))
                return false;
        } else {
            uint32_t at = r->at;
            IrValue *v;
            if (!read_value(r, &v))
                return false;
            if (given < arity.required) {
                assert(given < d->args.len);
                d->args.at[given] = v;
            } else if (arity.variadic) {
                VEC_PUSH(r->arena, &d->args, v);
            } else {
                return ir_text_fail(r, at, "'%s' takes %d operands", ir_op_info[d->code].mnemonic,
                                    arity.required);
            }
            given++;
        }
        if (!ir_text_accept(r, ','))
            break;
        c = ir_text_peek(r);
    }
    return given >= arity.required || ir_text_fail(r, d->at, "'%s' takes %d operands",
                                                   ir_op_info[d->code].mnemonic, arity.required);
}

static bool read_types(IrReader *r, IrDraft *d)
{
    uint32_t wanted = d->result_names.len;
    if (wanted > 0) {
        if (!ir_text_expect(r, ':'))
            return false;
        do {
            IrTypeText type;
            if (!ir_text_type(r, &type))
                return false;
            VEC_PUSH(r->arena, &d->types, type);
        } while (d->types.len < wanted && ir_text_accept(r, ','));
    }
    if (d->types.len != wanted)
        return ir_text_fail(r, d->at, "%" PRIu32 " results and %" PRIu32 " types", wanted,
                            d->types.len);
    IrArity arity = ir_arity(d->code);
    if (!arity.variadic && wanted != arity.results)
        return ir_text_fail(r, d->at, "'%s' has %d results", ir_op_info[d->code].mnemonic,
                            arity.results);
    return true;
}

static bool read_head(IrReader *r, IrDraft *d)
{
    d->at = r->at;
    d->smem = -1;
    if (ir_text_peek(r) == '%') {
        do {
            Sym full;
            if (!read_name(r, '%', &full))
                return false;
            VEC_PUSH(r->arena, &d->result_names, full);
        } while (ir_text_accept(r, ','));
        if (!ir_text_expect(r, '='))
            return false;
    }
    ir_text_blanks(r);
    uint32_t at = r->at;
    Str word = ir_text_word(r);
    if (word.len == 0)
        return ir_text_fail(r, at, "expected an operation");
    d->code = ir_code_find(arena_strndup(r->arena, word.at, word.len));
    if (d->code == IR_CODE_COUNT)
        return ir_text_fail(r, at, "there is no operation '%.*s'", (int)word.len, word.at);
    return true;
}

static bool read_region(IrReader *r, IrBlock *b);

static bool read_blocks(IrReader *r, IrOp *op)
{
    for (uint32_t i = 0; i < op->regionc; i++) {
        if (i > 0 && !ir_text_expect_word(r, op->code == IR_WHILE ? "do" : "else"))
            return false;
        if (ir_text_accept(r, '(')) {
            do {
                if (!read_argument(r, op->regions[i]))
                    return false;
            } while (ir_text_accept(r, ','));
            if (!ir_text_expect(r, ')'))
                return false;
        }
        if (!read_region(r, op->regions[i]))
            return false;
    }
    return true;
}

/// Makes the operation of a finished draft, at the end of `b`.
static IrOp *make_op(IrReader *r, IrDraft *d, IrBlock *b)
{
    const Type **types = ARENA_NEW_N(r->arena, const Type *, d->types.len);
    for (uint32_t i = 0; i < d->types.len; i++)
        types[i] = d->types.at[i].type;
    Span span = { r->file->base + d->at, r->file->base + r->at };
    IrBuilder builder = { .fn = r->fn, .block = b, .span = span };
    IrOp *op = ir_op(&builder, d->code, d->args.len, d->args.at, (IrResults){ d->types.len, types },
                     ir_arity(d->code).regions);
    op->attr = d->attr;
    if (ir_op_info[d->code].attr == ATTR_RING)
        op->attr.ring = (uint16_t)d->ring;
    op->smem = d->smem;
    op->smem_bytes = d->smem_bytes;
    op->smem_turn = d->smem_turn;
    op->smem_by_warp = d->smem_by_warp;
    for (uint32_t i = 0; i < d->types.len; i++) {
        op->results[i]->hint = hint_of(r, d->result_names.at[i]);
        op->results[i]->layout = d->types.at[i].layout;
    }
    return op;
}

/// A '{' begins attributes, or the first region of an operation that has regions: attributes are
/// words with values.
static bool attrs_follow(IrReader *r, const IrDraft *d)
{
    if (ir_text_peek(r) != '{')
        return false;
    if (ir_arity(d->code).regions == 0)
        return true;
    const char *at = r->file->text + r->at + 1;
    at += strspn(at, " ");
    return at[strspn(at, "_abcdefghijklmnopqrstuvwxyz")] == '=';
}

static bool read_op(IrReader *r, IrBlock *b)
{
    IrDraft d = { .at = 0 };
    if (!read_head(r, &d) || !read_operands(r, &d))
        return false;
    if (attrs_follow(r, &d) && ir_text_accept(r, '{') && !ir_text_attrs(r, &d))
        return false;
    if (!read_types(r, &d))
        return false;
    assert(d.types.at || (d.code != IR_CONST && d.code != IR_TRANS));  // they have a result
    if (d.code == IR_CONST && !ir_text_const(r, d.literal, d.types.at[0].type, &d.attr.konst))
        return false;
    if (d.code == IR_TRANS && d.perm_count != type_rank(d.types.at[0].type))
        return ir_text_fail(r, d.at, "perm has %" PRIu32 " entries for %u axes", d.perm_count,
                            type_rank(d.types.at[0].type));
    IrOp *op = make_op(r, &d, b);
    for (uint32_t i = 0; i < d.types.len; i++)
        if (!define(r, d.at, d.result_names.at[i], op->results[i]))
            return false;
    return read_blocks(r, op);
}

static bool read_region(IrReader *r, IrBlock *b)
{
    if (!ir_text_expect(r, '{'))
        return false;
    if (++r->depth > READ_MAX_DEPTH)
        return ir_text_fail(r, r->at, "regions nest more than %d deep", READ_MAX_DEPTH);
    for (;;) {
        ir_text_lines(r);
        if (ir_text_accept(r, '}'))
            break;
        if (!read_op(r, b))
            return false;
        char after = ir_text_peek(r);
        if (after != '\n' && after != '}')
            return ir_text_fail(r, r->at, "expected the end of the line");
    }
    r->depth--;
    return true;
}

/* ---- functions ---- */

static bool read_param_fact(IrReader *r, IrParam *p)
{
    int64_t v;
    ir_text_blanks(r);
    uint32_t at = r->at;
    Str name = ir_text_word(r);
    if (str_is(name, "const")) {
        p->is_const = true;
        return true;
    }
    if (!ir_text_expect(r, '='))
        return false;
    if (str_is(name, "divisor"))
        return ir_text_int(r, 1, INT64_MAX, &p->divisor);
    if (str_is(name, "index")) {
        bool ok = ir_text_int(r, 0, INT32_MAX, &v);
        p->source_index = ok ? (uint32_t)v : 0;
        return ok;
    }
    if (str_is(name, "programs")) {
        bool ok = ir_text_int(r, 0, 2, &v);
        p->grid_axis = ok ? (uint8_t)(v + 1) : 0;
        return ok;
    }
    if (str_is(name, "range")) {
        p->has_range = true;
        return ir_text_expect(r, '[') && ir_text_int(r, INT64_MIN, INT64_MAX, &p->lo) &&
               ir_text_expect(r, ',') && ir_text_int(r, p->lo, INT64_MAX, &p->hi) &&
               ir_text_expect(r, ']');
    }
    return ir_text_fail(r, at, "'%.*s' is no fact about a parameter", (int)name.len,
                        name.len ? name.at : "");
}

static bool read_params(IrReader *r)
{
    if (!ir_text_expect(r, '('))
        return false;
    ir_text_lines(r);
    if (ir_text_accept(r, ')'))
        return true;
    do {
        if (!read_argument(r, r->fn->body))
            return false;
        if (!ir_text_accept(r, '{'))
            continue;
        do {
            if (!read_param_fact(r, &r->fn->params[r->fn->body->argc - 1]))
                return false;
        } while (ir_text_accept(r, ','));
        if (!ir_text_expect(r, '}'))
            return false;
    } while (ir_text_accept(r, ','));
    ir_text_lines(r);
    return ir_text_expect(r, ')');
}

/// One of the numbers that `[name=number ...]` may hold.
typedef struct Number {
    const char *name;
    int64_t hi, value;
} Number;

/// Up to and with the bracket that closes.
static bool read_numbers(IrReader *r, const char *what, Number *numbers, unsigned count)
{
    while (!ir_text_accept(r, ']')) {
        ir_text_blanks(r);
        const uint32_t at = r->at;
        const Str word = ir_text_word(r);
        unsigned i = 0;
        while (i < count && !str_is(word, numbers[i].name))
            i++;
        if (i == count)
            return ir_text_fail(r, at, "'%.*s' is nothing that a %s has", (int)word.len, word.at,
                                what);
        if (!ir_text_expect(r, '=') || !ir_text_int(r, 0, numbers[i].hi, &numbers[i].value))
            return false;
    }
    return true;
}

static bool read_ring(IrReader *r)
{
    IrTypeText type;
    Number n[] = { { "stages", 255, 1 },
                   { "fast", 255, 0 },
                   { "smem", INT32_MAX, 0 },
                   { "bytes", INT32_MAX, 0 },
                   { "loose", 1, 0 },
                   { "tf32", 1, 0 } };
    if (!ir_text_expect(r, '[') || !ir_text_type(r, &type) || !read_numbers(r, "ring", n, 6))
        return false;
    const uint16_t index =
        ir_add_ring(r->fn, type.type, (unsigned)n[0].value, (unsigned)n[1].value);
    r->fn->rings[index].smem = (uint32_t)n[2].value;
    r->fn->rings[index].bytes = (uint32_t)n[3].value;
    r->fn->rings[index].loose = n[4].value != 0;
    r->fn->rings[index].tf32 = n[5].value != 0;
    return true;
}

static bool read_pipe(IrReader *r)
{
    Number n[] = { { "stages", 255, 1 }, { "bytes", INT32_MAX, 0 }, { "smem", INT32_MAX, 0 } };
    if (!ir_text_expect(r, '[') || !read_numbers(r, "pipe", n, 3))
        return false;
    ir_add_pipe(r->fn, (IrPipe){ .stages = (uint16_t)n[0].value,
                                 .bytes = (uint32_t)n[1].value,
                                 .smem = (uint32_t)n[2].value });
    return true;
}

static bool read_map(IrReader *r)
{
    IrTypeText type;
    Number n[] = { { "param", INT32_MAX, 0 }, { "swizzle", 128, 0 }, { "box0", 256, 0 },
                   { "box1", 256, 0 },        { "box2", 256, 0 },    { "box3", 256, 0 },
                   { "box4", 256, 0 },        { "tf32", 1, 0 } };
    if (!ir_text_expect(r, '[') || !ir_text_type(r, &type) || !read_numbers(r, "map", n, 8))
        return false;
    IrTensorMap map = { .elem = type.type,
                        .param = (uint32_t)n[0].value,
                        .swizzle = (uint8_t)n[1].value,
                        .tf32 = n[7].value != 0 };
    while (map.rank < IR_MAP_MAX_RANK && n[2 + map.rank].value > 0) {
        map.box[map.rank] = (uint16_t)n[2 + map.rank].value;
        map.rank++;
    }
    ir_add_map(r->fn, &map);
    return true;
}

static bool read_option(IrReader *r)
{
    IrFunc *fn = r->fn;
    int64_t v = 0;
    uint32_t at = r->at;
    Str word = ir_text_word(r);
    if (str_is(word, "index64") || str_is(word, "layouts") || str_is(word, "persistent")) {
        fn->index64 |= str_is(word, "index64");
        fn->has_layouts |= str_is(word, "layouts");
        fn->is_persistent |= str_is(word, "persistent");
        return true;
    }
    if (str_is(word, "ring"))
        return read_ring(r);
    if (str_is(word, "pipe"))
        return read_pipe(r);
    if (str_is(word, "map"))
        return read_map(r);
    bool warps = str_is(word, "num_warps"), stages = str_is(word, "num_stages"),
         reserved = str_is(word, "reserved");
    const bool teams = str_is(word, "teams"), ctas = str_is(word, "num_ctas");
    if (!warps && !stages && !reserved && !teams && !ctas && !str_is(word, "smem"))
        return ir_text_fail(r, at, "'%.*s' is no option of a function", (int)word.len, word.at);
    if (!ir_text_expect(r, '=') || !ir_text_int(r, 0, warps || stages ? 1024 : INT32_MAX, &v))
        return false;
    if (warps)
        fn->num_warps = (uint16_t)v;
    else if (stages)
        fn->num_stages = (uint16_t)v;
    else if (teams)
        fn->teams = (uint16_t)v;
    else if (ctas)
        fn->num_ctas = (uint16_t)v;
    else if (reserved)
        fn->smem_reserved = (uint32_t)v;
    else
        fn->smem_bytes = (uint32_t)v;
    return true;
}

static bool read_func(IrReader *r)
{
    ir_text_lines(r);
    uint32_t at = r->at;
    if (!ir_text_expect_word(r, "func") || !read_name(r, '@', &r->fn->name) || !read_params(r))
        return false;
    r->fn->span = (Span){ r->file->base + at, r->file->base + r->at };
    while (ir_text_peek(r) != '{') {
        char c = ir_text_peek(r);
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'))
            return ir_text_fail(r, r->at, "expected '{'");
        if (!read_option(r))
            return false;
    }
    if (!read_region(r, r->fn->body))
        return false;
    ir_text_lines(r);
    return r->at >= r->file->len || ir_text_fail(r, r->at, "text after the function");
}

IrFunc *ir_read(Arena *a, TypeTable *types, SymTable *syms, const SourceFile *file,
                const IrLayoutText *layouts, DiagSink *diags)
{
    IrReader r = {
        .arena = a, .types = types, .syms = syms, .file = file, .layouts = layouts, .diags = diags
    };
    r.fn = ir_func_new(a, types, syms, NULL);
    return read_func(&r) ? r.fn : NULL;
}

IrCode ir_code_find(const char *mnemonic)
{
    for (int code = 0; code < IR_CODE_COUNT; code++)
        if (strcmp(ir_op_info[code].mnemonic, mnemonic) == 0)
            return (IrCode)code;
    return IR_CODE_COUNT;
}
