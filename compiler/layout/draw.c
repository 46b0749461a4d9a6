/// draw.c - a layout as an SVG picture: who owns what, at a glance.
///
/// One cell an element: "thread:slot" of its owner, the colour by warp. A 1-D block is wrapped into
/// rows of 32 cells; a block of higher rank is drawn as rows of its last axis.
#include "layout/layout.h"

enum { CELL_WIDTH = 44, CELL_HEIGHT = 20, TITLE_HEIGHT = 26, WRAP = 32 };

static void puts_escaped(Buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&': buf_puts(out, "&amp;"); break;
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        default: buf_putc(out, *text); break;
        }
    }
}

static void draw_cell(Buf *out, const Layout *l, uint32_t element, uint32_t columns)
{
    // Golden-angle hues keep neighbouring warps apart.
    enum { HUE_STEP = 137, HUES = 360 };
    uint32_t reg, thread;
    const uint32_t x = element % columns * CELL_WIDTH;
    const uint32_t y = TITLE_HEIGHT + element / columns * CELL_HEIGHT;
    const bool held = layout_owner_of(l, element, &reg, &thread);
    buf_printf(out, "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" ", (unsigned)x, (unsigned)y,
               CELL_WIDTH, CELL_HEIGHT);
    if (!held) {
        buf_puts(out, "fill=\"white\"/>\n");
        return;
    }
    buf_printf(out, "fill=\"hsl(%u,70%%,80%%)\"/>", (unsigned)(thread / 32 * HUE_STEP % HUES));
    buf_printf(out, "<text x=\"%u\" y=\"%u\">%u:%u</text>\n", (unsigned)(x + CELL_WIDTH / 2),
               (unsigned)(y + CELL_HEIGHT - 6), (unsigned)thread, (unsigned)reg);
}

void layout_draw_svg(Buf *out, const Layout *l, const Type *block, const char *title)
{
    uint32_t columns = type_is_block(block) ? (uint32_t)block->shape[block->rank - 1] : 1;
    if (type_rank(block) == 1 && columns > WRAP)
        columns = WRAP;
    const uint32_t rows = block->numel / columns;
    buf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
        "font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\" stroke-width=\"0.5\">\n",
        (unsigned)(columns * CELL_WIDTH), (unsigned)(rows * CELL_HEIGHT + TITLE_HEIGHT));
    buf_puts(out,
             "<style>rect{stroke:#555}</style>\n<text x=\"4\" y=\"16\" text-anchor=\"start\">");
    puts_escaped(out, title);
    buf_puts(out, "</text>\n");
    for (uint32_t e = 0; e < block->numel; e++)
        draw_cell(out, l, e, columns);
    buf_puts(out, "</svg>\n");
}
