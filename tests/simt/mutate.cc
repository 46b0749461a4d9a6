// mutate.cc - changes generated text in one place at a time and sees whether the tests notice.
//
//     simt_mutate RUN_PROGRAM DEVICE PATTERN [--limit N] [--seed N] [--known FILE] [--only REGEX] [--jobs N] [--list]
//
// RUN_PROGRAM -k PATTERN loads objects; each one's text is mutated, compiled, and the program run again with
// the mutant in the object's place, once for each of SEEDS seeds whose inputs reach the kernel. A mutant is killed when that
// fails: a wrong result or a report. Mutants that compile to the same code are no mutants. The rest survives: those that match
// a line of FILE, a regular expression for "operator | line" (of a loop, barrier or fence with the next line of code) or for
// "kernel: operator | line", are known to mean the same. --only: operators whose name matches. Exit code 1 when
// fewer than 95 of 100 are killed.
#include "compile.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEDS = 4 };  // of inputs and orders of warps

struct Mutant {
    std::string object, name, line, text, kernel;
};

struct Operator {
    const char *name, *pattern;
    std::function<std::string(const std::smatch &)> change;
};

static std::string number(const std::smatch &m, size_t group, long add)
{
    return std::to_string(std::stol(m[group]) + add);
}

static std::string halved(const std::smatch &m, size_t group)
{
    return std::to_string(std::stol(m[group]) / 2);
}

// The head of a loop over slots with one round more or fewer.
static std::string slots(const std::smatch &m, long rounds)
{
    return "r < " + number(m, 1, rounds * (m[3].matched ? std::stol(m[3]) : 1)) + ";" + m[2].str();
}

// The place of the scratch that stands in front, which another operation may still be reading; "" when there is none.
static std::string scratch_before(const std::string &text)
{
    const size_t at = text.rfind("NT_SHARED("), kernel = text.rfind("__global__");
    if (at == std::string::npos || (kernel != std::string::npos && at < kernel))
        return "";
    const size_t end = text.find(");", at), comma = text.rfind(", ", end);
    return text.substr(comma + 2, end - comma - 2);
}

// Each matches once or more in a line; each match is a mutant.
static const Operator operators[] = {
    { "barrier removed", R"(__syncthreads\(\);)", [](const std::smatch &) { return ";"; } },
    { "barrier removed", R"(nt_named_barrier\([^;]*\);)", [](const std::smatch &) { return ";"; } },
    { "wait removed", R"(nt_(copy_wait|wgmma_wait|tma_store_wait|tma_store_wait_read)<\d+>\(\);)", [](const std::smatch &) { return ";"; } },
    { "wait too short", R"((nt_(copy|wgmma|tma_store)_wait(_read)?<)(\d+)>)", [](const std::smatch &m) { return m[1].str() + number(m, 4, 1) + ">"; } },
    { "wait for a phase removed", R"(nt_mbar_wait\([^;]*\);)", [](const std::smatch &) { return ";"; } },
    { "wait for the other phase", R"((nt_mbar_wait\([^,;]*, )([^;]*)\);)", [](const std::smatch &m) { return m[1].str() + "(" + m[2].str() + ") ^ 1);"; } },
    { "arrival removed", R"(nt_mbar_arrive(_at)?\([^;]*\);)", [](const std::smatch &) { return ";"; } },
    { "arrival not waited for", R"((nt_mbar_init\([^;]*, )(\d+)\);)", [](const std::smatch &m) { return m[1].str() + number(m, 2, -1) + ");"; } },
    { "barrier of the cluster removed", R"(nt_cluster_sync\(\);)", [](const std::smatch &) { return ";"; } },
    { "other programs forgotten", R"((nt_tma_load_multicast<\d>\([^;]*?, )3, )", [](const std::smatch &m) { return m[1].str() + "1, "; } },
    { "kept registers forgotten", R"(nt_wgmma_keep\((words|fetched)\w*\);)", [](const std::smatch &) { return ";"; } },
    { "fewer bytes expected", R"((nt_mbar_expect\([^;]*, )(\d+)\);)", [](const std::smatch &m) { return m[1].str() + number(m, 2, -16) + ");"; } },
    { "fence removed", R"(nt_(fence_async|wgmma_fence|mbar_init_fence)\(\);)", [](const std::smatch &) { return ";"; } },
    { "commit removed", R"(nt_(copy|wgmma|tma_store)_commit\(\);)", [](const std::smatch &) { return ";"; } },
    { "other swizzle", R"((nt_wgmma_desc\(.*, )([0-3])\))", [](const std::smatch &m) { return m[1].str() + (m[2] == "1" ? "2" : "1") + ")"; } },
    { "other axis of neighbours", R"((nt_wgmma_m64n\w+<)([01])(, [01])?>)", [](const std::smatch &m) { return m[1].str() + (m[2] == "0" ? "1" : "0") + m[3].str() + ">"; } },
    { "owner forgotten", R"(if \((own_L\d+|tid == 0|\(tid & \d+\) == 0)\))", [](const std::smatch &) { return "if (true)"; } },
    { "first slot forgotten", R"(if \(\(r & \d+\) == 0\))", [](const std::smatch &) { return "if (true)"; } },
    { "one slot fewer", R"(r < (\d+);( r \+= (\d+))?)", [](const std::smatch &m) { return slots(m, -1); } },
    { "one slot more", R"(r < (\d+);( r \+= (\d+))?)", [](const std::smatch &m) { return slots(m, 1); } },
    { "one part fewer", R"(i < (\d+);)", [](const std::smatch &m) { return "i < " + number(m, 1, -1) + ";"; } },
    { "shuffle halved", R"((nt_shfl_xor\(.*, )(\d+)\))", [](const std::smatch &m) { return m[1].str() + halved(m, 2) + ")"; } },
    { "stride halved", R"(\* (\d+)(?!\d))", [](const std::smatch &m) { return "* " + halved(m, 1); } },
    { "lane bit lost", R"(tid & (\d+))", [](const std::smatch &m) { return "tid & " + halved(m, 1); } },
    { "shift too short", R"(>> (\d+))", [](const std::smatch &m) { return ">> " + number(m, 1, -1); } },
    { "offset off by one", R"(\[(\w+) \+ (\d+)\])", [](const std::smatch &m) { return "[" + m[1].str() + " + " + number(m, 2, -1) + "]"; } },
    { "index off by one", R"(\[([ri])\](?= = ))", [](const std::smatch &m) { return "[" + m[1].str() + " + 1]"; } },
    { "mask forgotten", R"(, (mask\w*)( \+ r|\[\w+\])?\);)", [](const std::smatch &) { return ");"; } },
    { "bound off by one", R"(nt_lt\()", [](const std::smatch &) { return "nt_le("; } },
    { "sum for a product", R"(nt_mul\()", [](const std::smatch &) { return "nt_add("; } },
    { "difference for a sum", R"(nt_add\()", [](const std::smatch &) { return "nt_sub("; } },
    { "minimum for maximum", R"(nt_max\()", [](const std::smatch &) { return "nt_min("; } },
    { "alignment taken for granted", R"((nt_\w+_checked<\d+, )(NT_CONSECUTIVE))", [](const std::smatch &m) { return m[1].str() + "NT_CONSECUTIVE | NT_ALIGNED"; } },
    { "uniform taken for granted", R"((nt_\w+_checked<\d+, )(NT_CONSECUTIVE))", [](const std::smatch &m) { return m[1].str() + "NT_CONSECUTIVE | NT_UNIFORM"; } },
};

static std::string read_file(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

static std::string output_of(const std::string &command)
{
    std::string text;
    char buffer[4096];
    FILE *pipe = popen(command.c_str(), "r");
    while (pipe && fgets(buffer, sizeof buffer, pipe))
        text += buffer;
    if (pipe)
        pclose(pipe);
    return text;
}

static std::string trimmed(const std::string &line)
{
    const size_t first = line.find_first_not_of(' ');
    return first == std::string::npos ? "" : line.substr(first);
}

// The next line that is neither a comment nor the preprocessor's.
static std::string next_code(const std::string &after)
{
    std::istringstream lines(after);
    for (std::string line; std::getline(lines, line);) {
        line = trimmed(line);
        if (!line.empty() && line[0] != '#' && line.compare(0, 2, "//") != 0)
            return line;
    }
    return "";
}

// All mutants of one line. Lines of the preprocessor, comments and declarations of kernels stay.
static void mutate_line(const std::string &object, const std::string &before, const std::string &line,
                        const std::string &after, const std::regex &only, std::vector<Mutant> &out)
{
    if (line.empty() || line[0] != ' ' || trimmed(line).compare(0, 2, "//") == 0)
        return;
    std::string shown = trimmed(line);
    for (const char *word : { "for (", "__syncthreads", "nt_fence_async" })
        if (line.find(word) != std::string::npos)
            shown += " " + next_code(after);
    for (const Operator &op : operators) {
        if (!std::regex_search(op.name, only))
            continue;
        const std::regex pattern(op.pattern);
        for (std::sregex_iterator i(line.begin(), line.end(), pattern), end; i != end; ++i) {
            const size_t at = (size_t)i->position();
            const std::string whole = line.substr(0, at) + op.change(*i) + line.substr(at + (size_t)i->length());
            if (whole != line)
                out.push_back({ object, op.name, shown, before + whole + "\n" + after, "" });
        }
    }
    static const std::regex scratch(R"((NT_SHARED\(.*, )(\d+)\);)");
    std::smatch m;
    const std::string other = scratch_before(before);
    const char overlaps[] = "scratch overlaps";
    if (std::regex_search(overlaps, only) && std::regex_search(line, m, scratch) && !other.empty() && other != m[2])
        out.push_back({ object, overlaps, shown,
                        before + m.prefix().str() + m[1].str() + other + ");" + m.suffix().str() + "\n" + after, "" });
}

// What runs of the tests load, and the kernels among it that they launch, each with the seeds of which it is.
struct Used {
    std::set<std::string> objects;
    std::map<std::string, std::set<int>> kernels;
};

// The tests with inputs and an order of warps of this number.
static std::string seeded(const std::string &command, int seed)
{
    const std::string number = std::to_string(seed);
    return "SIMT_SEED=" + number + " timeout 60 " + command + " --seed " + number;
}

static Used used_by(const std::string &command)
{
    Used used;
    for (int seed = 1; seed <= SEEDS; seed++) {
        std::istringstream lines(output_of("SIMT_TRACE=1 " + seeded(command, seed) + " 2>&1"));
        for (std::string line; std::getline(lines, line);) {
            if (line.compare(0, 12, "simt: loads ") == 0)
                used.objects.insert(line.substr(12));
            if (line.compare(0, 11, "simt: runs ") == 0)
                used.kernels[line.substr(11)].insert(seed);
        }
    }
    return used;
}

// Mutants of the kernels that run: a change in one that does not run cannot be noticed.
static void mutate(const std::string &object, const Used &used, const std::regex &only, std::vector<Mutant> &out)
{
    std::string text = read_file(object.substr(0, object.size() - 3) + ".cu");
    text.resize(std::min(text.size(), text.find(simt_entries_mark)));
    bool runs = false;
    std::string kernel;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        if (!line.empty() && line[0] != ' ' && line.find('(') != std::string::npos) {
            kernel = line.substr(0, line.find('('));
            runs = used.kernels.count(kernel) != 0;
        }
        const size_t known = out.size();
        if (runs)
            mutate_line(object, text.substr(0, at), line, text.substr(std::min(end + 1, text.size())), only, out);
        for (size_t i = known; i < out.size(); i++)
            out[i].kernel = kernel;
        at = end + 1;
    }
}

// The instructions, without addresses of symbols and debug information.
static std::string code_of(const std::string &object)
{
    return output_of("objdump -d --no-show-raw-insn '" + object + "' | sed 1,3d");
}

// Of all processes.
struct Tally {
    std::atomic<unsigned> killed, survived, known, same, rejected;
};

static std::vector<std::regex> read_known(const char *path)
{
    std::vector<std::regex> known;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line[0] != '#')
            known.emplace_back(line);
    return known;
}

static bool is_known(const std::string &row, const std::vector<std::regex> &known)
{
    for (const std::regex &r : known)
        if (std::regex_match(row, r))
            return true;
    return false;
}

static void judge(const Mutant &m, const std::string &command, const Used &used, const std::vector<std::regex> &known, Tally &tally)
{
    std::string log;
    const std::string object = simt_compile(m.text, simt_prelude(), log);
    if (object.empty()) {
        tally.rejected++;
        return;
    }
    if (code_of(object) == code_of(m.object)) {
        tally.same++;
        return;
    }
    // Other inputs and another order of warps when the first ones do not show it.
    bool passed = true;
    for (int seed : used.kernels.at(m.kernel))
        passed = passed && system(("SIMT_REPLACE='" + m.object + " " + object + "' " + seeded(command, seed) + " >/dev/null 2>&1").c_str()) == 0;
    const std::string row = m.name + " | " + m.line;
    if (!passed) {
        tally.killed++;
    } else if (is_known(row, known) || is_known(m.kernel + ": " + row, known)) {
        tally.known++;
    } else {
        tally.survived++;
        printf("survives in %s: %s\n", m.kernel.c_str(), row.c_str());
        fflush(stdout);
    }
    for (const char *made : { ".so", ".cu", ".lock" })
        remove((object.substr(0, object.size() - 3) + made).c_str());
}

struct Settings {
    size_t limit = 100, jobs = 1;
    unsigned seed = 1;
    bool list = false;
    std::vector<std::regex> known;
    std::regex only { ".*" };
};

static bool read_settings(int argc, char **argv, Settings &s)
{
    for (int i = 4; i < argc; i++) {
        const std::string option = argv[i];
        if (option == "--list")
            s.list = true;
        else if (i + 1 == argc)
            return false;
        else if (option == "--limit")
            s.limit = strtoul(argv[++i], nullptr, 10);
        else if (option == "--seed")
            s.seed = (unsigned)strtoul(argv[++i], nullptr, 10);
        else if (option == "--jobs")
            s.jobs = std::max(1ul, strtoul(argv[++i], nullptr, 10));
        else if (option == "--only")
            s.only = argv[++i];
        else if (option == "--known")
            s.known = read_known(argv[++i]);
        else
            return false;
    }
    return argc >= 4;
}

// Every job takes the next mutant that none has taken.
static void judge_all(const std::vector<Mutant> &mutants, const std::string &command, const Used &used, const Settings &settings, Tally &tally,
                      std::atomic<size_t> &next)
{
    for (size_t i = next++; i < mutants.size(); i = next++)
        judge(mutants[i], command, used, settings.known, tally);
}

int main(int argc, char **argv)
{
    Settings settings;
    if (!read_settings(argc, argv, settings)) {
        fprintf(stderr, "usage: simt_mutate RUN_PROGRAM DEVICE PATTERN [--limit N] [--seed N] [--known FILE] [--only REGEX] [--jobs N] [--list]\n");
        return 2;
    }
    const std::string command = std::string("'") + argv[1] + "' " + argv[2] + " -k '" + argv[3] + "'";
    std::vector<Mutant> mutants;
    const Used used = used_by(command);
    for (const std::string &object : used.objects)
        mutate(object, used, settings.only, mutants);
    if (mutants.empty()) {
        fprintf(stderr, "simt_mutate: '%s' loads no object, or there is nothing to change\n", command.c_str());
        return 2;
    }
    std::shuffle(mutants.begin(), mutants.end(), std::mt19937(settings.seed));
    const size_t tried = std::min(settings.limit, mutants.size());
    printf("%zu mutants, %zu of them tried, seed %u\n", mutants.size(), tried, settings.seed);
    fflush(stdout);
    mutants.resize(tried);
    if (settings.list) {
        for (const Mutant &m : mutants)
            printf("%s | %s\n", m.name.c_str(), m.line.c_str());
        return 0;
    }
    struct Shared {
        Tally tally;
        std::atomic<size_t> next;
    };
    void *room = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return 2;
    Shared &shared = *new (room) Shared {};
    for (size_t j = 1; j < settings.jobs; j++)
        if (fork() == 0) {
            judge_all(mutants, command, used, settings, shared.tally, shared.next);
            exit(0);
        }
    judge_all(mutants, command, used, settings, shared.tally, shared.next);
    while (wait(nullptr) > 0)
        ;
    const Tally &tally = shared.tally;
    const unsigned killed = tally.killed, survived = tally.survived;
    printf("killed %u, survived %u, known to mean the same %u, same code %u, not accepted by the compiler %u\n", killed, survived,
           tally.known.load(), tally.same.load(), tally.rejected.load());
    return killed * 100 >= (killed + survived) * 95 ? 0 : 1;
}
