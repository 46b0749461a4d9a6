/// consumer.c - a program as users write it, in C and in C++: includes what newtc wrote, calls it
/// on the host.
#include "kernels.h"
#include "prefixed.h"

#include <stdio.h>
#include <stdlib.h>

static int check(NewtStatus status, const char *what)
{
    if (status != NEWT_OK)
        fprintf(stderr, "%s: %s: %s\n", what, newt_status_name(status), newt_last_error());
    return status == NEWT_OK;
}

int main(void)
{
    enum { ROWS = 5, COLUMNS = 100, COUNT = ROWS * COLUMNS };
    static float x[COUNT], out[COUNT], sums[ROWS];
    NewtDevice *device = NULL;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 7);
    if (!check(newt_device_open("host", &device), "open"))
        return 1;
    wrong += !check(triple(device, NULL, x, out, COUNT), "triple");
    wrong += !check(row_sum(device, NULL, x, sums, ROWS, COLUMNS), "row_sum");
    wrong += !check(nothing(device, NULL), "nothing");
    wrong += !check(p_triple_preload(device), "preload");
    for (int r = 0; r < ROWS; r++) {
        float sum = 0;
        for (int c = 0; c < COLUMNS; c++) {
            sum += x[r * COLUMNS + c];
            wrong += out[r * COLUMNS + c] > 3 * x[r * COLUMNS + c] ||
                     out[r * COLUMNS + c] < 3 * x[r * COLUMNS + c];
        }
        wrong += sums[r] > sum || sums[r] < sum;
    }
    newt_device_close(device);
    if (wrong)
        fprintf(stderr, "%d wrong\n", wrong);
    return wrong != 0;
}
