// compile.h - device code as text to a shared object that the emulator loads.
#ifndef NEWT_TESTS_SIMT_COMPILE_H
#define NEWT_TESTS_SIMT_COMPILE_H
#include <string>
#include <vector>

// The prelude as newtc hands it to NVRTC: "newt/base.cuh" and its text.
struct SimtHeader {
    std::string name, text;
};

// The path of the object, or "" with the compiler's messages in `log`. Objects are kept in a folder of
// the build and named after their contents, so the same text is compiled once. The text is kept beside
// the object as .cu, followed by a line with the mark and what the emulator needs.
std::string simt_compile(const std::string &text, const std::vector<SimtHeader> &headers, std::string &log);

extern const char simt_entries_mark[];

// The prelude of the source tree.
std::vector<SimtHeader> simt_prelude();

#endif
