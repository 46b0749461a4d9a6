// race.cc - races: two accesses of a byte by different threads, one a write, with no barrier in between.
//
// Threads have clocks that barriers advance. A thread knows of each other thread the clock up to which its
// accesses are in the past (by barriers, warp barriers, releases and acquires). Each byte remembers its
// last write and its reads since; a new access must know them. Atomics do not race with each other.
#include "machine.h"

#include <algorithm>
#include <unordered_map>

namespace simt {

struct Access {
    uint32_t clock;  // 0: none
    uint32_t place;  // index into `places`
    uint32_t thread;
};

// Reads by several threads, one entry a thread.
typedef std::vector<Access> Readers;

struct Byte {
    Access write, atomic, read;
    std::unique_ptr<Readers> readers;  // instead of `read` once there are two threads
};

static constexpr uintptr_t page_bytes = 256;
typedef std::vector<Byte> Page;

static std::vector<Byte> shared_bytes;
static std::unordered_map<uintptr_t, Page> pages;  // of global memory, for this program
static std::vector<const void *> places;
static std::unordered_map<const void *, uint32_t> place_of;
static std::unordered_map<const void *, Known> released;  // by atomics on an address

void race_begin()
{
    const Known nothing = std::make_shared<std::vector<uint32_t>>(machine.thread_count, 0);
    for (Thread &t : machine.threads) {
        t.clock = 1;
        t.known = nothing;
    }
    shared_bytes.clear();
    shared_bytes.resize(machine.shared_bytes);
    pages.clear();
    released.clear();
}

static uint32_t place_number(const void *pc)
{
    static const void *last;
    static uint32_t last_number;
    if (pc == last && !places.empty())
        return last_number;
    const auto found = place_of.emplace(pc, (uint32_t)places.size());
    if (found.second)
        places.push_back(pc);
    last = pc;
    return last_number = found.first->second;
}

static bool is_past(const Thread &t, const Access &a)
{
    return a.clock == 0 || a.thread == t.number || a.clock <= (*t.known)[a.thread];
}

// Reports the access against an older one; false when there is no race.
static bool report_race(const Event &e, const Access &old, bool old_writes)
{
    const SimtFault kind = e.is_shared ? SIMT_SHARED_RACE : SIMT_GLOBAL_RACE;
    if (e.is_shared)
        report(kind, e.pc, old.thread, places[old.place], "%s shared byte %zu, which the other thread %s", e.is_write ? "writes" : "reads",
               (size_t)((const unsigned char *)e.at - nt_smem), old_writes ? "wrote" : "read");
    else
        report(kind, e.pc, old.thread, places[old.place], "%s global memory at %p, which the other thread %s",
               e.is_write ? "writes" : "reads", e.at, old_writes ? "wrote" : "read");
    return true;
}

static bool check_readers(const Thread &t, const Event &e, const Byte &b)
{
    if (!is_past(t, b.read))
        return report_race(e, b.read, false);
    if (b.readers)
        for (const Access &a : *b.readers)
            if (!is_past(t, a))
                return report_race(e, a, false);
    return false;
}

static void note_read(const Thread &t, Byte &b, const Access &now)
{
    if (b.readers) {
        (*b.readers)[t.number] = now;
    } else if (is_past(t, b.read)) {
        b.read = now;
    } else {
        b.readers = std::make_unique<Readers>(machine.thread_count);
        (*b.readers)[b.read.thread] = b.read;
        (*b.readers)[t.number] = now;
        b.read = {};
    }
}

// True when it raced: one report is enough for an access.
static bool access_byte(const Thread &t, const Event &e, Byte &b, const Access &now, bool is_atomic)
{
    bool raced = false;
    if (!is_past(t, b.write))
        raced = report_race(e, b.write, true);
    else if (!is_atomic && !is_past(t, b.atomic))
        raced = report_race(e, b.atomic, true);
    if (!e.is_write) {
        note_read(t, b, now);
        return raced;
    }
    raced = raced || check_readers(t, e, b);
    if (is_atomic) {  // what others must know besides stays
        b.atomic = now;
        return raced;
    }
    b.write = now;
    b.read = b.atomic = {};
    b.readers.reset();
    return raced;
}

static Byte *global_byte(uintptr_t at)
{
    static uintptr_t last;
    static Page *page;
    if (pages.empty() || last != at / page_bytes) {
        page = &pages[at / page_bytes];
        page->resize(page_bytes);
        last = at / page_bytes;
    }
    return &(*page)[at % page_bytes];
}

void race_access(Thread &t, const Event &e, bool is_atomic)
{
    const Access now = { t.clock, place_number(e.pc), t.number };
    const uintptr_t first = (uintptr_t)e.at;
    bool quiet = false;
    for (uint32_t i = 0; i < e.bytes; i++) {
        Byte *b = e.is_shared ? &shared_bytes[first - (uintptr_t)nt_smem + i] : global_byte(first + i);
        if (e.is_shared && !e.is_write && b->write.clock == 0 && !quiet) {
            report(SIMT_UNWRITTEN_SHARED, e.pc, -1, nullptr, "reads shared byte %zu, which no thread has written",
                   (size_t)(first - (uintptr_t)nt_smem + i));
            quiet = true;
        }
        quiet = access_byte(t, e, *b, now, is_atomic) || quiet;
        if (quiet)
            break;
    }
}

// The `learners` come to know all that `threads` know and have done.
void race_join(const std::vector<uint32_t> &threads, const std::vector<uint32_t> &learners)
{
    Known joined = std::make_shared<std::vector<uint32_t>>(*machine.threads[threads[0]].known);
    const std::vector<uint32_t> *last = machine.threads[threads[0]].known.get();
    for (uint32_t n : threads) {
        const Thread &t = machine.threads[n];
        if (t.known.get() != last) {
            for (uint32_t u = 0; u < machine.thread_count; u++)
                (*joined)[u] = std::max((*joined)[u], (*t.known)[u]);
            last = t.known.get();
        }
    }
    for (uint32_t n : threads)
        (*joined)[n] = std::max((*joined)[n], machine.threads[n].clock);
    for (uint32_t n : threads)
        machine.threads[n].clock++;
    for (uint32_t n : learners)
        machine.threads[n].known = joined;
}

void race_order(Thread &t, const void *at, const char *order)
{
    const bool both = strstr(order, "acq_rel") != nullptr;
    const bool acquires = both || strstr(order, "acquire"), releases = both || strstr(order, "release");
    if (!acquires && !releases)
        return;
    Known &there = released[at];
    std::vector<uint32_t> joined(*t.known);
    if (there)
        for (uint32_t u = 0; u < machine.thread_count; u++)
            joined[u] = std::max(joined[u], (*there)[u]);
    if (acquires)
        t.known = std::make_shared<std::vector<uint32_t>>(joined);
    if (releases) {
        joined[t.number] = t.clock++;
        there = std::make_shared<std::vector<uint32_t>>(joined);
    }
}

}  // namespace simt
