/// depfile.c - see depfile.h. Ninja and make both read the form.
#include "driver/depfile.h"
#include <string.h>

static void depfile_name(const char *name, Buf *out)
{
    for (; *name; name++) {
        if (*name == '$')
            buf_putc(out, '$');
        else if (*name == ' ' || *name == '\t' || *name == '#')
            buf_putc(out, '\\');
        buf_putc(out, *name);
    }
}

void depfile_write(const StrList *targets, bool targets_are_quoted, const StrList *inputs,
                   bool phony, Buf *out)
{
    size_t line = 0;
    for (uint32_t i = 0; i < targets->len; i++) {
        size_t before = out->len;
        buf_puts(out, i ? " " : "");
        if (targets_are_quoted)
            buf_puts(out, targets->at[i]);
        else
            depfile_name(targets->at[i], out);
        line += out->len - before;
    }
    buf_putc(out, ':');
    for (uint32_t i = 0; i < inputs->len; i++) {
        if (line + strlen(inputs->at[i]) > 74) {
            buf_puts(out, " \\\n");
            line = 0;
        }
        size_t before = out->len;
        buf_putc(out, ' ');
        depfile_name(inputs->at[i], out);
        line += out->len - before;
    }
    buf_putc(out, '\n');
    for (uint32_t i = 1; phony && i < inputs->len; i++) {
        buf_putc(out, '\n');
        depfile_name(inputs->at[i], out);
        buf_puts(out, ":\n");
    }
}
