// test_poly.c - polynomials: sums and products agree with arithmetic on numbers, equal ones cancel,
// what is too large is lost.
#include "ir_case.h"
#include "passes/poly.h"

enum { ATOMS = 3 };

typedef struct PolyCase {
    IrCase c;
    const IrValue *atoms[ATOMS];
} PolyCase;

static void begin(PolyCase *t)
{
    ir_case_init(&t->c);
    IrFunc *fn = ir_case_valid(&t->c, "func @f(%x: i32, %y: i32, %z: i32) {\nreturn\n}\n");
    for (unsigned i = 0; i < ATOMS; i++)
        t->atoms[i] = fn->body->args[i];
}

static int64_t value_of(const Poly *p, const PolyCase *t, const int64_t *numbers)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < p->count; i++) {
        int64_t product = p->terms[i].factor;
        for (unsigned k = 0; k < p->terms[i].degree; k++)
            for (unsigned a = 0; a < ATOMS; a++)
                product *= p->terms[i].atoms[k] == t->atoms[a] ? numbers[a] : 1;
        sum += product;
    }
    return sum;
}

/// A small polynomial, by `seed`, and its value computed beside it.
static Poly random_poly(const PolyCase *t, const int64_t *numbers, uint32_t *seed, int64_t *value)
{
    Poly p = poly_const(0);
    *value = 0;
    for (int i = 0; i < 3; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        const unsigned a = *seed >> 28 & 3;
        const int64_t by = (int64_t)(*seed >> 20 & 15) - 7;
        const Poly atom = a < ATOMS ? poly_atom(t->atoms[a]) : poly_const(5);
        p = poly_add(&p, &atom, by);
        *value += by * (a < ATOMS ? numbers[a] : 5);
    }
    return p;
}

static void test_arithmetic(void **state)
{
    (void)state;
    PolyCase t;
    begin(&t);
    static const int64_t numbers[ATOMS] = { 3, -11, 1000 };
    uint32_t seed = 1;
    for (int i = 0; i < 500; i++) {
        int64_t x, y;
        const Poly a = random_poly(&t, numbers, &seed, &x), b = random_poly(&t, numbers, &seed, &y);
        const Poly sum = poly_add(&a, &b, -4), product = poly_mul(&a, &b), back = poly_mul(&b, &a);
        assert_int_equal(value_of(&sum, &t, numbers), x - 4 * y);
        assert_int_equal(value_of(&product, &t, numbers), x * y);
        assert_true(poly_equal(&product, &back));
    }
    ir_case_free(&t.c);
}

static void test_lost(void **state)
{
    (void)state;
    PolyCase t;
    begin(&t);
    const Poly x = poly_atom(t.atoms[0]), large = poly_const(INT64_C(1) << 31);
    assert_true(large.lost);
    Poly power = x;
    for (unsigned i = 1; i < POLY_MAX_DEGREE; i++)
        power = poly_mul(&power, &x);
    assert_false(power.lost);
    power = poly_mul(&power, &x);
    assert_true(power.lost);
    assert_false(poly_equal(&power, &power));  // nothing is known of it
    assert_false(poly_is_zero(&power));
    ir_case_free(&t.c);
}

static void test_divide(void **state)
{
    (void)state;
    PolyCase t;
    begin(&t);
    const Poly x = poly_atom(t.atoms[0]), y = poly_atom(t.atoms[1]), six = poly_const(6);
    const Poly xy = poly_mul(&x, &y), term = poly_mul(&xy, &six);
    PolyTerm quotient;
    assert_true(poly_divide_term(&term.terms[0], &x.terms[0], &quotient));
    assert_int_equal(quotient.factor, 6);
    assert_int_equal(quotient.degree, 1);
    assert_ptr_equal(quotient.atoms[0], t.atoms[1]);
    const Poly four = poly_const(4), xx = poly_mul(&x, &x), z = poly_atom(t.atoms[2]);
    assert_false(poly_divide_term(&term.terms[0], &four.terms[0], &quotient));
    assert_false(poly_divide_term(&term.terms[0], &xx.terms[0], &quotient));
    assert_false(poly_divide_term(&term.terms[0], &z.terms[0], &quotient));
    ir_case_free(&t.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_divide),
    };
    return cmocka_run_group_tests_name("poly", tests, NULL, NULL);
}
