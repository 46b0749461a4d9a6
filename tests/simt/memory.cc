// memory.cc - what kernels may touch: exposed buffers, and the shared memory of the launch.
#include "machine.h"

#include <map>

namespace simt {

struct Buffer {
    uintptr_t end, first, last;  // of the allocation; the part that may be touched
};
static std::map<uintptr_t, Buffer> buffers;

// The buffer that an address is in, or not far behind.
static const Buffer *buffer_of(uintptr_t at)
{
    constexpr uintptr_t near_bytes = 4096;
    auto next = buffers.upper_bound(at);
    if (next == buffers.begin())
        return nullptr;
    const Buffer &b = std::prev(next)->second;
    return at < b.end + near_bytes ? &b : nullptr;
}

static bool shared_check(const Event &e)
{
    const uintptr_t all = (uintptr_t)e.at - (uintptr_t)shared_of(0), offset = shared_offset(e.at);
    if (all < machine.programs.size() * part_bytes && offset < machine.shared_bytes && e.bytes <= machine.shared_bytes - offset)
        return true;
    report(SIMT_OUT_OF_BOUNDS, e.pc, -1, nullptr, "%s %u bytes at byte %lld of %u bytes of shared memory",
           e.is_write ? "writes" : "reads", e.bytes, (long long)offset - (offset < part_bytes / 2 ? 0 : (long long)part_bytes),
           machine.shared_bytes);
    return false;
}

static bool global_check(const Event &e)
{
    const uintptr_t at = (uintptr_t)e.at;
    const Buffer *b = buffer_of(at);
    if (b && at >= b->first && at + e.bytes <= b->last)
        return true;
    if (b)
        report(SIMT_OUT_OF_BOUNDS, e.pc, -1, nullptr, "%s %u bytes at byte %lld of a buffer of %llu bytes",
               e.is_write ? "writes" : "reads", e.bytes, (long long)(at - b->first), (unsigned long long)(b->last - b->first));
    else
        report(SIMT_OUT_OF_BOUNDS, e.pc, -1, nullptr, "%s %u bytes at %p, which is in no buffer",
               e.is_write ? "writes" : "reads", e.bytes, e.at);
    return false;
}

bool memory_contains(const Event &e)
{
    return e.is_shared ? shared_check(e) : global_check(e);
}

bool memory_check(const Event &e)
{
    if ((uintptr_t)e.at % e.bytes) {
        char where[64];
        snprintf(where, sizeof where, e.is_shared ? "shared byte %llu" : "%#llx", e.is_shared ? (unsigned long long)shared_offset(e.at) : (unsigned long long)(uintptr_t)e.at);
        report(SIMT_MISALIGNED, e.pc, -1, nullptr, "%s %u bytes at %s, which is not a multiple of that",
               e.is_write ? "writes" : "reads", e.bytes, where);
    }
    return memory_contains(e);
}

}  // namespace simt

using namespace simt;

void simt_expose(void *at, size_t bytes)
{
    const uintptr_t first = (uintptr_t)at;
    buffers[first] = { first + bytes, first, first + bytes };
}

void simt_forget(void *at)
{
    buffers.erase((uintptr_t)at);
}

void simt_narrow(const void *at, size_t bytes)
{
    for (auto &b : buffers)
        if ((uintptr_t)at >= b.first && (uintptr_t)at < b.second.end) {
            b.second.first = (uintptr_t)at;
            b.second.last = (uintptr_t)at + bytes;
        }
}
