/// test_embed.c - files compiled in by newt_embed(): every byte, no byte, many bytes, order.
#include "test_embed_files.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

// ORDER tests/unit/CMakeLists.txt
enum { BYTES, EMPTY, TEXT, LARGE, FILE_COUNT };

static void names_are_in_order(void **state)
{
    static const char *const names[] = { "bytes.bin", "empty.txt", "text.txt", "large.txt" };

    (void)state;
    assert_int_equal(test_embed_files_count, FILE_COUNT);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        assert_string_equal(test_embed_files[i].name, names[i]);
        assert_int_equal(test_embed_files[i].text[test_embed_files[i].len], 0);
    }
}

static void every_byte_comes_through(void **state)
{
    (void)state;
    assert_int_equal(test_embed_files[BYTES].len, 256);
    for (int i = 0; i < 256; i++)
        assert_int_equal((unsigned char)test_embed_files[BYTES].text[i], i);
    assert_int_equal(test_embed_files[EMPTY].len, 0);
}

static void text_is_not_interpreted(void **state)
{
    (void)state;
    assert_string_equal(test_embed_files[TEXT].text,
                        "text \\ \"quoted\"; [brackets] ${NOT_A_VARIABLE} @at@\n?\?=\n");
}

static void large_files_are_whole(void **state)
{
    const NewtEmbedded *large = &test_embed_files[LARGE];

    (void)state;
    assert_int_equal(large->len, 16 * 20000);
    for (size_t i = 0; i < large->len; i++)
        assert_int_equal(large->text[i], "0123456789abcde\n"[i % 16]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_in_order),
        cmocka_unit_test(every_byte_comes_through),
        cmocka_unit_test(text_is_not_interpreted),
        cmocka_unit_test(large_files_are_whole),
    };
    return cmocka_run_group_tests_name("embed", tests, NULL, NULL);
}
