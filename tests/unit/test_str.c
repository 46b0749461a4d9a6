/// test_str.c - interning, hashing, edit distance, UTF-8.
#include "support/str.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void equal_names_are_one_entry(void **state)
{
    Arena a = { 0 };
    SymTable t = { .arena = &a };
    Sym first[2000];
    char name[32];

    (void)state;
    for (int i = 0; i < 2000; i++) {  // several growths of the table
        snprintf(name, sizeof name, "name%d", i);
        first[i] = sym_of(&t, name);
    }
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "name%dxyz", i);
        assert_ptr_equal(sym_intern(&t, name, strlen(name) - 3), first[i]);
        assert_memory_equal(first[i]->text, name, first[i]->len);
        assert_int_equal(first[i]->text[first[i]->len], 0);
    }
    assert_int_equal(t.count, 2000);
    assert_ptr_equal(sym_of(&t, ""), sym_intern(&t, "x", 0));
    assert_ptr_not_equal(sym_intern(&t, "a\0b", 3), sym_intern(&t, "a\0c", 3));
    arena_free(&a);
}

static void hash_is_fnv1a(void **state)
{
    (void)state;  // values from the FNV reference list
    assert_true(hash_bytes(HASH_SEED, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes(HASH_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_bytes(HASH_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(hash_bytes(hash_bytes(HASH_SEED, "foo", 3), "bar", 3) ==
                UINT64_C(0x85944171f73967e8));
}

static void slices_compare_by_bytes(void **state)
{
    (void)state;
    assert_true(str_equal((Str){ "abc", 2 }, (Str){ "abd", 2 }));
    assert_false(str_equal((Str){ "abc", 3 }, (Str){ "abd", 3 }));
    assert_true(str_equal((Str){ NULL, 0 }, (Str){ "x", 0 }));
    assert_true(str_is((Str){ "abc", 2 }, "ab"));
    assert_false(str_is((Str){ "abc", 2 }, "abc"));
}

static const struct {
    const char *a, *b;
    unsigned limit, want;
} distance_cases[] = {
    { "", "", 3, 0 },
    { "abc", "abc", 0, 0 },
    { "", "abc", 3, 3 },
    { "kitten", "sitting", 5, 3 },
    { "kitten", "sitting", 2, 3 },
    { "kitten", "sitting", 1, 2 },
    { "laod", "load", 3, 1 },
    { "ab", "ba", 3, 1 },
    { "ca", "abc", 5, 3 },
    { "BLOCK", "BLOK", 3, 1 },
    { "abcdef", "badcfe", 5, 3 },
    { "x", "abcdefgh", 2, 3 },
};

static void distance_counts_edits(void **state)
{
    char long_a[200], long_b[200];

    (void)state;
    for (size_t i = 0; i < sizeof distance_cases / sizeof *distance_cases; i++) {
        assert_int_equal(
            str_distance(distance_cases[i].a, distance_cases[i].b, distance_cases[i].limit),
            distance_cases[i].want);
        assert_int_equal(
            str_distance(distance_cases[i].b, distance_cases[i].a, distance_cases[i].limit),
            distance_cases[i].want);
    }
    memset(long_a, 'a', 199);
    memset(long_b, 'b', 199);
    long_a[199] = long_b[199] = 0;
    assert_int_equal(str_distance(long_a, long_b, 5), 6);
    long_b[0] = 'a';
    memset(long_b, 'a', 198);
    assert_int_equal(str_distance(long_a, long_b, 5), 1);
}

static const struct {
    const char *text;
    uint32_t code;
    unsigned size;
} utf8_cases[] = {
    { "a", 'a', 1 },
    { "\xc3\xa4", 0xe4, 2 },
    { "\xe2\x82\xac", 0x20ac, 3 },
    { "\xf0\x9f\x98\x80", 0x1f600, 4 },
    { "\xf4\x8f\xbf\xbf", 0x10ffff, 4 },
    { "\xf4\x90\x80\x80", UTF8_BAD, 1 },  // above the last code point
    { "\xc0\xaf", UTF8_BAD, 1 },          // overlong
    { "\xe0\x80\x80", UTF8_BAD, 1 },
    { "\xed\xa0\x80", UTF8_BAD, 1 },  // surrogate
    { "\x80", UTF8_BAD, 1 },
    { "\xff", UTF8_BAD, 1 },
    { "\xe2\x82", UTF8_BAD, 1 },  // cut off
    { "\xe2(\xac", UTF8_BAD, 1 },
};

static void utf8_is_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof utf8_cases / sizeof *utf8_cases; i++) {
        unsigned size = 0;
        uint32_t code = str_decode_utf8(utf8_cases[i].text, strlen(utf8_cases[i].text), &size);
        assert_int_equal(code, utf8_cases[i].code);
        assert_int_equal(size, utf8_cases[i].size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_are_one_entry), cmocka_unit_test(hash_is_fnv1a),
        cmocka_unit_test(slices_compare_by_bytes),   cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(utf8_is_checked),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
