// random.cc - random kernels on the host and on the emulator; one that differs is shrunk.
//
//     simt_random [--count N] [--seed N] [--keep DIR]
//
// Each kernel is compiled by newtc for the host, sm_80 and sm_90a, linked with random_main.c and run. When
// newtc fails or the results differ, choices are taken away and made smaller as long as the failure stays,
// and the kernel is left as DIR/random_<seed>.newt. Exit code 1 then.
#include "random_kernel.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/wait.h>

namespace fs = std::filesystem;

enum Outcome { SAME, REFUSED, FAULTY };  // refused: newtc has a complaint about the kernel

static fs::path work;

static std::string read_file(const fs::path &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

static int run(const std::string &command)
{
    const int status = system(("cd '" + work.string() + "' && " + command + " >log 2>&1").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static Outcome try_kernel(const std::string &text, std::string &log)
{
    std::ofstream(work / "k.newt", std::ios::binary) << text;
    int status = run(SIMT_NEWTC " --no-cache --no-manifest -w --arch=sm_80,sm_90a,host --nvrtc=" SIMT_NVRTC " -o k.c k.newt");
    if (status == 0) {
        status = run(SIMT_CC " -w -std=c11 -O1 -rdynamic -I . -I " SIMT_INCLUDE " -I " SIMT_SOURCE_DIR " -o k k.c " SIMT_SOURCE_DIR "/random_main.c "
                     SIMT_LIBRARIES);
        if (status == 0)
            status = run("timeout 60 ./k");
        else
            status = 3;
    } else if (status == 1) {
        log = read_file(work / "log");
        return log.find("internal") == std::string::npos ? REFUSED : FAULTY;
    }
    log = read_file(work / "log");
    return status == 0 ? SAME : FAULTY;
}

// What kind of failure a log tells of: its first line without numbers.
static std::string kind_of(const std::string &log)
{
    std::string kind;
    for (char c : log.substr(0, log.find('\n')))
        if (!strchr("0123456789", c))
            kind += c;
    return kind.substr(0, 24);
}

static bool still_fails(const std::vector<uint8_t> &choices, const std::string &kind)
{
    std::string log;
    return try_kernel(random_kernel(choices), log) == FAULTY && kind_of(log) == kind;
}

static std::vector<uint8_t> shrink(std::vector<uint8_t> choices, const std::string &kind)
{
    unsigned tries = 150;
    std::string text = random_kernel(choices);
    const auto attempt = [&](const std::vector<uint8_t> &smaller) {
        const std::string other = random_kernel(smaller);
        if (other == text || other.size() > text.size() || tries == 0)
            return false;
        tries--;
        if (!still_fails(smaller, kind))
            return false;
        choices = smaller;
        text = other;
        return true;
    };
    for (size_t part = choices.size() / 2; part > 0 && tries > 0; part /= 2)
        for (size_t at = 0; at + part <= choices.size();) {
            std::vector<uint8_t> smaller = choices;
            smaller.erase(smaller.begin() + (long)at, smaller.begin() + (long)(at + part));
            if (!attempt(smaller))
                at += part;
        }
    for (size_t at = 0; at < choices.size(); at++) {
        std::vector<uint8_t> smaller = choices;
        smaller[at] = 0;
        attempt(smaller);
    }
    return choices;
}

int main(int argc, char **argv)
{
    unsigned count = 20, refused = 0;
    uint64_t seed = std::random_device()();
    fs::path keep = fs::current_path();
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--count") == 0)
            count = (unsigned)strtoul(argv[i + 1], nullptr, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], nullptr, 10);
        else if (strcmp(argv[i], "--keep") == 0)
            keep = fs::absolute(argv[i + 1]);
    }
    char folder[] = "/tmp/simt_random_XXXXXX";
    if (!mkdtemp(folder))
        return 2;
    work = folder;
    int result = 0;
    printf("%u kernels from seed %llu on\n", count, (unsigned long long)seed);
    for (unsigned i = 0; i < count; i++, seed++) {
        std::mt19937_64 random(seed);
        std::vector<uint8_t> choices(40 + random() % 120);
        for (uint8_t &c : choices)
            c = (uint8_t)random();
        std::string log;
        const Outcome outcome = try_kernel(random_kernel(choices), log);
        refused += outcome == REFUSED;
        if (outcome == REFUSED)
            printf("seed %llu: refused: %s\n", (unsigned long long)seed, log.substr(0, log.find('\n')).c_str());
        if (outcome != FAULTY)
            continue;
        const std::string text = random_kernel(shrink(choices, kind_of(log)));
        try_kernel(text, log);
        const fs::path kept = keep / ("random_" + std::to_string(seed) + ".newt");
        std::ofstream(kept, std::ios::binary) << text;
        printf("seed %llu: %s\n%s\nkept as %s\n", (unsigned long long)seed, log.substr(0, 1500).c_str(), text.c_str(), kept.c_str());
        result = 1;
    }
    fs::remove_all(work);
    printf("%u of %u kernels were refused\n", refused, count);
    return result || refused * 4 > count;  // a grammar that makes wrong kernels tests nothing
}
