/// test_source.c - offsets to places and back over several files.
#include "support/source.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
    Arena arena;
    SourceMap map;
    SourceFile *a, *empty, *b;
} Fixture;

static int set_up(void **state)
{
    static Fixture f;

    f = (Fixture){ 0 };
    f.map.arena = &f.arena;
    f.a = source_add(&f.map, "a.newt", "one\n\nthree", 10);
    f.empty = source_add(&f.map, "empty.newt", "", 0);
    f.b = source_add(&f.map, "b.newt", "x\r\ny\n", 5);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    arena_free(&f->arena);
    return 0;
}

static void texts_end_in_newline_and_nul(void **state)
{
    const Fixture *f = *state;

    assert_string_equal(f->a->text, "one\n\nthree\n");
    assert_int_equal(f->a->len, 11);
    assert_int_equal(f->a->line_count, 3);
    assert_string_equal(f->empty->text, "\n");
    assert_int_equal(f->empty->line_count, 1);
    assert_int_equal(f->b->len, 5);
    assert_true(f->a->base > 0);
}

static const struct {
    int file;
    uint32_t offset, line, column;
} pos_cases[] = {
    { 0, 0, 1, 1 },  { 0, 2, 1, 3 },  { 0, 3, 1, 4 },  // the newline itself
    { 0, 4, 2, 1 },  { 0, 5, 3, 1 },  { 0, 9, 3, 5 },
    { 0, 10, 3, 6 }, { 0, 11, 3, 6 },  // end of file: behind the last line
    { 1, 0, 1, 1 },  { 1, 1, 1, 1 },  { 2, 0, 1, 1 },
    { 2, 3, 2, 1 },  { 2, 5, 2, 2 },
};

static void offsets_have_places(void **state)
{
    const Fixture *f = *state;
    const SourceFile *files[] = { f->a, f->empty, f->b };

    for (size_t i = 0; i < sizeof pos_cases / sizeof *pos_cases; i++) {
        const SourceFile *file = files[pos_cases[i].file];
        SourcePos at = source_pos(&f->map, file->base + pos_cases[i].offset);
        assert_ptr_equal(at.file, file);
        assert_int_equal(at.line, pos_cases[i].line);
        assert_int_equal(at.column, pos_cases[i].column);
    }
    assert_null(source_pos(&f->map, 0).file);
    assert_null(source_pos(&f->map, 5000).file);
}

static void lines_and_spans_have_texts(void **state)
{
    const Fixture *f = *state;
    uint32_t base = f->a->base;

    assert_true(str_is(source_line(f->a, 1), "one"));
    assert_true(str_is(source_line(f->a, 2), ""));
    assert_true(str_is(source_line(f->a, 3), "three"));
    assert_true(str_is(source_line(f->a, 4), ""));
    assert_true(str_is(source_line(f->b, 1), "x\r"));
    assert_true(str_is(source_text(&f->map, (Span){ base + 5, base + 8 }), "thr"));
    assert_true(str_is(source_text(&f->map, (Span){ 0, 0 }), ""));
    Span joined = span_join((Span){ 2, 4 }, (Span){ 7, 9 });
    assert_int_equal(joined.lo, 2);
    assert_int_equal(joined.hi, 9);
}

static void refuses_what_has_no_offset(void **state)
{
    Fixture *f = *state;

    assert_null(source_add(&f->map, "huge.newt", "", (size_t)UINT32_MAX - 10));
    assert_int_equal(f->map.files.len, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_end_in_newline_and_nul),
        cmocka_unit_test(offsets_have_places),
        cmocka_unit_test(lines_and_spans_have_texts),
        cmocka_unit_test(refuses_what_has_no_offset),
    };
    return cmocka_run_group_tests_name("source", tests, set_up, tear_down);
}
