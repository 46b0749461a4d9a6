// env.c - frames, slots and bindings: what a name means at this point of the lowering.
//
// Slots are found by an open-addressing map from interned names. All changes go through
// lower_rebind, which journals the old binding; taking changes back is a walk over the journal's
// tail, so branches cost what they change. Reads say why a variable may have no value.
#include "lower/lower_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Frame *lower_frame_push(Lower *cx, const Function *f, Module *m, Span call)
{
    Frame *frame = ARENA_NEW(cx->arena, Frame);
    frame->caller = cx->frame;
    frame->function = f;
    frame->module = m;
    frame->call = call;
    frame->is_constant = !f || f->kind == FUNC_CONSTEXPR;
    cx->frame = frame;
    frame->returned = lower_slot_hidden(cx);
    frame->result = lower_slot_hidden(cx);
    lower_bind(cx, frame->returned, val_const(const_bool(false)), call);
    return frame;
}

void lower_frame_pop(Lower *cx)
{
    cx->frame = cx->frame->caller;
}

static uint32_t *map_place(const Frame *f, Sym name)
{
    uint32_t mask = f->map_cap - 1;
    uint32_t at = name->hash & mask;
    while (f->map[at] && f->slots.at[f->map[at] - 1].name != name)
        at = (at + 1) & mask;
    return &f->map[at];
}

static void map_grow(Lower *cx, Frame *f)
{
    f->map_cap = f->map_cap ? 2 * f->map_cap : 16;
    f->map = ARENA_NEW_N(cx->arena, uint32_t, f->map_cap);
    for (uint32_t i = 0; i < f->slots.len; i++)
        if (f->slots.at[i].name)
            *map_place(f, f->slots.at[i].name) = i + 1;
}

uint32_t lower_slot_hidden(Lower *cx)
{
    VEC_PUSH(cx->arena, &cx->frame->slots, (Slot){ 0 });
    return cx->frame->slots.len - 1;
}

uint32_t lower_slot_find(const Frame *f, Sym name)
{
    if (!f->map_cap)
        return UINT32_MAX;
    uint32_t found = *map_place(f, name);
    return found ? found - 1 : UINT32_MAX;
}

uint32_t lower_slot_of(Lower *cx, Sym name)
{
    Frame *f = cx->frame;
    uint32_t found = lower_slot_find(f, name);
    if (found != UINT32_MAX)
        return found;
    if (2 * (f->slots.len + 1) > f->map_cap)
        map_grow(cx, f);
    VEC_PUSH(cx->arena, &f->slots, (Slot){ .name = name });
    *map_place(f, name) = f->slots.len;
    return f->slots.len - 1;
}

Local *lower_slot_get(const Lower *cx, uint32_t slot)
{
    return cx->frame->slots.at[slot].binding;
}

void lower_rebind(Lower *cx, uint32_t slot, Local *b)
{
    Slot *s = &cx->frame->slots.at[slot];
    VEC_PUSH(cx->arena, &cx->frame->journal, ((Change){ slot, s->binding }));
    s->binding = b;
}

Local *lower_bind(Lower *cx, uint32_t slot, Val v, Span span)
{
    Local *b = ARENA_NEW(cx->arena, Local);
    b->val = v;
    b->span = span;
    lower_rebind(cx, slot, b);
    return b;
}

uint32_t lower_mark(const Lower *cx)
{
    return cx->frame->journal.len;
}

void lower_take_changes(Lower *cx, uint32_t mark, Arm *out)
{
    Frame *f = cx->frame;
    uint32_t stamp = ++f->stamp;
    out->changes.len = 0;
    while (f->journal.len > mark) {
        Change *c = &f->journal.at[--f->journal.len];
        Slot *s = &f->slots.at[c->slot];
        // Walking backwards, the first meeting of a slot holds its last binding.
        if (s->stamp != stamp) {
            s->stamp = stamp;
            VEC_PUSH(cx->arena, &out->changes, ((Change){ c->slot, s->binding }));
        }
        s->binding = c->binding;
    }
}

void lower_note_calls(Lower *cx)
{
    unsigned shown = 0, hidden = 0;
    for (const Frame *f = cx->frame; f && f->function; f = f->caller) {
        if (!f->caller || !f->caller->function)
            break;
        if (shown < 8) {
            diag_note(cx->consts.diags, f->call, "in '%s', called from here",
                      f->function->name->text);
            shown++;
        } else {
            hidden++;
        }
    }
    if (hidden)
        diag_note(cx->consts.diags, (Span){ 0, 0 }, "and %u more calls", hidden);
}

/// Whether the parser or resolve, which run first, have already said this about a part of `span`.
static bool said_before(const Lower *cx, DiagId id, Span span)
{
    const DiagSink *d = cx->consts.diags;
    if (id != DIAG_NOT_IN_LANGUAGE && id != DIAG_UNDEFINED_NAME)
        return false;
    for (uint32_t i = 0; i < d->list.len; i++) {
        const Diag *before = d->list.at[i];
        if (before->id == id && span.lo <= before->span.lo && before->span.lo < span.hi)
            return true;
    }
    return false;
}

void lower_error(Lower *cx, DiagId id, Span span, const char *format, ...)
{
    if (said_before(cx, id, span)) {
        cx->consts.diags->current = NULL;  // notes and help are dropped with it
        cx->consts.diags->met++;
        return;
    }
    va_list args;
    va_start(args, format);
    Buf text = { 0 };
    buf_vprintf(&text, format, args);
    va_end(args);
    diag_report(cx->consts.diags, id, span, "%s", text.at);
    buf_free(&text);
    lower_note_calls(cx);
}

bool lower_enter(Lower *cx, Span span)
{
    if (cx->stopped)
        return false;
    if (++cx->depth <= LOWER_MAX_DEPTH)
        return true;
    cx->depth--;
    cx->stopped = true;
    lower_error(cx, DIAG_LIMIT, span, "expressions and calls are nested too deeply");
    return false;
}

void lower_leave(Lower *cx)
{
    cx->depth--;
}

static void report_mixed(Lower *cx, Sym name, const Local *b, Span span)
{
    lower_error(cx, DIAG_TYPE_MISMATCH, span, "'%s' is %s or %s here, depending on the way taken",
                name->text, b->types[0], b->types[1]);
    diag_note(cx->consts.diags, b->span, "%s here", b->types[0]);
    diag_note(cx->consts.diags, b->cond, "%s here", b->types[1]);
}

static void report_unset(Lower *cx, Sym name, const Local *b, Span span)
{
    DiagSink *d = cx->consts.diags;
    switch (b->status) {
    case BIND_SET: return;
    case BIND_IN_ARM:
        if (b->in_else)
            lower_error(cx, DIAG_UNDEFINED_NAME, span,
                        "'%s' is not assigned when %s; assign it before the if or in both arms",
                        name->text, lower_source(cx, b->cond));
        else
            lower_error(cx, DIAG_UNDEFINED_NAME, span,
                        "'%s' is assigned only when %s; assign it before the if or in an else",
                        name->text, lower_source(cx, b->cond));
        diag_note(d, b->span, "assigned here");
        return;
    case BIND_IN_LOOP:
        lower_error(
            cx, DIAG_UNDEFINED_NAME, span,
            "'%s' may be unassigned if the loop runs zero times; initialise it before the loop",
            name->text);
        diag_note(d, b->span, "assigned here");
        return;
    case BIND_LOOP_VAR:
        lower_error(cx, DIAG_UNDEFINED_NAME, span, "loop variable '%s' has no value after the loop",
                    name->text);
        diag_note(d, b->span, "the loop is here");
        return;
    case BIND_MIXED: report_mixed(cx, name, b, span); return;
    }
}

Val lower_read_slot(Lower *cx, uint32_t slot, Span span)
{
    Slot *s = &cx->frame->slots.at[slot];
    if (!s->binding) {
        lower_error(cx, DIAG_UNDEFINED_NAME, span, "'%s' is read before it is assigned",
                    s->name->text);
        return val_error();
    }
    s->binding->was_read = true;
    if (s->binding->status == BIND_SET)
        return s->binding->val;
    report_unset(cx, s->name, s->binding, span);
    return val_error();
}
