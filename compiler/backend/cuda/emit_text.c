/// emit_text.c - lines, source positions, loops over slots, and layouts as expressions.
///
/// Layouts are linear maps over bits; printed, such a map is a sum of shifted and masked pieces,
/// one for each run of bits that move together: (tid & 31) * 4 + (r & 3).
#include "backend/cuda/emit_impl.h"

#include <inttypes.h>
#include <string.h>

const char *cuda_text(Emit *e, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t len = (size_t)vsnprintf(NULL, 0, format, again);
    char *at = arena_alloc(e->arena, len + 1, 1);
    vsnprintf(at, len + 1, format, args);
    va_end(again);
    va_end(args);
    return at;
}

static void indent(Emit *e)
{
    for (unsigned i = 0; i < e->body.indent; i++)
        buf_puts(&e->body, "    ");
}

/// Writes #line when the compiler would take the next line for another one than e->line.
static void sync_line(Emit *e)
{
    if (e->next_line == e->line)
        return;
    buf_printf(&e->body, "#line %" PRIu32 " ", e->line);
    buf_c_string(&e->body, e->file->path, strlen(e->file->path));
    buf_putc(&e->body, '\n');
    e->next_line = e->line;
}

/// Writes the source line at hand as a comment.
static void show_source(Emit *e)
{
    Str text = source_line(e->file, e->line);
    while (text.len && (*text.at == ' ' || *text.at == '\t'))
        text.at++, text.len--;
    while (text.len &&
           strchr(" \t\r\\", text.at[text.len - 1]))  // a backslash would join the next line
        text.len--;
    indent(e);
    buf_printf(&e->body, "// %.*s\n", (int)text.len, text.at);
    e->shown = true;
    e->next_line = 0;
    if (e->opt->lines != CUDA_LINES_NONE)
        sync_line(e);
}

void cuda_line(Emit *e, const char *format, ...)
{
    va_list args;
    if (e->file && !e->shown)
        show_source(e);
    else if (e->file && e->opt->lines == CUDA_LINES_EXACT)
        sync_line(e);
    indent(e);
    va_start(args, format);
    buf_vprintf(&e->body, format, args);
    va_end(args);
    buf_putc(&e->body, '\n');
    e->next_line++;
}

void cuda_source_line(Emit *e, Span span)
{
    if (!e->opt->sources || span.lo == 0)
        return;
    const SourcePos pos = source_pos(e->opt->sources, span.lo);
    if (!pos.file || (pos.file == e->file && pos.line == e->line))
        return;
    e->file = pos.file;
    e->line = pos.line;
    e->shown = false;
}

/// One run: bits [low, low + count) of var, shifted so that the lowest becomes `unit`.
static const char *run_text(Emit *e, const char *var, unsigned low, unsigned count, unsigned bits,
                            uint32_t unit)
{
    const char *at = var;
    if (low + count < bits && low > 0)
        at = cuda_text(e, "(%s >> %u & %u)", var, low, (1u << count) - 1);
    else if (low + count < bits)
        at = cuda_text(e, "(%s & %u)", var, (1u << count) - 1);
    else if (low > 0)
        at = cuda_text(e, "(%s >> %u)", var, low);
    return unit == 1 ? at : cuda_text(e, "%s * %" PRIu32, at, unit);
}

const char *cuda_linear(Emit *e, const char *var, const uint32_t *basis, unsigned bits,
                        uint32_t *image)
{
    const char *text = "0";
    *image = 0;
    for (unsigned low = 0, count; low < bits; low += count) {
        count = 1;
        if (basis[low] == 0)
            continue;
        uint32_t run_image = basis[low];
        while (low + count < bits && basis[low + count] == basis[low] << count)
            run_image |= basis[low + count++];
        text =
            cuda_join(e, text, *image, run_text(e, var, low, count, bits, basis[low]), run_image);
        *image |= run_image;
    }
    return text;
}

const char *cuda_join(Emit *e, const char *a, uint32_t a_image, const char *b, uint32_t b_image)
{
    if (strcmp(a, "0") == 0)
        return b;
    if (strcmp(b, "0") == 0)
        return a;
    return (a_image & b_image) == 0 ? cuda_text(e, "%s + %s", a, b)
                                    : cuda_text(e, "(%s) ^ (%s)", a, b);
}

static const char *open_loop(Emit *e, unsigned n, unsigned step, const char *brace)
{
    if (n <= step) {
        if (*brace)
            cuda_line(e, "{");
        e->body.indent += *brace != 0;
        return "0";
    }
    const char *unroll = n < e->roll_from ? "NT_UNROLL" : "NT_UNROLL_SOME";
    const char *next = step == 1 ? "++" : cuda_text(e, " += %u", step);
    cuda_line(e, "%s for (int r = 0; r < %u; r%s)%s", unroll, n, next, brace);
    e->body.indent++;
    return "r";
}

const char *cuda_loop(Emit *e, unsigned n, unsigned step)
{
    return open_loop(e, n, step, "");
}

const char *cuda_block_loop(Emit *e, unsigned n, unsigned step)
{
    return open_loop(e, n, step, " {");
}

void cuda_block_end(Emit *e)
{
    e->body.indent--;
    cuda_line(e, "}");
}

void cuda_loop_end(Emit *e, unsigned n, unsigned step)
{
    if (n > step)
        e->body.indent--;
}

unsigned cuda_layout_index(Emit *e, const Layout *l)
{
    for (uint32_t i = 0; i < e->layouts.len; i++)
        if (e->layouts.at[i].layout == l)
            return i;
    VEC_PUSH(e->arena, &e->layouts, ((EmitLayout){ .layout = l }));
    return e->layouts.len - 1;
}

static uint32_t image_of(const uint32_t *basis, unsigned bits)
{
    uint32_t image = 0;
    for (unsigned k = 0; k < bits; k++)
        image |= basis[k];
    return image;
}

const char *cuda_element(Emit *e, const Layout *l, const char *slot)
{
    const unsigned index = cuda_layout_index(e, l);
    const uint32_t thread_image = image_of(l->basis + l->reg_bits, LAYOUT_LANE_BITS + l->warp_bits);
    uint32_t slot_image = 0;
    const char *slot_text =
        strcmp(slot, "0") == 0 ? "0" : cuda_linear(e, slot, l->basis, l->reg_bits, &slot_image);
    const char *thread_text = "0";
    if (thread_image) {
        e->layouts.at[index].wants_at = true;
        cuda_tid(e);
        thread_text = cuda_text(e, "at_L%u", index);
    }
    return cuda_join(e, thread_text, thread_image, slot_text, slot_image);
}

const char *cuda_tid(Emit *e)
{
    e->wants_tid = true;
    return "tid";
}

const char *cuda_owner(Emit *e, const Layout *l)
{
    if (!l)
        return cuda_text(e, "%s == 0", cuda_tid(e));
    if (layout_replicated_threads(l) == 0)
        return NULL;
    const unsigned index = cuda_layout_index(e, l);
    e->layouts.at[index].wants_own = true;
    cuda_tid(e);
    return cuda_text(e, "own_L%u", index);
}

const char *cuda_first_slot(Emit *e, const Layout *l, const char *slot)
{
    uint32_t repeated = 0;
    for (unsigned k = 0; l && k < l->reg_bits; k++)
        if (l->basis[k] == 0)
            repeated |= 1u << k;
    return repeated && strcmp(slot, "0") != 0
               ? cuda_text(e, "(%s & %" PRIu32 ") == 0", slot, repeated)
               : NULL;
}

/// The variable that says whose turn it is, switched when the operation begins.
static const char *turn_of(Emit *e, const IrOp *op)
{
    for (uint32_t i = 0; i < e->turns.len; i++)
        if (e->turns.at[i].op == op)
            return e->turns.at[i].name;
    const char *name = cuda_name(e, "turn");
    VEC_PUSH(e->arena, &e->turns, ((EmitTurn){ op, name }));
    cuda_line(e, "%s ^= %" PRIu32 ";", name, op->smem_turn);
    return name;
}

const char *cuda_scratch(Emit *e, const IrOp *op, const char *ctype, const char *hint,
                         uint32_t offset, uint32_t bytes)
{
    const uint32_t size = op->smem_bytes - op->smem_turn;
    if (op->smem < 0 || offset + bytes > size) {
        cuda_fault(e, op, "its scratch in shared memory is too small");
        return NULL;
    }
    const char *at = cuda_text(e, "%" PRIu32 "%s", (uint32_t)op->smem + offset, cuda_team_offset(e));
    if (op->smem_turn)
        at = strcmp(at, "0") == 0 ? turn_of(e, op) : cuda_text(e, "%s + %s", at, turn_of(e, op));
    const char *name = cuda_name(e, hint);
    cuda_line(e, "NT_SHARED(%s, %s, %s);", ctype, name, at);
    return name;
}
