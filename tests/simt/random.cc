// random.cc - random kernels on the host and elsewhere; one that differs is shrunk.
//
//     simt_random [--count N] [--seconds N] [--jobs N] [--seed N] [--batch N] [--on simt|gpu] [--keep DIR]
//
// Kernels are compiled by newtc, several at a time, linked with random_main.c and run: on the host, and on the emulator
// (sm_80 and sm_90a) or on cuda:0, for which newtc needs NVRTC. When newtc fails or results differ, choices are taken away
// and made smaller as long as the failure stays, and the kernel is left as DIR/random_<seed>.newt. Exit code 1 then.
// --jobs processes have seeds of their own; each makes --count kernels, or stops after --seconds.
#include "random_kernel.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

enum Outcome { SAME, REFUSED, FAULTY };  // refused: newtc has a complaint about the kernel

struct Settings {
    unsigned count = 20, seconds = 0, jobs = 1, batch = 1;
    uint64_t seed = std::random_device()();
    bool gpu = false;
    fs::path keep = fs::current_path();
};

// Of all processes.
struct Totals {
    std::atomic<unsigned> kernels, refused, faulty;
};

// One kernel on its way.
struct Candidate {
    uint64_t seed;
    std::vector<uint8_t> choices;
    std::string text;
};

static Settings settings;
static fs::path work;

static std::string read_file(const fs::path &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

static void write_file(const fs::path &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary) << text;
}

// With so many seconds of processor time for each process: a busy machine is no failure.
static int run(const std::string &command, unsigned seconds)
{
    const int status = system(("cd '" + work.string() + "' && ulimit -t " + std::to_string(seconds) + " && " + command + " >log 2>&1").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static std::string name_of(size_t i)
{
    return "k" + std::to_string(i);
}

// Numbers of warps differ between kernels, and stay the same while one is shrunk.
static std::string options_of(uint64_t seed)
{
    const int warps = 1 << seed % 4;
    return std::string(settings.gpu ? "--arch=sm_90a,host" : "--arch=sm_80,sm_90a,host --nvrtc=" SIMT_NVRTC) +
           " --num-warps=" + std::to_string(settings.gpu || warps < 8 ? warps : 4);
}

// Compiles, links and runs kernels of which all get the options of the first one's seed.
static Outcome try_kernels(const std::vector<std::string> &texts, uint64_t seed, std::string &log)
{
    std::string inputs, sources, header, table = "#define KERNELS(X, TILE)";
    for (size_t i = 0; i < texts.size(); i++) {
        const std::string name = name_of(i);
        write_file(work / (name + ".newt"), texts[i]);
        inputs += " " + name + ".newt";
        sources += " " + name + ".c";
        header += "#include \"" + name + ".h\"\n";
        const bool is_tile = texts[i].compare(0, 8, "# tile: ") == 0;
        table += is_tile ? " TILE(" + name + ", " + texts[i].substr(8, texts[i].find('\n') - 8) + ")" : " X(" + name + ")";
    }
    write_file(work / "kernels.h", "#include <stdbool.h>\n" + header + table + "\n");
    const int status = run(SIMT_NEWTC " -j1 -g --no-cache --no-manifest -w " + options_of(seed) + " -o ./" + inputs, 300);
    log = read_file(work / "log");
    if (status == 1)
        return log.find("internal") == std::string::npos ? REFUSED : FAULTY;
    if (status != 0) {
        log = "newtc ended with " + std::to_string(status) + "\n" + log;
        return FAULTY;
    }
    bool ok = run(SIMT_CC " -w -std=c11 -O1 -rdynamic -I . -I " SIMT_INCLUDE " -o k" + sources + " " SIMT_SOURCE_DIR "/random_main.c " +
                  (settings.gpu ? SIMT_GPU_LIBRARIES : SIMT_LIBRARIES), 300) == 0;
    ok = ok && run(std::string("./k ") + (settings.gpu ? "cuda:0" : "cuda:0 cuda:1"), 120) == 0;
    log = read_file(work / "log");
    return ok ? SAME : FAULTY;
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

static std::vector<uint8_t> shrink(std::vector<uint8_t> choices, uint64_t seed, const std::string &kind)
{
    unsigned tries = 150;
    std::string text = random_kernel(choices, name_of(0));
    const auto attempt = [&](const std::vector<uint8_t> &smaller) {
        const std::string other = random_kernel(smaller, name_of(0));
        std::string log;
        if (other == text || other.size() > text.size() || tries == 0)
            return false;
        tries--;
        if (try_kernels({ other }, seed, log) != FAULTY || kind_of(log) != kind)
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

static Candidate make(uint64_t seed, size_t place)
{
    std::mt19937_64 random(seed);
    Candidate c = { seed, std::vector<uint8_t>(40 + random() % 120), "" };
    for (uint8_t &choice : c.choices)
        choice = (uint8_t)random();
    c.text = random_kernel(c.choices, name_of(place));
    return c;
}

// A kernel of a batch that did not pass as a whole, with the options that it had there.
static void judge_alone(const Candidate &c, uint64_t options, Totals &totals)
{
    std::string log;
    const Outcome outcome = try_kernels({ random_kernel(c.choices, name_of(0)) }, options, log);
    if (outcome == REFUSED) {
        totals.refused++;
        printf("seed %llu: refused: %s\n", (unsigned long long)c.seed, log.substr(0, log.find('\n')).c_str());
    }
    if (outcome != FAULTY)
        return;
    totals.faulty++;
    const std::string text = random_kernel(shrink(c.choices, options, kind_of(log)), name_of(0));
    try_kernels({ text }, options, log);
    const fs::path kept = settings.keep / ("random_" + std::to_string(c.seed) + ".newt");
    write_file(kept, "# newtc " + options_of(options) + "\n" + text);
    printf("seed %llu: %s\n%s\nkept as %s\n", (unsigned long long)c.seed, log.substr(0, 1500).c_str(), text.c_str(), kept.c_str());
    fflush(stdout);
}

static void work_through(uint64_t seed, Totals &totals)
{
    char folder[] = "/tmp/simt_random_XXXXXX";
    if (!mkdtemp(folder))
        exit(2);
    work = folder;
    const auto begin = std::chrono::steady_clock::now();
    const auto is_over = [&](unsigned made) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        return settings.seconds ? spent.count() >= settings.seconds : made >= settings.count;
    };
    for (unsigned made = 0; !is_over(made);) {
        const unsigned left = settings.seconds ? settings.batch : settings.count - made;
        std::vector<Candidate> batch;
        std::vector<std::string> texts;
        std::string log;
        const uint64_t first = seed;
        for (unsigned i = 0; i < settings.batch && i < left; i++) {
            batch.push_back(make(seed++, i));
            texts.push_back(batch.back().text);
        }
        made += (unsigned)batch.size();
        totals.kernels += (unsigned)batch.size();
        if (try_kernels(texts, first, log) != SAME)
            for (const Candidate &c : batch)
                judge_alone(c, first, totals);
    }
    fs::remove_all(work);
}

static bool read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        const auto number = [&] { return strtoull(value.c_str(), nullptr, 10); };
        if (value.empty())
            return false;
        if (name == "--count")
            settings.count = (unsigned)number();
        else if (name == "--seconds")
            settings.seconds = (unsigned)number();
        else if (name == "--jobs")
            settings.jobs = (unsigned)number();
        else if (name == "--batch")
            settings.batch = (unsigned)number();
        else if (name == "--seed")
            settings.seed = number();
        else if (name == "--keep")
            settings.keep = fs::absolute(value);
        else if (name == "--on" && (value == "simt" || value == "gpu"))
            settings.gpu = value == "gpu";
        else
            return false;
    }
    return settings.batch > 0 && settings.jobs > 0;
}

int main(int argc, char **argv)
{
    if (!read_arguments(argc, argv)) {
        fprintf(stderr, "usage: simt_random [--count N] [--seconds N] [--jobs N] [--seed N] [--batch N] [--on simt|gpu] [--keep DIR]\n");
        return 2;
    }
    void *room = mmap(nullptr, sizeof(Totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return 2;
    Totals &totals = *new (room) Totals {};
    printf("kernels from seed %llu on, in %u processes\n", (unsigned long long)settings.seed, settings.jobs);
    fflush(stdout);
    for (unsigned j = 1; j < settings.jobs; j++)
        if (fork() == 0) {
            work_through(settings.seed + ((uint64_t)j << 32), totals);
            exit(0);
        }
    work_through(settings.seed, totals);
    bool all_ended = true;
    for (int status; wait(&status) > 0;)
        all_ended = all_ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%u kernels, %u refused, %u differ or fail\n", totals.kernels.load(), totals.refused.load(), totals.faulty.load());
    // A grammar that makes wrong kernels tests nothing.
    return !all_ended || totals.faulty > 0 || totals.kernels == 0 || totals.refused * 4 > totals.kernels;
}
