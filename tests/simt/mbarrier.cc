// mbarrier.cc - barriers in shared memory: phases of arrivals and of bytes that copies bring.
//
// As PTX's manual has them (mbarrier): a phase ends when its count of threads have arrived and all expected bytes
// have come. What arrives hands on what it knows; who has waited for the phase knows it.
#include "machine.h"

#include <map>

namespace simt {

struct Mbarrier {
    uint32_t count, lacking;  // arrivals
    int64_t bytes;            // expected and not come yet
    uint32_t phase;           // number of the current one
    uint32_t agent;           // moves its data
    bool is_fenced;
    uint32_t owner;  // who has initialised it
    Knowledge arrived;  // in all phases so far, the current one too
    Knowledge ended;    // what those know who have waited for the last phase
};
static std::map<const void *, Mbarrier> barriers;
static constexpr int64_t most_bytes = (1 << 20) - 1;

void mbarrier_begin()
{
    barriers.clear();
}

static bool has_passed(const Mbarrier &b, unsigned parity)
{
    return (b.phase & 1) != parity;
}

static void let_pass(Thread &t, const Mbarrier &b)
{
    race_learn_all(t, b.ended);
}

static void end_phase_if_complete(const void *at, Mbarrier &b)
{
    if (b.lacking || b.bytes)
        return;
    b.phase++;
    b.lacking = b.count;
    b.ended = b.arrived;
    if (b.agent) {
        if (b.ended.past.size() <= b.agent)
            b.ended.past.resize(b.agent + 1);
        b.ended.past[b.agent] = b.phase;
    }
    for (Thread &t : machine.threads)
        if (machine.warps[t.number / 32].waiting >> t.number % 32 & 1 && t.event.kind == Stop::Phase && t.event.at == at &&
            has_passed(b, t.event.operand)) {
            let_pass(t, b);
            make_ready(t.number);
        }
}

void mbarrier_arrived(Thread &t)
{
    const auto found = barriers.find(t.event.at);
    if (found == barriers.end() || !has_passed(found->second, t.event.operand))
        return;
    let_pass(t, found->second);
    make_ready(t.number);
}

std::string mbarrier_state(const void *bar)
{
    const auto found = barriers.find(bar);
    char text[160];
    if (found == barriers.end())
        return "a barrier that was not initialised";
    const Mbarrier &b = found->second;
    snprintf(text, sizeof text, "the barrier at shared byte %zu: phase %u lacks %u of %u arrivals and %lld bytes",
             shared_offset(bar), b.phase, b.lacking, b.count, (long long)b.bytes);
    return text;
}

void mbarrier_complete(const void *bar, uint32_t bytes)
{
    Mbarrier &b = barriers.at(bar);
    b.bytes -= bytes;
    end_phase_if_complete(bar, b);
}

// The barrier, of whichever program, for an operation of the current thread; NULL after a report.
static Mbarrier *touch(const void *bar, const void *pc, Event &e)
{
    const size_t rank = (size_t)((const unsigned char *)bar - shared_of(0)) / part_bytes;
    if (rank < machine.programs.size() && machine.programs[rank].live == 0) {
        report(SIMT_ENDED_PROGRAM, pc, -1, nullptr, "touches shared byte %zu of a program of the cluster that has ended", shared_offset(bar));
        return nullptr;
    }
    e = memory_event(pc, bar, 8, true, true, SIMT_SHARED);
    if (!memory_check(e))
        return nullptr;
    const auto found = barriers.find(bar);
    if (found == barriers.end()) {
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "there is no initialised barrier at shared byte %zu",
               shared_offset(bar));
        return nullptr;
    }
    return &found->second;
}

bool mbarrier_actor(Thread &t, const void *bar, const void *pc, Actor &a)
{
    Event e;
    Mbarrier *b = touch(bar, pc, e);
    if (!b)
        return false;
    race_access(race_actor(t), e, true);
    if (!b->is_fenced)
        report(SIMT_MISSING_FENCE, pc, b->owner, pc, "copies to a barrier that was initialised with no fence since");
    if (!b->agent)
        b->agent = race_agent(t.number);
    a = { t.known.get(), t.number, b->agent, b->phase + 1, true, 1 };
    return true;
}

}  // namespace simt

using namespace simt;

static Event bar_event(Stop kind, const void *pc, const void *bar)
{
    Event e = {};
    e.kind = kind;
    e.pc = pc;
    e.at = bar;
    return e;
}

static void arrive(const void *pc, void *bar, unsigned bytes)
{
    stop(bar_event(Stop::Turn, pc, bar));
    Event e;
    Mbarrier *b = touch(bar, pc, e);
    if (!b)
        return;
    Thread &t = *machine.current;
    race_access(race_actor(t), e, true);
    race_release(t, b->arrived);
    b->bytes += bytes;
    if (b->bytes > most_bytes)
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "a barrier cannot wait for %lld bytes", (long long)b->bytes);
    if (!b->lacking)
        report(SIMT_EXTRA_ARRIVAL, pc, -1, nullptr, "arrives at %s", mbarrier_state(bar).c_str());
    else
        b->lacking--;
    end_phase_if_complete(bar, *b);
}

extern "C" {

void simt_mbar_init(void *bar, unsigned count)
{
    bar = shared_at(bar);
    const void *pc = __builtin_return_address(0);
    stop(bar_event(Stop::Turn, pc, bar));
    const Event e = memory_event(pc, bar, 8, true, true, SIMT_SHARED);
    if (!memory_check(e))
        return;
    race_access(race_actor(*machine.current), e, false);
    if (count < 1 || count > most_bytes)
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "a barrier cannot wait for %u arrivals", count);
    Mbarrier b = {};
    b.count = b.lacking = count;
    b.owner = machine.current->number;
    barriers[bar] = b;
}

void simt_mbar_init_fence()
{
    for (auto &b : barriers)
        b.second.is_fenced = b.second.is_fenced || b.second.owner == machine.current->number;
}

void simt_mbar_arrive(void *bar, unsigned bytes)
{
    arrive(__builtin_return_address(0), shared_at(bar), bytes);
}

void simt_mbar_arrive_at(void *bar, unsigned rank)
{
    const void *pc = __builtin_return_address(0);
    if (rank >= machine.programs.size())
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "a cluster of %zu programs has none of rank %u", machine.programs.size(), rank);
    else
        arrive(pc, shared_in(rank, bar), 0);
}

void simt_mbar_wait(void *bar, unsigned parity)
{
    bar = shared_at(bar);
    const void *pc = __builtin_return_address(0);
    stop(bar_event(Stop::Turn, pc, bar));
    Event e;
    if (!touch(bar, pc, e))
        return;
    race_access(race_actor(*machine.current), e, true);
    Event wait = bar_event(Stop::Phase, pc, bar);
    wait.operand = parity & 1;
    stop(wait);
}
}
