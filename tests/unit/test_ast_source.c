/// test_ast_source.c - trees printed as text are read back to the same trees.
///
/// Every .newt file of the project goes through, and lines that need all the parentheses Python
/// knows. The dump of the tree that is read back is compared with that of the tree printed.
#include "front/ast_source.h"
#include "front_run.h"
#include "support/fs.h"
#include <dirent.h>
#include <string.h>

/// The dump of `text`'s statements into `dump`, and the statements printed into `printed`.
static bool through(const char *text, size_t len, Buf *dump, Buf *printed)
{
    FrontRun r;
    front_begin(&r, text, len);
    AstModule *m = parse_file(&r.arena, &r.syms, &r.sources, r.file, &r.diags);
    bool clean = diag_error_count(&r.diags) == 0;
    for (uint32_t i = 0; i < m->body.len && clean; i++) {
        const AstNode *n = m->body.at[i];
        if (n->kind == AST_IMPORT || n->kind == AST_IMPORT_FROM)
            continue;
        ast_dump(n, dump);
        ast_source(n, printed);
    }
    front_end(&r);
    return clean;
}

static void check_text(const char *name, const char *text, size_t len)
{
    Buf dump = { 0 }, printed = { 0 }, again = { 0 }, unused = { 0 };
    if (through(text, len, &dump, &printed) && printed.len) {
        if (!through(printed.at, printed.len, &again, &unused))
            fail_msg("%s: the printed text is refused:\n%s", name, printed.at);
        if (strcmp(dump.at, again.at) != 0)
            fail_msg("%s: the printed text has another tree:\n%s", name, printed.at);
    }
    buf_free(&dump);
    buf_free(&printed);
    buf_free(&again);
    buf_free(&unused);
}

static const char *const lines[] = {
    "(a + b) * c - d * (e - f)",
    "a - (b - c) - d",
    "a ** -b ** c, (-a) ** b, -a ** b, (a ** b) ** c",
    "a // b % c @ d / e",
    "(a | b) & c ^ d << e >> (f + g)",
    "not (a and b) or c and not d",
    "a < b <= c != (d == e), (a < b) & (c < d)",
    "x if a else y if b else z, (x if a else y) if b else z",
    "(a, b), (a,), (), [a, (b, c)], [a]",
    "f(a, *b, c=d, e=f(g)), f()(a).b[c].d",
    "x[:, None], x[1:2:3, ...], x[a,], x[(a, b)], x[:b], x[a:]",
    "-float(\"inf\"), +a, ~(a + b), (~a).b, (-a).b",
    "\"a\\\"b\\\\c\\n\\x01\", 1.5e-300, 0.1, 1e22, 0x10, 10_000, 123456789012345678901234567890",
    "[x for x in y if x], (x + 1 for x in y)",
    "f\"a{b}c{d!r:>{w}}{{}}\"",
    "True, False, None, ...",
    "(a if b else c)(d), (a + b)[c], (not a) == b",
    "a is b, a is not b, a in (b, c), a not in b",
    /* too long for a line */
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa * bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb - "
    "ccccccccccccccccccccccccccc * ddddddddddd",
    "f(aaaaaaaaaaaaaaaaaaaaaaaaaaaa * (bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb - "
    "ccccccccccccccccccccccccccc) * ddddddddddddd, e=1)",
    "f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
    "ccccccccccccccccccccccccccc).g(d).h(e, f=i)",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ** f(bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
    "ccccccccccccccccccccccccccc) < ddddddddd",
};

static void test_lines(void **state)
{
    (void)state;
    char text[512];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "v = %s\n", lines[i]);
        check_text(lines[i], text, strlen(text));
    }
}

/// Every file below `folder` that ends in .newt; returns how many.
static unsigned check_folder(Arena *a, const char *folder)
{
    DIR *d = opendir(folder);
    unsigned count = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        const char *path = arena_printf(a, "%s/%s", folder, e->d_name);
        size_t len = strlen(e->d_name), size;
        const char *why = NULL;
        if (e->d_name[0] == '.')
            continue;
        if (fs_is_dir(path)) {
            count += check_folder(a, path);
        } else if (len > 5 && strcmp(e->d_name + len - 5, ".newt") == 0) {
            const char *text = fs_read(a, path, &size, &why);
            assert_non_null(text);
            check_text(path, text, size);
            count++;
        }
    }
    closedir(d);
    return count;
}

static void test_files(void **state)
{
    (void)state;
    Arena a = { 0 };
    assert_true(check_folder(&a, TEST_SOURCE_DIR "/tests/run") > 15);
    assert_true(check_folder(&a, TEST_SOURCE_DIR "/examples") > 3);
    assert_true(check_folder(&a, TEST_SOURCE_DIR "/tests/golden") > 30);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines),
                                        cmocka_unit_test(test_files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
