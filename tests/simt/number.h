// number.h - the element types of matrix instructions, as bits in memory.
#ifndef NEWT_TESTS_SIMT_NUMBER_H
#define NEWT_TESTS_SIMT_NUMBER_H
#include <stdint.h>

namespace simt {

// `type` is one of SIMT_F16 ...
unsigned number_bytes(unsigned type);
double number_read(unsigned type, const void *at);
// Rounded to the nearest, ties to even; sums of integers wrap.
void number_write(unsigned type, void *at, double x);

}  // namespace simt
#endif
