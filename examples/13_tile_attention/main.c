/// Attention from a tile kernel against double precision, which makes the whole matrix of scores of each head.
#include "array.h"
#include "tile_attention.h"

enum { WIDTH = 64, CHECKED_ROWS = 200 };

typedef struct Problem {
    NewtDevice *device;
    Array q, k, v, out;
    NewtTensor tensors[4];
    int64_t heads, queries, keys;
    int is_causal;
    float scale;
} Problem;

static NewtStatus launch(void *user)
{
    const Problem *p = user;
    return (p->is_causal ? tile_attention_causal : tile_attention)(p->device, NULL, p->tensors[0], p->tensors[1],
                                                                  p->tensors[2], p->tensors[3], p->scale);
}

/// [heads, rows, WIDTH], or the same with heads between the rows: [rows, heads, WIDTH] seen as the former.
static NewtTensor tensor(const Array *a, int64_t heads, int64_t rows, int interleaved)
{
    NewtTensor t = { a->buffer.at, NEWT_F16, 3, { heads, rows, WIDTH }, { rows * WIDTH, WIDTH, 1 } };
    if (interleaved) {
        t.stride[0] = WIDTH;
        t.stride[1] = heads * WIDTH;
    }
    return t;
}

static Problem problem_new(Example *ex, int64_t heads, int64_t queries, int64_t keys, int is_causal, int interleaved)
{
    Problem p = { .device = ex->device, .heads = heads, .queries = queries, .keys = keys, .is_causal = is_causal };
    Array *const arrays[4] = { &p.q, &p.k, &p.v, &p.out };
    p.scale = 0.125f;
    for (int i = 0; i < 4; i++) {
        const int64_t rows = i == 1 || i == 2 ? keys : queries;
        const size_t count = (size_t)(heads * rows * WIDTH);
        *arrays[i] = i == 3 ? example_output(ex, NEWT_F16, count, 0) : example_input(ex, NEWT_F16, count, 0);
        p.tensors[i] = tensor(arrays[i], heads, rows, interleaved);
    }
    return p;
}

static void problem_free(Example *ex, Problem *p)
{
    example_drop(ex, &p->q);
    example_drop(ex, &p->k);
    example_drop(ex, &p->v);
    example_drop(ex, &p->out);
}

static double element(const Array *a, const NewtTensor *t, int64_t head, int64_t row, int64_t column)
{
    return example_at(a, (size_t)(head * t->stride[0] + row * t->stride[1] + column));
}

static void check_row(const Problem *p, int64_t head, int64_t row, double *weights)
{
    const int64_t keys = p->is_causal && row + 1 < p->keys ? row + 1 : p->keys;
    double most = -INFINITY, sum = 0;
    for (int64_t n = 0; n < keys; n++) {
        double s = 0;
        for (int64_t d = 0; d < WIDTH; d++)
            s += element(&p->q, &p->tensors[0], head, row, d) * element(&p->k, &p->tensors[1], head, n, d);
        weights[n] = s * (double)p->scale;
        most = fmax(most, weights[n]);
    }
    for (int64_t n = 0; n < keys; n++)
        sum += weights[n] = exp(weights[n] - most);
    for (int64_t d = 0; d < WIDTH; d++) {
        Sum want = { 0, 0 };
        for (int64_t n = 0; n < keys; n++)
            example_add(&want, weights[n] / sum, element(&p->v, &p->tensors[2], head, n, d));
        // Weights are rounded to fp16 for the second product, the result once more.
        const double slack = want.size * 2 * example_rounding(NEWT_F16) + 1e-4;
        example_expect(element(&p->out, &p->tensors[3], head, row, d), want.value, slack, "attention",
                       (size_t)((head * p->queries + row) * WIDTH + d));
    }
}

static void check(Example *ex, int64_t heads, int64_t queries, int64_t keys, int is_causal, int interleaved)
{
    Problem p = problem_new(ex, heads, queries, keys, is_causal, interleaved);
    double *weights = example_memory((size_t)keys * sizeof *weights);
    example_ok(launch(&p), "attention");
    example_fetch(ex, &p.out);
    const int64_t rows = heads * queries, step = rows > CHECKED_ROWS ? rows / CHECKED_ROWS : 1;
    for (int64_t i = 0; i < rows; i += step)
        check_row(&p, i / queries, i % queries, weights);
    free(weights);
    problem_free(ex, &p);
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][3] = { { 1, 1, 1 },    { 2, 16, 16 },     { 3, 77, 130 },
                                         { 2, 130, 77 }, { 4, 1024, 1024 }, { 2, 2000, 2000 } };
    Example ex = example_open(argc, argv);
    const int small = ex.quick || example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (small ? 2 : 0);
    for (int causal = 0; causal < 2; causal++) {
        for (size_t s = 0; s < count; s++)
            for (int interleaved = 0; interleaved < 2; interleaved++)
                check(&ex, shapes[s][0], shapes[s][1], shapes[s][2], causal, interleaved);
        const int64_t heads = small ? 1 : 32, length = small ? 128 : 4096;
        Problem p = problem_new(&ex, heads, length, length, causal, 0);
        const double operations = 4.0 * (double)(heads * length * length) * WIDTH * (causal ? 0.5 : 1.0);
        example_rate(&ex, launch, &p, operations, causal ? "causal attention" : "attention");
        problem_free(&ex, &p);
    }
    return example_close(&ex);
}
