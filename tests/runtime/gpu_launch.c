/// libnewt against the real driver: results, captures, faults, and the time of a warm launch
/// against that of the cuLaunchKernel inside it. Exit status 77 when there is no driver or device.
#include "driver_api.h"
#include "host.h"
#include <dlfcn.h>
#include <newt/module.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct AddArgs {
    const float *x, *y;
    float *out;
    int64_t n;
} AddArgs;

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u64 out, .param .u64 n)\n"
    "{ .reg .u64 a, b, c, m, i; .reg .u32 t, g; .reg .f32 p, q; .reg .pred k;\n"
    "  ld.param.u64 a, [x]; ld.param.u64 b, [y]; ld.param.u64 c, [out]; ld.param.u64 m, [n];\n"
    "  mov.u32 t, %tid.x; mov.u32 g, %ctaid.x; mad.lo.u32 t, g, 256, t;\n"
    "  cvt.u64.u32 i, t; setp.ge.u64 k, i, m; @k ret;\n"
    "  shl.b64 i, i, 2; add.u64 a, a, i; add.u64 b, b, i; add.u64 c, c, i;\n"
    "  ld.global.f32 p, [a]; ld.global.f32 q, [b]; add.f32 p, p, q; st.global.f32 [c], p; ret; }\n";

static const NewtParam params[] = {
    { "x", NEWT_PARAM_POINTER, NEWT_F32, offsetof(AddArgs, x), 8, 1, 0 },
    { "y", NEWT_PARAM_POINTER, NEWT_F32, offsetof(AddArgs, y), 8, 1, 0 },
    { "out", NEWT_PARAM_POINTER, NEWT_F32, offsetof(AddArgs, out), 8, 0, 0 },
    { "n", NEWT_PARAM_SCALAR, NEWT_I64, offsetof(AddArgs, n), 8, 0, 0 },
};
static const NewtPredicate aligned[] = {
    { NEWT_TEST_ALIGN, 0, 16, NULL },
    { NEWT_TEST_ALIGN, 1, 16, NULL },
    { NEWT_TEST_ALIGN, 2, 16, NULL },
    { NEWT_TEST_MULTIPLE, 3, 16, NULL },
};

static NewtStatus add_grid(const void *args, int64_t grid[3])
{
    grid[0] = (((const AddArgs *)args)->n + 255) / 256;
    return NEWT_OK;
}

static const NewtImage images[] = {
    { NEWT_IMAGE_PTX, NEWT_SET_COMMON, 80, ptx, sizeof ptx, "0", NULL, 0 },
};
static const NewtEntry entries[] = { { .symbol = "add", .image = 0, .threads = 256 } };
static const NewtVariant variants[] = {
    { "aligned", aligned, entries, 4, 1, add_grid, NULL, 0 },
    { "generic", NULL, entries, 0, 1, add_grid, NULL, 0 },
};
static const NewtModuleDesc module;
static const NewtKernel kernel = { &module, "add", "gpu_launch.c", params, variants, 4, 2, NULL, NULL };
static const NewtModuleDesc module = { NEWT_ABI, 1, 1, 7, "gpu_launch.c", "0", images, &kernel };

static int failures;

// ---- a kernel with a tensor map and a persistent grid ------------------------------------------

typedef struct TileArgs {
    const float *in;
    float *out;
    int64_t rows;
} TileArgs;

enum { TILE_ROWS = 8, TILE_WIDTH = 32, TILE_STRIDE = 40 };

/// Every block takes the tiles blockIdx, blockIdx + gridDim, ... of 8 rows of 32: through the map
/// into shared memory, and from there densely to `out`.
static const char tile_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry tile(.param .u64 in, .param .u64 out, .param .u64 rows,\n"
    "  .param .align 64 .b8 map[128], .param .u32 gx, .param .u32 gy, .param .u32 gz)\n"
    "{ .reg .pred p, q; .reg .b32 t, g, n, tid, bar, sm, r, i, ph, y, z; .reg .b64 o, m, a;\n"
    "  .reg .f32 v; .shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 full;\n"
    "  ld.param.u64 o, [out]; mov.b64 m, map; cvta.param.u64 m, m; ld.param.u32 g, [gx];\n"
    "  mov.u32 tid, %tid.x; mov.u32 t, %ctaid.x; mov.u32 n, %nctaid.x; mov.u32 bar, full;\n"
    "  mov.u32 sm, tile; mov.u32 ph, 0; mov.u32 z, 0; setp.ne.u32 q, tid, 0; @q bra ready;\n"
    "  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
    "ready: bar.sync 0;\n"
    "loop: setp.ge.u32 p, t, g; @p bra done; @q bra wait;\n"
    "  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024; shl.b32 y, t, 3;\n"
    "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\n"
    "    [sm], [m, {z, y}], [bar];\n"
    "wait: mbarrier.try_wait.parity.shared.b64 p, [bar], ph; @!p bra wait;\n"
    "  xor.b32 ph, ph, 1; mov.u32 i, tid;\n"
    "copy: shl.b32 r, i, 2; add.u32 r, r, sm; ld.shared.f32 v, [r]; mad.lo.u32 r, t, 256, i;\n"
    "  mul.wide.u32 a, r, 4; add.u64 a, a, o; st.global.f32 [a], v; add.u32 i, i, 32;\n"
    "  setp.lt.u32 p, i, 256; @p bra copy; bar.sync 0; add.u32 t, t, n; bra loop;\n"
    "done: ret; }\n";

static const NewtParam tile_params[] = {
    { "in", NEWT_PARAM_POINTER, NEWT_F32, offsetof(TileArgs, in), 8, 1, NEWT_USE_READ },
    { "out", NEWT_PARAM_POINTER, NEWT_F32, offsetof(TileArgs, out), 8, 0, NEWT_USE_WRITTEN },
    { "rows", NEWT_PARAM_SCALAR, NEWT_I64, offsetof(TileArgs, rows), 8, 0, 0 },
};
static const NewtTensorRecipe tile_recipes[] = {
    { 0, NEWT_F32, 2, 0, 128, { TILE_WIDTH, TILE_ROWS }, 0 },
};

static NewtStatus tile_shapes(const void *args, const uint32_t grid[3], NewtTensorShape *shapes)
{
    (void)grid;
    shapes[0] =
        (NewtTensorShape){ { TILE_WIDTH, ((const TileArgs *)args)->rows }, { 1, TILE_STRIDE } };
    return NEWT_OK;
}

static NewtStatus tile_grid(const void *args, int64_t grid[3])
{
    grid[0] = (((const TileArgs *)args)->rows + TILE_ROWS - 1) / TILE_ROWS;
    return NEWT_OK;
}

static const NewtImage tile_images[] = {
    { NEWT_IMAGE_PTX, NEWT_SET_COMMON, 90, tile_ptx, sizeof tile_ptx, "0", NULL, 0 },
};
static const NewtEntry tile_entries[] = {
    { .symbol = "tile",
      .threads = 32,
      .tensor_count = 1,
      .tensors = tile_recipes,
      .tensor_expr = tile_shapes,
      .blocks_per_sm = 1 },
};
static const NewtVariant tile_variants[] = {
    { "generic", NULL, tile_entries, 0, 1, tile_grid, NULL, 0 },
};
static const NewtModuleDesc tile_module;
static const NewtKernel tile_kernel = {
    &tile_module, "tile", "gpu_launch.c", tile_params, tile_variants, 3, 1, NULL, NULL
};
static const NewtModuleDesc tile_module = { NEWT_ABI,       1,   1,           8,
                                            "gpu_launch.c", "0", tile_images, &tile_kernel };

static void check(const char *what, NewtStatus got, NewtStatus wanted)
{
    bool is_right = got == wanted;
    failures += !is_right;
    printf("%-44s %-18s %s%s\n", what, newt_status_name(got), is_right ? "" : "WRONG ",
           got == NEWT_OK ? "" : newt_last_error());
}

/// Adds n floats at `x`, and compares.
static void check_add(NewtDevice *device, float *const at[3], int64_t n)
{
    size_t bytes = (size_t)n * sizeof(float);
    float *host = malloc(3 * bytes);
    if (!host)
        exit(1);
    for (int64_t i = 0; i < n; i++) {
        host[i] = (float)i;
        host[n + i] = 0.5F;
    }
    const AddArgs args = { at[0], at[1], at[2], n };
    check("newt_copy in", newt_copy(device, NULL, at[0], host, bytes), NEWT_OK);
    check("newt_copy in", newt_copy(device, NULL, at[1], host + n, bytes), NEWT_OK);
    check("first or warm launch", newt_launch_(&kernel, device, NULL, NULL, &args), NEWT_OK);
    check("newt_copy out", newt_copy(device, NULL, host + 2 * n, at[2], bytes), NEWT_OK);
    check("newt_synchronize", newt_synchronize(device, NULL), NEWT_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++)
        wrong += host[2 * n + i] != (float)i + 0.5F;
    printf("%-44s %lld of %lld\n", "wrong elements", (long long)wrong, (long long)n);
    failures += wrong != 0;
    free(host);
}

/// Those functions of the driver that build graphs; libnewt does not call them.
typedef struct GraphCalls {
    CudaResult (*create)(void **graph, unsigned flags);
    CudaResult (*add_kernel)(void **node, void *graph, void *const *after, size_t count,
                             const void *params);
    CudaResult (*instantiate)(void **instance, void *graph, unsigned long long flags);
    CudaResult (*launch)(void *instance, NewtStream stream);
} GraphCalls;

/// Adds through a graph whose one node is of newt_kernel_node_params(), launched twice: in place,
/// so that both launches are seen.
static void check_graph(NewtDevice *device, float *const at[3])
{
    GraphCalls calls;
    Driver driver;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&calls.create = dlsym(library, "cuGraphCreate");
    *(void **)&calls.add_kernel = dlsym(library, "cuGraphAddKernelNode_v2");
    *(void **)&calls.instantiate = dlsym(library, "cuGraphInstantiateWithFlags");
    *(void **)&calls.launch = dlsym(library, "cuGraphLaunch");
    const float x = 3, y = 0.5F;
    float out = 0;
    CudaContext context;
    AddArgs a = { at[0], at[1], at[0], 1 };
    void *values[] = { &a.x, &a.y, &a.out, &a.n }, *graph = NULL, *node = NULL, *instance = NULL;
    NewtNodeParams params_of_node;
    check("newt_copy in", newt_copy(device, NULL, at[0], &x, sizeof x), NEWT_OK);
    check("newt_copy in", newt_copy(device, NULL, at[1], &y, sizeof y), NEWT_OK);
    check("newt_kernel_node_params",
          newt_kernel_node_params(&kernel, values, device, NULL, &params_of_node), NEWT_OK);
    if (!calls.add_kernel || newti_driver_load(&driver) != NEWT_OK ||
        driver.cuDevicePrimaryCtxRetain(&context, 0) || driver.cuCtxPushCurrent(context) ||
        calls.create(&graph, 0) || calls.add_kernel(&node, graph, NULL, 0, &params_of_node) ||
        calls.instantiate(&instance, graph, 0)) {
        printf("%-44s WRONG\n", "a graph with the node");
        failures++;
        return;
    }
    memset(&params_of_node, 0xFF, sizeof params_of_node);
    a.n = 0;  // the node has its own copy
    failures += calls.launch(instance, NULL) || calls.launch(instance, NULL);
    check("newt_copy out", newt_copy(device, NULL, &out, at[0], sizeof out), NEWT_OK);
    check("newt_synchronize", newt_synchronize(device, NULL), NEWT_OK);
    printf("%-44s %g\n", "two launches of the graph: 3 + 0.5 + 0.5", (double)out);
    failures += out != 4;
    driver.cuCtxPopCurrent(&context);
}

/// Moves rows through a tensor map; those behind the last one of the last tile read as 0.
static void check_tiles(NewtDevice *device, float *in, float *out, int64_t rows)
{
    const int64_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS,
                  count = tiles * TILE_ROWS * TILE_WIDTH;
    float *host = malloc((size_t)(rows * TILE_STRIDE + count) * sizeof *host);
    if (!host)
        exit(1);
    float *got = host + rows * TILE_STRIDE;
    for (int64_t i = 0; i < rows * TILE_STRIDE; i++)
        host[i] = (float)i;
    const TileArgs args = { in, out, rows };
    size_t bytes = (size_t)(rows * TILE_STRIDE) * sizeof *host;
    check("newt_copy in", newt_copy(device, NULL, in, host, bytes), NEWT_OK);
    check("launch with a tensor map", newt_launch_(&tile_kernel, device, NULL, NULL, &args),
          NEWT_OK);
    bytes = (size_t)count * sizeof *host;
    check("newt_copy out", newt_copy(device, NULL, got, out, bytes), NEWT_OK);
    check("newt_synchronize", newt_synchronize(device, NULL), NEWT_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = i / TILE_WIDTH;
        const float want = row < rows ? (float)(row * TILE_STRIDE + i % TILE_WIDTH) : 0.0F;
        wrong += got[i] != want;
    }
    printf("%-44s %lld of %lld\n", "wrong elements", (long long)wrong, (long long)count);
    failures += wrong != 0;
    const TileArgs off = { in + 1, out, rows };
    check("launch off 16 bytes", newt_launch_(&tile_kernel, device, NULL, NULL, &off),
          NEWT_BAD_ARGUMENT);
    free(host);
}

enum { BATCHES = 200, BATCH = 100 };

/// The least time per call over batches: ours, and the driver's for the same launch.
static void compare_times(NewtDevice *device, const AddArgs *args)
{
    Driver driver;
    CudaModule loaded;
    CudaFunction function;
    CudaContext context;
    double ours = 1e30, raw = 1e30;
    if (newti_driver_load(&driver) != NEWT_OK || driver.cuDevicePrimaryCtxRetain(&context, 0) ||
        driver.cuCtxPushCurrent(context) ||
        driver.cuModuleLoadDataEx(&loaded, ptx, 0, NULL, NULL) ||
        driver.cuModuleGetFunction(&function, loaded, "add"))
        exit(1);
    for (int batch = 0; batch < BATCHES; batch++) {
        NewtStatus status = NEWT_OK;
        int64_t begin = newti_clock_ns();
        for (int i = 0; i < BATCH && status == NEWT_OK; i++)
            status = newt_launch_(&kernel, device, NULL, NULL, args);
        double each = (double)(newti_clock_ns() - begin) / BATCH;
        ours = each < ours ? each : ours;
        driver.cuStreamSynchronize(NULL);

        AddArgs a = *args;
        void *parameters[] = { &a.x, &a.y, &a.out, &a.n };
        begin = newti_clock_ns();
        for (int i = 0; i < BATCH; i++)
            driver.cuLaunchKernel(function, (unsigned)((a.n + 255) / 256), 1, 1, 256, 1, 1, 0, NULL,
                                  parameters, NULL);
        each = (double)(newti_clock_ns() - begin) / BATCH;
        raw = each < raw ? each : raw;
        driver.cuStreamSynchronize(NULL);
        failures += status != NEWT_OK;
    }
    printf("%-44s %.0f ns, cuLaunchKernel %.0f ns, ratio %.3f\n", "warm launch", ours, raw,
           ours / raw);
}

int main(void)
{
    NewtDevice *device;
    NewtStatus status = newt_device_open("cuda:0", &device);
    if (status == NEWT_NO_DRIVER || status == NEWT_NO_DEVICE) {
        printf("%s\n", newt_last_error());
        return 77;
    }
    check("newt_device_open", status, NEWT_OK);
    if (status != NEWT_OK)
        return 1;
    printf("%-44s %s %s\n", "device", newt_device_arch(device), newt_device_name(device));

    enum { N = 1 << 20 };
    float *at[3];
    for (int i = 0; i < 3; i++) {
        void *memory = NULL;
        check("newt_alloc", newt_alloc(device, N * sizeof(float), &memory), NEWT_OK);
        at[i] = memory;
    }
    check_add(device, at, N);
    check_add(device, at, 1001);
    check_graph(device, at);
    if (strcmp(newt_device_arch(device), "sm_90a") == 0) {
        check_tiles(device, at[0], at[1], 5);
        check_tiles(device, at[0], at[1], 20003);
    }
    check("newt_preload_", newt_preload_(&kernel, device), NEWT_OK);

    NewtTimer *timer;
    double microseconds = 0;
    const AddArgs args = { at[0], at[1], at[2], N }, small = { at[0], at[1], at[2], 256 };
    check("newt_timer_new", newt_timer_new(device, &timer), NEWT_OK);
    check("newt_timer_start", newt_timer_start(timer, NULL), NEWT_OK);
    check("launch", newt_launch_(&kernel, device, NULL, NULL, &args), NEWT_OK);
    check("newt_timer_stop", newt_timer_stop(timer, NULL, &microseconds), NEWT_OK);
    printf("%-44s %.1f us\n", "timed", microseconds);
    newt_timer_free(timer);
    compare_times(device, &small);

    void *memory = NULL;
    check("newt_alloc of 2^60", newt_alloc(device, (size_t)1 << 60, &memory), NEWT_NO_MEMORY);
    const AddArgs wild = { (const float *)16, at[1], at[2], 256 };
    check("launch with a wild pointer", newt_launch_(&kernel, device, NULL, NULL, &wild), NEWT_OK);
    check("newt_synchronize finds the fault", newt_synchronize(device, NULL), NEWT_KERNEL_FAULT);
    check("launch after the fault", newt_launch_(&kernel, device, NULL, NULL, &args),
          NEWT_KERNEL_FAULT);
    for (int i = 0; i < 3; i++)
        newt_free(device, at[i]);
    newt_device_close(device);
    return failures > 0;
}
