/// test_sass.c - counting instructions in cubins: in images made here, and against NVIDIA's
/// disassembler (nvdisasm, from PATH) on what NVRTC makes of a kernel that uses every class, where
/// both are there.
#include "backend/cuda/nvrtc.h"
#include "backend/cuda/sass.h"
#include "support/fs.h"
#include "support/proc.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/// An image with one kernel "k" of three instructions: LDG.128, STS.U16, NOP.
typedef struct Image {
    Elf64_Ehdr head;
    Elf64_Shdr sections[3];
    char names[24];
    uint64_t code[6];
} Image;

static Image make_image(void)
{
    Image m = { .names = "\0.shstrtab\0.text.k",
                .code = { 0x981, 6u << 9, 0x7388, 2u << 9, 0x7918, 0 } };
    memcpy(m.head.e_ident, ELFMAG, SELFMAG);
    m.head.e_ident[EI_CLASS] = ELFCLASS64;
    m.head.e_machine = 190;
    m.head.e_shoff = offsetof(Image, sections);
    m.head.e_shentsize = sizeof(Elf64_Shdr);
    m.head.e_shnum = 3;
    m.head.e_shstrndx = 1;
    m.sections[1] = (Elf64_Shdr){ .sh_name = 1,
                                  .sh_offset = offsetof(Image, names),
                                  .sh_size = sizeof m.names };
    m.sections[2] =
        (Elf64_Shdr){ .sh_name = 11, .sh_offset = offsetof(Image, code), .sh_size = sizeof m.code };
    return m;
}

static uint32_t count_of(const SassSummary *s, const char *mnemonic, const char *width)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < SASS_OP_COUNT; i++)
        for (unsigned w = 0; w < SASS_WIDTH_COUNT && strcmp(sass_info[i].mnemonic, mnemonic) == 0;
             w++)
            if (!width || strcmp(sass_widths[w], width) == 0)
                sum += s->count[i][w];
    return sum;
}

static void test_counts(void **state)
{
    (void)state;
    Image m = make_image();
    SassSummary s;
    assert_true(sass_count(&m, sizeof m, "k", &s));
    assert_int_equal(s.total, 2);
    assert_int_equal(count_of(&s, "LDG", "128"), 1);
    assert_int_equal(count_of(&s, "LDG", NULL), 1);
    assert_int_equal(count_of(&s, "STS", "U16"), 1);
    assert_int_equal(sass_class_count(&s, SASS_PADDING), 1);
    assert_int_equal(sass_class_count(&s, SASS_LOAD_GLOBAL), 1);
}

static void test_refuses_what_is_no_cubin(void **state)
{
    (void)state;
    Image m = make_image(), bad;
    SassSummary s;
    assert_false(sass_count("PTX text", 8, "k", &s));
    assert_false(sass_count(&m, sizeof m, "other", &s));
    assert_false(sass_count(&m, sizeof m, "", &s));
    for (size_t size = 0; size < sizeof m;
         size++)  // cut anywhere: an answer or none, never a read behind the end
    {
        char *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, &m, size);
        assert_int_equal(sass_count(cut, size, "k", &s), false);
        free(cut);
    }
    bad = m;
    bad.head.e_machine = EM_X86_64;
    assert_false(sass_count(&bad, sizeof bad, "k", &s));
    bad = m;
    bad.head.e_shoff = UINT64_MAX - 8;
    assert_false(sass_count(&bad, sizeof bad, "k", &s));
    bad = m;
    bad.sections[2].sh_size = UINT64_MAX;
    assert_false(sass_count(&bad, sizeof bad, "k", &s));
    bad = m;
    bad.sections[2].sh_name = UINT32_MAX;
    assert_false(sass_count(&bad, sizeof bad, "k", &s));
}

/// One instruction of every class that CUDA C++ reaches without includes.
static const char kernel[] =
    "extern \"C\" __global__ void k(float *x, int *y, short *h, char *c, float4 *v, double *d, int "
    "n)\n"
    "{\n"
    "    __shared__ float s[256]; __shared__ float4 sv[64]; __shared__ short sh[64];\n"
    "    int t = threadIdx.x;\n"
    "    float a = x[t], loc[64]; float4 w = v[t]; short q = h[t]; char r = c[t]; double e = "
    "d[t];\n"
    "    s[t] = a; sv[t & 63] = w; sh[t & 63] = q;\n"
    "    __syncthreads();\n"
    "    a += s[t ^ 1]; w = sv[(t + 1) & 63]; q += sh[(t + 1) & 63];\n"
    "    a = __shfl_xor_sync(~0u, a, 1) + __shfl_sync(~0u, a, n);\n"
    "    a = fmaf(a, w.x, 3.0f) * __expf(a) + rsqrtf(w.y);\n"
    "    for (int j = 0; j < n; j++) loc[(j * t) & 63] = x[j];\n"
    "    for (int j = 0; j < n; j++) a += loc[(j * 7 + t) & 63];\n"
    "    atomicAdd(x, a); y[t] = atomicAdd(y + 4, t); atomicAdd(&s[3], a);\n"
    "    asm volatile(\"red.global.add.f32 [%0], %1;\" ::\"l\"(x), \"f\"(a));\n"
    "    x[t] = a + w.z; h[t] = q; c[t] = r + 1; v[t] = make_float4(a, w.w, a, a); d[t] = e * "
    "2.0;\n"
    "}\n";

/// Compares with nvdisasm's text: each instruction of a mnemonic of the table, with its width.
static void compare(const char *text, const SassSummary *s, const char *arch)
{
    uint32_t wanted[SASS_OP_COUNT][SASS_WIDTH_COUNT] = { { 0 } };
    uint32_t total = 0;
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        char name[64], *dot;
        const char *at = strstr(line, "/*"), *end = strchr(line, '\n');
        if (!at || (end && at > end) || strspn(at + 2, "0123456789abcdef") < 4 ||
            strncmp(at + 2, "0x", 2) == 0)
            continue;
        at = strstr(at, "*/") + 2;
        at += strspn(at, " {");
        if (*at == '@')
            at += strcspn(at, " ") + 1, at += strspn(at, " ");
        size_t len = strcspn(at, " ;\n");
        assert_true(len > 0 && len + 2 < sizeof name);
        snprintf(name, sizeof name, "%.*s.", (int)len, at);
        dot = strchr(name, '.');
        total++;
        for (unsigned i = 0; i < SASS_OP_COUNT; i++) {
            if (strncmp(sass_info[i].mnemonic, name, (size_t)(dot - name)) != 0 ||
                sass_info[i].mnemonic[dot - name] != '\0')
                continue;
            unsigned width = sass_info[i].sized ? 4 : 0;
            for (unsigned w = 0; w < SASS_WIDTH_COUNT && sass_info[i].sized; w++) {
                char part[8];
                snprintf(part, sizeof part, ".%s.", sass_widths[w]);
                width = strstr(dot, part) ? w : width;
            }
            wanted[i][width]++;
            break;  // of several opcodes with one name the first holds them all
        }
    }
    for (unsigned i = 0; i < SASS_OP_COUNT; i++)
        for (unsigned w = 0; w < SASS_WIDTH_COUNT; w++) {
            bool first = true;
            for (unsigned j = 0; j < i; j++)
                first = first && strcmp(sass_info[j].mnemonic, sass_info[i].mnemonic) != 0;
            uint32_t got = count_of(s, sass_info[i].mnemonic, sass_widths[w]);
            if (first && got != wanted[i][w])
                fail_msg("%s: %s.%s: counted %u, nvdisasm shows %u", arch, sass_info[i].mnemonic,
                         sass_widths[w], got, wanted[i][w]);
        }
    assert_int_equal(s->total + sass_class_count(s, SASS_PADDING), total);
}

static void test_agrees_with_nvdisasm(void **state)
{
    (void)state;
    static const char *const archs[] = { "sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120" };
    const char *const version[] = { "nvdisasm", "--version", NULL };
    Arena a = { 0 };
    Buf text = { 0 };
    const NvrtcPaths paths = { NULL, NULL };
    const Nvrtc *n = nvrtc_open(&a, &paths);
    bool can = n->loaded && proc_run(version, &text) == 0;
    for (size_t i = 0; can && i < sizeof archs / sizeof *archs; i++) {
        const CudaRequest request = { .name = "k.cu",
                                      .source = kernel,
                                      .target = target_find(archs[i]) };
        const CudaImage image = cuda_compile(n, &a, &request);
        char path[] = "/tmp/newt-sass-XXXXXX";
        SassSummary s;
        if (!image.ok)  // this NVRTC does not know the chip
            continue;
        int fd = mkstemp(path);
        assert_true(fd >= 0 && write(fd, image.data, image.size) == (ssize_t)image.size &&
                    close(fd) == 0);
        const char *const argv[] = { "nvdisasm", "-hex", "-c", path, NULL };
        buf_clear(&text);
        assert_int_equal(proc_run(argv, &text), 0);
        unlink(path);
        assert_true(sass_count(image.data, image.size, "k", &s));
        compare(text.at, &s, archs[i]);
    }
    buf_free(&text);
    arena_free(&a);
    if (!can)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refuses_what_is_no_cubin),
        cmocka_unit_test(test_agrees_with_nvdisasm),
    };
    return cmocka_run_group_tests_name("sass", tests, NULL, NULL);
}
