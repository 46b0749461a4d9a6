// events.cc - what device code calls: each stops the thread in front of the event, then does it.
#include "machine.h"

using namespace simt;

namespace simt {

bool argument_is_unwritten(unsigned index, size_t bytes)
{
    uint64_t shadow = 0;
    memcpy(&shadow, &machine.current->registers.arguments[index], bytes);
    return shadow != 0;
}

void check_arguments(const void *pc, bool address, bool mask)
{
    if (address)
        report(SIMT_UNWRITTEN_REGISTER, pc, -1, nullptr, "an uninitialised register is an address");
    if (mask)
        report(SIMT_UNWRITTEN_REGISTER, pc, -1, nullptr, "an uninitialised register is a mask");
}

void check_registers(const void *pc, const void *at, size_t bytes, const char *use)
{
    const unsigned char *shadow = stack_shadow(at);
    for (size_t i = 0; shadow && i < bytes; i++)
        if (shadow[i]) {
            report(SIMT_UNWRITTEN_REGISTER, pc, -1, nullptr, "an uninitialised register %s", use);
            break;
        }
}

Event &stop(const Event &e)
{
    Thread &t = *machine.current;
    t.event = e;
    fiber_leave();
    return t.event;
}

Event turn_event(const void *pc)
{
    Event e = {};
    e.kind = Stop::Turn;
    e.pc = pc;
    return e;
}

Event memory_event(const void *pc, const void *at, size_t bytes, bool is_write, bool mask, int space)
{
    Event e = {};
    e.kind = Stop::Memory;
    e.pc = pc;
    e.at = at;
    e.bytes = (uint32_t)bytes;
    e.is_write = is_write;
    e.is_shared = space == SIMT_SHARED;
    e.mask = mask;
    return e;
}

}  // namespace simt

extern "C" {

alignas(1024) unsigned char nt_smem[(1 + SIMT_MAX_CLUSTER) * part_bytes];

const SimtPlace *simt_place()
{
    return &machine.current->place;
}

void simt_load(void *to, const void *from, size_t bytes, bool mask, int space)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, mask && argument_is_unwritten(1, sizeof from), argument_is_unwritten(3, sizeof mask));
    if (space == SIMT_SHARED)
        from = shared_at(from);
    const Event e = stop(memory_event(pc, from, bytes, false, mask, space));
    if (!mask)
        return;
    if (unsigned char *shadow = stack_shadow(to))
        memset(shadow, 0, bytes);
    if (memory_check(e)) {
        race_access(race_actor(*machine.current), e, false);
        memcpy(to, from, bytes);
    }
}

void simt_store(void *to, const void *from, size_t bytes, bool mask, int space)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, mask && argument_is_unwritten(0, sizeof to), argument_is_unwritten(3, sizeof mask));
    if (space == SIMT_SHARED)
        to = shared_at(to);
    const Event e = stop(memory_event(pc, to, bytes, true, mask, space));
    if (!mask)
        return;
    check_registers(pc, from, bytes, "is stored");
    if (memory_check(e)) {
        race_access(race_actor(*machine.current), e, false);
        memcpy(to, from, bytes);
    }
}

bool simt_atomic(void *at, size_t bytes, const void *with, size_t with_bytes, const char *order)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, argument_is_unwritten(0, sizeof at), false);
    check_registers(pc, with, with_bytes, "takes part in an atomic");
    Event e = memory_event(pc, at, bytes, true, true, SIMT_GLOBAL);
    e.kind = Stop::Atomic;
    stop(e);
    if (!memory_check(e))
        return false;
    race_access(race_actor(*machine.current), e, true);
    race_order(*machine.current, at, order);
    return true;
}

void simt_barrier(unsigned id, unsigned count, bool wait)
{
    Event e = {};
    e.kind = Stop::Barrier;
    e.pc = __builtin_return_address(0);
    e.operand = id;
    e.value = count;
    e.waits = wait;
    stop(e);
}

void simt_cluster_barrier()
{
    Event e = turn_event(__builtin_return_address(0));
    e.kind = Stop::Cluster;
    stop(e);
}

void simt_warp_barrier(unsigned mask)
{
    Event e = {};
    e.kind = Stop::Warp;
    e.pc = __builtin_return_address(0);
    e.lanes = mask;
    stop(e);
}

unsigned long long simt_shuffle(unsigned long long value, unsigned mask, int mode, unsigned operand, int width)
{
    RegisterState &registers = machine.current->registers;
    Event e = {};
    e.kind = Stop::Exchange;
    e.pc = __builtin_return_address(0);
    check_arguments(e.pc, false, argument_is_unwritten(1, sizeof mask) || argument_is_unwritten(3, sizeof operand));
    e.lanes = mask;
    e.mode = mode;
    e.operand = operand;
    e.width = width;
    e.value = value;
    e.value_shadow = registers.arguments[0];
    const Event &done = stop(e);
    registers.result[0] = done.result_shadow;
    return done.result;
}

unsigned simt_vote(unsigned mask, int mode, bool predicate)
{
    Event e = {};
    e.kind = Stop::Vote;
    e.pc = __builtin_return_address(0);
    check_arguments(e.pc, false, argument_is_unwritten(0, sizeof mask) || argument_is_unwritten(2, sizeof predicate));
    e.lanes = mask;
    e.mode = mode;
    e.value = predicate;
    return (unsigned)stop(e).result;
}

void simt_fence(int)
{
    // Accesses take effect at once and in order; an ordering needs a barrier or an atomic besides.
}

void simt_assert_failed(const char *message, const char *file, unsigned line, const char *function)
{
    report(SIMT_ASSERTION, __builtin_return_address(0), -1, nullptr, "%s:%u: assertion in '%s' failed: %s", file, line,
           function, message);
    program_stop();
}
}
