// tensor.cc - copies of boxes of tensors between global and shared memory.
//
// A box's rows stand one after another in shared memory, the innermost axis first; with a swizzle, pieces of
// 16 bytes change places by bits of their address (PTX's manual, "Swizzling modes").
#include "machine.h"
#include "tensor_map.h"

#include <algorithm>

namespace simt {

uint32_t swizzled(uint32_t offset, unsigned span)
{
    const unsigned rows = span / 16;  // 16-byte pieces that change places: 0, 2, 4, 8
    return rows ? offset ^ (offset >> 7 & (rows - 1)) << 4 : offset;
}

// 16 bytes of a row of a box, or those of them that lie in the tensor.
struct Piece {
    uint32_t shared;
    uintptr_t global;
    uint32_t from, to;  // bytes of the piece; none: outside of the tensor
};

struct Box {
    SimtTensorMap map;
    uint32_t bytes;
    std::vector<Piece> pieces;
};

// A row of the box: its pieces, of which those between the bytes `first` and `last` of it lie in the tensor.
static void add_row(Box &box, uint32_t shared, uintptr_t global, int64_t first, int64_t last)
{
    const int64_t row = (int64_t)box.map.box[0] * box.map.elem_bytes;
    for (int64_t at = 0; at < row; at += 16) {
        const int64_t from = std::clamp<int64_t>(first - at, 0, 16), to = std::clamp<int64_t>(last - at, from, 16);
        box.pieces.push_back({ swizzled(shared + (uint32_t)at, box.map.swizzle), global + (uintptr_t)at, (uint32_t)from, (uint32_t)to });
    }
}

static void add_rows(Box &box, uint32_t shared, const int *coords)
{
    const SimtTensorMap &m = box.map;
    uint32_t rows = 1;
    for (unsigned axis = 1; axis < m.rank; axis++)
        rows *= m.box[axis];
    const int64_t size = m.elem_bytes, row_bytes = m.box[0] * size;
    const int64_t first = std::max<int64_t>(0, -(int64_t)coords[0]) * size;
    const int64_t last = std::min<int64_t>(m.box[0], (int64_t)m.sizes[0] - coords[0]) * size;
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t rest = r;
        int64_t offset = coords[0] * size;
        bool inside = true;
        for (unsigned axis = 1; axis < m.rank; axis++) {
            const int64_t at = coords[axis] + (int64_t)(rest % m.box[axis]);
            rest /= m.box[axis];
            inside = inside && at >= 0 && at < (int64_t)m.sizes[axis];
            offset += at * (int64_t)m.strides[axis - 1];
        }
        add_row(box, shared + r * (uint32_t)row_bytes, m.base + (uintptr_t)offset, inside ? first : 0, inside ? last : 0);
    }
    box.bytes = rows * (uint32_t)row_bytes;
}

// False after a report.
static bool make_box(const void *pc, const void *shared, const void *map, int rank, const int *coords, Box &box)
{
    const uint32_t at = (uint32_t)((const unsigned char *)shared - nt_smem);
    memcpy(&box.map, map, sizeof box.map);
    if (box.map.magic != SIMT_TENSOR_MAGIC || box.map.rank != rank) {
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "a copy of %d axes is given %s", rank,
               box.map.magic != SIMT_TENSOR_MAGIC ? "no tensor map" : "a map of another number of axes");
        return false;
    }
    if (at % 128)
        report(SIMT_MISALIGNED, pc, -1, nullptr, "a box stands at shared byte %zu, which is no multiple of 128", shared_offset(shared));
    if (coords[0] * (int64_t)box.map.elem_bytes % 16)  // an illegal instruction on an H200
        report(SIMT_MISALIGNED, pc, -1, nullptr, "a box begins at column %d of %u bytes each, which is no multiple of 16 bytes", coords[0],
               box.map.elem_bytes);
    add_rows(box, at, coords);
    Event whole = memory_event(pc, shared, box.bytes, false, true, SIMT_SHARED);
    return memory_contains(whole);
}

// Checks all accesses of a box; false when it leaves a buffer. `counts`: for the first of several programs.
static bool access_box(const Box &box, const Actor &shared, const Actor &global, const void *pc, bool loads, bool counts)
{
    std::vector<std::pair<uintptr_t, uint32_t>> moved;
    Event s = memory_event(pc, nullptr, 16, loads, true, SIMT_SHARED), g = memory_event(pc, nullptr, 0, !loads, true, SIMT_GLOBAL);
    for (const Piece &p : box.pieces) {
        s.at = nt_smem + p.shared;
        race_access(shared, s, false);
        g.at = (const void *)(p.global + p.from);
        g.bytes = p.to - p.from;
        if (!g.bytes)
            continue;
        if (!memory_contains(g))
            return false;
        race_access(global, g, false);
        moved.push_back({ p.global + p.from, g.bytes });
    }
    if (counts)
        account_box(pc, moved);
    return true;
}

// To the nearest with 10 bits of fraction, ties to even; infinities and NaNs stay.
static void round_to_tf32(unsigned char *at)
{
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    if ((bits & 0x7f800000) != 0x7f800000)
        bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    memcpy(at, &bits, sizeof bits);
}

static void load_pieces(const Box &box)
{
    for (const Piece &p : box.pieces) {
        unsigned char *to = nt_smem + p.shared;
        memset(to, 0, 16);
        memcpy(to + p.from, (const void *)(p.global + p.from), p.to - p.from);
        for (unsigned word = 0; box.map.tf32 && word < 4; word++)
            round_to_tf32(to + 4 * word);
    }
}

typedef std::shared_ptr<std::vector<unsigned char>> Bytes;

// The loads of a box to the places and the barriers of one program.
static void start_load(void *to, const void *map, void *bar, int rank, const int *coords, const void *pc, bool counts)
{
    Box box;
    Actor a;
    Thread &t = *machine.current;
    if (!make_box(pc, to, map, rank, coords, box) || !mbarrier_actor(t, bar, pc, a) || !access_box(box, a, a, pc, true, counts))
        return;
    for (const Piece &p : box.pieces)
        memset(nt_smem + p.shared, 0xff, 16);
    async_start([=] {
        load_pieces(box);
        mbarrier_complete(bar, box.bytes);
    });
}

// A store in two halves: shared memory is read at one time, global memory written at a later one.
static void start_store(Thread &t, const Box &box)
{
    const Bytes bytes = std::make_shared<std::vector<unsigned char>>();
    const Work read = async_start([=] {
        for (const Piece &p : box.pieces)
            bytes->insert(bytes->end(), nt_smem + p.shared, nt_smem + p.shared + 16);
    });
    groups_add(t.store_reads, read);
    groups_add(t.store_writes, async_start([=] {
                   async_finish(read);
                   for (size_t i = 0; i < box.pieces.size(); i++) {
                       const Piece &p = box.pieces[i];
                       memcpy((void *)(p.global + p.from), bytes->data() + 16 * i + p.from, p.to - p.from);
                   }
               }));
}

}  // namespace simt

using namespace simt;

extern "C" {

void simt_tma_load(void *to, const void *map, void *bar, int rank, const int *coords)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, argument_is_unwritten(0, sizeof to) || argument_is_unwritten(2, sizeof bar), false);
    check_registers(pc, coords, (size_t)rank * sizeof *coords, "is a coordinate");
    stop(turn_event(pc));
    start_load(shared_at(to), map, shared_at(bar), rank, coords, pc, true);
}

void simt_tma_load_multicast(void *to, const void *map, void *bar, unsigned mask, int rank, const int *coords)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, argument_is_unwritten(0, sizeof to) || argument_is_unwritten(2, sizeof bar), argument_is_unwritten(3, sizeof mask));
    check_registers(pc, coords, (size_t)rank * sizeof *coords, "is a coordinate");
    stop(turn_event(pc));
    if (!mask || mask >> machine.programs.size())
        report(SIMT_WRONG_OPERAND, pc, -1, nullptr, "a cluster of %zu programs is given the mask 0x%x", machine.programs.size(), mask);
    for (unsigned program = 0; program < machine.programs.size(); program++)
        if (mask >> program & 1)
            start_load(shared_in(program, to), map, shared_in(program, bar), rank, coords, pc, !(mask & ((1u << program) - 1)));
}

void simt_tma_store(const void *map, const void *from, int rank, const int *coords)
{
    const void *pc = __builtin_return_address(0);
    check_arguments(pc, argument_is_unwritten(1, sizeof from), false);
    check_registers(pc, coords, (size_t)rank * sizeof *coords, "is a coordinate");
    stop(turn_event(pc));
    from = shared_at(from);
    Box box;
    Thread &t = *machine.current;
    if (!t.store_reads.agent) {
        t.store_reads.agent = race_agent(t.number);
        t.store_writes.agent = race_agent(t.number);
    }
    const Actor reads = { t.known.get(), t.number, t.store_reads.agent, t.store_reads.committed + 1, true, 1 };
    const Actor writes = { t.known.get(), t.number, t.store_writes.agent, t.store_writes.committed + 1, true, 1 };
    if (make_box(pc, from, map, rank, coords, box) && access_box(box, reads, writes, pc, false, true))
        start_store(t, box);
}

void simt_tma_store_commit()
{
    machine.current->store_reads.committed++;
    machine.current->store_writes.committed++;
}

void simt_tma_store_wait(unsigned newest, bool reads)
{
    stop(turn_event(__builtin_return_address(0)));
    Thread &t = *machine.current;
    groups_wait(t, t.store_reads, newest);
    if (!reads)
        groups_wait(t, t.store_writes, newest);
}
}
