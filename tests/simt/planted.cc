// planted.cc - loads kernels with planted faults, and checks what is reported; see planted.h.
#include "planted.h"

#include "compile.h"

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

extern "C" {
#include <cmocka.h>
}

SimtModule *planted_load(const char *file)
{
    std::ifstream in(std::string(SIMT_SOURCE_DIR "/") + file);
    std::stringstream text;
    text << in.rdbuf();
    std::string log;
    const std::string path = simt_compile(text.str(), simt_prelude(), log);
    if (path.empty()) {
        fprintf(stderr, "%s", log.c_str());
        return nullptr;
    }
    simt_quiet(true);
    return simt_open(path.c_str());
}

static void check_says(const Row &row)
{
    std::stringstream parts(row.says);
    for (std::string part; std::getline(parts, part, '|');)
        if (!strstr(simt_report(), part.c_str()))
            fail_msg("%s: the report lacks '%s': %s", row.kernel, part.c_str(), simt_report());
}

void planted_check(const Row &row, unsigned seeds, const std::function<bool(const Row &)> &launch)
{
    for (unsigned seed = 0; seed < seeds; seed++) {
        simt_seed(seed);
        const bool ok = launch(row);
        if (ok != (row.fault == RIGHT))
            fail_msg("%s, seed %u: %s", row.kernel, seed, ok ? "nothing is reported" : simt_report());
        if (row.fault == RIGHT)
            continue;
        const int other = (row.fault >> 8) - 1;
        if (!simt_fault_count((SimtFault)(row.fault & 0xff)) && !(other >= 0 && simt_fault_count((SimtFault)other)))
            fail_msg("%s, seed %u: another fault: %s", row.kernel, seed, simt_report());
        check_says(row);
    }
}
