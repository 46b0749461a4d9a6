// fiber.cc - threads' stacks, and switching between them.
//
// All stacks lie in one mapping with a shadow of the same size behind it. A switch saves the registers
// that a call keeps; written for x86-64.
#include "machine.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#ifndef __x86_64__
#error "the emulator switches stacks on x86-64 only"
#endif

extern "C" void simt_switch(void **save, void *to);
asm(".text\n"
    ".globl simt_switch\n"
    ".type simt_switch,@function\n"
    "simt_switch:\n"
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
    "    ret\n"
    ".size simt_switch,.-simt_switch\n");

namespace simt {

static constexpr size_t stack_bytes = 512 << 10, guard_bytes = 4096, stack_count = SIMT_MAX_TOGETHER, all_bytes = stack_count * stack_bytes;
static unsigned char *stacks;

void fibers_init()
{
    if (stacks)
        return;
    void *at = mmap(nullptr, 2 * all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("simt: stacks");
        abort();
    }
    stacks = (unsigned char *)at;
    for (size_t i = 0; i < stack_count; i++)  // stacks grow downwards
        mprotect(stacks + i * stack_bytes, guard_bytes, PROT_NONE);
}

void fiber_prepare(Thread &t, void (*start)())
{
    void **top = (void **)(stacks + (t.number + 1) * stack_bytes) - 2;
    *--top = nullptr;  // `start` never returns; the stack is aligned as after a call
    *--top = (void *)start;
    for (int i = 0; i < 6; i++)
        *--top = nullptr;
    t.stack_pointer = top;
}

void fiber_resume(Thread &t)
{
    machine.current = &t;
    simt_switch(&machine.scheduler, t.stack_pointer);
}

void fiber_leave()
{
    simt_switch(&machine.current->stack_pointer, machine.scheduler);
}

unsigned char *stack_shadow(const void *at)
{
    const size_t offset = (size_t)((const unsigned char *)at - stacks);
    return offset < all_bytes ? stacks + all_bytes + offset : nullptr;
}

}  // namespace simt
