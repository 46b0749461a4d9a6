// registers.cc - uninitialised registers: what clang's -fsanitize=kernel-memory calls.
//
// Instrumented device code computes for each value which of its bits are uninitialised, keeps that for
// variables in the stack's shadow, and calls __msan_warning when a branch or an address depends on one.
// All memory but threads' stacks counts as initialised. Also the handler of -fsanitize=bounds, which finds
// indices outside of local arrays.
#include "machine.h"

using simt::machine;

struct Metadata {
    void *shadow, *origin;
};

// Stands for the shadow of all other memory: zeros to read, and bytes that nobody reads.
static constexpr size_t largest_access = 1 << 16;
static const unsigned char clean[largest_access] = {};
static unsigned char sink[largest_access];

static Metadata metadata(const void *at, bool is_load)
{
    unsigned char *shadow = simt::stack_shadow(at);
    return { shadow ? shadow : is_load ? (unsigned char *)clean : sink, sink };
}

static void set_shadow(const void *at, size_t size, int value)
{
    if (unsigned char *shadow = simt::stack_shadow(at))
        memset(shadow, value, size);
}

static void copy_shadow(const void *to, const void *from, size_t size)
{
    unsigned char *a = simt::stack_shadow(to), *b = simt::stack_shadow(from);
    if (a && b)
        memmove(a, b, size);
    else if (a)
        memset(a, 0, size);
}

extern "C" {
#define SIMT_METADATA(SIZE) \
    Metadata __msan_metadata_ptr_for_load_##SIZE(const void *at) \
    { \
        return metadata(at, true); \
    } \
    Metadata __msan_metadata_ptr_for_store_##SIZE(const void *at) \
    { \
        return metadata(at, false); \
    }
SIMT_METADATA(1)
SIMT_METADATA(2)
SIMT_METADATA(4)
SIMT_METADATA(8)

Metadata __msan_metadata_ptr_for_load_n(const void *at, size_t)
{
    return metadata(at, true);
}

Metadata __msan_metadata_ptr_for_store_n(const void *at, size_t)
{
    return metadata(at, false);
}

simt::RegisterState *__msan_get_context_state()
{
    static simt::RegisterState outside;
    return machine.current ? &machine.current->registers : &outside;
}

void __msan_poison_alloca(const void *at, size_t size, const char *)
{
    set_shadow(at, size, 0xff);
}

void __msan_unpoison_alloca(const void *at, size_t size)
{
    set_shadow(at, size, 0);
}

void *__msan_memcpy(void *to, const void *from, size_t size)
{
    copy_shadow(to, from, size);
    return memcpy(to, from, size);
}

void *__msan_memmove(void *to, const void *from, size_t size)
{
    copy_shadow(to, from, size);
    return memmove(to, from, size);
}

void *__msan_memset(void *to, int value, size_t size)
{
    set_shadow(to, size, 0);
    return memset(to, value, size);
}

void __msan_warning(uint32_t)
{
    simt::report(SIMT_UNWRITTEN_REGISTER, __builtin_return_address(0), -1, nullptr,
                 "a branch or an address depends on an uninitialised register");
}

void __ubsan_handle_out_of_bounds(void *, uintptr_t index)
{
    simt::report(SIMT_OUT_OF_BOUNDS, __builtin_return_address(0), -1, nullptr,
                 "index %lld is outside of a local array", (long long)index);
    simt::program_stop();
}
}
