// builtin_config.c - what stands in @autotune: dicts of constants and newt.Config.
#include "lower/builtins.h"

Val lower_dict(Lower *cx, const AstDict *n)
{
    const uint32_t len = 2 * n->keys.len;
    ConstVal *items = ARENA_NEW_N(cx->arena, ConstVal, (size_t)len + 1);
    for (uint32_t i = 0; i < len; i++) {
        const AstNode *item = i % 2 ? n->values.at[i / 2] : n->keys.at[i / 2];
        Val v = lower_expr(cx, item);
        if (v.kind == VAL_ERROR)
            return v;
        if (!lower_as_const(cx, v, &items[i])) {
            lower_error(cx, DIAG_NOT_CONSTEXPR, item->span, "a dict holds constants, got %s",
                        lower_text(cx, v));
            return val_error();
        }
    }
    return val_const((ConstVal){ .kind = CONST_DICT, .v.tuple = { items, len } });
}

// An argument of Config as a constant; None stays at its default.
static bool config_item(Lower *cx, const BoundArgs *args, unsigned index, ConstVal *out)
{
    if (lower_as_const(cx, args->at[index], out))
        return true;
    if (args->at[index].kind != VAL_ERROR)
        lower_error(cx, DIAG_NOT_CONSTEXPR, args->spans[index],
                    "argument '%s' of Config must be a constant, got %s",
                    args->builtin->params[index].name->text, lower_text(cx, args->at[index]));
    return false;
}

Val lower_fn_config(Lower *cx, const BoundArgs *args)
{
    enum { VALUES, WARPS, STAGES, CTAS, MAXNREG, PRE_HOOK, IR_OVERRIDE, COPY, PERSISTENT };
    ConstConfig *config = ARENA_NEW(cx->arena, ConstConfig);
    config->span = args->call;
    if (!config_item(cx, args, VALUES, &config->values) ||
        !config_item(cx, args, WARPS, &config->num_warps) ||
        !config_item(cx, args, STAGES, &config->num_stages) ||
        !config_item(cx, args, CTAS, &config->num_ctas) ||
        !config_item(cx, args, MAXNREG, &config->maxnreg) ||
        !config_item(cx, args, COPY, &config->copy) ||
        !config_item(cx, args, PERSISTENT, &config->persistent))
        return val_error();
    if (config->values.kind != CONST_DICT) {
        lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[VALUES],
                    "a configuration's values must be a dict, got %s",
                    const_kind_text(&config->values));
        return val_error();
    }
    for (unsigned i = PRE_HOOK; i <= IR_OVERRIDE; i++)
        if (args->given[i] && !lower_is_none(args->at[i])) {
            lower_error(cx, DIAG_UNSUPPORTED, args->spans[i],
                        "'%s' of Config runs Python code and is not compiled",
                        args->builtin->params[i].name->text);
            if (i == PRE_HOOK)
                diag_help(lower_diags(cx), "reset_to_zero=[...] or restore_value=[...] of autotune "
                                           "prepare arguments before each run");
            return val_error();
        }
    return val_const((ConstVal){ .kind = CONST_CONFIG, .v.ref = config });
}
