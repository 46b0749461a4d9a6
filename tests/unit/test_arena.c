/// test_arena.c - alignment, zeroing, growth; vectors on top of it.
#include "support/vec.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void gives_aligned_zeroes(void **state)
{
    Arena a = { 0 };

    (void)state;
    for (size_t size = 0; size < 300; size++) {
        size_t align = (size_t)1 << size % 8;
        unsigned char *p = arena_alloc(&a, size, align);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % align, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    arena_free(&a);
    assert_null(a.chunks);
}

static void takes_more_than_a_chunk(void **state)
{
    Arena a = { 0 };
    const size_t large = (size_t)10 << 20;

    (void)state;
    char *small = arena_strndup(&a, "abcdef", 3);
    char *p = ARENA_NEW_N(&a, char, large);
    p[0] = p[large - 1] = 'x';
    char *next = arena_printf(&a, "%s-%d", small, 42);
    assert_string_equal(small, "abc");
    assert_string_equal(next, "abc-42");
    assert_true(a.used >= large);
    arena_free(&a);
}

static void is_usable_after_free(void **state)
{
    Arena a = { 0 };

    (void)state;
    *ARENA_NEW(&a, int) = 1;
    arena_free(&a);
    int *again = ARENA_NEW(&a, int);
    assert_int_equal(*again, 0);
    arena_free(&a);
}

static void vector_keeps_its_elements(void **state)
{
    Arena a = { 0 };
    VEC(uint32_t) v = { 0 };
    const uint32_t *p;
    uint32_t expected = 0;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t *at = VEC_PUSH(&a, &v, i * 3);
        assert_int_equal(*at, i * 3);
    }
    assert_int_equal(v.len, 1000);
    VEC_EACH (p, &v) {
        assert_int_equal(*p, expected);
        expected += 3;
    }
    assert_int_equal(expected, 3000);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_aligned_zeroes),
        cmocka_unit_test(takes_more_than_a_chunk),
        cmocka_unit_test(is_usable_after_free),
        cmocka_unit_test(vector_keeps_its_elements),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
