// launch.cc - modules and launches: the interface of simt.h.
#include "machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <numeric>

using namespace simt;

struct SimtModule {
    void *library;
};

// SIMT_REPLACE="OLD NEW" in the environment loads another object; SIMT_TRACE=1 tells what is loaded and run.
static std::string replaced(const std::string &path)
{
    const char *pair = getenv("SIMT_REPLACE"), *trace = getenv("SIMT_TRACE");
    if (trace)
        fprintf(stderr, "simt: loads %s\n", path.c_str());
    if (pair && path == std::string(pair, strcspn(pair, " ")))
        return pair + path.size() + 1;
    return path;
}

SimtModule *simt_open(const char *path)
{
    reports_forget_lines();
    void *library = dlopen(replaced(path).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "simt: %s\n", dlerror());
    return library ? new SimtModule { library } : nullptr;
}

void simt_close(SimtModule *module)
{
    accounts_forget_places();
    dlclose(module->library);
    delete module;
}

void *simt_entry(SimtModule *module, const char *name)
{
    return dlsym(module->library, (std::string("simt_entry_") + name).c_str());
}

// The threads of the programs from `first` on, which are a cluster.
static void place_threads(const SimtLaunch *launch, unsigned first)
{
    const unsigned *grid = launch->grid;
    for (unsigned i = 0; i < machine.threads.size(); i++) {
        Thread &t = machine.threads[i];
        const unsigned program = first + i / launch->threads;
        t.number = i;
        t.place.thread = { i % launch->threads, 0, 0 };
        t.place.block = { program % grid[0], program / grid[0] % grid[1], program / grid[0] / grid[1] };
        t.place.block_dim = { launch->threads, 1, 1 };
        t.place.grid_dim = { grid[0], grid[1], grid[2] };
    }
}

static bool has_faults()
{
    for (int k = 0; k < SIMT_FAULT_COUNT; k++)
        if (simt_fault_count((SimtFault)k))
            return true;
    return false;
}

static unsigned cluster_of(const SimtLaunch *l)
{
    return l->cluster ? l->cluster : 1;
}

static bool is_valid(const SimtLaunch *l)
{
    return cluster_of(l) <= SIMT_MAX_CLUSTER && l->grid[0] % cluster_of(l) == 0 && l->threads > 0 && l->threads % 32 == 0 && l->threads <= SIMT_MAX_THREADS &&
           l->threads * cluster_of(l) <= SIMT_MAX_TOGETHER && l->shared_bytes <= SIMT_MAX_SHARED;
}

bool simt_launch(const char *name, void *entry, const SimtLaunch *launch)
{
    reports_begin();
    machine.current = nullptr;
    machine.kernel = name;
    if (!is_valid(launch)) {
        report(SIMT_NO_PROGRESS, nullptr, -1, nullptr, "cannot run %u threads with %u bytes of shared memory, in clusters of %u along %u", launch->threads,
               launch->shared_bytes, cluster_of(launch), launch->grid[0]);
        return false;
    }
    if (getenv("SIMT_TRACE"))
        fprintf(stderr, "simt: runs %s\n", name);
    fibers_init();
    machine.entry = (void (*)(void **))entry;
    machine.parameters = launch->parameters;
    machine.thread_count = launch->threads;
    machine.shared_bytes = launch->shared_bytes;
    const unsigned cluster = cluster_of(launch);
    machine.programs.resize(cluster);
    machine.threads.resize(cluster * launch->threads);
    machine.warps.resize(machine.threads.size() / 32);

    std::vector<unsigned> order(launch->grid[0] * launch->grid[1] * launch->grid[2] / cluster);
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; i--)
        std::swap(order[i - 1], order[random_next() % i]);
    for (unsigned number : order) {
        place_threads(launch, number * cluster);
        machine.counts.programs += cluster;
        if (!program_run())
            break;
    }
    return !has_faults();
}

void simt_seed(uint64_t seed)
{
    machine.random = seed;
}

void simt_limit(uint64_t steps)
{
    machine.step_limit = steps;
}
