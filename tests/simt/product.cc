// product.cc - matrix products of a warpgroup that go on beside it (wgmma).
//
// A product starts when all threads of the warpgroup have come to it. Then its factors are checked for races, by
// the knowledge that all the threads have; they are read, and the sum written, in the order of the starts, at a random
// moment before a wait covers it. Until then the accumulators count as uninitialised.
#include "machine.h"
#include "number.h"

#include <algorithm>

namespace simt {

static constexpr unsigned group_threads = 128, rows = 64, factor_bytes = 32;  // of a factor's row or column

// What a thread hands over; `kind` as device.h packs it.
struct Call {
    void *sum;
    const unsigned *a;  // registers, or NULL
    uint64_t a_at, b_at;
    unsigned kind;
    int scale;
};

struct Kind {
    unsigned a, b, sum, n;
    bool a_swaps, b_swaps;
    unsigned k() const
    {
        return factor_bytes / number_bytes(a);
    }
    unsigned sum_bytes() const  // of a thread
    {
        return n / 2 * number_bytes(sum);
    }
};

static Kind unpack(unsigned kind)
{
    return { kind & 15, kind >> 4 & 15, kind >> 8 & 15, kind >> 16, (kind >> 12 & 1) != 0, (kind >> 13 & 1) != 0 };
}

// Where the 16-byte pieces of a factor stand; of one along K two to a row, else rows / 8 for each k.
typedef std::vector<uint32_t> Pieces;

// PTX's manual, "Matrix Descriptor": the canonical layouts, each by its swizzle.
static Pieces pieces_of(uint64_t descriptor, unsigned count, bool swaps, unsigned k)
{
    static const unsigned spans[] = { 16, 128, 64, 32 };
    const uint32_t start = (uint32_t)(descriptor & 0x3fff) << 4, leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
    const uint32_t stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
    const unsigned span = spans[descriptor >> 62], across = span / 16;
    Pieces pieces;
    if (!swaps)
        for (unsigned row = 0; row < count; row++)
            for (unsigned half = 0; half < 2; half++)
                pieces.push_back(swizzled(start + row % 8 * span + row / 8 * stride + half * (span == 16 ? leading : 16), span));
    else
        for (unsigned i = 0; i < k; i++)
            for (unsigned piece = 0; piece < count / 8; piece++)
                pieces.push_back(swizzled(start + i % 8 * span + i / 8 * (span == 16 ? leading : stride) + piece % across * 16 +
                                              piece / across * (span == 16 ? stride : leading), span));
    return pieces;
}

// The factor's numbers, [row][k], from a program's shared memory.
static std::vector<double> read_factor(const unsigned char *shared, const Pieces &pieces, unsigned type, unsigned count, bool swaps, unsigned k)
{
    const unsigned size = number_bytes(type), per_piece = 16 / size;
    std::vector<double> x(count * k);
    for (size_t p = 0; p < pieces.size(); p++)
        for (unsigned i = 0; i < per_piece; i++) {
            const size_t row = swaps ? p % (count / 8) * 8 + i : p / 2, at = swaps ? p / (count / 8) : p % 2 * per_piece + i;
            x[row * k + at] = number_read(type, shared + pieces[p] + i * size);
        }
    return x;
}

// What of it a thread holds: words w of rows lane / 4 and + 8 of its warp's 16.
static void read_registers(std::vector<double> &x, const uint32_t *words, unsigned thread, unsigned type, unsigned k)
{
    const unsigned per_word = 4 / number_bytes(type), lane = thread % 32;
    for (unsigned w = 0; w < 4; w++)
        for (unsigned i = 0; i < per_word; i++) {
            const unsigned row = thread / 32 * 16 + lane / 4 + w % 2 * 8, at = (lane % 4 + w / 2 * 4) * per_word + i;
            x[row * k + at] = number_read(type, (const char *)&words[w] + i * number_bytes(type));
        }
}

// All that a started product needs.
struct Product {
    Kind kind;
    bool adds;
    const unsigned char *shared;
    Pieces a, b;
    std::vector<uint32_t> a_words;  // four a thread; none: from shared memory
    std::vector<void *> sums;
};

// The place of accumulator `i` of a thread: "Accumulator D" of PTX's manual.
static size_t sum_index(const Kind &k, unsigned thread, unsigned i)
{
    const unsigned lane = thread % 32;
    return (size_t)(thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8) * k.n + i / 4 * 8 + lane % 4 * 2 + i % 2;
}

static void run_product(const Product &p)
{
    const Kind &kind = p.kind;
    const unsigned k = kind.k(), n = kind.n, size = number_bytes(kind.sum);
    std::vector<double> a(rows * k), sum(rows * n);
    const std::vector<double> columns = read_factor(p.shared, p.b, kind.b, n, kind.b_swaps, k);
    std::vector<double> b(k * n);
    for (unsigned j = 0; j < n; j++)
        for (unsigned i = 0; i < k; i++)
            b[i * n + j] = columns[j * k + i];
    if (p.a_words.empty())
        a = read_factor(p.shared, p.a, kind.a, rows, kind.a_swaps, k);
    for (unsigned t = 0; t < group_threads; t++) {
        if (!p.a_words.empty())
            read_registers(a, &p.a_words[4 * t], t, kind.a, k);
        for (unsigned i = 0; p.adds && i < n / 2; i++)
            sum[sum_index(kind, t, i)] = number_read(kind.sum, (char *)p.sums[t] + i * size);
    }
    for (unsigned row = 0; row < rows; row++)
        for (unsigned i = 0; i < k; i++) {
            const double x = a[row * k + i];
            for (unsigned j = 0; j < n; j++)
                sum[row * n + j] += x * b[i * n + j];
        }
    for (unsigned t = 0; t < group_threads; t++)
        for (unsigned i = 0; i < n / 2; i++)
            number_write(kind.sum, (char *)p.sums[t] + i * size, sum[sum_index(kind, t, i)]);
}

// ---- the start ----

// What all threads of the warpgroup know; that a thread knows its own accesses is no help to the others.
static Knowledge common_knowledge(uint32_t first)
{
    Knowledge common = *machine.threads[first].known;
    const auto lower = [](std::vector<uint32_t> &to, const std::vector<uint32_t> &from, uint32_t own) {
        if (to.size() < from.size())
            to.resize(from.size());
        for (uint32_t u = 0; u < to.size(); u++)
            if (u != own)
                to[u] = std::min(to[u], race_clock(from, u));
    };
    for (uint32_t n = first + 1; n < first + group_threads; n++) {
        const Thread &t = machine.threads[n];
        if (t.known == machine.threads[n - 1].known)
            continue;
        lower(common.past, t.known->past, n);
        lower(common.fenced, t.known->fenced, n);
    }
    return common;
}

static const Call &call_of(const Thread &t)
{
    return *(const Call *)t.event.at;
}

static bool is_poisoned(const unsigned char *shadow, uint32_t bytes)
{
    return std::all_of(shadow, shadow + bytes, [](unsigned char s) { return s != 0; });
}

// The thread's accumulators become the product's.
static void take_sum(Thread &t, const Call &c, const Kind &kind)
{
    Products &p = t.products;
    unsigned char *shadow = stack_shadow(c.sum);
    machine.current = &t;
    for (Accumulator &a : p.accumulators)
        if (a.at == c.sum) {
            if (shadow && !is_poisoned(shadow, a.bytes))
                report(SIMT_MISSING_WAIT, t.event.pc, t.number, a.pc, "accumulators were written before a wait covers the product of");
            a.group = p.groups.committed;
            return;
        }
    bool is_known = p.is_fenced;
    for (const WaitedSum &w : p.waited)
        is_known = is_known || (w.at == c.sum && w.values.size() == kind.sum_bytes() && memcmp(w.at, w.values.data(), w.values.size()) == 0);
    if (!is_known)
        report(SIMT_MISSING_FENCE, t.event.pc, -1, nullptr, "starts a product on registers that no fence hands over");
    if (c.scale)
        check_registers(t.event.pc, c.sum, kind.sum_bytes(), "is added to");
    if (shadow)
        memset(shadow, 0xff, kind.sum_bytes());
    p.accumulators.push_back({ p.groups.committed, c.sum, kind.sum_bytes(), t.event.pc });
}

// All threads must ask for the same product.
static bool is_uniform(uint32_t first)
{
    const Thread &lead = machine.threads[first];
    const Call &c = call_of(lead);
    for (uint32_t n = first + 1; n < first + group_threads; n++) {
        const Thread &t = machine.threads[n];
        const Call &o = call_of(t);
        if (o.kind == c.kind && o.b_at == c.b_at && (c.a || o.a_at == c.a_at) && (o.scale != 0) == (c.scale != 0) &&
            t.products.groups.committed == lead.products.groups.committed)
            continue;
        machine.current = &machine.threads[n];
        report(SIMT_WRONG_OPERAND, t.event.pc, first, lead.event.pc, "the threads of a warpgroup start different products");
        return false;
    }
    return true;
}

static bool check_factor(const unsigned char *shared, const Pieces &pieces, const Actor &who, const void *pc)
{
    Event e = memory_event(pc, nullptr, 16, false, true, SIMT_SHARED);
    for (uint32_t at : pieces) {
        e.at = shared + at;
        if (!memory_contains(e))
            return false;
        race_access(who, e, false);
    }
    return true;
}

static void product_start(uint32_t first)
{
    Thread &lead = machine.threads[first];
    const Call &c = call_of(lead);
    Product p = { unpack(c.kind), c.scale != 0, shared_of(rank_of(lead)), {}, {}, {}, {} };
    const void *pc = lead.event.pc;
    if (!is_uniform(first))
        return;
    if (!lead.products.groups.agent) {
        const uint32_t agents = race_agent(first, group_threads / 32);
        for (uint32_t n = first; n < first + group_threads; n++)
            machine.threads[n].products.groups.agent = agents + (n - first) / 32;
    }
    for (uint32_t n = first; n < first + group_threads; n++) {
        Thread &t = machine.threads[n];
        const Call &own = call_of(t);
        take_sum(t, own, p.kind);
        p.sums.push_back(own.sum);
        if (!own.a)
            continue;
        p.a_words.insert(p.a_words.end(), own.a, own.a + 4);
        t.products.factors.push_back({ t.products.groups.committed, { own.a[0], own.a[1], own.a[2], own.a[3] }, t.event.pc, false });
    }
    const Knowledge common = common_knowledge(first);
    const Actor who = { &common, ~0u, lead.products.groups.agent, lead.products.groups.committed + 1, true, group_threads / 32 };
    machine.current = &lead;
    if (!c.a)
        p.a = pieces_of(c.a_at, rows, p.kind.a_swaps, p.kind.k());
    p.b = pieces_of(c.b_at, p.kind.n, p.kind.b_swaps, p.kind.k());
    if (!check_factor(p.shared, p.a, who, pc) || !check_factor(p.shared, p.b, who, pc)) {
        machine.stopped = true;
        return;
    }
    const Work before = lead.products.last;
    const Work work = async_start([=] {
        if (before)
            async_finish(before);
        run_product(p);
    });
    for (uint32_t n = first; n < first + group_threads; n++)
        groups_add(machine.threads[n].products.groups, work);
    lead.products.last = work;
}

void product_arrive(Thread &t)
{
    const uint32_t own = rank_of(t) * machine.thread_count, first = own + (t.number - own) / group_threads * group_threads;
    if (first + group_threads > own + machine.thread_count) {
        report(SIMT_WRONG_OPERAND, t.event.pc, -1, nullptr, "a matrix product wants four warps from a multiple of four on");
        machine.stopped = true;
        return;
    }
    for (uint32_t n = first; n < first + group_threads; n++) {
        const Event &e = machine.threads[n].event;
        if (!(machine.warps[n / 32].waiting >> n % 32 & 1) || e.kind != Stop::Group)
            return;
        if (e.pc != t.event.pc) {
            report(SIMT_WRONG_OPERAND, t.event.pc, n, e.pc, "the threads of a warpgroup start different products");
            machine.stopped = true;
            return;
        }
    }
    product_start(first);
    machine.current = nullptr;
    for (uint32_t n = first; n < first + group_threads; n++)
        make_ready(n);
}

// ---- the wait ----

static void give_back(const Thread &t, Products &p, const Accumulator &a, const void *pc)
{
    unsigned char *shadow = stack_shadow(a.at);
    if (shadow && !is_poisoned(shadow, a.bytes))
        report(SIMT_MISSING_WAIT, pc, t.number, a.pc, "accumulators were written before a wait covers the product of");
    if (shadow)
        memset(shadow, 0, a.bytes);
    p.waited.erase(std::remove_if(p.waited.begin(), p.waited.end(), [&](const WaitedSum &w) { return w.at == a.at; }), p.waited.end());
    p.waited.push_back({ a.at, std::vector<unsigned char>((unsigned char *)a.at, (unsigned char *)a.at + a.bytes) });
}

// Factors' registers that nobody kept behind the wait. Products are given the words when they start; a GPU reads the
// registers at any time until the wait.
void product_check_kept(Thread &t)
{
    std::vector<FactorRegisters> &all = t.products.factors;
    machine.current = &t;
    for (const FactorRegisters &f : all)
        if (f.is_waited)
            report(SIMT_MISSING_WAIT, f.pc, -1, nullptr, "a factor's registers are not kept as they are until behind a wait for the product");
    all.erase(std::remove_if(all.begin(), all.end(), [](const FactorRegisters &f) { return f.is_waited; }), all.end());
}

static bool holds(const unsigned *all, size_t count, const unsigned *four)
{
    for (size_t i = 0; i + 4 <= count; i++)
        if (memcmp(all + i, four, 4 * sizeof *four) == 0)
            return true;
    return false;
}

// A fence hands over what an array held that was kept in front of it: else the compiler may write registers behind it.
static void check_handed_over(const Thread &t, const unsigned *words, const void *pc)
{
    for (const std::vector<unsigned> &all : t.products.handed_over)
        if (holds(all.data(), all.size(), words))
            return;
    report(SIMT_MISSING_FENCE, pc, -1, nullptr, "multiplies registers that no fence hands over");
}

static void keep_factors(Products &p, const unsigned *words, size_t count)
{
    const auto is_kept = [&](const FactorRegisters &f) { return f.is_waited && holds(words, count, f.words); };
    p.kept.push_back(std::vector<unsigned>(words, words + count));
    p.factors.erase(std::remove_if(p.factors.begin(), p.factors.end(), is_kept), p.factors.end());
}

}  // namespace simt

using namespace simt;

extern "C" {

void simt_product(void *sum, const unsigned *a, unsigned long long a_at, unsigned long long b_at, unsigned kind, int scale)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, (!a && argument_is_unwritten(2, sizeof a_at)) || argument_is_unwritten(3, sizeof b_at) || argument_is_unwritten(5, sizeof scale), false);
    if (a) {
        check_registers(pc, a, 4 * sizeof *a, "is multiplied");
        check_handed_over(*machine.current, a, pc);
    }
    product_check_kept(*machine.current);
    const Call call = { sum, a, a_at, b_at, kind, scale };
    Event e = turn_event(pc);
    e.kind = Stop::Group;
    e.at = &call;
    stop(e);
}

void simt_product_fence()
{
    constexpr size_t most_arrays = 32;  // older ones are of products that have ended
    Products &p = machine.current->products;
    p.is_fenced = true;
    p.handed_over.insert(p.handed_over.end(), p.kept.begin(), p.kept.end());
    p.kept.clear();
    if (p.handed_over.size() > most_arrays)
        p.handed_over.erase(p.handed_over.begin(), p.handed_over.end() - most_arrays);
}

void simt_product_commit()
{
    machine.current->products.groups.committed++;
}

void simt_product_wait(unsigned newest)
{
    const void *pc = __builtin_return_address(0);
    stop(turn_event(pc));
    Thread &t = *machine.current;
    Products &p = t.products;
    const uint32_t committed = p.groups.committed, covered = committed > newest ? committed - newest : 0;
    groups_wait(t, p.groups, newest);
    for (FactorRegisters &f : p.factors)
        f.is_waited = f.is_waited || f.group < covered;
    std::vector<Accumulator> left;
    for (const Accumulator &a : p.accumulators)
        if (a.group < covered)
            give_back(t, p, a, pc);
        else
            left.push_back(a);
    p.accumulators = std::move(left);
    p.is_fenced = false;
}

void simt_product_keep(const void *at, size_t bytes, bool is_words)
{
    Products &p = machine.current->products;
    for (const Accumulator &a : p.accumulators)
        if ((size_t)((const char *)a.at - (const char *)at) < bytes)
            report(SIMT_MISSING_WAIT, __builtin_return_address(0), machine.current->number, a.pc,
                   "uses accumulators of a product that no wait covers");
    if (is_words)
        keep_factors(p, (const unsigned *)at, bytes / sizeof(unsigned));
}
}
