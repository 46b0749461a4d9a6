/// text.c - a layout in one line of text, and back: what IR dumps show and what IR tests read.
#include "layout/layout.h"
#include "layout/layout_impl.h"
#include <string.h>

static void print_bits(Buf *out, const char *name, const uint32_t *basis, unsigned count)
{
    buf_printf(out, "%s=[", name);
    for (unsigned k = 0; k < count; k++)
        buf_printf(out, k > 0 ? ",%u" : "%u", (unsigned)basis[k]);
    buf_putc(out, ']');
}

void layout_print(Buf *out, const Layout *l)
{
    print_bits(out, "reg", l->basis, l->reg_bits);
    print_bits(out, ";lane", l->basis + l->reg_bits, LAYOUT_LANE_BITS);
    print_bits(out, ";warp", l->basis + l->reg_bits + LAYOUT_LANE_BITS, l->warp_bits);
}

typedef struct Reader {
    const char *at, *end;
    uint32_t limit;  ///< every number is below it
} Reader;

static bool take(Reader *r, const char *text)
{
    const size_t len = strlen(text);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
        return false;
    r->at += len;
    return true;
}

static bool take_number(Reader *r, uint32_t *value)
{
    const char *first = r->at;
    *value = 0;
    while (r->at != r->end && *r->at >= '0' && *r->at <= '9') {
        *value = *value * 10 + (uint32_t)(*r->at++ - '0');
        if (*value >= r->limit)
            return false;
    }
    return r->at != first;
}

/// Reads "name=[n,n,...]" with at most `max` numbers.
static bool take_bits(Reader *r, const char *name, uint32_t *basis, unsigned max, unsigned *count)
{
    *count = 0;
    if (!take(r, name) || !take(r, "=["))
        return false;
    if (take(r, "]"))
        return true;
    do {
        if (*count == max || !take_number(r, &basis[*count]))
            return false;
        ++*count;
    } while (take(r, ","));
    return take(r, "]");
}

const Layout *layout_read(LayoutTable *t, const char *text, size_t len, unsigned elem_bits)
{
    enum { MAX_WARP_BITS = 5, MAX_REG_BITS = LAYOUT_MAX_BITS - LAYOUT_LANE_BITS - MAX_WARP_BITS };
    Reader r = { text, text + len, UINT32_C(1) << elem_bits };
    Layout l = { .elem_bits = (uint8_t)elem_bits };
    unsigned regs, lanes, warps;
    if (!take_bits(&r, "reg", l.basis, MAX_REG_BITS, &regs) ||
        !take_bits(&r, ";lane", l.basis + regs, LAYOUT_LANE_BITS, &lanes) ||
        lanes != LAYOUT_LANE_BITS ||
        !take_bits(&r, ";warp", l.basis + regs + lanes, MAX_WARP_BITS, &warps) || r.at != r.end)
        return NULL;
    l.reg_bits = (uint8_t)regs;
    l.warp_bits = (uint8_t)warps;
    return layout_intern(t, &l);
}

static void print_for_ir(void *cx, const struct Layout *l, Buf *out)
{
    (void)cx;
    layout_print(out, l);
}

static const struct Layout *read_for_ir(void *cx, const char *text, size_t len, const Type *block)
{
    return layout_read(cx, text, len, layout_log2(block->numel));
}

IrLayoutText layout_ir_text(LayoutTable *t)
{
    return (IrLayoutText){ .cx = t, .print = print_for_ir, .read = read_for_ir };
}
