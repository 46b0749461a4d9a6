/// sass.c - see sass.h. A cubin is an ELF file of machine 190 with the section ".text.<kernel>" for
/// each kernel.
#include "backend/cuda/sass.h"
#include <elf.h>
#include <string.h>

const SassInfo sass_info[SASS_OP_COUNT] = {
#define SASS(opcode, mnemonic, cls, sized) { opcode, mnemonic, SASS_##cls, sized },
#include "backend/cuda/sass.def"
#undef SASS
};

const char *const sass_widths[SASS_WIDTH_COUNT] = { "U8", "S8", "U16", "S16",
                                                    "32", "64", "128", "256" };

enum { SASS_MACHINE = 190, SASS_BYTES = 16, SASS_OPCODE_BITS = 9, SASS_WIDTH_SHIFT = 9 };

/// The part [at, at + len) of the image, or NULL when it is not all there.
static const unsigned char *part_of(const unsigned char *image, size_t size, uint64_t at,
                                    uint64_t len)
{
    return at <= size && len <= size - at ? image + at : NULL;
}

static bool read_section(const unsigned char *image, size_t size, const Elf64_Ehdr *head,
                         uint32_t index, Elf64_Shdr *out)
{
    const uint64_t at = head->e_shoff + (uint64_t)index * sizeof *out;
    const unsigned char *from =
        index < head->e_shnum ? part_of(image, size, at, sizeof *out) : NULL;
    if (from)
        memcpy(out, from, sizeof *out);
    return from != NULL;
}

/// Is `name` with its NUL at offset `at` of the section of names, after `prefix`?
static bool is_named(const unsigned char *names, uint64_t size, uint64_t at, const char *prefix,
                     const char *name)
{
    size_t first = strlen(prefix), second = strlen(name) + 1;
    return at <= size && first + second <= size - at && memcmp(names + at, prefix, first) == 0 &&
           memcmp(names + at + first, name, second) == 0;
}

/// The kernel's code; NULL when there is none.
static const unsigned char *find_code(const unsigned char *image, size_t size, const char *kernel,
                                      size_t *len)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, section;
    if (size < sizeof head)
        return NULL;
    memcpy(&head, image, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != SASS_MACHINE || head.e_shentsize != sizeof section ||
        !read_section(image, size, &head, head.e_shstrndx, &names))
        return NULL;
    const unsigned char *text = part_of(image, size, names.sh_offset, names.sh_size);
    for (uint32_t i = 0; text && read_section(image, size, &head, i, &section); i++)
        if (is_named(text, names.sh_size, section.sh_name, ".text.", kernel)) {
            *len = (size_t)section.sh_size;
            return part_of(image, size, section.sh_offset, section.sh_size);
        }
    return NULL;
}

static uint64_t read_word(const unsigned char *at)
{
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--)
        word = word << 8 | at[i];
    return word;
}

bool sass_count(const void *cubin, size_t size, const char *kernel, SassSummary *out)
{
    size_t len = 0;
    const unsigned char *code = find_code(cubin, size, kernel, &len);
    memset(out, 0, sizeof *out);
    if (!code)
        return false;
    for (size_t at = 0; at + SASS_BYTES <= len; at += SASS_BYTES) {
        const uint64_t low = read_word(code + at), high = read_word(code + at + 8);
        const uint16_t opcode = low & ((1u << SASS_OPCODE_BITS) - 1);
        out->total++;
        for (unsigned i = 0; i < SASS_OP_COUNT; i++)
            if (sass_info[i].opcode == opcode)
                out->count[i][sass_info[i].sized ? high >> SASS_WIDTH_SHIFT & 7 : 0]++;
    }
    out->total -= sass_class_count(out, SASS_PADDING);
    return true;
}

uint32_t sass_class_count(const SassSummary *s, SassClass cls)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < SASS_OP_COUNT; i++)
        for (unsigned w = 0; w < SASS_WIDTH_COUNT && sass_info[i].cls == cls; w++)
            sum += s->count[i][w];
    return sum;
}
