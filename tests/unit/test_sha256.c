/// test_sha256.c - the published test vectors, whole and in pieces.
#include "support/sha256.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *text, *want;
} sha_cases[] = {
    { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmno"
      "p"
      "qrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
};

static void published_vectors(void **state)
{
    char hex[65];

    (void)state;
    for (size_t i = 0; i < sizeof sha_cases / sizeof *sha_cases; i++) {
        size_t len = strlen(sha_cases[i].text);
        for (size_t cut = 0; cut <= len; cut++) {  // in two pieces, each way
            Sha256 s;
            sha256_begin(&s);
            sha256_add(&s, sha_cases[i].text, cut);
            sha256_add(&s, sha_cases[i].text + cut, len - cut);
            sha256_hex(&s, hex);
            assert_string_equal(hex, sha_cases[i].want);
        }
    }
}

static void million_letters(void **state)
{
    char hex[65], thousand[1000];
    Sha256 s;

    (void)state;
    memset(thousand, 'a', sizeof thousand);
    sha256_begin(&s);
    for (int i = 0; i < 1000; i++)
        sha256_add(&s, thousand, sizeof thousand);
    sha256_hex(&s, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(million_letters),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
