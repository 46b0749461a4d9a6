/// random_main.c - runs each kernel of random files on the host and on every device that is named, and compares.
///
///     k DEVICE...    exit code 1: some differ or fail
#include "kernels.h"  // their headers, and KERNELS(X, TILE): X(name) for each, TILE(name, sizes) of tensors

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 4096, SPAN = 8192, PROGRAMS = 3, MATRIX = 256 * 256 };

typedef struct Results {
    int64_t out[PROGRAMS * SPAN];
    double fout[PROGRAMS * SPAN];
} Results;

typedef struct Shape {
    int m, n, k;
    unsigned turned; // a bit for each tensor that is stored by columns
} Shape;

typedef NewtStatus TileKernel(NewtDevice *device, NewtStream stream, NewtTensor p, NewtTensor row, NewtTensor a, NewtTensor b,
                              NewtTensor bt, NewtTensor out, NewtTensor fout, NewtTensor each, int32_t n);

typedef struct Kernel {
    const char *name;
    Shape shape;
    TileKernel *tile; // or launch
    NewtStatus (*launch)(NewtDevice *device, NewtStream stream, const int32_t *p, int64_t *out, double *fout, int32_t *work,
                         int32_t n, const uint16_t *h);
} Kernel;

#define KERNEL_ROW(kernel) { .name = #kernel, .launch = kernel },
#define TILE_ROW(kernel, ...) { .name = #kernel, .shape = { __VA_ARGS__ }, .tile = kernel },
static const Kernel kernels[] = { KERNELS(KERNEL_ROW, TILE_ROW) };

/// The kernel's buffers on one device.
typedef struct Buffers {
    NewtDevice *device;
    int32_t *p, *work;
    int64_t *out;
    double *fout;
    uint16_t *h;
} Buffers;

static bool is_ok(NewtStatus status, const Kernel *k, const char *device)
{
    if (status != NEWT_OK)
        printf("%s fails: %s on %s\n", k->name, newt_last_error(), device);
    return status == NEWT_OK;
}

static NewtStatus buffers_open(Buffers *b, const char *name)
{
    NewtStatus status = newt_device_open(name, &b->device);
    if (status == NEWT_OK)
        status = newt_alloc(b->device, IN * sizeof *b->p, (void **)&b->p);
    if (status == NEWT_OK)
        status = newt_alloc(b->device, PROGRAMS * 512 * sizeof *b->work, (void **)&b->work);
    if (status == NEWT_OK)
        status = newt_alloc(b->device, PROGRAMS * SPAN * sizeof *b->out, (void **)&b->out);
    if (status == NEWT_OK)
        status = newt_alloc(b->device, PROGRAMS * SPAN * sizeof *b->fout, (void **)&b->fout);
    if (status == NEWT_OK)
        status = newt_alloc(b->device, MATRIX * sizeof *b->h, (void **)&b->h);
    return status;
}

static void buffers_close(Buffers *b)
{
    newt_free(b->device, b->p);
    newt_free(b->device, b->work);
    newt_free(b->device, b->out);
    newt_free(b->device, b->fout);
    newt_free(b->device, b->h);
    newt_device_close(b->device);
}

/// Whole numbers from -3 to 3 as fp16.
static NewtStatus fill_matrix(const Buffers *b)
{
    static const uint16_t some[] = { 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200 };
    static uint16_t matrix[MATRIX];
    for (int i = 0; i < MATRIX; i++)
        matrix[i] = some[(i * 7919 + i / 256 * 31) % 7];
    return newt_copy(b->device, NULL, b->h, matrix, sizeof matrix);
}

static NewtTensor matrix(const void *data, NewtType type, int rows, int columns, int pitch, unsigned by_columns)
{
    NewtTensor t = newt_tensor2((void *)data, type, rows, columns);
    t.stride[0] = by_columns ? 1 : pitch ? pitch : columns;
    t.stride[1] = by_columns ? pitch ? pitch : rows : 1;
    return t;
}

static NewtStatus launch(const Kernel *k, const Buffers *b)
{
    if (!k->tile)
        return k->launch(b->device, NULL, b->p, b->out, b->fout, b->work, 50, b->h);
    const Shape s = k->shape;
    const int64_t row[] = { s.n }, each[] = { s.m };
    return k->tile(b->device, NULL, matrix(b->p, NEWT_I32, s.m, s.n, 0, s.turned & 1), newt_tensor(b->p, NEWT_I32, 1, row),
                   matrix(b->h, NEWT_F16, s.m, s.k, 256, s.turned & 2), matrix(b->h + 64, NEWT_F16, s.k, s.n, 256, s.turned & 4),
                   matrix(b->h + 3, NEWT_F16, s.n, s.k, 256, s.turned & 2), matrix(b->out, NEWT_I64, s.m, s.n, 0, s.turned & 8),
                   matrix(b->fout, NEWT_F64, s.m, s.n, 0, 0), newt_tensor(b->out + 2 * SPAN, NEWT_I64, 1, each), 50);
}

static NewtStatus run(const Kernel *k, const Buffers *b, Results *r)
{
    int32_t in[IN];
    for (int i = 0; i < IN; i++)
        in[i] = i % 5 ? i * 7919 % 201 - 100 : (int32_t)(i * UINT32_C(2654435761));
    memset(r, 0, sizeof *r);
    NewtStatus status = newt_copy(b->device, NULL, b->p, in, sizeof in);
    if (status == NEWT_OK)
        status = newt_copy(b->device, NULL, b->out, r->out, sizeof r->out);
    if (status == NEWT_OK)
        status = newt_copy(b->device, NULL, b->fout, r->fout, sizeof r->fout);
    if (status == NEWT_OK)
        status = fill_matrix(b);
    if (status == NEWT_OK)
        status = launch(k, b);
    if (status == NEWT_OK)
        status = newt_copy(b->device, NULL, r->out, b->out, sizeof r->out);
    if (status == NEWT_OK)
        status = newt_copy(b->device, NULL, r->fout, b->fout, sizeof r->fout);
    return status == NEWT_OK ? newt_synchronize(b->device, NULL) : status;
}

static bool is_same(const Kernel *k, const Results *host, const Results *got, const char *device)
{
    for (int i = 0; i < PROGRAMS * SPAN; i++) {
        const int program = i / SPAN, at = i % SPAN;
        if (host->out[i] != got->out[i]) {
            printf("%s differs: out of program %d at %d is %" PRId64 " on %s, %" PRId64 " on the host\n", k->name, program, at,
                   got->out[i], device, host->out[i]);
            return false;
        }
        if (memcmp(&host->fout[i], &got->fout[i], sizeof host->fout[i]) != 0 && host->fout[i] != got->fout[i]) {
            printf("%s differs: fout of program %d at %d is %g on %s, %g on the host\n", k->name, program, at, got->fout[i],
                   device, host->fout[i]);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static Results on_host, on_device;
    static Buffers host, others[8];
    const int count = argc - 1 < 8 ? argc - 1 : 8;
    int bad = 0;
    if (!is_ok(buffers_open(&host, "host"), &kernels[0], "host"))
        return 1;
    for (int d = 0; d < count; d++)
        if (!is_ok(buffers_open(&others[d], argv[d + 1]), &kernels[0], argv[d + 1]))
            return 1;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const Kernel *k = &kernels[i];
        if (!is_ok(run(k, &host, &on_host), k, "host")) {
            bad++;
            continue;
        }
        for (int d = 0; d < count; d++)
            bad += !is_ok(run(k, &others[d], &on_device), k, argv[d + 1]) || !is_same(k, &on_host, &on_device, argv[d + 1]);
    }
    for (int d = 0; d < count; d++)
        buffers_close(&others[d]);
    buffers_close(&host);
    return bad > 0;
}
