// compile.cc - runs a C++ compiler on generated text; see compile.h.
//
// The prelude is written into a folder named after its contents, with the emulator's own files in the
// place of those that hold PTX, and precompiled. clang++ instruments for uninitialised registers and for
// the bounds of local arrays; calls say which bits of arguments are uninitialised, which clang++ since 16 does not unless it
// is told (events.cc reads that). -O1 keeps compiling fast. g++ cannot be told to leave events where they
// stand, so it does not optimise.
#include "compile.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <fcntl.h>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

namespace fs = std::filesystem;

#if SIMT_IS_CLANG
static const char flags[] = "-std=c++17 -O1 -g1 -gdwarf-4 -fPIC -w -ffp-contract=off -fno-optimize-sibling-calls "
                            "-fsanitize=kernel-memory,bounds -fno-sanitize-memory-param-retval -mllvm -msan-track-origins=0";
static const char precompiled[] = "all.pch", with_it[] = "-include-pch", included[] = "all.pch";
#else
static const char flags[] = "-std=c++17 -O0 -g1 -fPIC -w -ffp-contract=off -fsanitize=bounds";
static const char precompiled[] = "all.h.gch", with_it[] = "-include", included[] = "all.h";
#endif
static const char source_dir[] = SIMT_SOURCE_DIR, cache_dir[] = SIMT_CACHE_DIR, compiler[] = SIMT_CXX;

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

// FNV-1a, two lanes.
static std::string hash_of(const std::string &text)
{
    uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ceu;
    for (unsigned char c : text) {
        a = (a ^ c) * 0x100000001b3u;
        b = (b + c) * 0x100000001b3u ^ b >> 29;
    }
    char hex[40];
    snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
    return hex;
}

static bool run(const std::string &command, const fs::path &log_path, std::string &log)
{
    const bool ok = system((command + " >'" + log_path.string() + "' 2>&1").c_str()) == 0;
    log = ok ? "" : read_file(log_path);
    fs::remove(log_path);
    return ok;
}

// Held by one thread of one process at a time, as newtc compiles in several of both.
class Lock {
    int file;

public:
    explicit Lock(const fs::path &path) : file(open(path.c_str(), O_CREAT | O_RDWR, 0666))
    {
        flock(file, LOCK_EX);
    }
    ~Lock()
    {
        close(file);
    }
    Lock(const Lock &) = delete;
};

// The folder with the precompiled prelude; "" when it does not compile.
static std::string prepare(const std::vector<SimtHeader> &headers, std::string &log)
{
    std::vector<SimtHeader> all = headers;
    std::string key = flags;
    for (SimtHeader &h : all) {
        const fs::path twin = fs::path(source_dir) / "prelude" / h.name;
        if (fs::exists(twin))
            h.text = read_file(twin);
        key += h.name + h.text;
    }
    for (const char *own : { "device.h", "intrinsics.h", "combine.h" }) {
        all.push_back({ own, read_file(fs::path(source_dir) / own) });
        key += all.back().name + all.back().text;
    }
    const fs::path dir = fs::path(cache_dir) / ("prelude-" + hash_of(key).substr(0, 16));
    fs::create_directories(dir / "newt");
    const Lock lock(dir / "lock");
    bool ok = true;
    if (!fs::exists(dir / precompiled)) {
        std::string includes = "#include \"device.h\"\n";
        for (const SimtHeader &h : all) {  // all are copies, for a precompiled header goes by its files' times
            write_file(dir / h.name, h.text);
            if (h.name.compare(0, 5, "newt/") == 0)
                includes += "#include \"" + h.name + "\"\n";
        }
        write_file(dir / "all.h", includes + "#include \"combine.h\"\n");
        ok = run(std::string(compiler) + " " + flags + " -I'" + dir.string() + "' -x c++-header '" + (dir / "all.h").string() +
                     "' -o '" + (dir / "all.tmp").string() + "'", dir / "log", log);
        if (ok)
            fs::rename(dir / "all.tmp", dir / precompiled);
    }
    return ok ? dir.string() : "";
}

// The names of the text's kernels: what stands in front of "(" after __global__ and its attributes.
static std::vector<std::string> entries(const std::string &text)
{
    static const char word[] = "extern \"C\" __global__ void ";
    std::vector<std::string> names;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
        at += sizeof word - 1;
        size_t end = text.find('(', at);
        while (!text.compare(at, 2, "__")) {
            at = text.find(')', end) + 1;
            while (isspace((unsigned char)text[at]))
                at++;
            end = text.find('(', at);
        }
        names.push_back(text.substr(at, end - at));
    }
    return names;
}

const char simt_entries_mark[] = "#line 1 \"entries.cuh\"";

std::string simt_compile(const std::string &text, const std::vector<SimtHeader> &headers, std::string &log)
{
    const std::string prelude = prepare(headers, log);
    if (prelude.empty())
        return "";
    std::string whole = text + "\n" + simt_entries_mark + "\n";
    for (const std::string &name : entries(text))
        whole += "SIMT_ENTRY(" + name + ")\n";
    const std::string base = (fs::path(cache_dir) / hash_of(prelude + whole)).string(), object = base + ".so";
    const Lock lock(base + ".lock");
    const std::string own = base + ".new", source = base + ".cu";
    if (!fs::exists(source))
        write_file(source, whole);
    if (fs::exists(object))
        return object;
    const bool ok = run(std::string(compiler) + " " + flags + " " + with_it + " '" + prelude + "/" + included + "' -I'" +
                            prelude + "' -shared -x c++ '" + source + "' -o '" + own + ".so'", own + ".log", log);
    if (ok)
        fs::rename(own + ".so", object);
    return ok ? object : "";
}

std::vector<SimtHeader> simt_prelude()
{
    std::vector<SimtHeader> headers;
    for (const auto &file : fs::directory_iterator(SIMT_PRELUDE_DIR))
        if (file.path().extension() == ".cuh")
            headers.push_back({ "newt/" + file.path().filename().string(), read_file(file.path()) });
    std::sort(headers.begin(), headers.end(), [](const SimtHeader &a, const SimtHeader &b) { return a.name < b.name; });
    return headers;
}
