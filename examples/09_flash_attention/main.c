/// Attention and its derivative against double precision, which makes the whole matrix of scores for each head.
///
/// The references take what the kernels take: fp16 arrays. How far results may be off follows from the roundings of
/// probabilities and their derivatives to fp16 on their way into the second products.
#include "array.h"
#include "attention.h"

enum { MOST_WIDTH = 128 };

typedef struct Problem {
    NewtDevice *device;
    Array q, k, v, out, lse;             // forward
    Array d_out, delta, dq, dk, dv;      // backward
    int32_t s, heads, group, width;      // width: D
    int is_causal;
    float scale;
} Problem;

// ---- launches --------------------------------------------------------------------------------------------------

typedef NewtStatus Forward(NewtDevice *device, NewtStream stream, const NewtF16 *q, const NewtF16 *k, const NewtF16 *v,
                           NewtF16 *out, float *lse, int32_t s, int32_t heads, int32_t group, float scale);
typedef NewtStatus Delta(NewtDevice *device, NewtStream stream, const NewtF16 *out, const NewtF16 *d_out, float *delta,
                         int32_t s, int32_t heads);
typedef NewtStatus Dkv(NewtDevice *device, NewtStream stream, const NewtF16 *q, const NewtF16 *k, const NewtF16 *v,
                       const NewtF16 *d_out, const float *lse, const float *delta, NewtF16 *dk, NewtF16 *dv, int32_t s,
                       int32_t heads, int32_t group, float scale);
typedef NewtStatus Dq(NewtDevice *device, NewtStream stream, const NewtF16 *q, const NewtF16 *k, const NewtF16 *v,
                      const NewtF16 *d_out, const float *lse, const float *delta, NewtF16 *dq, int32_t s, int32_t heads,
                      int32_t group, float scale);

/// The functions for each width and, second, for causal attention.
static Forward *const forwards[2][2] = { { attention_d64, attention_d64_causal },
                                         { attention_d128, attention_d128_causal } };
static Delta *const deltas[2] = { attention_delta_d64, attention_delta_d128 };
static Dkv *const dkvs[2][2] = { { attention_dkv_d64, attention_dkv_d64_causal },
                                 { attention_dkv_d128, attention_dkv_d128_causal } };
static Dq *const dqs[2][2] = { { attention_dq_d64, attention_dq_d64_causal },
                               { attention_dq_d128, attention_dq_d128_causal } };

static NewtStatus launch_forward(void *user)
{
    const Problem *p = user;
    return forwards[p->width == 128][p->is_causal](p->device, NULL, p->q.buffer.at, p->k.buffer.at, p->v.buffer.at,
                                                   p->out.buffer.at, p->lse.buffer.at, p->s, p->heads, p->group,
                                                   p->scale);
}

/// Expects that forward has run.
static NewtStatus launch_backward(void *user)
{
    const Problem *p = user;
    const int wide = p->width == 128;
    NewtStatus status = deltas[wide](p->device, NULL, p->out.buffer.at, p->d_out.buffer.at, p->delta.buffer.at, p->s,
                                     p->heads);
    if (status == NEWT_OK)
        status = dkvs[wide][p->is_causal](p->device, NULL, p->q.buffer.at, p->k.buffer.at, p->v.buffer.at,
                                          p->d_out.buffer.at, p->lse.buffer.at, p->delta.buffer.at, p->dk.buffer.at,
                                          p->dv.buffer.at, p->s, p->heads, p->group, p->scale);
    if (status == NEWT_OK)
        status = dqs[wide][p->is_causal](p->device, NULL, p->q.buffer.at, p->k.buffer.at, p->v.buffer.at,
                                         p->d_out.buffer.at, p->lse.buffer.at, p->delta.buffer.at, p->dq.buffer.at, p->s,
                                         p->heads, p->group, p->scale);
    return status;
}

static Problem problem_new(Example *ex, int32_t heads, int32_t group, int32_t s, int32_t width, int is_causal)
{
    Problem p = { .device = ex->device, .s = s, .heads = heads, .group = group, .width = width, .is_causal = is_causal };
    const size_t queries = (size_t)heads * (size_t)s * (size_t)width, keys = queries / (size_t)group;
    const size_t rows = (size_t)heads * (size_t)s;
    p.scale = 1.5f / sqrtf((float)width);
    p.q = example_input(ex, NEWT_F16, queries, 0);
    p.k = example_input(ex, NEWT_F16, keys, 0);
    p.v = example_input(ex, NEWT_F16, keys, 0);
    p.d_out = example_input(ex, NEWT_F16, queries, 0);
    p.out = example_output(ex, NEWT_F16, queries, 0);
    p.lse = example_output(ex, NEWT_F32, rows, 0);
    p.delta = example_output(ex, NEWT_F32, rows, 0);
    p.dq = example_output(ex, NEWT_F16, queries, 0);
    p.dk = example_output(ex, NEWT_F16, keys, 0);
    p.dv = example_output(ex, NEWT_F16, keys, 0);
    return p;
}

static void problem_free(Example *ex, Problem *p)
{
    Array *const arrays[] = { &p->q, &p->k, &p->v, &p->d_out, &p->out, &p->lse, &p->delta, &p->dq, &p->dk, &p->dv };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        example_drop(ex, arrays[i]);
}

// ---- the reference ---------------------------------------------------------------------------------------------

static const double rounding = 0x1p-11;  // of fp16

/// The matrices of one head of queries in double precision.
typedef struct Head {
    const Problem *p;
    size_t queries, keys;  // where its rows begin
    double *prob, *slope;  // [s, s]: probabilities, and the derivatives of the scores
    double *doubt;         // how far the latter may be off
} Head;

static double q_at(const Head *h, const Array *a, int64_t row, int64_t d)
{
    return example_at(a, h->queries + (size_t)(row * h->p->width + d));
}

static double k_at(const Head *h, const Array *a, int64_t row, int64_t d)
{
    return example_at(a, h->keys + (size_t)(row * h->p->width + d));
}

static void head_scores(Head *h)
{
    const Problem *p = h->p;
    for (int64_t i = 0; i < p->s; i++) {
        const int64_t end = p->is_causal ? i + 1 : p->s;
        double *row = h->prob + i * p->s, peak = -INFINITY, total = 0;
        for (int64_t j = 0; j < p->s; j++)
            row[j] = 0;
        for (int64_t j = 0; j < end; j++) {
            for (int64_t d = 0; d < p->width; d++)
                row[j] += q_at(h, &p->q, i, d) * k_at(h, &p->k, j, d);
            row[j] *= (double)p->scale;
            peak = fmax(peak, row[j]);
        }
        for (int64_t j = 0; j < end; j++)
            total += row[j] = exp(row[j] - peak);
        for (int64_t j = 0; j < end; j++)
            row[j] /= total;
        const double lse = (peak + log(total)) / log(2);
        const size_t at = h->queries / (size_t)p->width + (size_t)i;
        example_expect(example_at(&p->lse, at), lse, 1e-4 + fabs(lse) * 0x1p-18, "lse", at);
    }
}

static void head_slopes(Head *h)
{
    const Problem *p = h->p;
    for (int64_t i = 0; i < p->s; i++) {
        double delta = 0, size = 0;
        for (int64_t d = 0; d < p->width; d++) {
            double o = 0;
            for (int64_t j = 0; j < p->s; j++)
                o += h->prob[i * p->s + j] * k_at(h, &p->v, j, d);
            delta += o * q_at(h, &p->d_out, i, d);
            size += fabs(o * q_at(h, &p->d_out, i, d)) + 0x1p-6;
        }
        for (int64_t j = 0; j < p->s; j++) {
            Sum sum = { 0, 0 };
            const int64_t at = i * p->s + j;
            for (int64_t d = 0; d < p->width; d++)
                example_add(&sum, q_at(h, &p->d_out, i, d), k_at(h, &p->v, j, d));
            h->slope[at] = h->prob[at] * (sum.value - delta);
            h->doubt[at] = h->prob[at] * (2 * rounding * size + example_slack(&sum, 0)) + fabs(h->slope[at]) * 2 * rounding;
        }
    }
}

static void expect_sum(const Array *a, size_t at, const Sum *sum, double scale, double doubt, const char *what)
{
    const double want = sum->value * scale;
    const double slack = (sum->size * 2 * rounding + doubt) * scale + fabs(want) * 2 * rounding + 0x1p-22;
    example_expect(example_at(a, at), want, slack, what, at);
}

static void check_rows(const Head *h)
{
    const Problem *p = h->p;
    for (int64_t i = 0; i < p->s; i++)
        for (int64_t d = 0; d < p->width; d++) {
            Sum out = { 0, 0 }, dq = { 0, 0 };
            double doubt = 0;
            for (int64_t j = 0; j < p->s; j++) {
                example_add(&out, h->prob[i * p->s + j], k_at(h, &p->v, j, d));
                example_add(&dq, h->slope[i * p->s + j], k_at(h, &p->k, j, d));
                doubt += h->doubt[i * p->s + j] * fabs(k_at(h, &p->k, j, d));
            }
            const size_t at = h->queries + (size_t)(i * p->width + d);
            expect_sum(&p->out, at, &out, 1, 0, "out");
            expect_sum(&p->dq, at, &dq, (double)p->scale, doubt, "dq");
        }
}

/// Adds what one head of queries gives its keys and values: sums for dk and dv, and the doubt about dk.
static void add_columns(const Head *h, Sum *dk, Sum *dv, double *doubt)
{
    const Problem *p = h->p;
    for (int64_t j = 0; j < p->s; j++)
        for (int64_t d = 0; d < p->width; d++)
            for (int64_t i = 0; i < p->s; i++) {
                const int64_t at = j * p->width + d;
                example_add(&dk[at], h->slope[i * p->s + j], q_at(h, &p->q, i, d));
                example_add(&dv[at], h->prob[i * p->s + j], q_at(h, &p->d_out, i, d));
                doubt[at] += h->doubt[i * p->s + j] * fabs(q_at(h, &p->q, i, d));
            }
}

static void check_group(const Problem *p, int32_t key_head)
{
    const size_t square = (size_t)p->s * (size_t)p->s, size = (size_t)p->s * (size_t)p->width;
    double *matrices = example_memory(3 * square * sizeof *matrices), *doubt = example_memory(size * sizeof *doubt);
    Sum *dk = example_memory(size * sizeof *dk), *dv = example_memory(size * sizeof *dv);
    for (size_t i = 0; i < size; i++) {
        dk[i] = dv[i] = (Sum){ 0, 0 };
        doubt[i] = 0;
    }
    for (int32_t i = 0; i < p->group; i++) {
        Head h = { p, (size_t)(key_head * p->group + i) * size, (size_t)key_head * size, matrices, matrices + square,
                   matrices + 2 * square };
        head_scores(&h);
        head_slopes(&h);
        check_rows(&h);
        add_columns(&h, dk, dv, doubt);
    }
    for (size_t i = 0; i < size; i++) {
        expect_sum(&p->dk, (size_t)key_head * size + i, &dk[i], (double)p->scale, doubt[i], "dk");
        expect_sum(&p->dv, (size_t)key_head * size + i, &dv[i], 1, 0, "dv");
    }
    free(matrices);
    free(doubt);
    free(dk);
    free(dv);
}

static void check(Example *ex, const int32_t shape[3], int32_t width, int is_causal)
{
    Problem p = problem_new(ex, shape[0], shape[1], shape[2], width, is_causal);
    example_ok(launch_forward(&p), "attention");
    example_ok(launch_backward(&p), "attention, backward");
    Array *const results[] = { &p.out, &p.lse, &p.delta, &p.dq, &p.dk, &p.dv };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        example_fetch(ex, results[i]);
    for (int32_t head = 0; head < p.heads / p.group; head++)
        check_group(&p, head);
    problem_free(ex, &p);
}

static void measure(Example *ex, int32_t width, int is_causal)
{
    const int32_t heads = ex->quick ? 2 : 64, s = ex->quick ? 64 : 4096;
    Problem p = problem_new(ex, heads, 1, s, width, is_causal);
    const double operations = (is_causal ? 2.0 : 4.0) * heads * s * s * width;
    char what[64];
    snprintf(what, sizeof what, "D %d%s, forward", (int)width, is_causal ? ", causal" : "");
    example_rate(ex, launch_forward, &p, operations, what);
    snprintf(what, sizeof what, "D %d%s, backward", (int)width, is_causal ? ", causal" : "");
    example_rate(ex, launch_backward, &p, 2.5 * operations, what);
    problem_free(ex, &p);
}

int main(int argc, char **argv)
{
    // heads of queries, how many of them share keys and values, length
    static const int32_t shapes[][3] = {
        { 1, 1, 1 }, { 2, 1, 16 }, { 4, 2, 65 }, { 3, 3, 130 }, { 2, 1, 128 }, { 6, 2, 300 }, { 2, 1, 511 },
    };
    Example ex = example_open(argc, argv);
    ex.quick |= example_is_host(&ex);
    const size_t count = sizeof shapes / sizeof *shapes - (ex.quick ? 2 : 0);
    for (int32_t width = 64; width <= MOST_WIDTH; width *= 2)
        for (int is_causal = 0; is_causal < 2; is_causal++) {
            for (size_t s = 0; s < count; s++)
                check(&ex, shapes[s], width, is_causal);
            measure(&ex, width, is_causal);
        }
    return example_close(&ex);
}
