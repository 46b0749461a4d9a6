/// rules_cases.h - how the tables of the rule tests are read: type names and literals as text.
#ifndef NEWT_TESTS_RULES_CASES_H
#define NEWT_TESTS_RULES_CASES_H
#include "sema/rules.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_WORDS = 16 };

static inline ScalarKind kind_of(const char *word)
{
    ScalarKind k = scalar_find_signature(word);
    if (k == SCALAR_COUNT)
        fail_msg("no type '%s'", word);
    return k;
}

/// Splits at blanks; returns how many words.
static inline int words(const char *text, char out[MOST_WORDS][16])
{
    int n = 0;
    while (*(text += strspn(text, " "))) {
        size_t len = strcspn(text, " ");
        assert_true(len < 16 && n < MOST_WORDS);
        memcpy(out[n], text, len);
        out[n++][len] = 0;
        text += len;
    }
    return n;
}

static inline ConstVal literal(const char *text)
{
    const Int128 one = 1;
    static const struct {
        const char *text;
        double f;
    } floats[] = { { "1.5", 1.5 },         { "0.0", 0.0 },         { "-0.0", -0.0 },
                   { "1e300", 1e300 },     { "1e-300", 1e-300 },   { "1e-40", 1e-40 },
                   { "0.5", 0.5 },         { "3e38", 3e38 },       { "4e38", 4e38 },
                   { "65519.0", 65519.0 }, { "65520.0", 65520.0 }, { "2.5", 2.5 },
                   { "2.0", 2.0 },         { "1.2e-38", 1.2e-38 }, { "1.0", 1.0 } };
    if (strcmp(text, "inf") == 0)
        return const_float((double)INFINITY);
    if (strcmp(text, "-inf") == 0)
        return const_float(-(double)INFINITY);
    if (strcmp(text, "nan") == 0)
        return const_float((double)NAN);
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
        return const_bool(*text == 'T');
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        if (strcmp(floats[i].text, text) == 0)
            return const_float(floats[i].f);
    // "-2^31-1", "2^64", "300"
    bool negative = *text == '-';
    text += negative;
    char *end;
    Int128 v = strtoll(text, &end, 10);
    if (*end == '^')
        v = one << strtol(end + 1, &end, 10);
    v = negative ? -v : v;
    v += *end ? strtoll(end, &end, 10) : 0;
    assert_int_equal(*end, 0);
    return const_int(v);
}

#endif
