/// test_variants.c - which kernels, instances and variants a module gives, and the command line's
/// say in it.
#include "lower_case.h"

#define VADD                                                                             \
    LOWER_HEAD                                                                           \
    "SCALE = 2\n"                                                                        \
    "@newt.kernel(grid=lambda n, BLOCK: (nl.cdiv(n, BLOCK),), num_warps=8)\n"            \
    "def vadd(x: ptr[float32], out: ptr[float32], n: int32, BLOCK: constexpr = 1024):\n" \
    "    o = nl.program_id(0) * BLOCK + nl.arange(0, BLOCK)\n"                           \
    "    nl.store(out + o, nl.load(x + o, mask=o < n) * SCALE, mask=o < n)\n"

#define TRITON                                                   \
    "import triton\nimport triton.language as tl\n"              \
    "@triton.jit\n"                                              \
    "def copy(x, out, n, stride, B: tl.constexpr, bias=None):\n" \
    "    o = tl.arange(0, B) * stride\n"                         \
    "    tl.store(out + o, tl.load(x + o, mask=o < n), mask=o < n)\n"

#define INSTANCES                                                                       \
    LOWER_HEAD                                                                          \
    "@newt.instance(T=float16, name='scale_h')\n"                                       \
    "@newt.instance(T=float32, B=8, num_warps=2, name='scale_f')\n"                     \
    "@newt.kernel\n"                                                                    \
    "def scale(x: ptr[T], n: nl.multiple[int32, 4], T: constexpr, B: constexpr = 4):\n" \
    "    nl.store(x + nl.arange(0, B), n)\n"

#define TUNED                                                                              \
    LOWER_HEAD                                                                             \
    "@newt.autotune(configs=[newt.Config({'BLOCK_SIZE_M': b, 'MODE': 'a-b'}, num_warps=w)" \
    " for b, w in [(16, 1), (32, 2)]] + [newt.Config({'BLOCK_SIZE_M': 16, 'MODE': 'a_b'}," \
    " num_warps=1, num_stages=2, maxnreg=40)], key=['n'])\n"                               \
    "@newt.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK_SIZE_M'] == 0})\n"     \
    "@newt.kernel(grid=lambda n: (n,))\n"                                                  \
    "def tuned(x: ptr[int32], n: int32, BLOCK_SIZE_M: constexpr, EVEN: constexpr,"         \
    " MODE: constexpr):\n"                                                                 \
    "    o = nl.arange(0, BLOCK_SIZE_M)\n"                                                 \
    "    nl.store(x + o, n)\n"

#define WIDTH                                                                                   \
    LOWER_HEAD                                                                                  \
    "@newt.heuristics({'W': lambda n: max(8, min(n, 8) if n is None else"                       \
    " min(32, nl.next_power_of_2(n))), 'num_warps': lambda args: 2 if args['W'] > 8 else 1})\n" \
    "@newt.kernel(grid=lambda n: (n,))\n"                                                       \
    "def width(x: ptr[int32], n: int32, W: constexpr):\n"                                       \
    "    nl.store(x + nl.arange(0, W), n)\n"

typedef struct {
    const char *name, *source;
    VariantOptions opt;
    const char *units;  // "c_name [variant] params; ..." a line
    const char *messages;
} Case;

static const char *const named_copy[] = { "copy" };
static const char *const named_wrong[] = { "vad" };
static const char *const block_64[] = { "BLOCK=64", "SCALE=3" };
static const char *const only_default[] = { "default" };
static const char *const by_name[] = { "M32_MODEANB_W2_S3", "M16_MODEA_B_W1_S2_R40" };
static const char *const by_ways[] = { "BLOCK_SIZE_M=64 MODE='c' persistent=0 copy='cp_async'" };
static const char *const by_wrong_copy[] = { "BLOCK_SIZE_M=64 MODE='c' copy='fast'" };
static const char *const by_wrong_stay[] = { "BLOCK_SIZE_M=64 MODE='c' persistent=2" };
static const char *const by_text[] = { "BLOCK_SIZE_M=64 MODE='c' num_warps=4 maxnreg=32" };
static const char *const same_block[] = { "BLOCK_SIZE_M=8", "MODE=1" };
static const char *const unknown_define[] = { "BLOK=64" };

// clang-format off
static const Case cases[] = {
    { "aligned_pointers_and_generic", VADD, { 0 },
      "vadd [x:align16 out:align16 n:div4] warps=8 x=*fp32/16? out=*fp32/16? n=int32/4? BLOCK=1024 grid\n"
      "vadd [generic] warps=8 x=*fp32 out=*fp32 n=int32 BLOCK=1024 grid\n", "" },
    { "no_specialization", VADD, { .specialize = "none" },
      "vadd [generic] warps=8 x=*fp32 out=*fp32 n=int32 BLOCK=1024 grid\n", "" },
    { "listed_facts", VADD, { .specialize = "x:align32 n:div8 n:1" },
      "vadd [x:align32 n:div8 n:1] warps=8 x=*fp32/32? out=*fp32 n=int32/8?==1 BLOCK=1024 grid\n"
      "vadd [generic] warps=8 x=*fp32 out=*fp32 n=int32 BLOCK=1024 grid\n", "" },
    { "a_fact_that_does_not_fit", VADD, { .specialize = "n:align16" }, "",
      "0: --specialize: 'n:align16' does not fit the parameter's type [bad-value]\n"
      "help: write facts as 'x:align16 n:div16 stride:1'\n" },
    { "defines_bind_parameters_and_constants", VADD,
      { .specialize = "none", .defines = block_64, .define_count = 2, .num_warps = 2 },
      "vadd [generic] warps=2 x=*fp32 out=*fp32 n=int32 BLOCK=64 grid\n", "" },
    { "a_define_of_nothing", VADD, { .specialize = "none", .defines = unknown_define, .define_count = 1 },
      "vadd [generic] warps=8 x=*fp32 out=*fp32 n=int32 BLOCK=1024 grid\n",
      "0: -DBLOK=64: no constant or parameter has this name [undefined-name]\n" },
    { "a_kernel_that_is_not_there", VADD, { .kernels = named_wrong, .kernel_count = 1 }, "",
      "0: no kernel 'vad' in 't.newt' [undefined-name]\nhelp: did you mean 'vadd'?\n" },
    { "a_jit_function_is_no_kernel", TRITON, { 0 }, "", "" },
    { "signature_with_hints", TRITON,
      { .kernels = named_copy, .kernel_count = 1, .signature = "*kfp16:16, *fp16, i32:16, i32:1, 64", .specialize = "auto" },
      "copy [x:align16 n:div16 stride:1 out:align16] warps=4 x=*const fp16/16? out=*fp16/16? n=int32/16? stride=int32==1 B=64 bias=None\n"
      "copy [generic] warps=4 x=*const fp16 out=*fp16 n=int32 stride=int32 B=64 bias=None\n", "" },
    { "signature_too_short", TRITON, { .kernels = named_copy, .kernel_count = 1, .signature = "*fp16, *fp16" }, "",
      "4: kernel 'copy' has 6 parameters, the signature lists 2 [bad-call]\n"
      "note 4: the first that is missing: 'n'\n" },
    { "signature_with_an_unknown_type", TRITON,
      { .kernels = named_copy, .kernel_count = 1, .signature = "*fp17, *fp16, i32, i32, 64" }, "",
      "4: unknown type in signature item 1, '*fp17' [bad-call]\n" },
    { "signature_with_a_wrong_hint", TRITON,
      { .kernels = named_copy, .kernel_count = 1, .signature = "*fp16:8, *fp16, i32, i32, 64" }, "",
      "4: the hint must be 16, or 1 for an integer in signature item 1, '*fp16:8' [bad-call]\n" },
    { "types_that_are_missing", TRITON, { .kernels = named_copy, .kernel_count = 1 }, "",
      "4: parameter 'x' of kernel 'copy' has no type [bad-call]\nhelp: annotate it, or give its type with --signature\n"
      "4: parameter 'out' of kernel 'copy' has no type [bad-call]\nhelp: annotate it, or give its type with --signature\n"
      "4: parameter 'n' of kernel 'copy' has no type [bad-call]\nhelp: annotate it, or give its type with --signature\n"
      "4: parameter 'stride' of kernel 'copy' has no type [bad-call]\nhelp: annotate it, or give its type with --signature\n"
      "4: constexpr parameter 'B' of kernel 'copy' has no value [not-constexpr]\n"
      "help: give a default, an @newt.instance, or -D B=VALUE\n" },
    { "instances_are_functions_of_their_own", INSTANCES, { .specialize = "none" },
      "scale_h [generic] warps=4 x=*fp16 n=int32/4 T=fp16 B=4\n"
      "scale_f [generic] warps=2 x=*fp32 n=int32/4 T=fp32 B=8\n", "" },
    { "configurations_and_heuristics", TUNED, { .specialize = "none" },
      "tuned M16_MODEANB_W1_S3: BLOCK_SIZE_M=16 MODE='a-b' num_warps=1 num_stages=3\n"
      "tuned [EVEN=0] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=False MODE='a-b' grid\n"
      "tuned [EVEN=1] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=True MODE='a-b' grid\n"
      "tuned M32_MODEANB_W2_S3: BLOCK_SIZE_M=32 MODE='a-b' num_warps=2 num_stages=3\n"
      "tuned [EVEN=0] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=32 EVEN=False MODE='a-b' grid\n"
      "tuned [EVEN=1] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=32 EVEN=True MODE='a-b' grid\n"
      "tuned M16_MODEA_B_W1_S2_R40: BLOCK_SIZE_M=16 MODE='a_b' num_warps=1 num_stages=2 maxnreg=40\n"
      "tuned [EVEN=0] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=False MODE='a_b' grid\n"
      "tuned [EVEN=1] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=True MODE='a_b' grid\n", "" },
    { "the_default_configuration", TUNED, { .specialize = "none", .configs = only_default, .config_count = 1 },
      "tuned M16_MODEANB_W1_S3: BLOCK_SIZE_M=16 MODE='a-b' num_warps=1 num_stages=3\n"
      "tuned [EVEN=0] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=False MODE='a-b' grid\n"
      "tuned [EVEN=1] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=True MODE='a-b' grid\n", "" },
    { "configurations_by_name", TUNED, { .specialize = "none", .configs = by_name, .config_count = 2 },
      "tuned M32_MODEANB_W2_S3: BLOCK_SIZE_M=32 MODE='a-b' num_warps=2 num_stages=3\n"
      "tuned [EVEN=0] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=32 EVEN=False MODE='a-b' grid\n"
      "tuned [EVEN=1] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=32 EVEN=True MODE='a-b' grid\n"
      "tuned M16_MODEA_B_W1_S2_R40: BLOCK_SIZE_M=16 MODE='a_b' num_warps=1 num_stages=2 maxnreg=40\n"
      "tuned [EVEN=0] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=False MODE='a_b' grid\n"
      "tuned [EVEN=1] warps=1 x=*int32 n=int32 BLOCK_SIZE_M=16 EVEN=True MODE='a_b' grid\n", "" },
    { "a_configuration_by_its_text", TUNED, { .specialize = "none", .configs = by_text, .config_count = 1 },
      "tuned M64_MODEC_W4_S3_R32: BLOCK_SIZE_M=64 MODE='c' num_warps=4 num_stages=3 maxnreg=32\n"
      "tuned [EVEN=0] warps=4 x=*int32 n=int32 BLOCK_SIZE_M=64 EVEN=False MODE='c' grid\n"
      "tuned [EVEN=1] warps=4 x=*int32 n=int32 BLOCK_SIZE_M=64 EVEN=True MODE='c' grid\n", "" },
    { "a_configuration_of_other_ways", TUNED, { .specialize = "none", .configs = by_ways, .config_count = 1 },
      "tuned M64_MODEC_W4_S3_CP_ASYNC_FLAT: BLOCK_SIZE_M=64 MODE='c' num_warps=4 num_stages=3 copy='cp_async' "
      "persistent=0\n"
      "tuned [EVEN=0] warps=4 x=*int32 n=int32 BLOCK_SIZE_M=64 EVEN=False MODE='c' grid\n"
      "tuned [EVEN=1] warps=4 x=*int32 n=int32 BLOCK_SIZE_M=64 EVEN=True MODE='c' grid\n", "" },
    { "a_copy_that_there_is_not", TUNED, { .configs = by_wrong_copy, .config_count = 1 }, "",
      "0: 'copy' must be 'sync', 'cp_async' or 'tma', got a string [bad-value]\n" },
    { "neither_true_nor_false", TUNED, { .configs = by_wrong_stay, .config_count = 1 }, "",
      "0: 'persistent' must be True or False, got an int [type-mismatch]\n" },
    { "configurations_that_become_equal_count_once", TUNED,
      { .specialize = "none", .defines = same_block, .define_count = 2, .num_warps = 2, .num_stages = 1 },
      "tuned M8_MODE1_W2_S1: BLOCK_SIZE_M=8 MODE=1 num_warps=2 num_stages=1\n"
      "tuned [EVEN=0] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=8 EVEN=False MODE=1 grid\n"
      "tuned [EVEN=1] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=8 EVEN=True MODE=1 grid\n"
      "tuned M8_MODE1_W2_S1_R40: BLOCK_SIZE_M=8 MODE=1 num_warps=2 num_stages=1 maxnreg=40\n"
      "tuned [EVEN=0] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=8 EVEN=False MODE=1 grid\n"
      "tuned [EVEN=1] warps=2 x=*int32 n=int32 BLOCK_SIZE_M=8 EVEN=True MODE=1 grid\n", "" },
    { "powers_of_two_between_bounds", WIDTH, { .specialize = "none" },
      "width [W=8] warps=1 x=*int32 n=int32 W=8 grid\n"
      "width [W=16] warps=2 x=*int32 n=int32 W=16 grid\n"
      "width [W=32] warps=2 x=*int32 n=int32 W=32 grid\n", "" },
};
// clang-format on

static void print_param(Buf *out, LowerCase *c, const Function *f, const ParamBinding *b,
                        uint32_t i)
{
    buf_printf(out, " %s=", f->params[i].name->text);
    if (b->is_constexpr) {
        const_print(out, &b->value);
        return;
    }
    buf_puts(out, type_text(c->program.types, b->type));
    if (b->divisor > 1)
        buf_printf(out, "/%d%s", (int)b->divisor, b->assumed ? "?" : "");
    if (b->has_value)
        buf_printf(out, "==%d", (int)b->equals);
}

static void check_units(void **state)
{
    const Case *row = *state;
    LowerCase c;
    Buf out = { 0 };
    buf_puts(&out, "");
    lower_case_begin(&c, row->source, &row->opt);
    for (uint32_t i = 0; i < c.units.len; i++) {
        const KernelUnit *u = &c.units.at[i];
        const UnitForm *form = u->forms;
        for (uint32_t v = 0; v < u->variant_count; v++) {
            if (v == form->first_variant + form->variant_count)
                form++;
            if (u->config_count && v == form->first_variant &&
                (v == 0 || form[-1].config != form->config))
                buf_printf(&out, "%s %s: %s\n", u->c_name, u->configs[form->config].name,
                           u->configs[form->config].text);
            buf_printf(&out, "%s [%s] warps=%u", u->c_name, u->variant_names[v],
                       u->variants[v].num_warps);
            for (uint32_t k = 0; k < u->function->param_count; k++)
                print_param(&out, &c, u->function, &u->variants[v].params[k], k);
            buf_printf(&out, "%s\n", form->grid ? " grid" : "");
            assert_string_not_equal(lower_case_ir(&c, &u->variants[v]), "");
        }
    }
    assert_string_equal(lower_case_messages(&c), row->messages);
    assert_string_equal(out.at, row->units);
    buf_free(&out);
    arena_free(&c.arena);
}

// language.md 2.16: an int32 product of program ids and arguments wraps, and does not with
// --index64.
static void index64_widens_ids_and_arguments(void **state)
{
    (void)state;
    static const char source[] = LOWER_HEAD "@newt.kernel(num_warps=1, num_stages=1)\n"
                                            "def k(out: ptr[int64], stride: int32):\n"
                                            "    b = nl.program_id(0) + 319\n"
                                            "    nl.store(out, b * stride)\n";
    LowerCase c;
    assert_true(
        lower_case_begin(&c, source, &(VariantOptions){ .specialize = "none", .index64 = true }));
    assert_string_equal(lower_case_ir(&c, &c.units.at[0].variants[0]),
                        "func @k(%out.0: *i64, %stride.1: i32) num_warps=1 num_stages=1 index64 {\n"
                        "    %stride.2 = cast %stride.1 : i64\n"
                        "    %3 = program_id {axis=0} : i32\n"
                        "    %4 = cast %3 : i64\n"
                        "    %5 = const 319 : i64\n"
                        "    %b.6 = add %4, %5 : i64\n"
                        "    %7 = mul %b.6, %stride.2 : i64\n"
                        "    store %out.0, %7\n"
                        "    return\n"
                        "}\n");
    arena_free(&c.arena);
}

// A variable that is int32 before a loop and int64 after its body is int64 from the beginning.
static void index64_widens_carried_variables(void **state)
{
    (void)state;
    static const char source[] = LOWER_HEAD "@newt.kernel(num_warps=1, num_stages=1)\n"
                                            "def k(p: ptr[int32], n: int32):\n"
                                            "    a = nl.load(p)\n"
                                            "    for i in range(n):\n"
                                            "        a += i\n"
                                            "    nl.store(p + a, 1)\n";
    LowerCase c;
    assert_true(
        lower_case_begin(&c, source, &(VariantOptions){ .specialize = "none", .index64 = true }));
    const char *ir = lower_case_ir(&c, &c.units.at[0].variants[0]);
    assert_string_equal(lower_case_messages(&c), "");
    assert_non_null(strstr(ir, " : i64 (%i."));
    arena_free(&c.arena);
}

static void grid_is_a_function_of_int64(void **state)
{
    (void)state;
    LowerCase c;
    assert_true(lower_case_begin(&c, VADD, &(VariantOptions){ 0 }));
    Buf out = { 0 };
    assert_true(ir_verify(c.units.at[0].forms[0].grid, &c.diags));
    ir_print(c.units.at[0].forms[0].grid, NULL, &out);
    assert_string_equal(
        out.at,
        "func @vadd_grid(%x.0: *fp32, %out.1: *fp32, %n.2: i64) num_warps=4 num_stages=1 {\n"
        "    %3 = const 1024 : i64\n"
        "    %4 = cdiv %n.2, %3 : i64\n"
        "    %5 = const 1 : i64\n"
        "    %6 = const 1 : i64\n"
        "    return %4, %5, %6\n"
        "}\n");
    buf_free(&out);
    arena_free(&c.arena);
}

int main(void)
{
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(index64_widens_ids_and_arguments),
        cmocka_unit_test(index64_widens_carried_variables),
        cmocka_unit_test(grid_is_a_function_of_int64),
    };
    return LOWER_RUN_CASES("variants", cases, check_units) +
           cmocka_run_group_tests_name("variants_alone", alone, NULL, NULL);
}
