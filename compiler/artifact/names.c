/// names.c - names of kernels and parameters that C, C++ and the generated code leave free.
///
/// A .newt file may use any name; the generated C is compiled by strangers, with their flags, as C
/// and as C++. A taken name gets an underscore behind it, or arg_ in front when an underscore would
/// not take it out of the names that libnewt has for itself.
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
    "EOF",
    "BUFSIZ",
    "CHAR_BIT",
    "INFINITY",
    "NAN",
    "HUGE_VAL",
    "HUGE_VALF",
    "HUGE_VALL",
    "M_E",
    "M_PI",
    "M_PI_2",
    "M_PI_4",
    "M_SQRT2",
    /* types of the prototypes and of what they include */
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
    "intmax_t",
    "uintmax_t",
    "ptrdiff_t",
    "size_t",
    "float_t",
    "double_t",
    "max_align_t",
    /* names of the generated functions */
    "device",
    "stream",
    "grid",
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

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *name, const char *suffix)
{
    size_t len = strlen(name), n = strlen(suffix);
    return len > n && strcmp(name + len - n, suffix) == 0;
}

/// Names that libnewt and the generated C have for themselves.
static bool is_ours(const char *name)
{
    static const char *const prefixes[] = { "newt_", "Newt", "NEWT_", "nth_", "NTH_" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins(name, prefixes[i]))
            return true;
    return false;
}

/// Limits that <stdint.h> and <float.h> define: INT64_MAX, FLT_MIN.
static bool is_limit(const char *name)
{
    static const char *const kinds[] = {
        "INT", "UINT", "SIZE_", "PTRDIFF_", "FLT_", "DBL_", "LDBL_"
    };
    if (!ends(name, "_MAX") && !ends(name, "_MIN") && !ends(name, "_WIDTH"))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(name, kinds[i]))
            return true;
    return false;
}

/// _Bool, __func__ and their like.
static bool is_implementations(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

const char *artifact_c_name(Arena *a, const char *name)
{
    if (is_ours(name))
        return arena_printf(a, "arg_%s", name);
    bool taken = is_limit(name) || is_implementations(name);
    for (size_t i = 0; i < sizeof reserved_words / sizeof *reserved_words; i++)
        taken |= strcmp(name, reserved_words[i]) == 0;
    return taken ? arena_printf(a, "%s_", name) : name;
}

static bool is_param(const ArtifactParam *params, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return true;
    return false;
}

void artifact_c_params(Arena *a, ArtifactParam *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *name = artifact_c_name(a, params[i].name);
        while (name != params[i].name && is_param(params, count, name))
            name = arena_printf(a, "%s_", name);
        params[i].c_name = name;
    }
}

const char *artifact_c_function(Arena *a, const char *name)
{
    if (is_ours(name))
        return NULL;
    return is_library_function(name) ? arena_printf(a, "%s_", name) : artifact_c_name(a, name);
}

const char *artifact_c_clash(const char *one, const char *other)
{
    static const char *const suffixes[] = { "",      "_preload", "_kernel", "_grid",       "_host",
                                            "_with", "_choose",  "_tune",   "_config_text" };
    const char *longer = strlen(one) < strlen(other) ? other : one;
    const char *shorter = longer == one ? other : one;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (begins(longer, shorter) && strcmp(longer + strlen(shorter), suffixes[i]) == 0)
            return longer;
    return NULL;
}
