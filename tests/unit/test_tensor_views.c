// test_tensor_views.c - kernels as people write them, by descriptors, block pointers and pointers:
// what their accesses touch after the passes on blocks. The dimensions are written out by hand; the
// variable of a loop stands for the number of its iteration.
#include "lower_case.h"
#include "passes/pass.h"
#include "tensor_case.h"

typedef struct ViewCase {
    const char *name, *source;
    const char *want;  // of each access in its order
} ViewCase;

#define KERNEL(grid, params) LOWER_HEAD "@newt.kernel(grid=" grid ")\ndef f(" params "):\n"
#define MATRICES                                                                            \
    "a: ptr[const[float16]], b: ptr[const[float16]], c: ptr[float16], M: int32, N: int32, " \
    "K: int32, lda: int64"

static const ViewCase cases[] = {
    { "product_by_descriptors",
      KERNEL("(1,)",
             MATRICES) "    A = nl.make_tensor_descriptor(a, [M, K], [lda, 1], [64, 32])\n"
                       "    B = nl.make_tensor_descriptor(b, [K, N], [N, 1], [32, 128])\n"
                       "    C = nl.make_tensor_descriptor(c, [M, N], [N, 1], [64, 128])\n"
                       "    i = nl.program_id(0)\n    j = nl.program_id(1)\n"
                       "    acc = nl.zeros((64, 128), float32)\n"
                       "    for k in range(0, K, 32):\n"
                       "        acc = nl.dot(A.load([i * 64, k]), B.load([k, j * 128]), acc)\n"
                       "    C.store([i * 64, j * 128], acc)\n",
      "axis 0 x64: stride lda, start 64*i, bounds M, from 0\n"
      "axis 1 x32: stride 1, start 32*k, bounds K, from 0\n"
      "axis 0 x32: stride N, start 32*k, bounds K, from 0\n"
      "axis 1 x128: stride 1, start 128*j, bounds N, from 0\n"
      "axis 0 x64: stride N, start 64*i, bounds M, from 0\n"
      "axis 1 x128: stride 1, start 128*j, bounds N, from 0\n" },
    { "product_by_block_pointers",
      KERNEL("(1,)",
             MATRICES) "    i = nl.program_id(0)\n"
                       "    p = nl.make_block_ptr(a, (M, K), (lda, 1), (i * 64, 0), (64, 32), "
                       "(1, 0))\n"
                       "    q = nl.make_block_ptr(b, (N, K), (K, 1), (0, 0), (16, 32), (1, "
                       "0))\n"
                       "    acc = nl.zeros((64, 16), float32)\n"
                       "    for k in range(0, K, 32):\n"
                       "        x = nl.load(p, boundary_check=(0, 1))\n"
                       "        acc += nl.dot(x, nl.trans(nl.load(q, boundary_check=(1,))))\n"
                       "        p = nl.advance(p, (0, 32))\n"
                       "        q = nl.advance(q, (0, 32))\n"
                       "    r = nl.make_block_ptr(c, (M, N), (N, 1), (i * 64, 0), (64, 16), "
                       "(1, 0))\n"
                       "    nl.store(r, acc.to(float16))\n",
      "axis 0 x64: stride lda, start 64*i, bounds M, from 0\n"
      "axis 1 x32: stride 1, start 32*k, bounds K, from 0\n"
      "axis 0 x16: stride K, start 0\n"
      "axis 1 x32: stride 1, start 32*k, bounds K, from 0\n"
      "axis 0 x64: stride N, start 64*i\n"
      "axis 1 x16: stride 1, start 0\n" },
    { "heads_of_attention",
      KERNEL("(1,)", "q: ptr[const[float16]], s: int32, group: int32") "    h = (nl.program_id(1) "
                                                                       "// group).to(int64)\n"
                                                                       "    head = "
                                                                       "nl.make_tensor_descriptor("
                                                                       "q + h * s * 64, [s, 64], "
                                                                       "[64, 1], [32, 64])\n"
                                                                       "    for j in range(0, s, "
                                                                       "32):\n        "
                                                                       "nl.static_assert(head.load("
                                                                       "[j, 0]).shape[0] == 32)\n"
                                                                       "    "
                                                                       "nl.atomic_add(q.to(ptr["
                                                                       "float32]), "
                                                                       "nl.sum(head.load([0, "
                                                                       "0]).to(float32)))\n",
      "axis 0 x32: stride 64, start 0, bounds s, from 0\n"
      "axis 1 x64: stride 1, start 0, bounds 64, from 0\n"
      "axis -1 x1: stride 64*s, start ?\n" },
    { "three_axes",
      KERNEL("(1,)", "x: ptr[const[float32]], y: ptr[float32], a: int32, b: int32, c: "
                     "int32") "    i = nl.program_id(0)\n"
                              "    d = nl.make_tensor_descriptor(x, [a, b, c], [b * c, c, "
                              "1], [2, 4, 8])\n"
                              "    e = nl.make_tensor_descriptor(y, [a, b, c], [b * c, c, "
                              "1], [2, 4, 8])\n"
                              "    e.store([i, 0, 0], d.load([i, 4, 0]))\n",
      "axis 0 x2: stride b*c, start i, bounds a, from 0\n"
      "axis 1 x4: stride c, start 4, bounds b, from 0\n"
      "axis 2 x8: stride 1, start 0, bounds c, from 0\n"
      "axis 0 x2: stride b*c, start i, bounds a, from 0\n"
      "axis 1 x4: stride c, start 0, bounds b, from 0\n"
      "axis 2 x8: stride 1, start 0, bounds c, from 0\n" },
    { "batch_by_pointers",
      KERNEL("(1,)", MATRICES) "    z = nl.program_id(2)\n    r = nl.program_id(0) * 64 + "
                               "nl.arange(0, 64)\n"
                               "    k = nl.arange(0, 32)\n"
                               "    at = a + z * lda * M + r[:, None] * lda + k[None, :]\n"
                               "    for t in range(0, K, 32):\n"
                               "        x = nl.load(at, mask=(r[:, None] < M) & (k[None, "
                               ":] < K - t), other=0.0)\n"
                               "        nl.store(c + r[:, None] * 32 + k[None, :], x)\n    "
                               "    at += 32\n",
      "axis 0 x64: stride lda, start 64*?, bounds M\n"
      "axis 1 x32: stride 1, start 32*t, bounds K\n"
      "axis -1 x1: stride M*lda, start z\n"
      "axis 0 x64: stride 32, start 64*?\n"
      "axis 1 x32: stride 1, start 0\n" },
    { "rows_picked_by_number",
      KERNEL("(1,)", "x: ptr[const[float32]], i: ptr[const[int32]], y: ptr[float32], m: "
                     "int32") "    d = nl.make_tensor_descriptor(x, [m, 64], [64, 1], [1, "
                              "64])\n"
                              "    v = d.gather(nl.load(i + nl.arange(0, 8)), 0)\n"
                              "    nl.store(y + nl.arange(0, 512), v.reshape(512))\n",
      "axis 0 x8: stride 1, start 0\n"
      "the address depends on loaded values"
      "axis 0 x512: stride 1, start 0\n" },
};

static bool put_each(IrOp *op, void *cx)
{
    void **at = cx;
    if (op->code == IR_LOAD || op->code == IR_STORE)
        tensor_case_put(at[1], tensor_access_of(at[0], op));
    return true;
}

static void check(void **state)
{
    const ViewCase *t = *state;
    LowerCase c;
    Buf out = { 0 };
    const VariantOptions options = { .specialize = "none" };
    if (!lower_case_begin(&c, t->source, &options))
        fail_msg("%s", lower_case_messages(&c));
    IrFunc *fn = lower_kernel(&c.program, &c.units.at[0].variants[0], &c.arena);
    if (!fn)
        fail_msg("%s", lower_case_messages(&c));
    PassCtx passes = { .arena = &c.arena, .diags = &c.diags };
    assert_true(pass_run_all(&passes, fn, PASS_TILE, PASS_TILE));
    void *at[2] = { tensor_analysis(fn, axis_info_compute(fn, &c.arena), &c.arena), &out };
    ir_walk(fn, put_each, at);
    assert_string_equal(out.at, t->want);
    buf_free(&out);
    arena_free(&c.arena);
}

int main(void)
{
    struct CMUnitTest tests[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, check, NULL, NULL, (void *)&cases[i] };
    return cmocka_run_group_tests_name("tensor_views", tests, NULL, NULL);
}
