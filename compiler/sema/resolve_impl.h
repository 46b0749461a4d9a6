/// resolve_impl.h - what the files of resolve share.
#ifndef NEWT_SEMA_RESOLVE_IMPL_H
#define NEWT_SEMA_RESOLVE_IMPL_H
#include "sema/module.h"

/// Names to numbers; grows, never shrinks.
typedef struct ModuleMap {
    Arena *arena;
    Sym *keys;
    uint32_t *values;
    uint32_t count, cap;
} ModuleMap;

/// The number of `key`, or UINT32_MAX.
uint32_t module_map_get(const ModuleMap *m, Sym key);
void module_map_put(ModuleMap *m, Sym key, uint32_t value);
static inline bool module_map_has(const ModuleMap *m, Sym key)
{
    return module_map_get(m, key) != UINT32_MAX;
}

/// Parses and resolves one file as a module of the program (resolve.c).
Module *resolve_module(Program *p, const SourceFile *file, Sym name);
/// Binds `name` in `m`; a second declaration of the name is reported at `span` unless it is the
/// same one.
void resolve_declare(Program *p, Module *m, Sym name, Decl *decl, Span span);
/// A fresh declaration.
Decl *resolve_make_decl(Program *p, Module *m, Sym name, DeclKind kind, Span span);

/// Import statements (resolve_import.c).
void resolve_import(Program *p, Module *m, const AstImport *n);
void resolve_import_from(Program *p, Module *m, const AstImportFrom *n);

/// Decorators and parameters of a function (resolve_function.c).
Function *resolve_function(Program *p, Module *m, const AstFunction *def);

/// Parameters desc[T, ...] of a kernel become an address, sizes and strides, and C passes a tensor
/// for them (resolve_desc.c).
void resolve_descriptors(Program *p, const Module *m, Function *f);

/// Reports the names in the module's functions and constants that nothing defines
/// (resolve_names.c).
void resolve_check_names(Program *p, const Module *m);

#endif
