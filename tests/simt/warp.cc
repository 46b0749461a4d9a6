// warp.cc - matrices of a warp: their way from and to shared memory, products (mma.sync), and its registers' count.
//
// Fragments are laid out as PTX's manual has them: lane l holds words l % 4 of row l / 4 (of B: of column l / 4).
// Products are exact in double, sums rounded once.
#include "machine.h"
#include "number.h"

#include <algorithm>

namespace simt {

static constexpr unsigned all_lanes = 0xffffffffu;

static bool is_unwritten(const void *at, size_t bytes)
{
    const unsigned char *shadow = stack_shadow(at);
    return shadow && std::any_of(shadow, shadow + bytes, [](unsigned char s) { return s != 0; });
}

static void set_written(void *at, size_t bytes, bool unwritten)
{
    if (unsigned char *shadow = stack_shadow(at))
        memset(shadow, unwritten ? 0xff : 0, bytes);
}

// Hands over the lane's bytes and gets those of all lanes, one lane's after another. They stay until the warp's next such
// exchange, which waits for this lane. `unwritten`: some byte of some lane is uninitialised.
static const unsigned char *gather(const void *pc, const void *from, uint32_t bytes, bool &unwritten)
{
    Event e = turn_event(pc);
    e.kind = Stop::Gather;
    e.lanes = all_lanes;
    e.at = from;
    e.bytes = bytes;
    e.value = is_unwritten(from, bytes);
    unwritten = stop(e).result != 0;
    return machine.warps[machine.current->number / 32].gathered.data();
}

void gather_complete(unsigned warp)
{
    Warp &w = machine.warps[warp];
    Thread *lanes = &machine.threads[warp * 32];
    const uint32_t bytes = machine.current->event.bytes;
    uint64_t unwritten = 0;
    w.gathered.assign(32 * bytes, 0);
    for (unsigned lane = 0; lane < 32; lane++)
        if (lanes[lane].event.kind == Stop::Gather) {  // else it has ended, which is reported
            memcpy(&w.gathered[lane * bytes], lanes[lane].event.at, bytes);
            unwritten |= lanes[lane].event.value;
        }
    for (unsigned lane = 0; lane < 32; lane++)
        lanes[lane].event.result = unwritten;
}

// ---- setmaxnreg ----

static constexpr unsigned register_file = 65536, most_registers = 255;

void registers_begin()
{
    for (Program &p : machine.programs)
        p.registers_free = 0;
    for (Warp &w : machine.warps)
        w.registers = std::min(register_file / machine.thread_count / 8 * 8, most_registers);
}

// Lets warps that wait for registers have them; false when there was none.
static bool hand_out()
{
    bool any = false;
    for (size_t i = 0; i < machine.warps.size(); i++) {
        Warp &w = machine.warps[i];
        const Event &e = machine.threads[32 * i].event;
        unsigned &free = machine.programs[rank_of(machine.threads[32 * i])].registers_free;
        const uint32_t wanted = e.operand > w.registers ? 32 * (e.operand - w.registers) : 0;
        if (w.waiting != all_lanes || e.kind != Stop::Registers || wanted > free)
            continue;
        free -= wanted;
        free += e.operand < w.registers ? 32 * (w.registers - e.operand) : 0;
        w.registers = e.operand;
        any = true;
        for (uint32_t n = (uint32_t)i * 32; n < i * 32 + 32; n++)
            make_ready(n);
    }
    return any;
}

void registers_arrive(Thread &t)
{
    const Warp &w = machine.warps[t.number / 32];
    for (uint32_t n = t.number / 32 * 32, end = n + 32; n < end; n++)
        if (!(w.waiting >> n % 32 & 1) || machine.threads[n].event.kind != Stop::Registers)
            return;
    while (hand_out()) {  // what one gives back, another waits for
    }
}

void registers_end()
{
    for (size_t i = 0; i < machine.warps.size(); i++)
        if (machine.warps[i].registers != machine.warps[i / 4 * 4].registers)
            report(SIMT_WRONG_OPERAND, machine.threads[i * 32].event.pc, -1, nullptr, "the warps of a warpgroup have set different counts of registers");
}

}  // namespace simt

using namespace simt;

// The row that the lane names, where it names one.
static bool take_row(const void *pc, const void *row, unsigned n, bool is_write, Event &e)
{
    const unsigned lane = machine.current->number % 32;
    const bool names = lane < 8 * n;
    e = stop(memory_event(pc, row, 16, is_write, names, SIMT_SHARED));
    return names && memory_check(e);
}

extern "C" {

void simt_ldmatrix(unsigned *to, const void *row, unsigned n, bool transposed)
{
    const void *pc = __builtin_return_address(0);
    const unsigned lane = machine.current->number % 32;
    unsigned char own[16] = {};
    Event e;
    bool unwritten;
    row = shared_at(row);
    if (take_row(pc, row, n, false, e)) {
        race_access(race_actor(*machine.current), e, false);
        memcpy(own, row, sizeof own);
    }
    const unsigned char *all = gather(pc, own, sizeof own, unwritten);
    for (unsigned i = 0; i < n; i++)
        if (transposed) {
            const unsigned char *first = all + 16 * (8 * i + lane % 4 * 2) + lane / 4 * 2;
            memcpy(&to[i], first, 2);
            memcpy((char *)&to[i] + 2, first + 16, 2);
        } else {
            memcpy(&to[i], all + 16 * (8 * i + lane / 4) + lane % 4 * 4, 4);
        }
    set_written(to, n * sizeof *to, false);
}

void simt_stmatrix(void *row, const unsigned *from, unsigned n, bool transposed)
{
    const void *pc = __builtin_return_address(0);
    const unsigned lane = machine.current->number % 32;
    unsigned char own[16];
    bool unwritten;
    check_registers(pc, from, n * sizeof *from, "is stored");
    const unsigned char *all = gather(pc, from, n * (unsigned)sizeof *from, unwritten);
    const unsigned i = lane / 8 % n, r = lane % 8;
    for (unsigned at = 0; at < 8; at++) {  // element `at` of row r: a half of a word of one lane
        const unsigned holder = transposed ? at : r, half = transposed ? r % 2 : at % 2;
        const unsigned source = transposed ? holder * 4 + r / 2 : holder * 4 + at / 2;
        memcpy(own + 2 * at, all + (source * n + i) * 4 + half * 2, 2);
    }
    Event e;
    row = shared_at(row);
    if (take_row(pc, row, n, true, e)) {
        race_access(race_actor(*machine.current), e, false);
        memcpy(row, own, sizeof own);
    }
}

// A fragment of A: R rows (8 or 16) by K; one of B: K by 8.
void simt_mma(void *sum, const void *a, const void *b, unsigned kind)
{
    const void *pc = __builtin_return_address(0);
    const unsigned type_a = kind & 15, type_b = kind >> 4 & 15, type = kind >> 8 & 15, r = kind >> 16 & 255, k = kind >> 24;
    const unsigned size = number_bytes(type_a), word = std::max(size, 4u), per_word = word / size;
    const unsigned a_bytes = r * k * size / 32, b_bytes = k * 8 * size / 32, lane = machine.current->number % 32;
    unsigned char own[128];
    bool unwritten;
    memcpy(own, a, a_bytes);
    memcpy(own + a_bytes, b, b_bytes);
    set_written(own, a_bytes + b_bytes, is_unwritten(a, a_bytes) || is_unwritten(b, b_bytes));
    const unsigned char *all = gather(pc, own, a_bytes + b_bytes, unwritten);
    const unsigned halves = r / 8, count = 2 * halves;
    for (unsigned i = 0; i < count; i++) {
        double total = number_read(type, (char *)sum + i * number_bytes(type));
        for (unsigned at = 0; at < k; at++) {
            const unsigned words = at / per_word, q = words % 4, group = words / 4, part = at % per_word;
            const unsigned char *x = all + (lane / 4 * 4 + q) * (a_bytes + b_bytes) + (group * halves + i / 2) * word + part * size;
            const unsigned char *y = all + ((lane % 4 * 2 + i % 2) * 4 + q) * (a_bytes + b_bytes) + a_bytes + group * word + part * size;
            total += number_read(type_a, x) * number_read(type_b, y);
        }
        number_write(type, (char *)sum + i * number_bytes(type), total);
    }
    if (unwritten)
        set_written(sum, count * number_bytes(type), true);
}

void simt_registers(unsigned count, bool up)
{
    const void *pc = __builtin_return_address(0);
    const Warp &w = machine.warps[machine.current->number / 32];
    if (count % 8 || count < 24 || count > 256)
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "a thread cannot have %u registers", count);
    if (up ? count < w.registers : count > w.registers)
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "asks for %u registers %s, and has %u", count, up ? "or more" : "or fewer", w.registers);
    Event e = turn_event(pc);
    e.kind = Stop::Registers;
    e.operand = count;
    stop(e);
}
}
