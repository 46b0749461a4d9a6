// random_kernel.h - well-typed newt kernels made from a list of choices.
//
// The same choices make the same kernel; fewer and smaller ones make a smaller kernel, which is how a
// failing one is shrunk. Kernels compute exactly: integers wrap, floats are small whole numbers. So every
// device must give the same results.
#ifndef NEWT_TESTS_SIMT_RANDOM_KERNEL_H
#define NEWT_TESTS_SIMT_RANDOM_KERNEL_H
#include <cstdint>
#include <string>
#include <vector>

// Elements of the kernel's buffers: `p` (int32, read), `work` (int32), `out` (int64), `fout` (fp64); `h` (fp16, read) is a
// matrix with rows and columns.
enum { RANDOM_PROGRAMS = 3, RANDOM_IN = 4096, RANDOM_SPAN = 8192, RANDOM_PITCH = 256 };

// The text of a file with one kernel, NAME(p, out, fout, work, n, h). Choices that are missing count as 0. A tile kernel's
// text begins with "# tile: M, N, K, TURNED", the sizes of its tensors and which of them are stored by columns.
std::string random_kernel(const std::vector<uint8_t> &choices, const std::string &name);

#endif
