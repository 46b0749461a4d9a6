/// builtin_random.c - random numbers: the Philox generator (Salmon et al., 2011), and what is made
/// of its bits.
///
/// Streams are those of Triton: the key is the seed, the counter the offset; a generator of 32-bit
/// words unless its counters are 64-bit ones. Every number depends on seed and offset alone.
#include "lower/builtins.h"

enum { WORDS = 4, MOST_ROUNDS = 100 };

/// What differs between the generators of 32-bit and of 64-bit words.
typedef struct Philox {
    ScalarKind word;
    uint64_t key[2], factor[2];
} Philox;

static const Philox philox32 = { SCALAR_U32,
                                 { 0x9E3779B9, 0xBB67AE85 },
                                 { 0xD2511F53, 0xCD9E8D57 } };
static const Philox philox64 = { SCALAR_U64,
                                 { 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B },
                                 { 0xD2E7470EE14C6C93, 0xCA5A826395121157 } };

static const Type *word_type(Lower *cx, ScalarKind k)
{
    return type_scalar(lower_types(cx), k);
}

static IrValue *number(Lower *cx, const Type *like, uint64_t v)
{
    return ir_const_int(lower_builder(cx), like, (int64_t)v);
}

/// Argument `index` as an integer value.
static IrValue *integer(Lower *cx, const BoundArgs *args, unsigned index)
{
    const char *name = args->builtin->params[index].name->text;
    IrValue *v = lower_value(cx, args->at[index], name, args->spans[index]);
    if (!v || type_is_int(v->type))
        return v;
    lower_error(cx, DIAG_TYPE_MISMATCH, args->spans[index],
                "argument '%s' of '%s' must be an integer, got %s", name, args->builtin->name->text,
                lower_text(cx, args->at[index]));
    return NULL;
}

/// The rounds on words of one shape.
static void run_rounds(Lower *cx, const Philox *p, IrValue **c, IrValue **key, int64_t rounds)
{
    IrBuilder *b = lower_builder(cx);
    for (int64_t i = 0; i < rounds; i++) {
        const Type *t = c[0]->type;
        IrValue *a0 = c[0], *a2 = c[2];
        IrValue *high0 = ir_binary(b, IR_UMULHI, number(cx, t, p->factor[1]), a2);
        IrValue *high2 = ir_binary(b, IR_UMULHI, number(cx, t, p->factor[0]), a0);
        c[0] = ir_binary(b, IR_XOR, ir_binary(b, IR_XOR, high0, c[1]), key[0]);
        c[2] = ir_binary(b, IR_XOR, ir_binary(b, IR_XOR, high2, c[3]), key[1]);
        c[1] = ir_binary(b, IR_MUL, number(cx, t, p->factor[1]), a2);
        c[3] = ir_binary(b, IR_MUL, number(cx, t, p->factor[0]), a0);
        for (int k = 0; k < 2; k++)
            key[k] = ir_binary(b, IR_ADD, key[k], number(cx, t, p->key[k]));
    }
}

/// The four words for counters of one type and shape; `key` are scalars or of their shape.
static bool generate(Lower *cx, const Philox *p, IrValue **c, IrValue **key, int64_t rounds,
                     Span span)
{
    for (int k = 0; k < 2; k++)
        if (!(key[k] = lower_broadcast_to(cx, key[k], c[0]->type, span)))
            return false;
    run_rounds(cx, p, c, key, rounds);
    return true;
}

/// The two halves of the seed.
static bool seed_key(Lower *cx, const BoundArgs *args, const Philox *p, IrValue **key)
{
    IrBuilder *b = lower_builder(cx);
    IrValue *seed = integer(cx, args, 0);
    if (!seed)
        return false;
    seed = ir_cast(b, seed, word_type(cx, SCALAR_U64));
    if (p->word == SCALAR_U64) {
        key[0] = seed;
        key[1] = ir_binary(b, IR_XOR, seed, seed);
        return true;
    }
    key[0] = ir_cast(b, seed, word_type(cx, SCALAR_U32));
    key[1] = ir_cast(b, ir_binary(b, IR_SHR, seed, number(cx, seed->type, 32)),
                     word_type(cx, SCALAR_U32));
    return true;
}

static bool want_rounds(Lower *cx, const BoundArgs *args, unsigned index, int64_t *rounds)
{
    if (!lower_want_int(cx, args, index, rounds))
        return false;
    if (*rounds >= 0 && *rounds <= MOST_ROUNDS)
        return true;
    lower_error(cx, DIAG_BAD_VALUE, args->spans[index], "n_rounds is %d; it is 0 to %d",
                (int)*rounds, MOST_ROUNDS);
    return false;
}

static Val words(Lower *cx, IrValue *const *v, unsigned count)
{
    Val out = { .kind = VAL_TUPLE, .tuple = { ARENA_NEW_N(lower_arena(cx), Val, count), count } };
    for (unsigned i = 0; i < count; i++)
        out.tuple.at[i] = val_of(v[i]);
    return out;
}

// randint4x: the words at (offset, high half of offset, 0, 0).
static bool bits_at_offset(Lower *cx, const BoundArgs *args, IrValue **c)
{
    IrBuilder *b = lower_builder(cx);
    IrValue *key[2], *offset = integer(cx, args, 1);
    int64_t rounds;
    if (!offset || !seed_key(cx, args, &philox32, key) || !want_rounds(cx, args, 2, &rounds))
        return false;
    const Type *u32 = word_type(cx, SCALAR_U32);
    c[0] = ir_cast(b, offset, u32);
    c[1] = c[2] = c[3] = number(cx, c[0]->type, 0);
    if (type_elem_bytes(offset->type) == 8)
        c[1] = ir_cast(b, ir_binary(b, IR_SHR, offset, number(cx, offset->type, 32)), u32);
    return generate(cx, &philox32, c, key, rounds, args->call);
}

/// Random bits as a float in [0, 1): the sign folded away, then scaled.
static IrValue *uniform(Lower *cx, IrValue *x)
{
    IrBuilder *b = lower_builder(cx);
    const bool wide = type_elem_bytes(x->type) == 8;
    const Type *kind = word_type(cx, wide ? SCALAR_I64 : SCALAR_I32);
    x = ir_cast(b, x, kind);
    IrValue *folded = ir_binary(b, IR_SUB, ir_unary(b, IR_NEG, x), number(cx, x->type, 1));
    x = ir_select(b, ir_binary(b, IR_LT, x, number(cx, x->type, 0)), folded, x);
    x = ir_cast(b, x, word_type(cx, SCALAR_F32));
    return ir_binary(b, IR_MUL, x,
                     ir_const_float(b, x->type, wide ? 1.0842020432385337e-19 : 4.6566127342e-10));
}

/// Two normal values of two uniform ones (Box and Muller).
static void normal_pair(Lower *cx, IrValue *u1, IrValue *u2, IrValue **out)
{
    IrBuilder *b = lower_builder(cx);
    const Type *t = u1->type;
    u1 = ir_binary(b, IR_MAX, u1, ir_const_float(b, t, 1.0e-7));
    IrValue *angle = ir_binary(b, IR_MUL, u2, ir_const_float(b, t, 6.283185307179586));
    IrValue *log = ir_binary(b, IR_MUL, ir_unary(b, IR_LOG, u1), ir_const_float(b, t, -2.0));
    IrValue *radius = ir_unary(b, IR_SQRT, log);
    out[0] = ir_binary(b, IR_MUL, radius, ir_unary(b, IR_COS, angle));
    out[1] = ir_binary(b, IR_MUL, radius, ir_unary(b, IR_SIN, angle));
}

// rand, randint, randn and their forms with four results.
Val lower_fn_random(Lower *cx, const BoundArgs *args)
{
    IrValue *c[WORDS], *n[WORDS];
    const BuiltinId id = args->builtin->id;
    const bool four = id == BUILTIN_RAND4X || id == BUILTIN_RANDINT4X || id == BUILTIN_RANDN4X;
    if (!bits_at_offset(cx, args, c))
        return val_error();
    for (int i = 0; i < WORDS && id != BUILTIN_RANDINT && id != BUILTIN_RANDINT4X; i++)
        c[i] = uniform(cx, c[i]);
    if (id == BUILTIN_RANDN || id == BUILTIN_RANDN4X) {
        normal_pair(cx, c[0], c[1], n);
        normal_pair(cx, c[2], c[3], n + 2);
        return four ? words(cx, n, WORDS) : val_of(n[0]);
    }
    return four ? words(cx, c, WORDS) : val_of(c[0]);
}

/// Counters at argument `first` on: of one shape, as unsigned words of one width.
static const Philox *counters(Lower *cx, const BoundArgs *args, unsigned first, IrValue **c)
{
    Span spans[WORDS];
    bool wide = false;
    for (unsigned i = 0; i < WORDS; i++) {
        if (!(c[i] = integer(cx, args, first + i)))
            return NULL;
        spans[i] = args->spans[first + i];
        wide = wide || type_elem_bytes(c[i]->type) == 8;
    }
    const Philox *p = wide ? &philox64 : &philox32;
    if (!lower_broadcast(cx, c, spans, WORDS, args->call))
        return NULL;
    for (unsigned i = 0; i < WORDS; i++)
        c[i] = ir_cast(lower_builder(cx), c[i], word_type(cx, p->word));
    return p;
}

// philox(seed, c0, c1, c2, c3), philox_impl(c0, c1, c2, c3, k0, k1)
Val lower_fn_philox(Lower *cx, const BoundArgs *args)
{
    IrValue *c[WORDS], *key[2];
    int64_t rounds;
    const bool plain = args->builtin->id == BUILTIN_PHILOX;
    const Philox *p = counters(cx, args, plain ? 1 : 0, c);
    if (!p || !want_rounds(cx, args, plain ? 5 : 6, &rounds) ||
        (plain && !seed_key(cx, args, p, key)))
        return val_error();
    for (unsigned i = 0; i < 2 && !plain; i++) {
        if (!(key[i] = integer(cx, args, WORDS + i)))
            return val_error();
        key[i] = ir_cast(lower_builder(cx), key[i], word_type(cx, p->word));
    }
    return generate(cx, p, c, key, rounds, args->call) ? words(cx, c, WORDS) : val_error();
}

Val lower_fn_uniform_float(Lower *cx, const BoundArgs *args)
{
    IrValue *x = integer(cx, args, 0);
    return x ? val_of(uniform(cx, x)) : val_error();
}

Val lower_fn_normal_pair(Lower *cx, const BoundArgs *args)
{
    IrValue *u[2], *n[2];
    for (unsigned i = 0; i < 2; i++)
        if (!(u[i] = lower_value_as(cx, args->at[i], word_type(cx, SCALAR_F32), "a uniform value",
                                    args->spans[i])))
            return val_error();
    if (!lower_broadcast(cx, u, args->spans, 2, args->call))
        return val_error();
    normal_pair(cx, u[0], u[1], n);
    return words(cx, n, 2);
}
