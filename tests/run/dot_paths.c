// Matrix products of random sizes up to 300 on every path, against sums in long double. Pitches are
// multiples of 16 elements or not, buffers begin at 16 bytes or not, what lies between rows of the
// sum must stay.
#include "product.h"

typedef NewtStatus Path(NewtDevice *device, const void *a, const void *b, void *c, int32_t m,
                        int32_t n, int32_t k, int32_t batches, int32_t a_pitch, int32_t b_pitch,
                        int32_t c_pitch, int32_t a_step, int32_t b_step);
#define PATH(name)                                                                                 \
    static NewtStatus name(NewtDevice *device, const void *a, const void *b, void *c, int32_t m,   \
                           int32_t n, int32_t k, int32_t batches, int32_t a_pitch,                 \
                           int32_t b_pitch, int32_t c_pitch, int32_t a_step, int32_t b_step)       \
    {                                                                                              \
        return K(name)(device, NULL, a, b, c, m, n, k, batches, a_pitch, b_pitch, c_pitch, a_step, \
                       b_step);                                                                    \
    }
PATH(path_f16)
PATH(path_bf16)
PATH(path_half)
PATH(path_tf32)
PATH(path_tf32_turned)
PATH(path_tf32x3)
PATH(path_bf16x3)
PATH(path_bf16x6)
PATH(path_ieee)
PATH(path_f64)
PATH(path_i8)
PATH(path_e4m3)
PATH(path_e5m2)
PATH(path_low)
PATH(path_thin)
PATH(stack_1)
PATH(stack_2)

typedef struct PathCase {
    Path *launch;
    const char *name;
    NewtType a, b, c;
    bool turn_a, turn_b;  // stored by columns
    bool tf32;
    Num lost;      // of each product, relative
    int32_t m, n;  // at most
} PathCase;

enum { MOST = 300, FEW = 40 };

static const PathCase cases[] = {
    { path_f16, "fp16", NEWT_F16, NEWT_F16, NEWT_F32, false, false, false, 0, MOST, MOST },
    { path_bf16, "bf16", NEWT_BF16, NEWT_BF16, NEWT_F32, true, true, false, 0, MOST, MOST },
    // rounded once in each step along K, or by each instruction
    { path_half, "fp16 sums", NEWT_F16, NEWT_F16, NEWT_F16, true, true, false, 0x1p-8L, MOST,
      MOST },
    { path_tf32, "tf32", NEWT_F32, NEWT_F32, NEWT_F32, false, false, true, 0, MOST, MOST },
    { path_tf32_turned, "tf32, turned", NEWT_F32, NEWT_F32, NEWT_F32, true, true, true, 0, MOST,
      MOST },
    { path_tf32x3, "tf32x3", NEWT_F32, NEWT_F32, NEWT_F32, false, true, false, 0, MOST, MOST },
    { path_bf16x3, "bf16x3", NEWT_F32, NEWT_F32, NEWT_F32, true, false, false, 0x1p-15L, MOST,
      MOST },
    { path_bf16x6, "bf16x6", NEWT_F32, NEWT_F32, NEWT_F32, false, false, false, 0, MOST, MOST },
    { path_ieee, "ieee", NEWT_F32, NEWT_F32, NEWT_F32, false, true, false, 0, MOST, MOST },
    { path_f64, "fp64", NEWT_F64, NEWT_F64, NEWT_F64, true, false, false, 0, MOST, MOST },
    { path_i8, "int8", NEWT_I8, NEWT_I8, NEWT_I32, false, true, false, 0, MOST, MOST },
    { path_e4m3, "e4m3", NEWT_F8E4M3, NEWT_F8E4M3, NEWT_F32, false, true, false, 0, MOST, MOST },
    { path_e5m2, "e5m2 by e4m3", NEWT_F8E5M2, NEWT_F8E4M3, NEWT_F32, false, false, false, 0, MOST,
      MOST },
    { path_low, "4 rows", NEWT_F16, NEWT_F16, NEWT_F32, false, false, false, 0, FEW, MOST },
    { path_thin, "2 columns", NEWT_BF16, NEWT_BF16, NEWT_F32, false, true, false, 0, MOST, FEW },
    { stack_1, "a batch of 1 in blocks", NEWT_F16, NEWT_F16, NEWT_F32, false, false, false, 0, MOST,
      MOST },
    { stack_2, "a batch of 2 in blocks", NEWT_F16, NEWT_F16, NEWT_F32, false, false, false, 0, MOST,
      MOST },
};

/// What lies in memory of a factor.
typedef struct Matrix {
    int32_t pitch, step;  // elements from row to row, from matrix to matrix
    size_t count;
    void *at;
    const void *device;
} Matrix;

static Matrix make_matrix(RunCx *cx, NewtType t, int32_t rows, int32_t columns, int32_t batches,
                          bool whole)
{
    Matrix x = { .pitch =
                     whole ? (columns + 15) / 16 * 16 : columns + (int32_t)run_between(cx, 0, 3) };
    x.step = rows * x.pitch;
    // The last row ends with its last element: what is read behind it is outside of the buffer.
    x.count = (size_t)(x.step * batches - x.pitch + columns);
    x.at = run_temp(cx, x.count * num_size(t));
    product_fill(cx, t, x.at, x.count);
    x.device = run_buffer(cx, x.at, x.count * num_size(t), whole ? 0 : num_size(t));
    return x;
}

static void check_between(const PathCase *t, const unsigned char *c, int32_t rows, int32_t columns,
                          int32_t pitch)
{
    const size_t size = num_size(t->c);
    for (int32_t row = 0; row + 1 < rows; row++)
        for (size_t i = (size_t)columns * size; i < (size_t)pitch * size; i++)
            if (c[(size_t)row * (size_t)pitch * size + i] != 0xFF)
                fail_msg("%s: byte %zu behind row %d was overwritten", t->name,
                         i - (size_t)columns * size, (int)row);
}

/// Large ones are rarer than small ones.
static int32_t random_size(RunCx *cx, int32_t most)
{
    return (int32_t)run_between(cx, 1, run_between(cx, 0, 3) == 0 || most < 70 ? most : 70);
}

static void run_path(RunCx *cx, const PathCase *t, bool whole)
{
    Product p = { .a = t->a, .b = t->b, .c = t->c, .tf32 = t->tf32, .lost = t->lost };
    p.m = random_size(cx, t->m);
    p.n = random_size(cx, t->n);
    p.k = random_size(cx, MOST);
    const int32_t batches = (int32_t)run_between(cx, 1, 2);
    const Matrix a =
        make_matrix(cx, p.a, t->turn_a ? p.k : p.m, t->turn_a ? p.m : p.k, batches, whole);
    const Matrix b =
        make_matrix(cx, p.b, t->turn_b ? p.n : p.k, t->turn_b ? p.k : p.n, batches, whole);
    const int32_t c_pitch = p.n + (int32_t)run_between(cx, 0, 1) * (16 - p.n % 16);
    const size_t c_bytes =
        ((size_t)(p.m * batches - 1) * (size_t)c_pitch + (size_t)p.n) * num_size(p.c);
    p.a_row = t->turn_a ? 1 : a.pitch;
    p.a_col = t->turn_a ? a.pitch : 1;
    p.b_row = t->turn_b ? 1 : b.pitch;
    p.b_col = t->turn_b ? b.pitch : 1;
    p.c_row = c_pitch;
    unsigned char *c = run_temp(cx, c_bytes);
    void *dc = RUN_OUT(cx, c_bytes);
    RUN_OK(t->launch(cx->device, a.device, b.device, dc, p.m, p.n, p.k, batches, a.pitch, b.pitch,
                     c_pitch, a.step, b.step));
    run_get(cx, dc, c);
    check_between(t, c, p.m * batches, p.n, c_pitch);
    for (int32_t g = 0; g < batches; g++)
        product_check(&p, (const char *)a.at + (size_t)(g * a.step) * num_size(p.a),
                      (const char *)b.at + (size_t)(g * b.step) * num_size(p.b), c,
                      (size_t)(g * p.m) * (size_t)c_pitch, t->name);
}

static void random_sizes(RunCx *cx)
{
    for (unsigned round = 0; round < cx->rounds; round++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (int whole = 0; whole < 2; whole++) {
                run_path(cx, &cases[i], whole);
                run_release(cx);
            }
}

RUN_TESTS = { { "random_sizes", random_sizes }, RUN_END };
