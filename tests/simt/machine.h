// machine.h - inside the emulator: threads as fibers, warps, what a thread stops for, and who reports what.
//
// A thread runs until its next event and stops in front of it. The scheduler lets the lanes of a warp that
// stopped at the same place pass together, as one instruction of the warp.
#ifndef NEWT_TESTS_SIMT_MACHINE_H
#define NEWT_TESTS_SIMT_MACHINE_H
#include "device.h"
#include "simt.h"

#include <memory>
#include <string>
#include <vector>

namespace simt {

enum class Stop : uint8_t { Start, Memory, Atomic, Barrier, Warp, Exchange, Vote, Done };

// What a thread stopped in front of.
struct Event {
    Stop kind;
    const void *pc;       // where in the code
    const void *at;       // Memory, Atomic
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

// Knowing that thread u has passed its clock known[u] by a chain of barriers.
typedef std::shared_ptr<std::vector<uint32_t>> Known;

struct Thread {
    void *stack_pointer;
    SimtPlace place;
    Event event;
    RegisterState registers;
    Known known;
    uint32_t clock;
    uint32_t number;
};

struct Warp {
    uint32_t ready, waiting, done;  // lanes
};

struct Barrier {
    std::vector<uint32_t> arrived;
    const void *pc;
    uint32_t expected;  // 0: every thread of the program
};
constexpr unsigned barrier_count = 16;

struct Machine {
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    Barrier barriers[barrier_count];
    unsigned thread_count, live, shared_bytes;
    Thread *current;
    void *scheduler;      // its stack pointer
    bool stopped;         // a fault after which the program cannot go on
    uint64_t random, steps, step_limit = 1 << 24;
    const char *kernel;
    void (*entry)(void **);
    void **parameters;
    SimtCounts counts;
};
extern Machine machine;

}  // namespace simt
extern "C" unsigned char nt_smem[];  // the shared memory of the program that runs
namespace simt {

// ---- fiber.cc ----
void fibers_init();
void fiber_prepare(Thread &t, void (*start)());
void fiber_resume(Thread &t);
// From a thread back to the scheduler.
void fiber_leave();
// The shadow of an address in a thread's stack: one byte a byte, 0 for initialised; else NULL.
unsigned char *stack_shadow(const void *at);

// ---- schedule.cc ----
uint64_t random_next();
// Runs the program whose place is set in the machine's threads; false when it got stuck.
bool program_run();
// Called by the current thread: it does not go on, and no other one either.
[[noreturn]] void program_stop();

// ---- account.cc ----
// Counts one access of the lanes in `group` of a warp.
void account(unsigned warp, uint32_t group);

// ---- memory.cc ----
// True when the thread may touch [at, at + bytes); reports when not.
bool memory_check(const Event &e);

// ---- race.cc ----
void race_begin();
void race_access(Thread &t, const Event &e, bool is_atomic);
void race_join(const std::vector<uint32_t> &threads, const std::vector<uint32_t> &learners);
void race_order(Thread &t, const void *at, const char *order);

// ---- report.cc ----
void reports_begin();
// Code was loaded or unloaded: an address may mean another line.
void reports_forget_lines();
// One fault; `pc` and `other_pc` (or NULL) are places in device code, `other` the other thread or -1.
__attribute__((format(printf, 5, 6)))
void report(SimtFault kind, const void *pc, int64_t other, const void *other_pc, const char *format, ...);

}  // namespace simt
#endif
