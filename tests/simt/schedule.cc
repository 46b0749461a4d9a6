// schedule.cc - runs one program: which warp goes next, and what waits for whom.
#include "machine.h"

#include <algorithm>

namespace simt {

Machine machine;

uint64_t random_next()
{
    uint64_t z = machine.random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static Thread &lane_of(unsigned warp, unsigned lane)
{
    return machine.threads[warp * 32 + lane];
}

static void make_ready(uint32_t thread)
{
    Warp &w = machine.warps[thread / 32];
    w.waiting &= ~(1u << thread % 32);
    w.ready |= 1u << thread % 32;
}

void program_stop()
{
    machine.stopped = true;
    for (;;)
        fiber_leave();
}

static void thread_start()
{
    machine.entry(machine.parameters);
    machine.current->event = {};
    machine.current->event.kind = Stop::Done;
    for (;;)
        fiber_leave();
}

// ---- barriers of the program ----

static void barrier_complete(Barrier &b)
{
    std::vector<uint32_t> learners;
    for (uint32_t t : b.arrived)
        if (machine.threads[t].event.waits)
            learners.push_back(t);
    race_join(b.arrived, learners);
    machine.counts.barriers += b.expected == 0;
    b.arrived.clear();
    for (uint32_t t : learners)
        make_ready(t);
}

static void barrier_arrive(Thread &t)
{
    const Event &e = t.event;
    if (e.operand >= barrier_count) {
        report(SIMT_DIVERGENT_BARRIER, e.pc, -1, nullptr, "there is no barrier %u", e.operand);
        machine.stopped = true;
        return;
    }
    Barrier &b = machine.barriers[e.operand];
    if (b.arrived.empty()) {
        b.pc = e.pc;
        b.expected = (uint32_t)e.value;
    } else if (b.expected != e.value || (b.expected == 0 && b.pc != e.pc)) {
        report(SIMT_DIVERGENT_BARRIER, e.pc, b.arrived[0], b.pc, "threads meet at different barriers");
    }
    if (b.expected == 0 && machine.live < machine.thread_count)
        report(SIMT_MISSING_ARRIVAL, e.pc, -1, nullptr, "waits at a barrier for %u threads that have ended",
               machine.thread_count - machine.live);
    b.arrived.push_back(t.number);
    if (!e.waits)
        make_ready(t.number);
    if (b.arrived.size() == (b.expected ? b.expected : machine.live))
        barrier_complete(b);
}

static void thread_ended(Thread &t)
{
    machine.live--;
    machine.warps[t.number / 32].done |= 1u << t.number % 32;
    for (Barrier &b : machine.barriers) {
        if (b.arrived.empty() || b.expected)
            continue;
        report(SIMT_MISSING_ARRIVAL, b.pc, b.arrived[0], b.pc, "ended while others wait at a barrier");
        if (b.arrived.size() == machine.live)
            barrier_complete(b);
    }
}

// ---- exchanges within a warp ----

// The lane that a lane's value comes from: __shfl_sync and its kin of the CUDA programming guide.
static unsigned source_lane(const Event &e, unsigned lane)
{
    const unsigned width = (unsigned)e.width, first = lane & ~(width - 1), last = first | (width - 1);
    switch (e.mode) {
    case SIMT_SHFL_IDX: return first | (e.operand & (width - 1));
    case SIMT_SHFL_UP: return lane - first >= e.operand ? lane - e.operand : lane;
    case SIMT_SHFL_DOWN: return last - lane >= e.operand ? lane + e.operand : lane;
    default: return (lane ^ e.operand) <= last ? lane ^ e.operand : lane;
    }
}

static void shuffle_lane(unsigned warp, unsigned lane, uint32_t group)
{
    Event &e = lane_of(warp, lane).event;
    unsigned source = source_lane(e, lane);
    if (!(group >> source & 1)) {
        report(SIMT_WRONG_MASK, e.pc, warp * 32 + source, nullptr, "a shuffle reads a lane that does not take part");
        source = lane;
    }
    const Event &from = lane_of(warp, source).event;
    e.result = from.value;
    e.result_shadow = from.value_shadow;
}

static uint64_t vote_result(unsigned warp, uint32_t group, int mode)
{
    uint32_t ballot = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (group >> lane & 1 && lane_of(warp, lane).event.value)
            ballot |= 1u << lane;
    return mode == SIMT_VOTE_ALL ? ballot == group : mode == SIMT_VOTE_ANY ? ballot != 0 : ballot;
}

static void exchange_complete(unsigned warp, uint32_t group)
{
    std::vector<uint32_t> members;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(group >> lane & 1))
            continue;
        Event &e = lane_of(warp, lane).event;
        members.push_back(warp * 32 + lane);
        if (e.kind == Stop::Exchange)
            shuffle_lane(warp, lane, group);
        else if (e.kind == Stop::Vote)
            e.result = vote_result(warp, group, e.mode);
    }
    machine.counts.warp_exchanges++;
    if (lane_of(warp, members[0] % 32).event.kind == Stop::Warp)
        race_join(members, members);
    for (uint32_t t : members)
        make_ready(t);
}

// Lets the lanes that `t` waits for go on once all have come.
static void exchange_arrive(Thread &t)
{
    const unsigned warp = t.number / 32, lane = t.number % 32;
    const Event &e = t.event;
    const uint32_t done = machine.warps[warp].done & e.lanes;
    if (!(e.lanes >> lane & 1)) {
        report(SIMT_WRONG_MASK, e.pc, -1, nullptr, "the mask 0x%08x does not name the thread's own lane %u", e.lanes, lane);
        machine.stopped = true;
        return;
    }
    if (done)
        report(SIMT_WRONG_MASK, e.pc, -1, nullptr, "the mask 0x%08x names lanes that have ended: 0x%08x", e.lanes, done);
    uint32_t group = 0;
    for (unsigned i = 0; i < 32; i++) {
        const Event &other = lane_of(warp, i).event;
        if (machine.warps[warp].waiting >> i & 1 && other.kind == e.kind && other.pc == e.pc && other.lanes == e.lanes)
            group |= 1u << i;
    }
    if (group == (e.lanes & ~done))
        exchange_complete(warp, group);
}

// ---- steps ----

static void stopped_at(Thread &t)
{
    Warp &w = machine.warps[t.number / 32];
    const uint32_t bit = 1u << t.number % 32;
    switch (t.event.kind) {
    case Stop::Start:
    case Stop::Memory:
    case Stop::Atomic: w.ready |= bit; break;
    case Stop::Barrier:
        w.waiting |= bit;
        barrier_arrive(t);
        break;
    case Stop::Vote:
        if (t.event.mode == SIMT_VOTE_ACTIVE) {
            w.ready |= bit;
            break;
        }
        [[fallthrough]];
    case Stop::Warp:
    case Stop::Exchange:
        w.waiting |= bit;
        exchange_arrive(t);
        break;
    case Stop::Done: thread_ended(t); break;
    }
}

// Lets lanes of a warp that stand at one place pass.
static void step(unsigned warp)
{
    Warp &w = machine.warps[warp];
    unsigned pick = (unsigned)(random_next() % 32), lane = pick;
    while (!(w.ready >> lane & 1))
        lane = (lane + 1) % 32;
    const Event e = lane_of(warp, lane).event;
    uint32_t group = 0;
    for (unsigned i = 0; i < 32; i++)
        if (w.ready >> i & 1 && lane_of(warp, i).event.pc == e.pc && lane_of(warp, i).event.kind == e.kind)
            group |= 1u << i;
    if (e.kind == Stop::Memory || e.kind == Stop::Atomic)
        account(warp, group);
    w.ready &= ~group;
    for (unsigned i = 0; i < 32 && !machine.stopped; i++) {
        if (!(group >> i & 1))
            continue;
        Thread &t = lane_of(warp, i);
        if (e.kind == Stop::Vote && t.event.mode == SIMT_VOTE_ACTIVE)
            t.event.result = group;
        fiber_resume(t);
        if (!machine.stopped)
            stopped_at(t);
    }
    machine.current = nullptr;
}

static void report_stuck()
{
    for (const Thread &t : machine.threads) {
        if (!(machine.warps[t.number / 32].waiting >> t.number % 32 & 1))
            continue;
        machine.current = &machine.threads[t.number];
        const char *where = t.event.kind == Stop::Barrier ? "a barrier" : "an exchange within the warp";
        report(SIMT_MISSING_ARRIVAL, t.event.pc, -1, nullptr, "waits at %s for threads that never come", where);
        break;
    }
    machine.current = nullptr;
}

static void program_begin()
{
    machine.live = machine.thread_count;
    machine.steps = 0;
    machine.stopped = false;
    for (Barrier &b : machine.barriers)
        b.arrived.clear();
    for (Warp &w : machine.warps)
        w = { ~0u, 0, 0 };
    for (Thread &t : machine.threads) {
        t.event = {};
        fiber_prepare(t, thread_start);
    }
    race_begin();
}

bool program_run()
{
    program_begin();
    const unsigned warps = (unsigned)machine.warps.size();
    while (machine.live > 0 && !machine.stopped) {
        unsigned warp = (unsigned)(random_next() % warps), tried = 0;
        while (tried < warps && !machine.warps[warp].ready) {
            warp = (warp + 1) % warps;
            tried++;
        }
        if (tried == warps) {
            report_stuck();
            return false;
        }
        step(warp);
        if (++machine.steps > machine.step_limit) {
            report(SIMT_NO_PROGRESS, nullptr, -1, nullptr, "no end after %llu steps", (unsigned long long)machine.steps);
            return false;
        }
    }
    return !machine.stopped;
}

}  // namespace simt
