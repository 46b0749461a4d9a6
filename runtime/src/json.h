/// JSON as a tree that keeps what it does not understand: members in their order, numbers as
/// written.
///
/// Used by libnewt for tuning stores and by newtc for the same files, so it needs nothing but libc.
#ifndef NEWT_SRC_JSON_H
#define NEWT_SRC_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum JsonKind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,  ///< `text` as written
    JSON_STRING,  ///< `text` decoded, UTF-8
    JSON_ARRAY,
    JSON_OBJECT
} JsonKind;

typedef struct Json {
    JsonKind kind;
    char *key;   ///< of a member of an object, else NULL
    char *text;  ///< of a number or string
    struct Json *first, *last, *next;
} Json;

/// Parses a whole document; NULL when it is none (also when it is nested too deep or memory is
/// out).
Json *newti_json_read(const char *text, size_t len);
void newti_json_free(Json *tree);  ///< NULL is fine

/// The member of an object, or NULL (also for a NULL or another kind of `object`).
Json *newti_json_get(const Json *object, const char *key);
/// The text of a string member, or NULL.
const char *newti_json_text(const Json *object, const char *key);
/// The value of a number member, or `otherwise`.
double newti_json_number(const Json *object, const char *key, double otherwise);

/// Makes a value; NULL when memory is out.
Json *newti_json_new(JsonKind kind, const char *text);
/// Adds `value` to an array, or to an object under `key`, in place of a member of that name. Takes
/// `value` over. False when `value` is NULL or memory is out; `value` is then freed.
bool newti_json_put(Json *parent, const char *key, Json *value);
bool newti_json_put_text(Json *object, const char *key, const char *text);
bool newti_json_put_number(Json *object, const char *key, double value);
/// The member `key`, made with `kind` when there is none of that kind; NULL when memory is out.
Json *newti_json_member(Json *object, const char *key, JsonKind kind);
void newti_json_remove(Json *object, const char *key);

/// The document as text with two spaces of indentation and a final newline, to be freed; NULL when
/// memory is out. What fits a line stays on one.
char *newti_json_write(const Json *tree);
#endif
