/// A GPU for newtc tune: libnewt with the driver that runs nothing, whose launches of the kernel
/// `double` of inputs/tuned.newt compute what they should, in a time that the grid decides.
#include "fake_driver.h"
#include <stdlib.h>
#include <string.h>

enum { WRONG_GRID = 47, BEST_GRID = 12 };  // of 3000 elements in blocks of 64, and of 256

/// The planted one is the fastest, and forgets the last element.
static void run(const char *symbol, void **parameters, const unsigned grid[3], float *milliseconds)
{
    const float *x;
    float *out;
    int n;
    memcpy(&x, parameters[0], sizeof x);
    memcpy(&out, parameters[1], sizeof out);
    memcpy(&n, parameters[2], sizeof n);
    (void)symbol;
    for (int i = 0; i < n - (grid[0] == WRONG_GRID); i++)
        out[i] = 2 * x[i];
    const int apart = abs((int)grid[0] - BEST_GRID);
    *milliseconds = grid[0] == WRONG_GRID ? 0.001F : 0.01F + 0.0001F * (float)apart;
}

__attribute__((constructor)) static void begin(void)
{
    fake.device_count = 1;
    fake.major = 9;
    fake.minor = 0;
    fake.run = run;
}
