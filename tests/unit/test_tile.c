// test_tile.c - where elements lie in tiles of shared memory, against the tables of PTX's manual.
#include "ir_case.h"
#include "layout/layout.h"

static const struct {
    ScalarKind kind;
    int32_t rows, columns;
} blocks[] = {
    { SCALAR_F16, 64, 64 },  { SCALAR_F16, 128, 256 }, { SCALAR_F16, 8, 32 },
    { SCALAR_F16, 64, 16 },  { SCALAR_F16, 32, 8 },    { SCALAR_F32, 32, 32 },
    { SCALAR_F32, 128, 64 }, { SCALAR_F32, 16, 16 },   { SCALAR_E4M3, 64, 128 },
    { SCALAR_I8, 256, 64 },  { SCALAR_I8, 64, 32 },    { SCALAR_F64, 16, 16 },
    { SCALAR_I8, 4, 4 },     { SCALAR_F16, 1, 64 },    { SCALAR_BF16, 16, 1024 },
};
enum { BLOCK_COUNT = sizeof blocks / sizeof *blocks };

static const Type *block_of(TypeTable *types, size_t i, unsigned lead)
{
    const int32_t shape[3] = { 1, blocks[i].rows, blocks[i].columns };
    return type_block(types, type_scalar(types, blocks[i].kind), 2 + lead, shape + 1 - lead);
}

/// The element number of a coordinate pair: along the fast axis, and the row.
static uint32_t element_at(size_t i, unsigned fast, uint32_t along, uint32_t row)
{
    return fast == 1 ? row * (uint32_t)blocks[i].columns + along
                     : along * (uint32_t)blocks[i].columns + row;
}

/// PTX manual, "Swizzling modes": in rows of 128, 64 and 32 bytes, 16-byte piece p of row r stands
/// at p XOR r % 8, r / 2 % 4, r / 4 % 2. A TMA box of one chunk a time leaves chunks one after another.
static uint32_t wanted_place(uint32_t row_bytes, uint32_t rows, uint32_t byte, uint32_t row)
{
    const uint32_t chunk = byte / row_bytes, within = byte % row_bytes, piece = within / 16;
    uint32_t turned = piece;
    if (row_bytes == 128)
        turned = piece ^ row % 8;
    else if (row_bytes == 64)
        turned = piece ^ row / 2 % 4;
    else if (row_bytes == 32)
        turned = piece ^ row / 4 % 2;
    return chunk * rows * row_bytes + row * row_bytes + turned * 16 + within % 16;
}

static void places_follow_the_manual(void **state)
{
    (void)state;
    Arena arena = { 0 };
    TypeTable *types = type_table_new(&arena);
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        for (unsigned fast = 0; fast < 2; fast++) {
            const Type *block = block_of(types, i, 0);
            const uint32_t bytes = (uint32_t)scalar_info[blocks[i].kind].bytes;
            const uint32_t along = (uint32_t)block->shape[fast];
            const uint32_t rows = (uint32_t)block->shape[1 - fast];
            const uint32_t row_bytes = along * bytes < 128 ? along * bytes : 128;
            assert_int_equal(layout_tile_row_bytes(block, fast), row_bytes);
            for (uint32_t r = 0; r < rows; r++)
                for (uint32_t x = 0; x < along; x++) {
                    const uint32_t e = element_at(i, fast, x, r);
                    assert_int_equal(layout_tile_index(block, fast, e),
                                     wanted_place(row_bytes, rows, x * bytes, r));
                    assert_int_equal(layout_tile_index(block_of(types, i, 1), fast + 1, e),
                                     layout_tile_index(block, fast, e));
                }
        }
    arena_free(&arena);
}

static void every_element_has_a_place(void **state)
{
    (void)state;
    static bool taken[1 << 17];
    Arena arena = { 0 };
    TypeTable *types = type_table_new(&arena);
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        for (unsigned fast = 0; fast < 2; fast++) {
            const Type *block = block_of(types, i, 0);
            const uint32_t size = layout_tile_bytes(block, fast);
            const uint32_t bytes = type_elem_bytes(block);
            assert_in_range(size, block->numel * bytes, sizeof taken);
            assert_int_equal(size % (8 * layout_tile_row_bytes(block, fast)), 0);
            memset(taken, 0, sizeof taken);
            for (uint32_t e = 0; e < block->numel; e++) {
                const uint32_t at = layout_tile_index(block, fast, e);
                uint32_t sum = 0;
                assert_true(at + bytes <= size && at % bytes == 0 && !taken[at]);
                taken[at] = true;
                for (unsigned k = 0; e >> k; k++)
                    sum ^= e >> k & 1 ? layout_tile_index(block, fast, 1u << k) : 0;
                assert_int_equal(at, sum);
            }
        }
    arena_free(&arena);
}

/// One matrix of ldmatrix is the same piece of eight rows; eight lanes that copy 16 bytes each write
/// eight pieces in order of the rows. Both meet each bank once.
static void pieces_meet_all_banks(void **state)
{
    (void)state;
    Arena arena = { 0 };
    TypeTable *types = type_table_new(&arena);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        const Type *block = block_of(types, i, 0);
        const uint32_t bytes = type_elem_bytes(block), row_bytes = layout_tile_row_bytes(block, 1);
        const uint32_t pieces = row_bytes / 16, per_piece = 16 / bytes;
        if (row_bytes < 16 || blocks[i].rows < 8)
            continue;
        for (uint32_t row = 0; row < (uint32_t)blocks[i].rows; row += 8)
            for (uint32_t p = 0; p < (uint32_t)blocks[i].columns / per_piece; p++) {
                uint32_t matrix = 0, copies = 0;
                for (uint32_t k = 0; k < 8; k++) {
                    const uint32_t same = element_at(i, 1, p * per_piece, row + k);
                    const uint32_t next =
                        element_at(i, 1, (p + k) % pieces * per_piece, row + (p % pieces + k) / pieces % 8);
                    matrix |= 1u << layout_tile_index(block, 1, same) / 16 % 8;
                    copies |= 1u << layout_tile_index(block, 1, next) / 16 % 8;
                }
                assert_int_equal(matrix, 0xff);
                assert_int_equal(p % pieces == 0 ? copies : 0xff, 0xff);
            }
    }
    arena_free(&arena);
}

static void transpositions_stay_in_place(void **state)
{
    (void)state;
    IrCase c;
    ir_case_init(&c);
    IrFunc *fn = ir_case_valid(
        &c, "func @f(%s: i32) ring[(32, 64) fp16 stages=2 fast=1] {\n"
            "%t = tile %s {ring=0} : (32, 64) fp16\n"
            "%u = trans %t {perm=[1, 0]} : (64, 32) fp16\n"
            "%v = convert %u : (64, 32) fp16\nreturn\n}\n");
    TilePlace tile, trans;
    const IrOp *op = fn->body->first;
    assert_true(layout_tile_place(fn, op->results[0], &tile));
    assert_true(layout_tile_place(fn, op->next->results[0], &trans));
    assert_false(layout_tile_place(fn, op->next->next->results[0], &trans));
    assert_int_equal(tile.fast, 1);
    assert_int_equal(trans.fast, 0);
    assert_ptr_equal(trans.ring, &fn->rings[0]);
    for (uint32_t row = 0; row < 32; row++)
        for (uint32_t column = 0; column < 64; column++) {
            const uint32_t at = layout_tile_index(op->results[0]->type, 1, row * 64 + column);
            assert_int_equal(layout_tile_offset(&tile, row * 64 + column), at);
            assert_int_equal(layout_tile_offset(&trans, column * 32 + row), at);
        }
    ir_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_follow_the_manual),
        cmocka_unit_test(every_element_has_a_place),
        cmocka_unit_test(pieces_meet_all_banks),
        cmocka_unit_test(transpositions_stay_in_place),
    };
    return cmocka_run_group_tests_name("tile", tests, NULL, NULL);
}
