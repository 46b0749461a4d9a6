/// test_diag.c - what is kept, what is printed, and the -W options.
#include "support/diag.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
    Arena arena;
    SourceMap map;
    DiagSink sink;
    SourceFile *file;
    Buf out;
} Fixture;

static void set_up(Fixture *f, const char *text, size_t len)
{
    *f = (Fixture){ 0 };
    f->map.arena = &f->arena;
    diag_init(&f->sink, &f->arena, &f->map);
    f->file = source_add(&f->map, "t.newt", text, len);
}

static void tear_down(Fixture *f)
{
    buf_free(&f->out);
    arena_free(&f->arena);
}

static Span span_at(const Fixture *f, uint32_t lo, uint32_t hi)
{
    return (Span){ f->file->base + lo, f->file->base + hi };
}

static const char *print(Fixture *f, DiagFormat format, bool color)
{
    buf_clear(&f->out);
    diag_print(&f->sink, format, color, &f->out);
    return f->out.at ? f->out.at : "";
}

typedef struct {
    const char *name, *source;
    uint32_t lo, hi;
    const char *want;
} ExcerptCase;

static const ExcerptCase excerpt_cases[] = {
    { "range_under_its_columns", "a\nb = c + d\n", 6, 9,
      "t.newt:2:5: error: bad [syntax]\n    2 | b = c + d\n      |     ^~~\n" },
    { "empty_span_is_one_caret", "abc\n", 1, 1,
      "t.newt:1:2: error: bad [syntax]\n    1 | abc\n      |  ^\n" },
    { "tabs_reach_to_eight", "\tx\ty\n", 3, 4,
      "t.newt:1:4: error: bad [syntax]\n    1 |         x       y\n"
      "      |                 ^\n" },
    { "code_points_are_one_cell", "\xc3\xa4\xe2\x82\xac = z\n", 8, 9,
      "t.newt:1:9: error: bad [syntax]\n    1 | \xc3\xa4\xe2\x82\xac = z\n      |      ^\n" },
    { "range_of_code_points", "\xc3\xa4\xc3\xa4 b\n", 0, 4,
      "t.newt:1:1: error: bad [syntax]\n    1 | \xc3\xa4\xc3\xa4 b\n      | ^~\n" },
    { "ends_with_its_first_line", "ab\ncd\n", 1, 5,
      "t.newt:1:2: error: bad [syntax]\n    1 | ab\n      |  ^\n" },
    { "newline_is_behind_the_line", "ab\ncd\n", 2, 3,
      "t.newt:1:3: error: bad [syntax]\n    1 | ab\n      |   ^\n" },
    { "end_of_file_without_newline", "ab", 3, 3,
      "t.newt:1:3: error: bad [syntax]\n    1 | ab\n      |   ^\n" },
    { "carriage_return_is_dropped", "ab\r\n", 0, 3,
      "t.newt:1:1: error: bad [syntax]\n    1 | ab\n      | ^~\n" },
    { "what_is_no_text_is_replaced", "\x1b[1m\xff\n", 4, 5,
      "t.newt:1:5: error: bad [syntax]\n    1 | \xef\xbf\xbd[1m\xef\xbf\xbd\n      |     ^\n" },
    { "empty_file", "", 0, 0, "t.newt:1:1: error: bad [syntax]\n    1 | \n      | ^\n" },
};

static void check_excerpt(void **state)
{
    const ExcerptCase *c = *state;
    Fixture f;

    set_up(&f, c->source, strlen(c->source));
    diag_report(&f.sink, DIAG_SYNTAX, span_at(&f, c->lo, c->hi), "bad");
    assert_string_equal(print(&f, DIAG_TEXT, false), c->want);
    tear_down(&f);
}

static void report_with_notes(Fixture *f)
{
    set_up(f, "x = yy\n", 7);
    diag_report(&f->sink, DIAG_UNDEFINED_NAME, span_at(f, 4, 6), "undefined name '%s'", "yy");
    diag_help(&f->sink, "did you mean '%s'?", "x");
    diag_help(&f->sink, "a second help is ignored");
    diag_note(&f->sink, span_at(f, 0, 1), "near \"this\"");
    diag_note(&f->sink, (Span){ 0, 0 }, "no place");
}

static void notes_and_help_follow(void **state)
{
    Fixture f;

    (void)state;
    report_with_notes(&f);
    assert_string_equal(print(&f, DIAG_TEXT, false),
                        "t.newt:1:5: error: undefined name 'yy' [undefined-name]\n"
                        "    1 | x = yy\n      |     ^~\n"
                        "t.newt:1:1: note: near \"this\"\n    1 | x = yy\n      | ^\n"
                        "note: no place\n"
                        "help: did you mean 'x'?\n");
    tear_down(&f);
}

static void json_has_every_key(void **state)
{
    Fixture f;

    (void)state;
    report_with_notes(&f);
    diag_report(&f.sink, DIAG_SYNTAX, (Span){ 0, 0 }, "tab\there");
    assert_string_equal(
        print(&f, DIAG_JSON, false),
        "[{\"file\":\"t.newt\",\"line\":1,\"column\":5,\"endLine\":1,\"endColumn\":7,"
        "\"severity\":\"error\",\"slug\":\"undefined-name\",\"message\":\"undefined name 'yy'\","
        "\"notes\":[{\"file\":\"t.newt\",\"line\":1,\"column\":1,\"endLine\":1,\"endColumn\":2,"
        "\"message\":\"near \\\"this\\\"\"},{\"file\":null,\"line\":null,\"column\":null,"
        "\"endLine\":null,\"endColumn\":null,\"message\":\"no place\"}],"
        "\"help\":\"did you mean 'x'?\"},\n"
        " {\"file\":null,\"line\":null,\"column\":null,\"endLine\":null,\"endColumn\":null,"
        "\"severity\":\"error\",\"slug\":\"syntax\",\"message\":\"tab\\u0009here\",\"notes\":[],"
        "\"help\":null}]\n");
    tear_down(&f);
}

static void sarif_counts_code_points(void **state)
{
    static const char text[] = "\xc3\xa4 = y\n";
    Fixture f;

    (void)state;
    set_up(&f, text, sizeof text - 1);
    f.file->path = "a b.newt";
    diag_report(&f.sink, DIAG_SYNTAX, span_at(&f, 5, 6), "bad");
    diag_help(&f.sink, "do it");
    const char *out = print(&f, DIAG_SARIF, false);
    assert_non_null(strstr(out, "\"version\":\"2.1.0\""));
    assert_non_null(strstr(out, "\"rules\":[\n  {\"id\":\"syntax\","));
    assert_non_null(strstr(
        out,
        "{\"ruleId\":\"syntax\",\"level\":\"error\",\"message\":{\"text\":\"bad\\nhelp: do it\"},"
        "\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"a%20b.newt\"},"
        "\"region\":{\"startLine\":1,\"startColumn\":5,\"endLine\":1,\"endColumn\":6}}}],"
        "\"relatedLocations\":[]}"));
    tear_down(&f);
}

static void nothing_is_a_whole_document(void **state)
{
    Fixture f;

    (void)state;
    set_up(&f, "", 0);
    assert_string_equal(print(&f, DIAG_TEXT, false), "");
    assert_string_equal(print(&f, DIAG_JSON, false), "[]\n");
    assert_non_null(strstr(print(&f, DIAG_SARIF, false), "\"results\":[]}]}\n"));
    tear_down(&f);
}

static void place_is_optional_and_color_is_reset(void **state)
{
    Fixture f;

    (void)state;
    set_up(&f, "", 0);
    diag_report(&f.sink, DIAG_SYNTAX, (Span){ 0, 0 }, "bell\a");
    assert_string_equal(print(&f, DIAG_TEXT, false), "newtc: error: bell? [syntax]\n");
    assert_string_equal(print(&f, DIAG_TEXT, true),
                        "\033[1mnewtc: \033[0m\033[1;31merror: \033[0mbell? [syntax]\n");
    tear_down(&f);
}

static void long_lines_are_cut(void **state)
{
    const uint32_t len = 1 << 20;
    char *text = malloc(len);
    Fixture f;

    (void)state;
    assert_non_null(text);
    for (uint32_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 26);
    set_up(&f, text, len);
    const uint32_t places[] = { 0, 50, 1000, len / 2, len - 1 };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        f.sink.list.len = 0;
        diag_report(&f.sink, DIAG_SYNTAX, span_at(&f, places[i], len), "bad");
        const char *out = print(&f, DIAG_TEXT, false);
        assert_true(strlen(out) < 600);
        const char *line = strchr(out, '|'), *carets = strchr(line + 1, '|');
        size_t column = strcspn(carets, "^");
        assert_int_equal(line[column], text[places[i]]);
    }
    free(text);
    tear_down(&f);
}

static void stops_after_max_errors(void **state)
{
    Fixture f;

    (void)state;
    set_up(&f, "abc\n", 4);
    f.sink.max_errors = 2;
    for (int i = 0; i < 3; i++) {
        diag_report(&f.sink, DIAG_SYNTAX, (Span){ 0, 0 }, "number %d", i);
        diag_note(&f.sink, (Span){ 0, 0 }, "note %d", i);
    }
    assert_int_equal(diag_error_count(&f.sink), 3);
    assert_string_equal(print(&f, DIAG_TEXT, false),
                        "newtc: error: number 0 [syntax]\nnote: note 0\n"
                        "newtc: error: number 1 [syntax]\nnote: note 1\n"
                        "newtc: error: too many errors; stopping after 2 [-fmax-errors]\n");
    diag_report(&f.sink, DIAG_INTERNAL, (Span){ 0, 0 }, "ours");
    assert_int_equal(f.sink.internals, 1);
    assert_non_null(
        strstr(print(&f, DIAG_TEXT, false), "newtc: internal error: ours [internal]\n"));
    tear_down(&f);
}

static void drops_duplicates_and_muted(void **state)
{
    Fixture f;

    (void)state;
    set_up(&f, "abc\n", 4);
    for (int i = 0; i < 2; i++) {
        diag_report(&f.sink, DIAG_SYNTAX, span_at(&f, 0, 1), "same");
        diag_note(&f.sink, (Span){ 0, 0 }, "told once");
    }
    f.sink.muted = true;
    diag_report(&f.sink, DIAG_SYNTAX, span_at(&f, 1, 2), "muted");
    diag_note(&f.sink, (Span){ 0, 0 }, "muted too");
    f.sink.muted = false;
    assert_int_equal(f.sink.errors, 1);
    assert_int_equal(diag_error_met(&f.sink), 2);
    assert_int_equal(f.sink.list.len, 1);
    assert_int_equal(f.sink.list.at[0]->notes.len, 1);
    tear_down(&f);
}

static DiagId find_warning(DiagGroup group)
{
    unsigned id = 0;

    while (id < DIAG_COUNT &&
           (diag_info[id].severity != SEVERITY_WARNING || diag_info[id].group != group))
        id++;
    return (DiagId)id;
}

/// Rows: options in order, then what a warning of the -Wall group is reported as.
static const struct {
    const char *options[3];
    Severity want;
} option_cases[] = {
    { { 0 }, SEVERITY_IGNORED },
    { { "all" }, SEVERITY_WARNING },
    { { "all", "no-all" }, SEVERITY_IGNORED },
    { { "%s" }, SEVERITY_WARNING },
    { { "all", "no-%s" }, SEVERITY_IGNORED },
    { { "error=%s" }, SEVERITY_ERROR },
    { { "error=%s", "no-error=%s" }, SEVERITY_WARNING },
    { { "all", "error" }, SEVERITY_ERROR },
    { { "error", "all" }, SEVERITY_ERROR },
    { { "all", "error", "no-error" }, SEVERITY_WARNING },
    { { "all", "no-error=%s", "error" }, SEVERITY_WARNING },
};

static void options_set_levels(void **state)
{
    DiagId id = find_warning(DIAG_GROUP_ALL);

    (void)state;
    if (id == DIAG_COUNT)
        skip();
    for (size_t i = 0; i < sizeof option_cases / sizeof *option_cases; i++) {
        Fixture f;
        set_up(&f, "", 0);
        for (size_t k = 0; k < 3 && option_cases[i].options[k]; k++) {
            const char *mark = strstr(option_cases[i].options[k], "%s");
            int head = mark ? (int)(mark - option_cases[i].options[k]) : 100;
            assert_true(diag_set_option(&f.sink, arena_printf(&f.arena, "%.*s%s", head,
                                                              option_cases[i].options[k],
                                                              mark ? diag_info[id].slug : "")));
        }
        diag_report(&f.sink, id, (Span){ 0, 0 }, "w");
        Severity got = f.sink.list.len ? f.sink.list.at[0]->severity : SEVERITY_IGNORED;
        assert_int_equal(got, option_cases[i].want);
        tear_down(&f);
    }
}

static void unknown_options_are_refused(void **state)
{
    Fixture f;

    (void)state;
    set_up(&f, "", 0);
    assert_false(diag_set_option(&f.sink, "such-a-slug"));
    assert_false(diag_set_option(&f.sink, "error=such-a-slug"));
    assert_false(diag_set_option(&f.sink, "no-syntax"));  // an error cannot be switched off
    tear_down(&f);
}

static void rows_are_well_formed(void **state)
{
    (void)state;
    for (unsigned id = 0; id < DIAG_COUNT; id++) {
        const DiagInfo *row = &diag_info[id];
        assert_int_equal(strspn(row->slug, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                         strlen(row->slug));
        assert_int_equal(diag_find(row->slug), id);  // slugs are unique
        assert_true(row->group == DIAG_GROUP_DEFAULT || row->severity == SEVERITY_WARNING);
        assert_true(strlen(row->explain) > 20);
        assert_int_equal(row->explain[strlen(row->explain) - 1], '.');
    }
    assert_int_equal(diag_find("such-a-slug"), DIAG_COUNT);
}

static void nearest_name_is_offered(void **state)
{
    static const char *const names[] = { "load", "store", "exp", "exp2", "arange", "x" };
    static const struct {
        const char *name, *want;
    } cases[] = {
        { "laod", "load" }, { "stoer", "store" }, { "arnage", "arange" }, { "ex", "exp" },
        { "exp1", "exp" },  { "y", NULL },        { "matmul", NULL },     { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = diag_did_you_mean(cases[i].name, names, sizeof names / sizeof *names);
        assert_string_equal(got ? got : "(none)", cases[i].want ? cases[i].want : "(none)");
    }
}

enum { EXCERPT_COUNT = sizeof excerpt_cases / sizeof *excerpt_cases };

int main(void)
{
    struct CMUnitTest excerpts[EXCERPT_COUNT];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_and_help_follow),
        cmocka_unit_test(json_has_every_key),
        cmocka_unit_test(sarif_counts_code_points),
        cmocka_unit_test(nothing_is_a_whole_document),
        cmocka_unit_test(place_is_optional_and_color_is_reset),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(stops_after_max_errors),
        cmocka_unit_test(drops_duplicates_and_muted),
        cmocka_unit_test(options_set_levels),
        cmocka_unit_test(unknown_options_are_refused),
        cmocka_unit_test(rows_are_well_formed),
        cmocka_unit_test(nearest_name_is_offered),
    };

    for (size_t i = 0; i < EXCERPT_COUNT; i++)
        excerpts[i] = (struct CMUnitTest){ excerpt_cases[i].name, check_excerpt, NULL, NULL,
                                           (void *)&excerpt_cases[i] };
    int failed = cmocka_run_group_tests_name("diag excerpts", excerpts, NULL, NULL);
    return failed + cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
