/// messages.c - see messages.h. JSON and SARIF are one document whatever the number of inputs.
#include "driver/messages.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// https://no-color.org and its counterpart; a dumb terminal shows escape sequences as text.
static bool messages_terminal_has_color(void)
{
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
    if (no && *no)
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void messages_format(const Job *jobs, uint32_t count, bool color, Buf *out)
{
    Arena a = { 0 };
    const DiagSink **sinks = ARENA_NEW_N(&a, const DiagSink *, count);
    for (uint32_t i = 0; i < count; i++)
        sinks[i] = &jobs[i].diags;
    diag_print_all(sinks, count, jobs[0].opt->format, color, out);
    arena_free(&a);
}

bool messages_print(const Job *jobs, uint32_t count)
{
    const Options *o = jobs[0].opt;
    Buf text = { 0 };
    bool color = o->color == COLOR_ALWAYS ||
                 (o->color == COLOR_AUTO && !o->diag_file && messages_terminal_has_color());
    messages_format(jobs, count, color, &text);
    if (text.len && o->format == DIAG_TEXT)
        options_note_unknown_warnings(o);
    bool ok = true;
    FILE *to = o->diag_file ? fopen(o->diag_file, "w") : stderr;
    if (to && text.len)
        ok = fwrite(text.at, 1, text.len, to) == text.len;
    if (!to || (o->diag_file && fclose(to) != 0) || !ok) {
        fprintf(stderr, "newtc: error: cannot write '%s': %s\n",
                o->diag_file ? o->diag_file : "standard error", strerror(errno));
        ok = false;
    }
    buf_free(&text);
    return ok;
}

void messages_print_times(const Job *jobs, uint32_t count, TimeReport form)
{
    static const char *const names[JOB_TIME_COUNT] = { "front", "lower", "nvrtc", "write" };
    Buf out = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        const Job *job = &jobs[i];
        if (form == TIME_JSON) {
            buf_puts(&out, i ? ",\n { \"file\": " : "[{ \"file\": ");
            buf_json_string(&out, job->path, strlen(job->path));
            for (int t = 0; t < JOB_TIME_COUNT; t++)
                buf_printf(&out, ", \"%s_ms\": %.3f", names[t], job->seconds[t] * 1e3);
            buf_printf(&out, ", \"images\": %u, \"cached\": %u }", job->request_count,
                       job->cached_count);
        } else {
            buf_printf(&out,
                       "%s: front end %.2f ms, lowering and passes %.2f ms, NVRTC %.2f ms (%u "
                       "images, %u of them "
                       "from the cache), writing %.2f ms\n",
                       job->path, job->seconds[JOB_TIME_FRONT] * 1e3,
                       job->seconds[JOB_TIME_LOWER] * 1e3, job->seconds[JOB_TIME_NVRTC] * 1e3,
                       job->request_count, job->cached_count, job->seconds[JOB_TIME_WRITE] * 1e3);
        }
    }
    if (form == TIME_JSON)
        buf_puts(&out, "]\n");
    fputs(out.at, stderr);
    buf_free(&out);
}
