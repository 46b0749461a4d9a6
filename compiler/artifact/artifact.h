/// artifact.h - what a compile produced, and the texts that carry it: header, module.c, manifest.
///
/// The driver fills an Artifact from the kernels, the host backend's text and the compiled images;
/// the writers here turn it into bytes and decide nothing else. Same Artifact, same bytes.
/// Everything is borrowed; the texts are made in the caller's Buf.
#ifndef NEWT_ARTIFACT_ARTIFACT_H
#define NEWT_ARTIFACT_ARTIFACT_H
#include "sema/type.h"
#include "support/buf.h"
#include "support/str.h"

/// Where a member of the argument record comes from.
typedef enum {
    SOURCE_GIVEN,  ///< C passes it
    SOURCE_DATA,   ///< address, size or stride of a tensor that C passes
    SOURCE_SIZE,
    SOURCE_STRIDE,
    SOURCE_REACH  ///< a bound of all sizes and offsets, for predicates; no device function takes it
} ArtifactSource;

typedef struct ArtifactParam {
    const char *name;          ///< as in the source
    const char *c_name;        ///< the same, or with an underscore when C or C++ keeps the word
    const Type *type;          ///< SCALAR or PTR
    bool is_const;             ///< pointer: nothing is stored through it
    uint32_t offset, size;     ///< in the argument record
    bool is_read, is_written;  ///< pointer: what the kernel does through it
    /* of an autotuned kernel */
    bool is_key;       ///< its value makes the shape class
    bool is_zeroed;    ///< set to zero before each run of the tuner
    bool is_restored;  ///< what it points to is part of the input
    /* of a kernel that takes tensors */
    ArtifactSource source;
    uint32_t input, axis;  ///< but for GIVEN and REACH: the tensor it comes from, and its axis
} ArtifactParam;

/// A tensor that C passes by value, and what the kernel asks of it.
typedef struct ArtifactInput {
    const char *name, *c_name;
    ScalarKind elem;
    uint32_t rank;
    bool is_written;
    int dense_axis;        ///< -1: none
    const char *sizes[5];  ///< as the source names them, or NULL
    int64_t fixed[5];      ///< -1: any size
} ArtifactInput;

/// Two sizes that are equal, or the first at most the second.
typedef struct ArtifactSizeRule {
    const char *name;  ///< of both; NULL: none
    bool equal;
    uint32_t input[2], axis[2];
} ArtifactSizeRule;

/// A parameter of the C function.
typedef struct ArtifactArg {
    bool is_input;
    uint32_t index;  ///< among the inputs, or the params
} ArtifactArg;

typedef enum {
    TEST_ALIGN,
    TEST_MULTIPLE,
    TEST_EQUAL,
    TEST_FITS_I32,
    TEST_RESULT,
    TEST_AT_MOST
} ArtifactTest;

typedef struct ArtifactPredicate {
    ArtifactTest test;
    uint32_t param;
    int64_t value;
    const char *symbol;  ///< RESULT: static function in host_text whose first result is compared
} ArtifactPredicate;

/// A tensor map, as NewtTensorRecipe; innermost axis first.
typedef struct ArtifactTensor {
    uint32_t param;  ///< index into the kernel's params
    ScalarKind elem;
    uint32_t rank, swizzle, promotion;
    uint32_t box[5];
    bool tf32;  ///< copies round to it
} ArtifactTensor;

/// One variant's function in one image.
typedef struct ArtifactEntry {
    const char *symbol;
    uint32_t image;
    uint32_t threads, shared, shared_static, registers, spills;
    uint32_t cluster[3];  ///< blocks, as a launch attribute; all 0: none
    const ArtifactTensor *tensors;
    uint32_t tensor_count;
    const char *tensor_symbol;  ///< static function in host_text; NULL without tensors
    uint32_t blocks_per_sm;     ///< > 0: a persistent grid
} ArtifactEntry;

typedef struct ArtifactVariant {
    const char *name;  ///< "x:16 y:16", or "generic"
    const ArtifactPredicate *predicates;
    uint32_t predicate_count;
    const ArtifactEntry *entries;
    uint32_t entry_count;
    const char *grid_symbol;  ///< static function in host_text; NULL: the caller gives the grid
    const char *host_symbol;  ///< static function in host_text; NULL: no host code
    uint64_t host_scratch;
} ArtifactVariant;

/// A configuration of an autotuned kernel.
typedef struct ArtifactConfig {
    const char *name, *text;  ///< "M64_N64_W4_S3", "BLOCK_M=64 ... num_stages=3"
    uint32_t first_variant, variant_count;
} ArtifactConfig;

/// For what a configuration was fastest.
typedef struct ArtifactTuned {
    const char *gpu, *arch;
    int number;             ///< 90 for sm_90a; 0: the host
    const int64_t *values;  ///< of the key parameters, in their order
    uint32_t config;
} ArtifactTuned;

typedef struct ArtifactKernel {
    const char *name;             ///< exported C name, prefix included
    const char *doc;              ///< docstring, or NULL
    const char *location;         ///< "vadd.newt:7"
    const char *record;           ///< tag of the argument record's struct
    const char *type_name;        ///< "Matmul": prefix of the types of an autotuned kernel
    const ArtifactParam *params;  ///< param_count of them, then a REACH when there are inputs
    uint32_t param_count, record_size;
    const ArtifactInput *inputs;  ///< tensors
    uint32_t input_count;
    const ArtifactSizeRule *rules;
    uint32_t rule_count;
    const ArtifactArg *args;  ///< of the C function
    uint32_t arg_count;
    const ArtifactVariant *variants;  ///< most special first
    uint32_t variant_count;
    bool has_grid;
    const ArtifactConfig *configs;  ///< the first is the default; none: not autotuned
    uint32_t config_count;
    const ArtifactTuned *tuned;
    uint32_t tuned_count;
} ArtifactKernel;

typedef enum { IMAGE_CUBIN, IMAGE_PTX } ArtifactImageKind;

typedef struct ArtifactImage {
    ArtifactImageKind kind;
    const char *arch;  ///< "sm_90a", "compute_80"
    int number;        ///< 90
    char set;          ///< 0, 'a', 'f'
    const char *data;
    size_t size;  ///< PTX: with its final NUL
    char sha256[65];
    const char *file;  ///< EMBED_FILE: its name, without a folder
} ArtifactImage;

/// How module.c carries images: as numbers; by the assembler from one side file; not at all, but
/// libnewt loads them from files.
typedef enum { EMBED_WORDS, EMBED_INCBIN, EMBED_FILE } EmbedMode;

typedef struct Artifact {
    const char *stem;         ///< "vadd": names of files, include guard
    const char *source_name;  ///< "vadd.newt": base name, never a path of the machine
    char source_sha256[65];
    const ArtifactImage *images;
    uint32_t image_count;
    const ArtifactKernel *kernels;
    uint32_t kernel_count;
    const char *host_text;      ///< C of grids and host kernels, "" when there is none
    const char *header_name;    ///< "vadd.h", as module.c includes it
    const char *arch_list;      ///< "sm_80 sm_90a host"
    const char *cxx_namespace;  ///< NULL: none
    const char *export_macro;   ///< NULL: none
    bool hidden;                ///< --visibility=hidden
    EmbedMode embed;
    const char *images_name;  ///< INCBIN: the side file's name
} Artifact;

/// A number that makes the shape class.
static inline bool artifact_is_key(const ArtifactParam *p)
{
    return p->is_key && p->type->kind == TYPE_SCALAR &&
           (type_is_int(p->type) || type_is_bool(p->type));
}

/// Lays out the argument record: fills offset and size of each parameter; returns the record's
/// size.
uint32_t artifact_layout_params(ArtifactParam *params, uint32_t count);
/// `name` when C, C++ and libnewt leave it free, else `name_` or `arg_name`.
const char *artifact_c_name(Arena *a, const char *name);
/// Fills c_name of each parameter: as above, and all different.
void artifact_c_params(Arena *a, ArtifactParam *params, uint32_t count);
/// The same for a kernel, whose name is not that of a function of C's library either. NULL when it
/// begins as the names of libnewt do: no underscore makes that safe.
const char *artifact_c_function(Arena *a, const char *name);
/// The tag of the argument record's struct. The header has it where there are configurations and no
/// tensors.
const char *artifact_record(Arena *a, const char *kernel, bool is_public);
/// "matmul_f16" as a type's name: "MatmulF16".
const char *artifact_type_name(Arena *a, const char *kernel);
/// A name that the generated C would define for both kernels, or NULL.
const char *artifact_c_clash(const char *one, const char *other);
/// The C type of a parameter in prototypes: "const float *", "int32_t ".
void artifact_c_type(Buf *out, const ArtifactParam *p);
/// Members of the argument record: the parameters and, with inputs, the reach.
uint32_t artifact_member_count(const ArtifactKernel *k);
/// Parameter `i` of the C function: "const float *x", "NewtTensor x"; its name alone.
void artifact_c_arg(Buf *out, const ArtifactKernel *k, uint32_t i);
const char *artifact_c_arg_name(const ArtifactKernel *k, uint32_t i);
/// The tables with which libnewt fills the record of a kernel with inputs (binding.c).
void artifact_write_binding(const ArtifactKernel *k, uint32_t index, Buf *out);
/// Statements that fill the record `to` ("newt_args.") from arguments `from` ("", "args->") and
/// leave newt_status.
void artifact_write_bind(const ArtifactKernel *k, uint32_t index, const char *from, const char *to,
                         Buf *out);
/// What the header says of the inputs, as comment lines.
void artifact_write_input_doc(const ArtifactKernel *k, Buf *out);

void artifact_write_header(const Artifact *art, Buf *out);
void artifact_write_module(const Artifact *art, Buf *out);
void artifact_write_manifest(const Artifact *art, Buf *out);
/// All images one after another at multiples of 64 bytes (for EMBED_INCBIN).
void artifact_write_images(const Artifact *art, Buf *out);
/// Offset of image `i` in that text.
size_t artifact_image_offset(const Artifact *art, uint32_t i);

#endif
