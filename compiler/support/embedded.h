/// embedded.h - a text file that was compiled in: the rows of the tables that newt_embed() of
/// compiler/cmake/embed.cmake writes.
#ifndef NEWT_SUPPORT_EMBEDDED_H
#define NEWT_SUPPORT_EMBEDDED_H
#include <stddef.h>

typedef struct NewtEmbedded {
    const char *name;  ///< the file's name without its folder
    const char *text;  ///< len bytes and a NUL
    size_t len;
} NewtEmbedded;

#endif
