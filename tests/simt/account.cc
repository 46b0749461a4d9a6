// account.cc - counts what a warp's access costs: sectors of global memory, passes over the banks. Sums of all, and of each
// place in the code.
#include "machine.h"

#include <algorithm>
#include <array>
#include <map>

namespace simt {

static constexpr unsigned sector_bytes = 32, bank_count = 32, bank_bytes = 4;

static std::map<const void *, SimtCounts> by_place;

static void add(SimtCounts &to, const SimtCounts &more)
{
    static_assert(sizeof to % sizeof to.programs == 0, "counts are of one type");
    uint64_t *a = &to.programs;
    const uint64_t *b = &more.programs;
    for (size_t i = 0; i < sizeof to / sizeof *a; i++)
        a[i] += b[i];
}

void account_add(const void *pc, const SimtCounts &more)
{
    add(machine.counts, more);
    add(by_place[pc], more);
}

void accounts_forget_places()
{
    by_place.clear();
}

static unsigned width_index(uint32_t bytes)
{
    unsigned k = 0;
    while (k + 1 < SIMT_WIDTHS && 1u << k < bytes)
        k++;
    return k;
}

static size_t count_different(std::vector<uintptr_t> &v)
{
    std::sort(v.begin(), v.end());
    return (size_t)(std::unique(v.begin(), v.end()) - v.begin());
}

static void add_sectors(std::vector<uintptr_t> &sectors, uintptr_t at, uint32_t bytes)
{
    for (uintptr_t s = at / sector_bytes; s <= (at + bytes - 1) / sector_bytes; s++)
        sectors.push_back(s);
}

static void account_global(const std::vector<const Event *> &lanes, SimtCounts &c)
{
    std::vector<uintptr_t> sectors;
    for (const Event *e : lanes) {
        (e->is_write ? c.stores : c.loads)[width_index(e->bytes)]++;
        c.global_bytes += e->bytes;
        add_sectors(sectors, (uintptr_t)e->at, e->bytes);
    }
    c.global_requests++;
    c.global_sectors += count_different(sectors);
}

void account_box(const void *pc, const std::vector<std::pair<uintptr_t, uint32_t>> &pieces)
{
    std::vector<uintptr_t> sectors;
    SimtCounts c = {};
    for (const auto &piece : pieces) {
        c.global_bytes += piece.second;
        add_sectors(sectors, piece.first, piece.second);
    }
    c.global_requests = 1;
    c.global_sectors = count_different(sectors);
    account_add(pc, c);
}

// The passes that lanes need which move so many bytes each: the most different words that one bank has to give.
static unsigned passes(const uintptr_t *lanes, size_t count, uint32_t bytes)
{
    std::array<std::vector<uintptr_t>, bank_count> words;
    size_t most = 1;
    for (size_t i = 0; i < count; i++)
        for (uintptr_t at = lanes[i] / bank_bytes; at <= (lanes[i] + bytes - 1) / bank_bytes; at++)
            words[at % bank_count].push_back(at);
    for (std::vector<uintptr_t> &w : words)
        most = std::max(most, count_different(w));
    return (unsigned)most;
}

// Lanes that move 8 bytes go by halves of the warp, those that move 16 by quarters.
static void account_shared(const std::vector<uintptr_t> &lanes, uint32_t bytes, SimtCounts &c)
{
    const size_t part = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
    for (size_t i = 0; i < lanes.size(); i += part) {
        const unsigned n = passes(&lanes[i], std::min(part, lanes.size() - i), bytes);
        c.shared_wavefronts += n;
        c.bank_conflicts += n - 1;
    }
    c.shared_requests++;
}

void account(unsigned warp, uint32_t group)
{
    std::vector<const Event *> lanes;
    std::vector<uintptr_t> shared;
    for (unsigned i = 0; i < 32; i++) {
        const Event &e = machine.threads[warp * 32 + i].event;
        if (!(group >> i & 1))
            continue;
        if (e.mask || e.kind == Stop::Atomic)
            lanes.push_back(&e);
        if (e.copies_to || (e.is_shared && e.mask))
            shared.push_back((uintptr_t)(e.copies_to ? e.copies_to : e.at));
    }
    if (lanes.empty() && shared.empty())
        return;
    const Event &e = lanes.empty() ? machine.threads[warp * 32 + (unsigned)__builtin_ctz(group)].event : *lanes[0];
    SimtCounts c = {};
    if (e.kind == Stop::Atomic)
        c.atomics = lanes.size();
    else if (!e.is_shared && !lanes.empty())
        account_global(lanes, c);
    if (!shared.empty())
        account_shared(shared, e.bytes, c);
    account_add(e.pc, c);
}

}  // namespace simt

using namespace simt;

SimtCounts simt_counts(void)
{
    return machine.counts;
}

SimtCounts simt_counts_at(const char *line)
{
    SimtCounts sum = {};
    for (const auto &place : by_place)
        if (report_line(place.first) == line)
            add(sum, place.second);
    return sum;
}

void simt_counts_reset(void)
{
    machine.counts = {};
    by_place.clear();
}
