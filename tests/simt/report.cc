// report.cc - faults as text: what, which threads, which lines of the .newt file.
//
// Lines come from the debug information of the device code, by addr2line: device code has #line, so the
// innermost frame that is not the prelude's is the .newt line.
#include "machine.h"

#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <set>

namespace simt {

static constexpr size_t report_limit = 20;
static size_t fault_counts[SIMT_FAULT_COUNT];
static std::string report_text;
static std::set<std::pair<int, std::pair<const void *, const void *>>> seen;
static bool is_quiet;
static std::map<const void *, std::string> lines;

static const char *const kind_names[SIMT_FAULT_COUNT] = {
    "shared-memory race", "global-memory race", "unwritten shared memory", "uninitialised register",
    "out of bounds", "misaligned access", "barrier divergence", "missing arrival", "wrong mask", "extra arrival",
    "missing wait", "missing fence", "wrong operand", "ended program", "assertion", "no progress"
};

void reports_begin()
{
    report_text.clear();
    seen.clear();
    std::fill(fault_counts, fault_counts + SIMT_FAULT_COUNT, 0);
}

// Files that are not the user's: the prelude, the emulator, and the text itself outside of #line.
static bool is_made(const std::string &file)
{
    const auto ends = [&](const char *end) {
        const size_t len = strlen(end);
        return file.size() >= len && file.compare(file.size() - len, len, end) == 0;
    };
    return ends(".cu") || ends(".cuh") || ends("/device.h") || ends("/intrinsics.h") || ends("/combine.h") || ends("??");
}

static std::string find_line(const void *pc)
{
    Dl_info info;
    if (!pc || !dladdr(pc, &info) || !info.dli_fname)
        return "?";
    char command[1024], text[1024];
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx", info.dli_fname,
             (size_t)((const char *)pc - (const char *)info.dli_fbase - 1));
    FILE *pipe = popen(command, "r");
    std::string found = "?";
    while (pipe && fgets(text, sizeof text, pipe)) {
        std::string frame(text, strcspn(text, " \n"));
        const size_t colon = frame.rfind(':');
        if (colon == std::string::npos || is_made(frame.substr(0, colon)))
            continue;
        const size_t slash = frame.rfind('/', colon);
        found = slash == std::string::npos ? frame : frame.substr(slash + 1);
        break;
    }
    if (pipe)
        pclose(pipe);
    return found;
}

std::string report_line(const void *pc)
{
    const auto found = lines.find(pc);
    return found != lines.end() ? found->second : lines[pc] = find_line(pc);
}

void reports_forget_lines()
{
    lines.clear();
}

void report(SimtFault kind, const void *pc, int64_t other, const void *other_pc, const char *format, ...)
{
    fault_counts[kind]++;
    if (!seen.insert({ kind, { pc, other_pc } }).second || seen.size() > report_limit)
        return;
    char what[512], head[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    std::string text;
    snprintf(head, sizeof head, "%s in '%s'", kind_names[kind], machine.kernel);
    text = head;
    if (const Thread *t = machine.current) {
        const SimtIndex &block = t->place.block;
        snprintf(head, sizeof head, ", program (%u, %u, %u): %s: thread %u ", block.x, block.y, block.z,
                 report_line(pc).c_str(), t->number % machine.thread_count);
        text += head;
    } else {
        text += ": ";
    }
    text += what;
    if (other >= 0) {
        const bool of_other = machine.current && other / machine.thread_count != machine.current->number / machine.thread_count;
        snprintf(head, sizeof head, " (thread %lld%s, %s)", (long long)(other % machine.thread_count),
                 of_other ? " of another program of the cluster" : "", report_line(other_pc ? other_pc : pc).c_str());
        text += head;
    }
    report_text += (report_text.empty() ? "" : "\n") + text;
    if (!is_quiet)
        fprintf(stderr, "simt: %s\n", text.c_str());
}

}  // namespace simt

size_t simt_fault_count(SimtFault kind)
{
    return simt::fault_counts[kind];
}

const char *simt_report(void)
{
    return simt::report_text.c_str();
}

void simt_quiet(bool quiet)
{
    simt::is_quiet = quiet;
}
