// async.cc - work that goes on beside the threads, and copies from global to shared memory.
//
// Work is checked for races when it starts, and done at a random moment between then and the wait that covers
// it: until then its destination holds garbage.
#include "machine.h"

#include <algorithm>

namespace simt {

void async_begin()
{
    machine.works.clear();
    for (Thread &t : machine.threads) {
        t.copies = t.store_reads = t.store_writes = {};
        t.products = {};
    }
}

Work async_start(std::function<void()> run)
{
    Work work = std::make_shared<Operation>(Operation { std::move(run), false });
    machine.works.push_back(work);
    return work;
}

void async_finish(const Work &work)
{
    if (work->done)
        return;
    work->done = true;
    work->run();
    work->run = nullptr;
}

bool async_advance()
{
    while (!machine.works.empty()) {
        std::swap(machine.works[random_next() % machine.works.size()], machine.works.back());
        const Work work = machine.works.back();
        machine.works.pop_back();
        if (!work->done) {
            async_finish(work);
            return true;
        }
    }
    return false;
}

void groups_add(Groups &g, const Work &work)
{
    g.started.push_back({ g.committed, work });
}

void groups_wait(Thread &t, Groups &g, uint32_t newest)
{
    const uint32_t covered = g.committed > newest ? g.committed - newest : 0;
    std::vector<Groups::Started> left;
    for (const Groups::Started &s : g.started)
        if (s.group < covered)
            async_finish(s.work);
        else
            left.push_back(s);
    g.started = std::move(left);
    if (g.agent)
        race_learn(t, g.agent, covered);
}

// Copies of single threads may be under way when a program ends; boxes are stored from its shared memory.
void async_end()
{
    for (Thread &t : machine.threads) {
        machine.current = &t;
        if (!t.store_reads.started.empty())
            report(SIMT_MISSING_WAIT, t.event.pc, -1, nullptr, "ends while its stores of boxes read shared memory");
        product_check_kept(t);
        if (!t.products.accumulators.empty())
            report(SIMT_MISSING_WAIT, t.products.accumulators[0].pc, -1, nullptr, "ends before its matrix product has");
    }
    machine.current = nullptr;
    while (async_advance()) {
    }
}

}  // namespace simt

using namespace simt;

extern "C" {

void simt_copy_async(void *to, const void *from, size_t bytes, bool on)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, argument_is_unwritten(0, sizeof to) || (on && argument_is_unwritten(1, sizeof from)), argument_is_unwritten(3, sizeof on));
    to = shared_at(to);
    Event read = memory_event(pc, from, bytes, false, on, SIMT_GLOBAL);
    read.copies_to = to;
    const Event source = stop(read);
    const Event target = memory_event(pc, to, bytes, true, true, SIMT_SHARED);
    Thread &t = *machine.current;
    if (!memory_check(target) || (on && !memory_check(source)))
        return;
    if (!t.copies.agent)
        t.copies.agent = race_agent(t.number);
    const Actor a = { t.known.get(), t.number, t.copies.agent, t.copies.committed + 1, false, 1 };
    if (on)
        race_access(a, source, false);
    race_access(a, target, false);
    memset(to, 0xff, bytes);
    groups_add(t.copies, async_start([=] {
                   if (on)
                       memcpy(to, from, bytes);
                   else
                       memset(to, 0, bytes);
               }));
}

void simt_copy_commit()
{
    machine.current->copies.committed++;
}

void simt_copy_wait(unsigned newest)
{
    stop(turn_event(__builtin_return_address(0)));
    groups_wait(*machine.current, machine.current->copies, newest);
}

void simt_fence_async()
{
    race_fence(*machine.current);
}
}
