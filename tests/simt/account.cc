// account.cc - counts what a warp's access costs: sectors of global memory, passes over the banks.
#include "machine.h"

#include <algorithm>
#include <array>

namespace simt {

static constexpr unsigned sector_bytes = 32, bank_count = 32, bank_bytes = 4;

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

static void account_global(const std::vector<const Event *> &lanes)
{
    std::vector<uintptr_t> sectors;
    SimtCounts &c = machine.counts;
    for (const Event *e : lanes) {
        (e->is_write ? c.stores : c.loads)[width_index(e->bytes)]++;
        c.global_bytes += e->bytes;
        for (uintptr_t s = (uintptr_t)e->at / sector_bytes; s <= ((uintptr_t)e->at + e->bytes - 1) / sector_bytes; s++)
            sectors.push_back(s);
    }
    c.global_requests++;
    c.global_sectors += count_different(sectors);
}

// The passes that these lanes need: the most different words that one bank has to give.
static unsigned passes(const Event *const *lanes, size_t count)
{
    std::array<std::vector<uintptr_t>, bank_count> words;
    size_t most = 1;
    for (size_t i = 0; i < count; i++)
        for (uintptr_t at = (uintptr_t)lanes[i]->at / bank_bytes; at <= ((uintptr_t)lanes[i]->at + lanes[i]->bytes - 1) / bank_bytes; at++)
            words[at % bank_count].push_back(at);
    for (std::vector<uintptr_t> &w : words)
        most = std::max(most, count_different(w));
    return (unsigned)most;
}

// Lanes that move 8 bytes go by halves of the warp, those that move 16 by quarters.
static void account_shared(const std::vector<const Event *> &lanes)
{
    const size_t part = lanes[0]->bytes == 16 ? 8 : lanes[0]->bytes == 8 ? 16 : 32;
    for (size_t i = 0; i < lanes.size(); i += part) {
        const unsigned n = passes(&lanes[i], std::min(part, lanes.size() - i));
        machine.counts.shared_wavefronts += n;
        machine.counts.bank_conflicts += n - 1;
    }
    machine.counts.shared_requests++;
}

void account(unsigned warp, uint32_t group)
{
    std::vector<const Event *> lanes;
    for (unsigned i = 0; i < 32; i++) {
        const Event &e = machine.threads[warp * 32 + i].event;
        if (group >> i & 1 && (e.mask || e.kind == Stop::Atomic))
            lanes.push_back(&e);
    }
    if (lanes.empty())
        return;
    if (lanes[0]->kind == Stop::Atomic)
        machine.counts.atomics += lanes.size();
    else if (lanes[0]->is_shared)
        account_shared(lanes);
    else
        account_global(lanes);
}

}  // namespace simt
