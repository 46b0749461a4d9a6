/// test_reach.c - which integers the specialised variant assumes to be multiples or 1: those that
/// wide accesses need, and no others.
#include "lower_case.h"

typedef struct ReachCase {
    const char *name, *params, *body;
    const char *want;  // the integers, with a space between them; =1 behind those that are 1
} ReachCase;

#define TILE                                             \
    "    m = nl.program_id(0) * 64 + nl.arange(0, 64)\n" \
    "    n = nl.program_id(1) * 64 + nl.arange(0, 64)\n" \
    "    inside = (m[:, None] < M) & (n[None, :] < N)\n"
#define MATRIX "x: ptr[const[float16]], y: ptr[float16], M: int32, N: int32, ld: int32"

static const ReachCase cases[] = {
    { "a_length", "x: ptr[const[float32]], y: ptr[float32], N: int32",
      "    i = nl.program_id(0) * 256 + nl.arange(0, 256)\n"
      "    nl.store(y + i, nl.load(x + i, mask=i < N), mask=i < N)\n",
      "N" },
    { "rows_do_not_count_and_their_stride_does", MATRIX,
      TILE
      "    nl.store(y + m[:, None] * ld + n[None, :], nl.load(x + m[:, None] * ld + n[None, :], "
      "mask=inside), mask=inside)\n",
      "N ld" },
    { "both_where_the_block_is_turned", MATRIX,
      TILE
      "    nl.store(y + n[None, :] * ld + m[:, None], nl.load(x + m[:, None] * ld + n[None, :], "
      "mask=inside), mask=inside)\n",
      "M N ld" },
    { "all_where_no_axis_has_neighbours", MATRIX,
      TILE "    nl.store(y + (m[:, None] * (ld + 1) + n[None, :] * (ld + 2)), 1.0, mask=inside)\n",
      "M N ld" },
    { "the_last_stride_of_an_access_is_1", MATRIX ", xm: int32, xn: int32, ym: int64, yn: int64",
      TILE "    v = nl.load(x + m[:, None] * xm + xn * n[None, :], mask=inside)\n"
           "    nl.store(y + (m[:, None] * ym + n[None, :] * yn), v, mask=inside)\n",
      "N xm xn=1 ym yn=1" },
    { "the_last_parameter_whatever_its_axis", MATRIX ", xn: int32, xm: int32",
      TILE "    v = nl.load(x + m[:, None] * xm + n[None, :] * xn, mask=inside)\n"
           "    nl.store(y + m[:, None] + n[None, :] * 64, v, mask=inside)\n",
      "M xn xm=1" },
    { "a_stride_moved_by_a_loop", MATRIX ", xm: int32, xk: int32",
      "    m = nl.arange(0, 64)\n    k = nl.arange(0, 32)\n"
      "    at = x + (m[:, None] * xm + k[None, :] * xk)\n"
      "    for i in range(0, N):\n"
      "        nl.store(y + m[:, None] * 32 + k[None, :], nl.load(at))\n        at += 32 * xk\n",
      "xm xk=1" },
    { "a_width_is_no_stride", MATRIX,
      TILE "    nl.store(y + m[:, None] * N + n[None, :] * M, 1.0, mask=inside)\n", "M N" },
    { "pointers_moved_by_a_loop", MATRIX,
      "    m = nl.arange(0, 64)\n    k = nl.arange(0, 32)\n"
      "    at = x + m[:, None] * ld + k[None, :]\n"
      "    for i in range(0, N, 32):\n"
      "        v = nl.load(at, mask=(m[:, None] < M) & (k[None, :] < N - i))\n"
      "        nl.store(y + m[:, None] * 32 + k[None, :], v)\n        at += 32\n",
      "N ld" },
    { "a_constant_factor_is_enough", MATRIX,
      "    i = nl.arange(0, 64)\n"
      "    nl.store(y + M * 64 + i, nl.load(x + nl.program_id(0) * ld * 128 + i))\n",
      "" },
    { "a_smaller_constant_is_not", MATRIX,
      "    nl.store(y + M * 4 + nl.arange(0, 64), nl.load(x + nl.arange(0, 64)))\n", "M" },
    { "one_factor_is_enough", MATRIX,
      "    i = nl.arange(0, 64)\n"
      "    nl.store(y + M * N + i, nl.load(x + N * 2 + i))\n",
      "N" },
    { "divisors_do_not_count", MATRIX,
      "    i = nl.arange(0, 64)\n"
      "    nl.store(y + nl.program_id(0) // M * ld + i, nl.load(x + nl.cdiv(N, 3) * 8 + i))\n",
      "ld" },
    { "numbers_beside_a_tile_do_not_count", MATRIX ", z: ptr[float32]",
      TILE "    nl.store(y + m[:, None] * 64 + n[None, :], 1.0, mask=n[None, :] < N)\n"
           "    nl.store(z + nl.program_id(1) * ld + m, 1.0, mask=m < M)\n",
      "N" },
    { "the_first_of_a_loop", MATRIX,
      "    for i in range(M, N, 64):\n"
      "        nl.store(y + i + nl.arange(0, 64), 1.0)\n",
      "M" },
};

/// Variants behind the first: factors of a product stored by columns.
#define FACTORS                                                                                   \
    "x: ptr[const[float16]], y: ptr[const[float16]], z: ptr[float32], xm: int32, xk: int32, yk: " \
    "int32, yn: int32"
#define PRODUCT(left, right)                               \
    "    i = nl.arange(0, 16)\n    k = nl.arange(0, 32)\n" \
    "    nl.store(z + i[:, None] * 16 + i[None, :], nl.dot(" left ", " right "))\n"
static const ReachCase turned_cases[] = {
    { "either_factor_and_both", FACTORS,
      PRODUCT("nl.load(x + i[:, None] * xm + k[None, :] * xk)",
              "nl.load(y + k[:, None] * yk + i[None, :] * yn)"),
      "xm xk=1 yk yn=1, xm=1 xk yk yn=1, xm xk=1 yk=1 yn, xm=1 xk yk=1 yn, " },
    { "a_factor_transposed_afterwards", FACTORS,
      PRODUCT("nl.load(x + i[:, None] * xm + k[None, :])",
              "nl.load(y + i[:, None] * yn + k[None, :] * yk).T"),
      "xm yk yn=1, xm yk=1 yn, " },
    { "no_stride_to_choose", FACTORS,
      PRODUCT("nl.load(x + i[:, None] * xm + k[None, :])",
              "nl.load(y + k[:, None] * yk + i[None, :])"),
      "xm yk, " },
    { "neighbours_and_two_strides", FACTORS,
      PRODUCT("nl.load(x + (i[:, None] * xm + k[None, :]) * xk)", "nl.load(y + i[None, :] * yn + k[:, None] + i[None, :] * yk)"),
      "xm xk=1 yk yn, " },
    { "no_product", FACTORS,
      "    i = nl.arange(0, 16)\n    nl.store(z + i[:, None] * 16 + i[None, :],\n"
      "             nl.load(x + i[:, None] * xm + i[None, :] * xk).to(nl.float32))\n",
      "xm xk=1, " },
};

static void put_facts(const KernelUnit *unit, const Variant *v, Buf *out)
{
    const char *before = "";
    for (uint32_t i = 0; i < unit->function->param_count; i++) {
        const ParamBinding *p = &v->params[i];
        if (!p->has_value && (!p->assumed || p->type->kind != TYPE_SCALAR))
            continue;
        buf_printf(out, "%s%s%s", before, unit->function->params[i].name->text,
                   p->has_value ? "=1" : "");
        before = " ";
    }
}

static void check_turned(void **state)
{
    const ReachCase *t = *state;
    LowerCase c;
    Buf source = { 0 }, got = { 0 };
    const VariantOptions options = { 0 }, rows = { .specialize = "rows" };
    buf_printf(&source, LOWER_HEAD "@newt.kernel(grid=(1,))\ndef f(%s):\n%s", t->params, t->body);
    if (!lower_case_begin(&c, source.at, &options))
        fail_msg("%s", lower_case_messages(&c));
    const KernelUnit *unit = &c.units.at[0];
    for (uint32_t v = 0; v + 1 < unit->variant_count; v++) {
        put_facts(unit, &unit->variants[v], &got);
        buf_puts(&got, ", ");
    }
    assert_string_equal(got.at, t->want);
    arena_free(&c.arena);
    assert_true(lower_case_begin(&c, source.at, &rows));
    assert_int_equal(c.units.at[0].variant_count, 2);
    buf_free(&source);
    buf_free(&got);
    arena_free(&c.arena);
}

static void check(void **state)
{
    const ReachCase *t = *state;
    LowerCase c;
    Buf source = { 0 }, got = { 0 };
    const VariantOptions options = { 0 };
    buf_printf(&source, LOWER_HEAD "@newt.kernel(grid=(1,))\ndef f(%s):\n%s", t->params, t->body);
    buf_puts(&got, "");
    if (!lower_case_begin(&c, source.at, &options))
        fail_msg("%s", lower_case_messages(&c));
    const KernelUnit *unit = &c.units.at[0];
    const Variant *special = &unit->variants[0];
    put_facts(unit, special, &got);
    assert_string_equal(got.at, t->want);
    buf_free(&source);
    buf_free(&got);
    arena_free(&c.arena);
}

int main(void)
{
    enum {
        COUNT = sizeof cases / sizeof *cases,
        TURNED = sizeof turned_cases / sizeof *turned_cases
    };
    struct CMUnitTest tests[COUNT + TURNED];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check, NULL, NULL, (void *)&cases[i] };
    for (size_t i = 0; i < TURNED; i++)
        tests[COUNT + i] = (struct CMUnitTest){ turned_cases[i].name, check_turned, NULL, NULL,
                                                (void *)&turned_cases[i] };
    return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
