/// Copies of a kernel's buffers: regions of memory with what the tuner does to them before a run.
#define _GNU_SOURCE  // MAP_ANONYMOUS
#include "memory.h"
#include "tune_impl.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORK_ALIGN = 256, GUARD = 256 };  // bytes in front of and behind a buffer

static const char *pointer_of(const Tuner *t, uint32_t param)
{
    const char *at = NULL;
    if (t->args)  // a kernel without parameters has no record
        memcpy(&at, (const char *)t->args + t->kernel->params[param].offset, sizeof at);
    return at;
}

/// The size of the buffer of pointer parameter `param`, the `ordinal`th.
static NewtStatus buffer_size(const Tuner *t, uint32_t param, uint32_t ordinal, size_t *size)
{
    const char *at = pointer_of(t, param);
    *size = t->options.bytes ? t->options.bytes[ordinal] : 0;
    if (*size > 0 || newti_memory_range(t->device, at, size))
        return NEWT_OK;
    return newti_fail(NEWT_BAD_ARGUMENT,
                      "%s: the size of %s's buffer is not known: allocate it with newt_alloc(), or "
                      "give its size in NewtTuneOptions.bytes",
                      t->kernel->name, t->kernel->params[param].name);
}

/// Adds a buffer, joining it with the regions that it overlaps.
static void region_add(Tuner *t, const NewtParam *param, const char *at, size_t size)
{
    const uint32_t unknown = NEWT_USE_READ | (param->is_const ? 0 : NEWT_USE_WRITTEN);
    TuneRegion made = {
        .user = at, .size = size, .use = param->use ? param->use : unknown, .type = param->type
    };
    for (uint32_t i = 0; i < t->region_count;) {
        TuneRegion *r = &t->regions[i];
        if (at >= r->user + r->size || r->user >= at + size) {
            i++;
            continue;
        }
        const char *end = made.user + made.size, *other_end = r->user + r->size;
        if ((r->use & NEWT_USE_WRITTEN) || !(made.use & NEWT_USE_WRITTEN))
            made.type = r->type;
        made.use |= r->use;
        made.user = r->user < made.user ? r->user : made.user;
        made.size = (size_t)((other_end > end ? other_end : end) - made.user);
        *r = t->regions[--t->region_count];
    }
    t->regions[t->region_count++] = made;
}

static NewtStatus regions_find(Tuner *t)
{
    const NewtKernel *kernel = t->kernel;
    uint32_t ordinal = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        size_t size;
        if (kernel->params[i].kind != NEWT_PARAM_POINTER)
            continue;
        const uint32_t at = ordinal++;
        if (!pointer_of(t, i))
            continue;
        NewtStatus status = buffer_size(t, i, at, &size);
        if (status != NEWT_OK)
            return status;
        region_add(t, &kernel->params[i], pointer_of(t, i), size);
    }
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        t->region_of[i] = UINT32_MAX;
        const char *at = kernel->params[i].kind == NEWT_PARAM_POINTER ? pointer_of(t, i) : NULL;
        for (uint32_t r = 0; at && r < t->region_count; r++)
            if (at >= t->regions[r].user && at < t->regions[r].user + t->regions[r].size)
                t->region_of[i] = r;
    }
    return NEWT_OK;
}

static NewtStatus no_memory(const Tuner *t, size_t bytes)
{
    return newti_fail(NEWT_NO_MEMORY, "%s: no memory for a copy of %zu bytes to tune with",
                      t->kernel->name, bytes);
}

/// Memory that child processes share, or the device's.
static NewtStatus region_alloc(const Tuner *t, TuneRegion *r)
{
    r->raw_size = r->size + WORK_ALIGN + (size_t)2 * GUARD;
    if (t->device->driver) {
        NewtStatus status = newt_alloc(t->device, r->raw_size, &r->raw);
        if (status != NEWT_OK)
            return status;
    } else {
        r->raw = mmap(NULL, r->raw_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (r->raw == MAP_FAILED) {
            r->raw = NULL;
            return no_memory(t, r->size);
        }
    }
    const uintptr_t raw = (uintptr_t)r->raw + GUARD, wanted = (uintptr_t)r->user % WORK_ALIGN;
    r->work = (char *)r->raw + GUARD + (wanted + WORK_ALIGN - raw % WORK_ALIGN) % WORK_ALIGN;
    if (!(r->use & NEWT_USE_WRITTEN))
        return NEWT_OK;
    r->want = malloc(r->size);
    r->got = t->device->driver ? malloc(r->size) : r->work;
    return r->want && r->got ? NEWT_OK : no_memory(t, r->size);
}

NewtStatus newti_tune_buffers(Tuner *t)
{
    const uint32_t params = t->kernel->param_count;
    char *work[NEWT_PARAM_MAX];
    t->regions = calloc((size_t)params + 1, sizeof *t->regions);
    t->region_of = calloc((size_t)params + 1, sizeof *t->region_of);
    if (!t->regions || !t->region_of)
        return no_memory(t, params * sizeof *t->regions);
    NewtStatus status = regions_find(t);
    for (uint32_t i = 0; i < t->region_count && status == NEWT_OK; i++) {
        status = region_alloc(t, &t->regions[i]);
        work[i] = t->regions[i].work;
    }
    if (status == NEWT_OK)
        newti_tune_record(t, work, t->record);
    return status;
}

void newti_tune_buffers_free(Tuner *t)
{
    // A lost context took its memory along, and why it was lost is what the caller should read.
    const bool is_lost = atomic_load(&t->device->fault) != CUDA_OK;
    for (uint32_t i = 0; t->regions && i < t->region_count; i++) {
        TuneRegion *r = &t->regions[i];
        if (t->device->driver) {
            newt_free(t->device, is_lost ? NULL : r->raw);
            free(r->got);
        } else if (r->raw) {
            munmap(r->raw, r->raw_size);
        }
        free(r->want);
    }
    newt_free(t->device, is_lost ? NULL : t->flush);
    free(t->regions);
    free(t->region_of);
}

void newti_tune_record(const Tuner *t, char *const *at, char record[TUNE_RECORD_MAX])
{
    memcpy(record, t->args ? t->args : "", t->record_size);
    for (uint32_t i = 0; i < t->kernel->param_count; i++) {
        if (t->region_of[i] == UINT32_MAX)
            continue;
        const TuneRegion *r = &t->regions[t->region_of[i]];
        const char *moved = at[t->region_of[i]] + (pointer_of(t, i) - r->user);
        memcpy(record + t->kernel->params[i].offset, &moved, sizeof moved);
    }
}

int newti_tune_fill(const TuneRegion *region)
{
    if (region->use & NEWT_USE_ZEROED)
        return 0;
    const bool is_output = (region->use & NEWT_USE_WRITTEN) && !(region->use & NEWT_USE_READ);
    return is_output && !(region->use & NEWT_USE_RESTORED) ? 0xFF : -1;
}

/// What is read outside of a buffer is no number, and what is written there is seen.
static NewtStatus guards_fill(const Tuner *t, const TuneRegion *r)
{
    NewtStatus status = newti_memory_set(t->device, r->work - GUARD, 0xFF, GUARD);
    return status == NEWT_OK ? newti_memory_set(t->device, r->work + r->size, 0xFF, GUARD) : status;
}

NewtStatus newti_tune_guards(const Tuner *t, const TuneRegion *r, bool *whole)
{
    unsigned char seen[2 * GUARD];
    NewtStatus status = newt_copy(t->device, NULL, seen, r->work - GUARD, GUARD);
    if (status == NEWT_OK)
        status = newt_copy(t->device, NULL, seen + GUARD, r->work + r->size, GUARD);
    if (status == NEWT_OK)
        status = newt_synchronize(t->device, NULL);
    *whole = true;
    for (size_t i = 0; i < sizeof seen && status == NEWT_OK; i++)
        *whole &= seen[i] == 0xFF;
    return status;
}

NewtStatus newti_tune_prepare(Tuner *t, bool all)
{
    NewtStatus status = NEWT_OK;
    for (uint32_t i = 0; i < t->region_count && status == NEWT_OK; i++) {
        TuneRegion *r = &t->regions[i];
        if (all)
            status = guards_fill(t, r);
        const int fill = newti_tune_fill(r);
        const bool is_changed = (r->use & NEWT_USE_WRITTEN) && fill != 0xFF;
        if (status != NEWT_OK || (!all && !is_changed))
            continue;
        if (fill >= 0)
            status = newti_memory_set(t->device, r->work, (unsigned char)fill, r->size);
        else
            status = newt_copy(t->device, NULL, r->work, r->user, r->size);
    }
    return status;
}
