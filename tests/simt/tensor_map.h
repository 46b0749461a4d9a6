/// The 128 bytes of a tensor map in the emulator: what cuTensorMapEncodeTiled was given. The driver
/// (driver.c) writes them, the emulated nt_tma_load and nt_tma_store read them.
#ifndef NEWT_TESTS_SIMT_TENSOR_MAP_H
#define NEWT_TESTS_SIMT_TENSOR_MAP_H
#include <stdint.h>

#define SIMT_TENSOR_MAGIC UINT32_C(0x6d61704e)

typedef struct SimtTensorMap {
    uint64_t base;
    uint64_t sizes[5];    // elements, innermost first
    uint64_t strides[4];  // bytes, of axes 1 and up
    uint16_t box[5];      // elements
    uint8_t elem_bytes;
    uint8_t rank;
    uint8_t swizzle;  // bytes: 0, 32, 64, 128
    uint8_t tf32;     // 1: loads round fp32 to it
    uint32_t magic;  // SIMT_TENSOR_MAGIC: tells a map from other bytes
} SimtTensorMap;
#endif
