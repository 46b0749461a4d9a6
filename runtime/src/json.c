/// JSON trees: parser, writer, and the little editing that tuning stores need.
#include "json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, LINE_MAX_LENGTH = 100 };

/* ---- trees ---- */

static char *copy_text(const char *text, size_t len)
{
    char *out = malloc(len + 1);
    if (!out)
        return NULL;
    memcpy(out, text, len);
    out[len] = '\0';
    return out;
}

Json *newti_json_new(JsonKind kind, const char *text)
{
    Json *json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    json->kind = kind;
    if (text && !(json->text = copy_text(text, strlen(text)))) {
        free(json);
        return NULL;
    }
    return json;
}

void newti_json_free(Json *tree)
{
    if (!tree)
        return;
    for (Json *at = tree->first; at;) {
        Json *next = at->next;
        newti_json_free(at);
        at = next;
    }
    free(tree->key);
    free(tree->text);
    free(tree);
}

Json *newti_json_get(const Json *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (Json *at = object->first; at; at = at->next)
        if (strcmp(at->key, key) == 0)
            return at;
    return NULL;
}

const char *newti_json_text(const Json *object, const char *key)
{
    const Json *at = newti_json_get(object, key);
    return at && at->kind == JSON_STRING ? at->text : NULL;
}

double newti_json_number(const Json *object, const char *key, double otherwise)
{
    const Json *at = newti_json_get(object, key);
    return at && at->kind == JSON_NUMBER ? strtod(at->text, NULL) : otherwise;
}

void newti_json_remove(Json *object, const char *key)
{
    Json *before = NULL;
    for (Json *at = object->first; at; before = at, at = at->next) {
        if (strcmp(at->key, key) != 0)
            continue;
        if (before)
            before->next = at->next;
        else
            object->first = at->next;
        if (object->last == at)
            object->last = before;
        newti_json_free(at);
        return;
    }
}

static void append(Json *parent, Json *value)
{
    if (parent->last)
        parent->last->next = value;
    else
        parent->first = value;
    parent->last = value;
}

bool newti_json_put(Json *parent, const char *key, Json *value)
{
    if (!value)
        return false;
    if (parent->kind == JSON_OBJECT) {
        free(value->key);
        value->key = copy_text(key, strlen(key));
        if (!value->key) {
            newti_json_free(value);
            return false;
        }
        for (Json **at = &parent->first; *at; at = &(*at)->next) {
            Json *old = *at;
            if (strcmp(old->key, key) != 0)
                continue;
            value->next = old->next;  // in the place of the old one
            *at = value;
            if (parent->last == old)
                parent->last = value;
            newti_json_free(old);
            return true;
        }
    }
    append(parent, value);
    return true;
}

bool newti_json_put_text(Json *object, const char *key, const char *text)
{
    return newti_json_put(object, key, newti_json_new(JSON_STRING, text));
}

bool newti_json_put_number(Json *object, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    return newti_json_put(object, key,
                          isfinite(value) ? newti_json_new(JSON_NUMBER, text)
                                          : newti_json_new(JSON_NULL, NULL));
}

Json *newti_json_member(Json *object, const char *key, JsonKind kind)
{
    Json *at = newti_json_get(object, key);
    if (at && at->kind == kind)
        return at;
    at = newti_json_new(kind, NULL);
    return newti_json_put(object, key, at) ? at : NULL;
}

/* ---- reading ---- */

typedef struct Reader {
    const char *at, *end;
} Reader;

static Json *read_value(Reader *r, int depth);

static void skip_space(Reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(Reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(Reader *r, const char *word)
{
    const size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

static bool read_hex(Reader *r, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        if (r->at == r->end)
            return false;
        const char c = *r->at++;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

/// What stands behind a backslash; NULL when it means nothing. \u0000 would end the text early.
static char *read_escape(Reader *r, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end)
        return NULL;
    const char c = *r->at++;
    const char *known = memchr(from, c, sizeof from - 1);
    if (known) {
        *out = to[known - from];
        return out + 1;
    }
    uint32_t code, low;
    if (c != 'u' || !read_hex(r, &code) || code == 0)
        return NULL;
    if (code >= 0xD800 && code < 0xDC00) {
        if (!take_word(r, "\\u") || !read_hex(r, &low) || low < 0xDC00 || low >= 0xE000)
            return NULL;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    return put_utf8(out, code);
}

/// A string behind its opening quote; decoded it is never longer.
static char *read_string(Reader *r)
{
    const char *close = r->at;
    while (close < r->end && *close != '"')
        close += *close == '\\' && close + 1 < r->end ? 2 : 1;
    if (close >= r->end)
        return NULL;
    char *text = malloc((size_t)(close - r->at) + 1), *out = text;
    while (text && r->at < close) {
        if ((unsigned char)*r->at < 0x20)
            out = NULL;
        else if (*r->at != '\\')
            *out++ = *r->at++;
        else if (r->at++, !(out = read_escape(r, out)))
            break;
        if (!out)
            break;
    }
    if (!text || !out) {
        free(text);
        return NULL;
    }
    *out = '\0';
    r->at = close + 1;
    return text;
}

static Json *read_number(Reader *r)
{
    static const char marks[] = "+-.eE0123456789";
    const char *start = r->at;
    while (r->at < r->end && memchr(marks, *r->at, sizeof marks - 1))
        r->at++;
    char *text = copy_text(start, (size_t)(r->at - start)), *end = NULL;
    if (text && r->at > start)
        strtod(text, &end);
    Json *out = end && *end == '\0' ? newti_json_new(JSON_NUMBER, text) : NULL;
    free(text);
    return out;
}

/// Members behind the opening bracket.
static Json *read_members(Reader *r, JsonKind kind, int depth)
{
    const char close = kind == JSON_OBJECT ? '}' : ']';
    Json *out = newti_json_new(kind, NULL);
    bool ok = out != NULL;
    for (bool first = true; ok && !take(r, close); first = false) {
        char *key = NULL;
        ok = first || take(r, ',');
        if (ok && kind == JSON_OBJECT) {
            ok = take(r, '"') && (key = read_string(r)) && take(r, ':');
        }
        Json *value = ok ? read_value(r, depth + 1) : NULL;
        ok = newti_json_put(out, key, value);
        free(key);
    }
    if (ok)
        return out;
    newti_json_free(out);
    return NULL;
}

static Json *read_value(Reader *r, int depth)
{
    skip_space(r);
    if (r->at == r->end || depth > DEPTH_MAX)
        return NULL;
    switch (*r->at) {
    case '{': r->at++; return read_members(r, JSON_OBJECT, depth);
    case '[': r->at++; return read_members(r, JSON_ARRAY, depth);
    case '"': {
        r->at++;
        char *text = read_string(r);
        Json *out = text ? newti_json_new(JSON_STRING, text) : NULL;
        free(text);
        return out;
    }
    case 'n': return take_word(r, "null") ? newti_json_new(JSON_NULL, NULL) : NULL;
    case 't': return take_word(r, "true") ? newti_json_new(JSON_TRUE, NULL) : NULL;
    case 'f': return take_word(r, "false") ? newti_json_new(JSON_FALSE, NULL) : NULL;
    default: return read_number(r);
    }
}

Json *newti_json_read(const char *text, size_t len)
{
    Reader r = { text, text + len };
    Json *out = read_value(&r, 0);
    skip_space(&r);
    if (out && r.at == r.end)
        return out;
    newti_json_free(out);
    return NULL;
}

/* ---- writing ---- */

typedef struct Writer {
    char *text;
    size_t len, size;
    bool failed;
} Writer;

static void put(Writer *w, const char *text, size_t len)
{
    if (w->len + len + 1 > w->size) {
        const size_t size = 2 * (w->len + len + 64);
        char *more = w->failed ? NULL : realloc(w->text, size);
        if (!more) {
            w->failed = true;
            return;
        }
        w->text = more;
        w->size = size;
    }
    memcpy(w->text + w->len, text, len);
    w->len += len;
    w->text[w->len] = '\0';
}

static void put_string(Writer *w, const char *text)
{
    put(w, "\"", 1);
    for (; *text; text++) {
        char escape[8];
        const unsigned char c = (unsigned char)*text;
        int len = 0;
        if (c == '"' || c == '\\')
            len = snprintf(escape, sizeof escape, "\\%c", c);
        else if (c < 0x20)
            len = snprintf(escape, sizeof escape, "\\u%04x", c);
        if (len)
            put(w, escape, (size_t)len);
        else
            put(w, text, 1);
    }
    put(w, "\"", 1);
}

static void write_flat(Writer *w, const Json *json)
{
    static const char *const words[] = { "null", "false", "true" };
    const bool is_object = json->kind == JSON_OBJECT;
    switch (json->kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE: put(w, words[json->kind], strlen(words[json->kind])); return;
    case JSON_NUMBER: put(w, json->text, strlen(json->text)); return;
    case JSON_STRING: put_string(w, json->text); return;
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    }
    put(w, is_object ? "{" : "[", 1);
    for (const Json *at = json->first; at; at = at->next) {
        put(w, at == json->first ? (is_object ? " " : "") : ", ",
            at == json->first ? is_object : 2);
        if (is_object) {
            put_string(w, at->key);
            put(w, ": ", 2);
        }
        write_flat(w, at);
    }
    put(w, is_object ? (json->first ? " }" : "}") : "]", is_object && json->first ? 2 : 1);
}

static void put_indent(Writer *w, int depth)
{
    put(w, "\n", 1);
    for (int i = 0; i < depth; i++)
        put(w, "  ", 2);
}

static void write_value(Writer *w, const Json *json, int depth)
{
    const size_t before = w->len;
    write_flat(w, json);
    // The document itself is always spread, whatever its length.
    const bool fits = depth > 0 && w->len - before + 2 * (size_t)depth <= LINE_MAX_LENGTH;
    if (w->failed || fits || !json->first)
        return;
    const bool is_object = json->kind == JSON_OBJECT;
    w->len = before;
    put(w, is_object ? "{" : "[", 1);
    for (const Json *at = json->first; at; at = at->next) {
        if (at != json->first)
            put(w, ",", 1);
        put_indent(w, depth + 1);
        if (is_object) {
            put_string(w, at->key);
            put(w, ": ", 2);
        }
        write_value(w, at, depth + 1);
    }
    put_indent(w, depth);
    put(w, is_object ? "}" : "]", 1);
}

char *newti_json_write(const Json *tree)
{
    Writer w = { 0 };
    write_value(&w, tree, 0);
    put(&w, "\n", 1);
    if (!w.failed)
        return w.text;
    free(w.text);
    return NULL;
}
