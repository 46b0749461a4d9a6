// machine.h - inside the emulator: threads as fibers, warps, what a thread stops for, and who reports what.
//
// A thread runs until its next event and stops in front of it. The scheduler lets the lanes of a warp that
// stopped at the same place pass together, as one instruction of the warp.
#ifndef NEWT_TESTS_SIMT_MACHINE_H
#define NEWT_TESTS_SIMT_MACHINE_H
#include "device.h"
#include "simt.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace simt {

// Turn: goes on whenever it is picked. Gather: all lanes of the warp hand over data. Group: all threads of the
// warpgroup start a product. Phase: waits for a barrier in shared memory. Registers: waits for registers.
// Cluster: waits for all threads of the cluster.
enum class Stop : uint8_t { Start, Memory, Atomic, Turn, Barrier, Cluster, Warp, Exchange, Vote, Gather, Group, Phase, Registers, Done };

// What a thread stopped in front of.
struct Event {
    Stop kind;
    const void *pc;       // where in the code
    const void *at;       // Memory, Atomic, Phase: where; Gather, Group: what is handed over
    const void *copies_to;  // Memory: where in shared memory a copy of the thread goes to
    uint32_t bytes;
    bool is_write, is_shared, mask;
    uint32_t lanes;       // Warp, Exchange, Vote: the lanes that take part
    int mode;
    unsigned operand;
    int width;
    bool waits;           // Barrier
    uint64_t value, result;
    uint64_t value_shadow, result_shadow;  // bits that come from uninitialised registers
};

// Where instrumented code passes which bits of arguments and results are uninitialised: the layout of
// clang's -fsanitize=kernel-memory.
struct RegisterState {
    uint64_t arguments[100], result[100], variable[100], variable_origins[100], overflow_size;
    uint32_t argument_origins[200], result_origin;
};

// What is known to be in the past by a chain of barriers: of a thread or agent u all accesses up to its clock
// past[u], and of its writes those up to fenced[u] for the asynchronous proxy too; what is lacking is 0.
struct Knowledge {
    std::vector<uint32_t> past, fenced;
};
typedef std::shared_ptr<Knowledge> Known;

// A piece of work that happens at some time after it was started.
struct Operation {
    std::function<void()> run;
    bool done;
};
typedef std::shared_ptr<Operation> Work;

// Work that a thread started, by groups that it commits and waits for. The accesses of group g have the clock
// g + 1 of an agent, which other threads learn of as they learn of threads.
struct Groups {
    struct Started {
        uint32_t group;
        Work work;
    };
    uint32_t agent;  // 0: none yet
    uint32_t committed;
    std::vector<Started> started;  // and not waited for
};

// Registers that a product adds to: the product's until a wait covers it.
struct Accumulator {
    uint32_t group;
    void *at;
    uint32_t bytes;
    const void *pc;
};

// Registers of a factor, which stay as they are until a wait covers the product: code says so by nt_wgmma_keep behind the
// wait, of an array that holds the same words. Registers have no addresses, so the words are what is looked for.
struct FactorRegisters {
    uint32_t group;
    unsigned words[4];
    const void *pc;
    bool is_waited;  // and to be kept
};

// The last sum that a thread has waited for, which a product may add to without a fence.
struct WaitedSum {
    void *at;
    std::vector<unsigned char> values;
};

struct Products {
    Groups groups;
    std::vector<Accumulator> accumulators;
    std::vector<FactorRegisters> factors;
    std::vector<WaitedSum> waited;
    std::vector<std::vector<unsigned>> kept, handed_over;  // words kept since the last fence, and before it
    bool is_fenced;  // since the last wait
    Work last;       // of the warpgroup, at its first thread
};

struct Thread {
    void *stack_pointer;
    SimtPlace place;
    Event event;
    RegisterState registers;
    Known known;
    uint32_t clock;
    uint32_t number;
    Groups copies;                     // to shared memory
    Groups store_reads, store_writes;  // of boxes: the two halves of each
    Products products;
};

struct Warp {
    uint32_t ready, waiting, done;        // lanes
    std::vector<unsigned char> gathered;  // what all lanes have handed over, for Stop::Gather
    unsigned registers;                   // a thread may have
};

struct Barrier {
    std::vector<uint32_t> arrived;
    const void *pc;
    uint32_t expected;  // 0: every thread of the program
};
constexpr unsigned barrier_count = 16;

struct Program {
    Barrier barriers[barrier_count];
    unsigned live, registers_free;
};

// Threads are numbered through the programs of a cluster.
struct Machine {
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<Program> programs;  // of the cluster that runs
    std::vector<uint32_t> met;      // at the cluster's barrier
    unsigned thread_count, shared_bytes;  // of a program
    Thread *current;
    void *scheduler;      // its stack pointer
    std::vector<Work> works;  // started, in some order; those that are done go when they are met
    bool stopped;             // a fault after which the program cannot go on
    uint64_t random, steps, step_limit = 1 << 24;
    const char *kernel;
    void (*entry)(void **);
    void **parameters;
    SimtCounts counts;
};
extern Machine machine;

inline unsigned rank_of(const Thread &t)
{
    return t.number / machine.thread_count;
}

// Device code names shared memory by addresses in nt_smem's first part; that of each program of the cluster stands in a part
// of its own behind.
constexpr size_t part_bytes = 1 << 20;

inline unsigned char *shared_of(unsigned rank)
{
    return nt_smem + (1 + rank) * part_bytes;
}

// Where something is that device code names: in the part of the program `rank`, or of the current thread's.
template <class T> T *shared_in(unsigned rank, T *at)
{
    const uintptr_t offset = (uintptr_t)at - (uintptr_t)nt_smem;
    return offset < part_bytes ? (T *)((uintptr_t)shared_of(rank) + offset) : at;
}

template <class T> T *shared_at(T *at)
{
    return shared_in(rank_of(*machine.current), at);
}

// Its number as device code has it.
inline size_t shared_offset(const void *at)
{
    return ((uintptr_t)at - (uintptr_t)nt_smem) % part_bytes;
}

// ---- fiber.cc ----
void fibers_init();
void fiber_prepare(Thread &t, void (*start)());
void fiber_resume(Thread &t);
// From a thread back to the scheduler.
void fiber_leave();
// The shadow of an address in a thread's stack: one byte a byte, 0 for initialised; else NULL.
unsigned char *stack_shadow(const void *at);

// ---- events.cc ----
// Whether device code calls the function with an uninitialised register as argument `index`, of so many bytes: those
// behind are of earlier calls.
bool argument_is_unwritten(unsigned index, size_t bytes);
void check_arguments(const void *pc, bool address, bool mask);
// Reports uninitialised bytes of the thread's registers; `use` says what they are used for.
void check_registers(const void *pc, const void *at, size_t bytes, const char *use);
// The current thread stops in front of the event.
Event &stop(const Event &e);
Event turn_event(const void *pc);
Event memory_event(const void *pc, const void *at, size_t bytes, bool is_write, bool mask, int space);

// ---- schedule.cc ----
uint64_t random_next();
// A waiting thread may go on.
void make_ready(uint32_t thread);
// Runs the program whose place is set in the machine's threads; false when it got stuck.
bool program_run();
// Called by the current thread: it does not go on, and no other one either.
[[noreturn]] void program_stop();

// ---- account.cc ----
// Counts one access of the lanes in `group` of a warp.
void account(unsigned warp, uint32_t group);
// A copy of a box: pieces of global memory and their bytes.
void account_box(const void *pc, const std::vector<std::pair<uintptr_t, uint32_t>> &pieces);
void account_add(const void *pc, const SimtCounts &more);
// Code is about to be unloaded.
void accounts_forget_places();

// ---- memory.cc ----
// True when the thread may touch [at, at + bytes), shared memory where it is; reports when not. memory_check also wants it
// aligned.
bool memory_contains(const Event &e);
bool memory_check(const Event &e);

// ---- race.cc ----
// Who accesses memory: a thread, or work that it started.
struct Actor {
    const Knowledge *known;
    uint32_t issuer;     // the thread whose own accesses are in the past; nobody: ~0u
    uint32_t agent, clock;
    bool is_async;       // by the asynchronous proxy: sees what threads wrote only after a fence
    uint8_t agents;      // the access is in the past once this many agents' clocks are known, from `agent` on
};
void race_begin();
Actor race_actor(const Thread &t);
// An agent for work that `thread` starts; `count` with numbers in a row.
uint32_t race_agent(uint32_t thread, unsigned count = 1);
void race_access(const Actor &a, const Event &e, bool is_atomic);
void race_join(const std::vector<uint32_t> &threads, const std::vector<uint32_t> &learners);
// A program of a cluster has ended: others' accesses of its shared memory must be in its past.
void race_program_ended(unsigned rank);
void race_order(Thread &t, const void *at, const char *order);
// The thread knows that the agent has passed the clock.
void race_learn(Thread &t, uint32_t agent, uint32_t clock);
void race_learn_all(Thread &t, const Knowledge &what);
// Adds what the thread knows and has done.
void race_release(Thread &t, Knowledge &to);
void race_merge(Knowledge &to, const Knowledge &from);
// All writes that the thread knows of are visible to the asynchronous proxy.
void race_fence(Thread &t);
uint32_t race_clock(const std::vector<uint32_t> &clocks, uint32_t who);

// ---- async.cc ----
void async_begin();
Work async_start(std::function<void()> run);
void async_finish(const Work &work);
// Finishes one piece of work that was started; false when there is none.
bool async_advance();
// Reports work that nobody has waited for; at the end of a program.
void async_end();
// A group's start, commit, and the wait for all but the `newest` groups.
void groups_add(Groups &g, const Work &work);
void groups_wait(Thread &t, Groups &g, uint32_t newest);

// ---- mbarrier.cc ----
void mbarrier_begin();
// `bytes` of a copy have come, which `agent` has moved.
void mbarrier_complete(const void *bar, uint32_t bytes);
// Who moves data for the barrier's current phase, for a copy that `t` starts; false after a report.
bool mbarrier_actor(Thread &t, const void *bar, const void *pc, Actor &a);
// The thread waits, or is let through at once.
void mbarrier_arrived(Thread &t);
std::string mbarrier_state(const void *bar);

// ---- warp.cc ----
// All lanes of the warp have come to hand over data.
void gather_complete(unsigned warp);
void registers_begin();
// A thread has come to setmaxnreg.
void registers_arrive(Thread &t);
void registers_end();

// ---- tensor.cc ----
// Where a byte of a tile stands whose swizzle spans so many bytes: 0 (none), 32, 64, 128.
uint32_t swizzled(uint32_t offset, unsigned span);

// ---- product.cc ----
// A thread has come to a product of its warpgroup.
void product_arrive(Thread &t);
// Reports registers of factors that were not kept behind a wait.
void product_check_kept(Thread &t);

// ---- report.cc ----
void reports_begin();
// Code was loaded or unloaded: an address may mean another line.
void reports_forget_lines();
// "softmax.newt:15" for a place in device code.
std::string report_line(const void *pc);
// One fault; `pc` and `other_pc` (or NULL) are places in device code, `other` the other thread or -1.
__attribute__((format(printf, 5, 6)))
void report(SimtFault kind, const void *pc, int64_t other, const void *other_pc, const char *format, ...);

}  // namespace simt
#endif
