/// builtin_impl.h - the table that builtin_table.c fills and builtin.c searches.
#ifndef NEWT_SEMA_BUILTIN_IMPL_H
#define NEWT_SEMA_BUILTIN_IMPL_H
#include "sema/builtin.h"

/// More "spaces" hold what stands after a dot of a value, of a dtype and of a tensor descriptor.
enum { SPACE_METHODS = SPACE_COUNT, SPACE_DTYPE_METHODS, SPACE_DESC_METHODS, SPACE_SLOTS };

typedef struct BuiltinEntry {
    unsigned space;
    Sym name;  ///< NULL: a free slot
    ConstVal value;
} BuiltinEntry;

struct BuiltinTable {
    Arena *arena;
    SymTable *syms;
    Builtin
        rows[BUILTIN_COUNT];  ///< name NULL: no such builtin (operations without a surface name)
    Namespace spaces[SPACE_COUNT];
    BuiltinEntry *slots;  ///< open addressing by space and name
    uint32_t count, cap;
    const char **names[SPACE_SLOTS];  ///< of each space, for suggestions
    uint32_t name_count[SPACE_SLOTS];
};

/// The space of the methods of a use; SPACE_SLOTS when there are none.
unsigned builtin_method_space(BuiltinUse use);

/// The slot of (space, name): its entry, or the free slot where it belongs.
BuiltinEntry *builtin_slot(const BuiltinTable *t, unsigned space, Sym name);

#endif
