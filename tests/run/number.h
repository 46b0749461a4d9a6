/// number.h - the scalar types of newt in the tests' own arithmetic.
///
/// Every value of every type is exactly a long double with 64 bits of precision. Rounding, casts
/// and the ulp are written here from the language's rules alone, so that they vouch for newtc's
/// own.
#ifndef NEWT_TESTS_NUMBER_H
#define NEWT_TESTS_NUMBER_H
#include "run.h"

typedef long double Num;

size_t num_size(NewtType t);
bool num_is_float(NewtType t);   ///< fp8 included
bool num_is_signed(NewtType t);  ///< integers
unsigned num_bits(NewtType t);
const char *num_name(NewtType t);

/// The element `i` of an array as its exact value; a bool is 0 or 1.
Num num_get(NewtType t, const void *at, size_t i);
/// Its bits, zero-extended.
uint64_t num_code(NewtType t, const void *at, size_t i);
void num_put_code(NewtType t, void *at, size_t i, uint64_t code);
/// Stores an integer modulo 2^width (a bool: != 0).
void num_put_int(NewtType t, void *at, size_t i, uint64_t value);
/// Stores a value as the cast of a float of unlimited precision does: to nearest even for floats
/// (fp8 saturates), towards zero and saturating for integers, NaN gives 0.
void num_put(NewtType t, void *at, size_t i, Num v);
/// The same, towards zero also for floats (which then never overflow to infinity).
void num_put_rtz(NewtType t, void *at, size_t i, Num v);
/// The value that num_put would store.
Num num_round(NewtType t, Num v);
/// Cast of element `i` from one type to another.
void num_cast(NewtType from, const void *in, NewtType to, void *out, size_t i);

/// Distance between neighbouring values of a float type at `v`.
Num num_ulp(NewtType t, Num v);

/// Fails unless elements agree: the same bits, or both NaN.
void num_same(NewtType t, const void *got, const void *want, size_t count, const char *what);
/// Fails unless `got` is within `ulps` of the exact value `want` (and agrees on NaN, infinities and
/// the sign of zero). Returns how many ulps it is off.
Num num_near(NewtType t, const void *got, size_t i, Num want, Num ulps, const char *what);

/// Fills an array with every code of an 8- or 16-bit type in turn, else with boundary values, exact
/// ties of narrower types and random ones of every magnitude. Bools get bytes 0 and 1.
void num_fill(RunCx *cx, NewtType t, void *at, size_t count);

#endif
