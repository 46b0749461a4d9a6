/// worker.c - the process that measures: loads libnewt and the candidates, makes the arguments.
///
/// Input: "measure OBJECT SECONDS BEST" a line, BEST in microseconds. Output: "ready ARCH
/// PROCESSORS NAME" once, then for each candidate "result MICROSECONDS TEXT", and "done TEXT" at
/// the end of each measure. What libnewt computes to compare with is kept from one object to the
/// next.
#include "support/fs.h"
#include "tuner/tuner_impl.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <newt/module.h>
#include <stdlib.h>
#include <string.h>

/// The functions of libnewt that are called.
typedef struct Api {
    NewtStatus (*device_open)(const char *name, NewtDevice **out);
    const char *(*device_arch)(const NewtDevice *device);
    const char *(*device_name)(const NewtDevice *device);
    uint32_t (*device_processors)(const NewtDevice *device);
    NewtStatus (*alloc)(NewtDevice *device, size_t bytes, void **out);
    NewtStatus (*copy)(NewtDevice *device, NewtStream stream, void *to, const void *from,
                       size_t bytes);
    NewtStatus (*synchronize)(NewtDevice *device, NewtStream stream);
    const char *(*last_error)(void);
    NewtF16 (*f16)(float value);
    NewtBf16 (*bf16)(float value);
    NewtStatus (*bind)(const NewtBinding *binding, const NewtDevice *device,
                       const NewtTensor *tensors, void *args);
    NewtStatus (*tune)(const NewtKernel *kernel, NewtDevice *device, const NewtGrid *grid,
                       const void *args, const NewtTuneOptions *options, NewtTuneResult *result);
} Api;

typedef struct Server {
    Arena arena;
    Api api;
    NewtDevice *device;
    const char *symbol, *inputs;
    NewtTuneOptions options;
    NewtTuneReference *reference;
    bool has_args;
    unsigned reported;  // configurations, in the present call
    size_t bytes[NEWT_PARAM_MAX];
    _Alignas(16) char record[4096];
} Server;

static bool server_fail(const char *what, const char *why)
{
    printf("failed %s: %s\n", what, why);
    fflush(stdout);
    return false;
}

static bool api_load(Api *api, const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    const struct {
        const char *name;
        void *at;
    } rows[] = { { "newt_device_open", &api->device_open },
                 { "newt_device_arch", &api->device_arch },
                 { "newt_device_name", &api->device_name },
                 { "newt_device_processors_", &api->device_processors },
                 { "newt_alloc", &api->alloc },
                 { "newt_copy", &api->copy },
                 { "newt_synchronize", &api->synchronize },
                 { "newt_last_error", &api->last_error },
                 { "newt_f16", &api->f16 },
                 { "newt_bf16", &api->bf16 },
                 { "newt_bind_", &api->bind },
                 { "newt_tune_", &api->tune } };
    if (!handle)
        return server_fail("cannot load libnewt", dlerror());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *found = dlsym(handle, rows[i].name);
        if (!found)
            return server_fail("libnewt is another version", rows[i].name);
        memcpy(rows[i].at, &found, sizeof found);  // POSIX: a function's address fits void *
    }
    return true;
}

/* ---- values ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15U);  // SplitMix64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static double generated(const char *kind, size_t index, uint64_t *state)
{
    if (strcmp(kind, "normal") == 0)  // Box and Muller
        return sqrt(-2 * log(1 - uniform(state))) * cos(6.283185307179586 * uniform(state));
    if (strcmp(kind, "uniform") == 0)
        return 2 * uniform(state) - 1;
    if (strcmp(kind, "integers") == 0)
        return (double)(next_random(state) % 8);
    return strcmp(kind, "arange") == 0 ? (double)index : 0;
}

/// The magnitude of an fp8 code: what both formats have in common but the widths.
static double fp8_size(unsigned code, int fraction_bits)
{
    const int bias = fraction_bits == 3 ? 7 : 15;
    const int exponent = (int)(code >> fraction_bits);
    const double fraction = (double)(code & ((1U << fraction_bits) - 1)) / (1 << fraction_bits);
    return ldexp(exponent ? 1 + fraction : fraction, (exponent ? exponent : 1) - bias);
}

/// The nearest code; values beyond the largest become it.
static unsigned char fp8_of(double value, int fraction_bits)
{
    const unsigned largest = fraction_bits == 3 ? 0x7E : 0x7B;
    unsigned best = 0;
    for (unsigned code = 0; code <= largest; code++)
        if (fabs(fp8_size(code, fraction_bits) - fabs(value)) <
            fabs(fp8_size(best, fraction_bits) - fabs(value)))
            best = code;
    return (unsigned char)(best | (value < 0 ? 0x80U : 0));
}

/// Writes `value` as `type`; returns its size.
static size_t put_value(const Api *api, NewtType type, double value, void *at)
{
#define AS(Type)                    \
    do {                            \
        const Type v = (Type)value; \
        memcpy(at, &v, sizeof v);   \
        return sizeof v;            \
    } while (0)
    NewtF16 half;
    NewtBf16 brain;
    switch (type) {
    case NEWT_I1: value = value != 0; AS(uint8_t);
    case NEWT_U8: AS(uint8_t);
    case NEWT_I8: AS(int8_t);
    case NEWT_I16: AS(int16_t);
    case NEWT_U16: AS(uint16_t);
    case NEWT_I32: AS(int32_t);
    case NEWT_U32: AS(uint32_t);
    case NEWT_I64: AS(int64_t);
    case NEWT_U64: AS(uint64_t);
    case NEWT_F8E4M3: *(unsigned char *)at = fp8_of(value, 3); return 1;
    case NEWT_F8E5M2: *(unsigned char *)at = fp8_of(value, 2); return 1;
    case NEWT_F16:
        half = api->f16((float)value);
        memcpy(at, &half, 2);
        return 2;
    case NEWT_BF16:
        brain = api->bf16((float)value);
        memcpy(at, &brain, 2);
        return 2;
    case NEWT_F32: AS(float);
    case NEWT_F64: AS(double);
    }
#undef AS
    return 0;
}

/// Device memory of `count` elements.
static void *buffer_new(Server *s, NewtType type, const char *kind, size_t count, uint64_t seed,
                        size_t *bytes)
{
    char probe[8];
    const size_t size = put_value(&s->api, type, 0, probe);
    char *values = malloc(count * size + 1);
    void *memory = NULL;
    uint64_t state = seed;
    *bytes = count * size;
    for (size_t i = 0; values && i < count; i++)
        put_value(&s->api, type, generated(kind, i, &state), values + i * size);
    if (values && strcmp(kind, "empty") == 0)
        memset(values, 0xFF, count * size);
    if (!values || s->api.alloc(s->device, count * size, &memory) != NEWT_OK ||
        s->api.copy(s->device, NULL, memory, values, count * size) != NEWT_OK ||
        s->api.synchronize(s->device, NULL) != NEWT_OK)
        memory = NULL;
    free(values);
    return memory;
}

/* ---- arguments ---- */

/// The words of the line of an argument behind its name; false when there is none.
static bool line_of(Server *s, const char *name, StrList *words)
{
    const size_t len = strlen(name);
    words->len = 0;
    for (const char *at = s->inputs; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, name, len) != 0 || at[len] != ' ')
            continue;
        const char *line = arena_strndup(&s->arena, at + len, strcspn(at + len, "\n"));
        options_split(&s->arena, line, words);
        return words->len > 0;
    }
    return false;
}

static bool args_fail(const char *name, const char *why)
{
    printf("done argument '%s' %s\n", name, why);
    fflush(stdout);
    return false;
}

/// "buffer normal 512 512" or "tensor ..." as memory, and its sizes.
static bool make_memory(Server *s, const char *name, NewtType type, NewtTensor *out, size_t *bytes)
{
    StrList words = { 0 };
    if (!line_of(s, name, &words) || words.len < 2)
        return args_fail(name, "was not given");
    size_t count = 1;
    *out = (NewtTensor){ .type = type };
    for (uint32_t i = 2; i < words.len; i++) {
        const long long size = strtoll(words.at[i], NULL, 10);
        if (out->rank < NEWT_TENSOR_RANK_MAX)
            out->shape[out->rank++] = size;
        count *= (size_t)size;
    }
    int64_t stride = 1;
    for (int axis = out->rank; axis-- > 0; stride *= out->shape[axis])
        out->stride[axis] = stride;
    uint64_t seed = 1;
    for (const char *c = name; *c; c++)
        seed = seed * 131 + (unsigned char)*c;
    out->data = buffer_new(s, type, words.at[1], count, seed, bytes);
    return out->data || count == 0 || args_fail(name, "does not fit the device's memory");
}

static bool make_plain(Server *s, const NewtKernel *kernel)
{
    uint32_t pointers = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const NewtParam *p = &kernel->params[i];
        char *at = s->record + p->offset;
        StrList words = { 0 };
        NewtTensor made;
        if (p->kind == NEWT_PARAM_POINTER) {
            if (!make_memory(s, p->name, p->type, &made, &s->bytes[pointers++]))
                return false;
            memcpy(at, &made.data, sizeof made.data);
        } else if (!line_of(s, p->name, &words) || words.len < 2) {
            return args_fail(p->name, "was not given");
        } else if (p->type == NEWT_I64 || p->type == NEWT_U64) {
            const int64_t value = strtoll(words.at[1], NULL, 10);
            memcpy(at, &value, sizeof value);
        } else {
            put_value(&s->api, p->type, strtod(words.at[1], NULL), at);
        }
    }
    return true;
}

static bool make_tensors(Server *s, const NewtKernel *kernel)
{
    const NewtBinding *b = kernel->binding;
    NewtTensor tensors[NEWT_PARAM_MAX];
    for (uint32_t i = 0; i < b->tensor_count; i++) {
        size_t bytes;
        if (!make_memory(s, b->tensors[i].name, b->tensors[i].type, &tensors[i], &bytes))
            return false;
        for (uint32_t k = 0, pointers = 0; k < kernel->param_count; k++) {
            const bool is_pointer = kernel->params[k].kind == NEWT_PARAM_POINTER;
            for (uint32_t f = 0; f < b->fill_count && is_pointer; f++)
                if (b->fills[f].kind == NEWT_FILL_DATA && b->fills[f].tensor == i &&
                    b->fills[f].offset == kernel->params[k].offset)
                    s->bytes[pointers] = bytes;
            pointers += is_pointer;
        }
    }
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        StrList words = { 0 };
        const NewtParam *p = &kernel->params[i];
        if (p->kind == NEWT_PARAM_SCALAR && line_of(s, p->name, &words) && words.len >= 2)
            put_value(&s->api, p->type, strtod(words.at[1], NULL), s->record + p->offset);
    }
    if (s->api.bind(b, s->device, tensors, s->record) == NEWT_OK)
        return true;
    printf("done %s\n", s->api.last_error());
    fflush(stdout);
    return false;
}

/* ---- measuring ---- */

static void progress(void *user, int done, int total, const char *config, float us)
{
    Server *s = user;
    (void)done, (void)total;
    s->reported++;
    printf("result %.9g %s\n", (double)us, config);
    fflush(stdout);
}

static void measure(Server *s, const char *object, double seconds, double best)
{
    NewtTuneResult result = { .config = -1 };
    const char *name = arena_printf(&s->arena, "%s_kernel", s->symbol);
    void *handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    const NewtKernel *const *at = handle ? dlsym(handle, name) : NULL;
    if (!at) {
        printf("done cannot load '%s': %s\n", object, dlerror());
        fflush(stdout);
        return;
    }
    const NewtKernel *kernel = *at;
    if (!s->has_args && !(kernel->binding ? make_tensors(s, kernel) : make_plain(s, kernel)))
        return;
    s->has_args = true;
    s->options.seconds = seconds;
    s->options.best = best;
    s->options.user = s;
    s->reported = 0;
    s->options.bytes = s->bytes;
    s->options.kept = &s->reference;
    NewtStatus status = s->api.tune(kernel, s->device, NULL, s->record, &s->options, &result);
    // None is right: that is an answer, unless it was the reference that failed.
    const bool is_over = status == NEWT_OK || (status == NEWT_WRONG_RESULT && s->reported > 0);
    const bool wants_host = status == NEWT_NO_IMAGE && !s->reference;
    printf("done%s%s\n", is_over ? "" : " ",
           is_over      ? ""
           : wants_host ? WORKER_WANTS_HOST
                        : s->api.last_error());
    fflush(stdout);
    if (status == NEWT_KERNEL_FAULT)
        exit(0);  // the next process goes on
}

/// Takes "measure OBJECT SECONDS BEST" apart, in place; false when it is something else.
static bool read_request(char *line, char **object, double *seconds, double *best)
{
    char *rest = NULL, *end, *last;
    const char *verb = strtok_r(line, " ", &rest);
    *object = strtok_r(NULL, " ", &rest);
    if (!verb || strcmp(verb, "measure") != 0 || !*object)
        return false;
    *seconds = strtod(rest, &end);
    *best = strtod(end, &last);
    return end != rest && last != end;
}

int worker_main(int argc, char **argv)
{
    static const char usage[] =
        "tune --worker LIBNEWT DEVICE SYMBOL STORE SEED TIMEOUT AGAIN INPUTS";
    Server s = { .options = { .size = sizeof s.options, .progress = progress } };
    const char *why;
    char line[4200], *object;
    double seconds, best;
    size_t len;
    if (argc < 10) {
        server_fail("usage", usage);
        return TUNER_ENVIRONMENT;
    }
    s.symbol = argv[4];
    s.options.store = argv[5];
    s.options.seed = strtoull(argv[6], NULL, 10);
    s.options.timeout = strtod(argv[7], NULL);
    s.options.again = strcmp(argv[8], "0") != 0;
    s.inputs = fs_read(&s.arena, argv[9], &len, &why);
    if (!s.inputs)
        return server_fail(argv[9], why) ? TUNER_CLEAN : TUNER_ENVIRONMENT;
    if (!api_load(&s.api, argv[2]))
        return TUNER_ENVIRONMENT;
    if (s.api.device_open(*argv[3] ? argv[3] : NULL, &s.device) != NEWT_OK)
        return server_fail("cannot open the device", s.api.last_error()) ? TUNER_CLEAN
                                                                         : TUNER_ENVIRONMENT;
    printf("ready %s %" PRIu32 " %s\n", s.api.device_arch(s.device),
           s.api.device_processors(s.device), s.api.device_name(s.device));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        if (read_request(line, &object, &seconds, &best))
            measure(&s, object, seconds, best);
    arena_free(&s.arena);
    return TUNER_CLEAN;
}
