// race.cc - races: two accesses of a byte by different threads, one a write, with no barrier in between.
//
// Threads have clocks that barriers advance. A thread knows of each other thread the clock up to which its
// accesses are in the past (by barriers, warp barriers, releases and acquires). Each byte remembers its
// last write and its reads since; a new access must know them. Atomics do not race with each other.
//
// Work that goes on beside its thread (copies, products) accesses memory as an agent, which has a number behind
// the threads' and a clock of its own. It is checked when it starts, with what its thread knows then; that
// it has ended is known to whom a wait covers it. The asynchronous proxy (products, copies of boxes) besides wants a
// fence behind what threads wrote.
#include "machine.h"

#include <algorithm>
#include <unordered_map>

namespace simt {

struct Access {
    uint32_t clock;  // 0: none
    uint32_t place : 26;  // index into `places`
    uint32_t is_async : 1, agents : 3;
    uint32_t thread;  // or agent
};

// Reads by several threads, of which none knows another's.
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
static std::vector<uint32_t> agent_threads;               // by agent; their numbers are behind the threads'

// ---- knowledge ----

uint32_t race_clock(const std::vector<uint32_t> &clocks, uint32_t who)
{
    return who < clocks.size() ? clocks[who] : 0;
}

static void raise(std::vector<uint32_t> &clocks, uint32_t who, uint32_t clock)
{
    if (clocks.size() <= who)
        clocks.resize(who + 1);
    clocks[who] = std::max(clocks[who], clock);
}

static void merge_clocks(std::vector<uint32_t> &to, const std::vector<uint32_t> &from)
{
    if (to.size() < from.size())
        to.resize(from.size());
    for (size_t u = 0; u < from.size(); u++)
        to[u] = std::max(to[u], from[u]);
}

void race_merge(Knowledge &to, const Knowledge &from)
{
    merge_clocks(to.past, from.past);
    merge_clocks(to.fenced, from.fenced);
}

// The thread's knowledge, for a change.
static Knowledge &own(Thread &t)
{
    if (t.known.use_count() > 1)
        t.known = std::make_shared<Knowledge>(*t.known);
    return *t.known;
}

void race_learn(Thread &t, uint32_t agent, uint32_t clock)
{
    if (race_clock(t.known->past, agent) < clock)
        raise(own(t).past, agent, clock);
}

void race_learn_all(Thread &t, const Knowledge &what)
{
    race_merge(own(t), what);
}

void race_release(Thread &t, Knowledge &to)
{
    race_merge(to, *t.known);
    raise(to.past, t.number, t.clock++);
}

void race_fence(Thread &t)
{
    Knowledge &k = own(t);
    merge_clocks(k.fenced, k.past);
    raise(k.fenced, t.number, t.clock++);
}

void race_begin()
{
    const Known nothing = std::make_shared<Knowledge>();
    for (Thread &t : machine.threads) {
        t.clock = 1;
        t.known = nothing;
    }
    shared_bytes.clear();
    shared_bytes.resize(machine.programs.size() * machine.shared_bytes);
    pages.clear();
    released.clear();
    agent_threads.clear();
}

uint32_t race_agent(uint32_t thread, unsigned count)
{
    const uint32_t first = (uint32_t)(machine.threads.size() + agent_threads.size());
    agent_threads.insert(agent_threads.end(), count, thread);
    return first;
}

Actor race_actor(const Thread &t)
{
    return { t.known.get(), t.number, t.number, t.clock, false, 1 };
}

// ---- accesses ----

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

static bool is_past(const Actor &who, const Access &a)
{
    if (a.clock == 0 || a.thread == who.issuer)
        return true;
    for (uint32_t u = a.thread; u < a.thread + a.agents; u++)
        if (a.clock > race_clock(who.known->past, u))
            return false;
    return true;
}

// Whether the asynchronous proxy sees a write that is in the past.
static bool is_fenced(const Actor &who, const Event &e, const Access &write)
{
    return write.clock == 0 || write.is_async || (e.is_shared && write.clock <= race_clock(who.known->fenced, write.thread));
}

static std::string byte_name(const Event &e)
{
    char name[64];
    if (e.is_shared)
        snprintf(name, sizeof name, "shared byte %zu", shared_offset(e.at));
    else
        snprintf(name, sizeof name, "global memory at %p", e.at);
    return name;
}

// Reports the access against an older one.
static bool report_race(const Actor &who, const Event &e, const Access &old, bool old_writes)
{
    const bool old_is_work = old.thread >= machine.threads.size(), is_work = who.agent >= machine.threads.size();
    const SimtFault race = e.is_shared ? SIMT_SHARED_RACE : SIMT_GLOBAL_RACE;
    const uint32_t thread = old_is_work ? agent_threads[old.thread - machine.threads.size()] : old.thread;
    const char *verb = is_work ? (e.is_write ? "starts to write" : "starts to read") : e.is_write ? "writes" : "reads";
    const char *old_verb = old_is_work ? (old_writes ? "started to write: no wait covers that" : "started to read: no wait covers that")
                                       : old_writes ? "wrote" : "read";
    report(old_is_work ? SIMT_MISSING_WAIT : race, e.pc, thread, places[old.place], "%s %s, which the other thread %s", verb,
           byte_name(e).c_str(), old_verb);
    return true;
}

static bool report_fence(const Event &e, const Access &old)
{
    const uint32_t thread = old.thread >= machine.threads.size() ? agent_threads[old.thread - machine.threads.size()] : old.thread;
    report(SIMT_MISSING_FENCE, e.pc, thread, places[old.place],
           "starts to %s %s, which the other thread wrote with no fence for the asynchronous proxy since", e.is_write ? "write" : "read",
           byte_name(e).c_str());
    return true;
}

static bool check_readers(const Actor &who, const Event &e, const Byte &b)
{
    if (!is_past(who, b.read))
        return report_race(who, e, b.read, false);
    if (b.readers)
        for (const Access &a : *b.readers)
            if (!is_past(who, a))
                return report_race(who, e, a, false);
    return false;
}

static void note_read(const Actor &who, Byte &b, const Access &now)
{
    if (b.readers) {
        Readers &r = *b.readers;
        r.erase(std::remove_if(r.begin(), r.end(), [&](const Access &a) { return a.thread == now.thread || is_past(who, a); }), r.end());
        r.push_back(now);
    } else if (b.read.thread == now.thread || is_past(who, b.read)) {
        b.read = now;
    } else {
        b.readers = std::make_unique<Readers>(Readers { b.read, now });
        b.read = {};
    }
}

// True when it raced: one report is enough for an access.
static bool access_byte(const Actor &who, const Event &e, Byte &b, const Access &now, bool is_atomic)
{
    bool raced = false;
    if (!is_past(who, b.write))
        raced = report_race(who, e, b.write, true);
    else if (!is_atomic && !is_past(who, b.atomic))
        raced = report_race(who, e, b.atomic, true);
    else if (who.is_async && !is_fenced(who, e, b.write))
        raced = report_fence(e, b.write);
    if (!e.is_write) {
        note_read(who, b, now);
        return raced;
    }
    raced = raced || check_readers(who, e, b);
    if (is_atomic) {  // what others must know besides stays
        b.atomic = now;
        return raced;
    }
    b.write = now;
    b.read = b.atomic = {};
    b.readers.reset();
    return raced;
}

static Byte *shared_byte(uintptr_t at)
{
    const uintptr_t all = at - (uintptr_t)shared_of(0);
    return &shared_bytes[all / part_bytes * machine.shared_bytes + all % part_bytes];
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

void race_access(const Actor &who, const Event &e, bool is_atomic)
{
    const Access now = { who.clock, place_number(e.pc), who.is_async, who.agents, who.agent };
    const uintptr_t first = (uintptr_t)e.at;
    bool quiet = false;
    for (uint32_t i = 0; i < e.bytes; i++) {
        Byte *b = e.is_shared ? shared_byte(first + i) : global_byte(first + i);
        if (e.is_shared && !e.is_write && b->write.clock == 0 && !quiet) {
            report(SIMT_UNWRITTEN_SHARED, e.pc, -1, nullptr, "reads shared byte %zu, which no thread has written",
                   shared_offset(e.at) + i);
            quiet = true;
        }
        quiet = access_byte(who, e, *b, now, is_atomic) || quiet;
        if (quiet)
            break;
    }
}

// ---- synchronisation ----

// The `learners` come to know all that `threads` know and have done.
void race_join(const std::vector<uint32_t> &threads, const std::vector<uint32_t> &learners)
{
    const Knowledge *last = machine.threads[threads[0]].known.get();
    Known joined = std::make_shared<Knowledge>(*last);
    for (uint32_t n : threads) {
        const Thread &t = machine.threads[n];
        if (t.known.get() != last)
            race_merge(*joined, *t.known);
        last = t.known.get();
    }
    for (uint32_t n : threads)
        raise(joined->past, n, machine.threads[n].clock++);
    for (uint32_t n : learners)
        machine.threads[n].known = joined;
}

static uint32_t thread_of(const Access &a)
{
    return a.thread < machine.threads.size() ? a.thread : agent_threads[a.thread - machine.threads.size()];
}

// Reports an access by another program that nothing orders in front of the end of program `rank`.
static void check_ended(const Actor &who, unsigned rank, const Access &a, const Byte *b)
{
    if (is_past(who, a) || thread_of(a) / machine.thread_count == rank)
        return;
    machine.current = &machine.threads[thread_of(a)];
    report(SIMT_ENDED_PROGRAM, places[a.place], -1, nullptr, "touches shared byte %zu of a program of the cluster that may have ended",
           (size_t)(b - &shared_bytes[rank * machine.shared_bytes]));
}

void race_program_ended(unsigned rank)
{
    Knowledge known;
    for (uint32_t n = rank * machine.thread_count; n < (rank + 1) * machine.thread_count; n++)
        race_release(machine.threads[n], known);
    const Actor who = { &known, ~0u, 0, 0, false, 1 };
    for (uint32_t i = 0; i < machine.shared_bytes; i++) {
        const Byte &b = shared_bytes[rank * machine.shared_bytes + i];
        for (const Access *a : { &b.write, &b.atomic, &b.read })
            check_ended(who, rank, *a, &b);
        for (size_t k = 0; b.readers && k < b.readers->size(); k++)
            check_ended(who, rank, (*b.readers)[k], &b);
    }
}

void race_order(Thread &t, const void *at, const char *order)
{
    const bool both = strstr(order, "acq_rel") != nullptr;
    const bool acquires = both || strstr(order, "acquire"), releases = both || strstr(order, "release");
    if (!acquires && !releases)
        return;
    Known &there = released[at];
    Knowledge joined = *t.known;
    if (there)
        race_merge(joined, *there);
    if (acquires)
        t.known = std::make_shared<Knowledge>(joined);
    if (releases) {
        raise(joined.past, t.number, t.clock++);
        there = std::make_shared<Knowledge>(joined);
    }
}

}  // namespace simt
