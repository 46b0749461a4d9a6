/// module.c - the table of a module's names: from Sym to a number, by open addressing.
#include "sema/resolve_impl.h"

uint32_t module_map_get(const ModuleMap *m, Sym key)
{
    if (m->cap == 0)
        return UINT32_MAX;
    uint32_t at = key->hash & (m->cap - 1);
    while (m->keys[at] && m->keys[at] != key)
        at = (at + 1) & (m->cap - 1);
    return m->keys[at] ? m->values[at] : UINT32_MAX;
}

void module_map_put(ModuleMap *m, Sym key, uint32_t value)
{
    if (m->count * 2 >= m->cap) {
        ModuleMap grown = { .arena = m->arena, .cap = m->cap ? m->cap * 2 : 16 };
        grown.keys = ARENA_NEW_N(m->arena, Sym, grown.cap);
        grown.values = ARENA_NEW_N(m->arena, uint32_t, grown.cap);
        for (uint32_t i = 0; i < m->cap; i++)
            if (m->keys[i])
                module_map_put(&grown, m->keys[i], m->values[i]);
        *m = grown;
    }
    uint32_t at = key->hash & (m->cap - 1);
    while (m->keys[at] && m->keys[at] != key)
        at = (at + 1) & (m->cap - 1);
    m->count += m->keys[at] == NULL;
    m->keys[at] = key;
    m->values[at] = value;
}

Decl *module_find(const Module *m, Sym name)
{
    uint32_t i = module_map_get(m->index, name);
    return i == UINT32_MAX ? NULL : m->decls.at[i];
}
