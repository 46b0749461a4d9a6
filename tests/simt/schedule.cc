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

void make_ready(uint32_t thread)
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
    SimtCounts one = {};
    one.barriers = b.expected == 0;
    account_add(b.pc, one);
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
    if (e.value % 32)
        report(SIMT_WRONG_OPERAND, e.pc, -1, nullptr, "a barrier of %u threads, which are no whole warps", (unsigned)e.value);
    Program &program = machine.programs[rank_of(t)];
    Barrier &b = program.barriers[e.operand];
    if (b.arrived.empty()) {
        b.pc = e.pc;
        b.expected = (uint32_t)e.value;
    } else if (b.expected != e.value || (b.expected == 0 && b.pc != e.pc)) {
        report(SIMT_DIVERGENT_BARRIER, e.pc, b.arrived[0], b.pc, "threads meet at different barriers");
    }
    if (b.expected == 0 && program.live < machine.thread_count)
        report(SIMT_MISSING_ARRIVAL, e.pc, -1, nullptr, "waits at a barrier for %u threads that have ended",
               machine.thread_count - program.live);
    b.arrived.push_back(t.number);
    if (!e.waits)
        make_ready(t.number);
    if (b.arrived.size() == (b.expected ? b.expected : program.live))
        barrier_complete(b);
}

static unsigned live_in_cluster()
{
    unsigned live = 0;
    for (const Program &p : machine.programs)
        live += p.live;
    return live;
}

// Threads that have ended are not waited for: PTX's manual, barrier.cluster.
static void end_cluster_barrier_if_complete()
{
    if (machine.met.empty() || machine.met.size() < live_in_cluster())
        return;
    race_join(machine.met, machine.met);
    for (uint32_t t : machine.met)
        make_ready(t);
    machine.met.clear();
}

static void cluster_arrive(Thread &t)
{
    machine.met.push_back(t.number);
    end_cluster_barrier_if_complete();
}

static void thread_ended(Thread &t)
{
    Program &program = machine.programs[rank_of(t)];
    program.live--;
    machine.warps[t.number / 32].done |= 1u << t.number % 32;
    for (Barrier &b : program.barriers) {
        if (b.arrived.empty() || b.expected)
            continue;
        report(SIMT_MISSING_ARRIVAL, b.pc, b.arrived[0], b.pc, "ended while others wait at a barrier");
        if (b.arrived.size() == program.live)
            barrier_complete(b);
    }
    end_cluster_barrier_if_complete();
    if (program.live == 0 && machine.programs.size() > 1)
        race_program_ended(rank_of(t));
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
    const Event &first = lane_of(warp, members[0] % 32).event;
    SimtCounts one = {};
    one.warp_exchanges = first.kind != Stop::Gather;
    account_add(first.pc, one);
    if (first.kind == Stop::Gather)
        gather_complete(warp);
    if (first.kind == Stop::Warp)
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

// Lets a thread that waits for others than its warp's go on once they have come.
static void wait_arrive(Thread &t)
{
    switch (t.event.kind) {
    case Stop::Group: product_arrive(t); break;
    case Stop::Phase: mbarrier_arrived(t); break;
    case Stop::Registers: registers_arrive(t); break;
    case Stop::Cluster: cluster_arrive(t); break;
    default: barrier_arrive(t); break;
    }
}

static void stopped_at(Thread &t)
{
    Warp &w = machine.warps[t.number / 32];
    const uint32_t bit = 1u << t.number % 32;
    switch (t.event.kind) {
    case Stop::Start:
    case Stop::Memory:
    case Stop::Atomic:
    case Stop::Turn: w.ready |= bit; break;
    case Stop::Barrier:
    case Stop::Cluster:
    case Stop::Group:
    case Stop::Phase:
    case Stop::Registers:
        w.waiting |= bit;
        wait_arrive(t);
        break;
    case Stop::Vote:
        if (t.event.mode == SIMT_VOTE_ACTIVE) {
            w.ready |= bit;
            break;
        }
        [[fallthrough]];
    case Stop::Warp:
    case Stop::Exchange:
    case Stop::Gather:
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

static std::string awaited(const Event &e)
{
    switch (e.kind) {
    case Stop::Phase: return mbarrier_state(e.at);
    case Stop::Group: return "a product of its warpgroup";
    case Stop::Registers: return "registers that others give back";
    case Stop::Barrier: return "a barrier";
    case Stop::Cluster: return "the barrier of the cluster";
    default: return "an exchange within the warp";
    }
}

static void report_stuck()
{
    for (Thread &t : machine.threads) {
        if (!(machine.warps[t.number / 32].waiting >> t.number % 32 & 1))
            continue;
        machine.current = &t;
        report(SIMT_MISSING_ARRIVAL, t.event.pc, -1, nullptr, "waits for what never comes: %s", awaited(t.event).c_str());
    }
    machine.current = nullptr;
}

static void program_begin()
{
    machine.steps = 0;
    machine.stopped = false;
    machine.met.clear();
    for (Program &p : machine.programs) {
        p.live = machine.thread_count;
        for (Barrier &b : p.barriers)
            b.arrived.clear();
    }
    for (Warp &w : machine.warps)
        w = { ~0u, 0, 0, {}, 0 };
    for (Thread &t : machine.threads) {
        t.event = {};
        t.registers = {};  // else arguments of the last call of the program before
        fiber_prepare(t, thread_start);
    }
    race_begin();
    async_begin();
    mbarrier_begin();
    registers_begin();
}

// The next warp to run, from a random one on; -1 when all wait.
static int pick_warp()
{
    const unsigned warps = (unsigned)machine.warps.size(), first = (unsigned)(random_next() % warps);
    for (unsigned i = 0; i < warps; i++)
        if (machine.warps[(first + i) % warps].ready)
            return (int)((first + i) % warps);
    return -1;
}

bool program_run()
{
    constexpr unsigned steps_per_work = 8;  // on average, of those that need not be waited for
    program_begin();
    while (live_in_cluster() > 0 && !machine.stopped) {
        const int warp = pick_warp();
        if (warp < 0 && !async_advance()) {
            report_stuck();
            return false;
        }
        if (warp < 0)
            continue;
        step((unsigned)warp);
        if (!machine.works.empty() && random_next() % steps_per_work == 0)
            async_advance();
        if (++machine.steps > machine.step_limit) {
            report(SIMT_NO_PROGRESS, nullptr, -1, nullptr, "no end after %llu steps", (unsigned long long)machine.steps);
            return false;
        }
    }
    if (machine.stopped)
        return false;
    async_end();
    registers_end();
    return true;
}

}  // namespace simt
