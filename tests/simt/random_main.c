/// random_main.c - runs the kernel of a random file on the host and on both emulated GPUs, and compares.
#include "k.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 4096, SPAN = 8192, PROGRAMS = 3, DEVICES = 3 };

typedef struct Results {
    int64_t out[PROGRAMS * SPAN];
    double fout[PROGRAMS * SPAN];
} Results;

static const char *const devices[DEVICES] = { "host", "cuda:0", "cuda:1" };
static Results results[DEVICES];

static void check(NewtStatus status, const char *device)
{
    if (status == NEWT_OK)
        return;
    printf("fails: %s on %s\n", newt_last_error(), device);
    exit(1);
}

static void run(const char *name, Results *r)
{
    NewtDevice *device;
    int32_t *p, *work, in[IN];
    int64_t *out;
    double *fout;
    for (int i = 0; i < IN; i++)
        in[i] = i % 5 ? i * 7919 % 201 - 100 : (int32_t)(i * UINT32_C(2654435761));
    memset(r, 0, sizeof *r);
    check(newt_device_open(name, &device), name);
    check(newt_alloc(device, sizeof in, (void **)&p), name);
    check(newt_alloc(device, PROGRAMS * 512 * sizeof *work, (void **)&work), name);
    check(newt_alloc(device, sizeof r->out, (void **)&out), name);
    check(newt_alloc(device, sizeof r->fout, (void **)&fout), name);
    check(newt_copy(device, NULL, p, in, sizeof in), name);
    check(newt_copy(device, NULL, out, r->out, sizeof r->out), name);
    check(newt_copy(device, NULL, fout, r->fout, sizeof r->fout), name);
    check(k(device, NULL, p, out, fout, work, 50), name);
    check(newt_synchronize(device, NULL), name);
    check(newt_copy(device, NULL, r->out, out, sizeof r->out), name);
    check(newt_copy(device, NULL, r->fout, fout, sizeof r->fout), name);
    newt_synchronize(device, NULL);
    newt_free(device, p);
    newt_free(device, work);
    newt_free(device, out);
    newt_free(device, fout);
    newt_device_close(device);
}

int main(void)
{
    for (int d = 0; d < DEVICES; d++)
        run(devices[d], &results[d]);
    for (int d = 1; d < DEVICES; d++)
        for (int i = 0; i < PROGRAMS * SPAN; i++) {
            const Results *a = &results[0], *b = &results[d];
            const int program = i / SPAN, at = i % SPAN;
            if (a->out[i] != b->out[i]) {
                printf("differs: out of program %d at %d is %" PRId64 " on %s, %" PRId64 " on the host\n", program, at, b->out[i],
                       devices[d], a->out[i]);
                return 1;
            }
            if (a->fout[i] != b->fout[i]) {
                printf("differs: fout of program %d at %d is %g on %s, %g on the host\n", program, at, b->fout[i], devices[d],
                       a->fout[i]);
                return 1;
            }
        }
    return 0;
}
