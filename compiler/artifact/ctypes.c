/// ctypes.c - parameters as C sees them: names, types, the argument record.
///
/// The record is an ordinary C struct: each member at its natural alignment. module.c asserts the
/// offsets, so a disagreement with the user's compiler is an error there and not wrong results.
#include "artifact/artifact.h"
#include <stdio.h>
#include <string.h>

static const char *const reserved_words[] = {
    /* C11 */
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "bool",
    "true",
    "false",
    "NULL",
    /* C++ */
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "bitand",
    "bitor",
    "catch",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "concept",
    "consteval",
    "constexpr",
    "constinit",
    "const_cast",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_assert",
    "static_cast",
    "template",
    "this",
    "thread_local",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
    "typeof",
    "linux",
    "unix",
    "errno",
    "stdin",
    "stdout",
    "stderr",
    "I",
    "assert",
    "offsetof",
    /* names of the generated functions */
    "device",
    "stream",
    "grid",
    "newt_args",
    "newt_kernels",
};

/// Functions of C's library that compilers know or that the generated C declares, in one text with
/// spaces around each; the float and long double forms of <math.h> are these with an f or l behind.
static const char library_functions[] =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 "
    "expm1 fabs fdim floor"
    " fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 "
    "log1p log2 logb lrint"
    " lround modf nan nearbyint nextafter pow remainder remquo rint round scalb scalbn significand "
    "sin sincos sinh sqrt"
    " tan tanh tgamma trunc y0 y1 yn "
    " abort abs bcmp bcopy bzero calloc exit ffs free index labs main malloc memccpy memchr memcmp "
    "memcpy memmove memset"
    " printf putchar puts realloc rindex scanf signbit snprintf sprintf strcat strchr strcmp "
    "strcpy strdup strlen strncmp"
    " strncpy strpbrk strrchr strspn strstr strtok toupper tolower vprintf isalnum isalpha isdigit "
    "isinf isnan isfinite"
    " isspace ";

static bool is_library_function(const char *name)
{
    char word[16];
    size_t len = strlen(name);
    if (len + 3 > sizeof word)
        return false;
    snprintf(word, sizeof word, " %s ", name);
    if (strstr(library_functions, word))
        return true;
    if (len < 2 || (name[len - 1] != 'f' && name[len - 1] != 'l'))
        return false;
    snprintf(word, sizeof word, " %.*s ", (int)len - 1, name);
    return strstr(library_functions, word) != NULL;
}

const char *artifact_c_name(Arena *a, const char *name)
{
    for (size_t i = 0; i < sizeof reserved_words / sizeof *reserved_words; i++)
        if (strcmp(name, reserved_words[i]) == 0)
            return arena_printf(a, "%s_", name);
    return name;
}

const char *artifact_c_function(Arena *a, const char *name)
{
    return is_library_function(name) ? arena_printf(a, "%s_", name) : artifact_c_name(a, name);
}

void artifact_c_type(Buf *out, const ArtifactParam *p)
{
    if (p->type->kind == TYPE_PTR) {
        buf_printf(out, "%s%s *", p->is_const ? "const " : "",
                   scalar_info[type_scalar_kind(p->type->elem)].c);
        return;
    }
    ScalarKind k = type_scalar_kind(p->type);
    buf_printf(out, "%s ", k == SCALAR_I1 ? "bool" : scalar_info[k].c);
}

uint32_t artifact_layout_params(ArtifactParam *params, uint32_t count)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        ArtifactParam *p = &params[i];
        p->size = p->type->kind == TYPE_PTR ? 8 : scalar_info[type_scalar_kind(p->type)].bytes;
        offset = (offset + p->size - 1) / p->size * p->size;
        p->offset = offset;
        offset += p->size;
    }
    return (offset + 7) / 8 * 8;
}

size_t artifact_image_offset(const Artifact *art, uint32_t i)
{
    size_t at = 0;
    for (uint32_t k = 0; k < i; k++)
        at += (art->images[k].size + 63) / 64 * 64;
    return at;
}

void artifact_write_images(const Artifact *art, Buf *out)
{
    for (uint32_t i = 0; i < art->image_count; i++) {
        buf_bytes(out, art->images[i].data, art->images[i].size);
        while (out->len % 64)
            buf_putc(out, '\0');
    }
}
