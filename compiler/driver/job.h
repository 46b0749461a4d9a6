/// job.h - one input file on its way from text to outputs.
///
/// job_front parses and resolves, job_lower makes IR, host text and CUDA text for every variant,
/// job_collect hands out the NVRTC requests, job_finish takes the images and writes. Each returns
/// false after reporting into the job's diagnostics; a job that failed writes nothing.
#ifndef NEWT_DRIVER_JOB_H
#define NEWT_DRIVER_JOB_H
#include "artifact/artifact.h"
#include "driver/archs.h"
#include "driver/balance.h"
#include "driver/options.h"
#include "lower/variants.h"
#include "support/fs.h"

/// The CUDA text of one configuration's variants (of all, when a kernel is not autotuned) for some
/// chips, and what NVRTC makes of it for each.
typedef struct JobText {
    uint32_t config;
    uint32_t first_variant, variant_count;
    bool *on;                ///< by architecture of the job: the text is compiled for it
    ArtifactEntry *entries;  ///< by variant from the first, as far as passes decide them
    uint32_t form;           ///< while it is made: the form that is lowered
    Buf *accesses;           ///< the same: for --emit=report
    Buf cuda;
    Buf maps;  ///< C of the functions for its tensor maps, on the way to the host text
    uint32_t first_request;  ///< its requests, one an architecture that is on, among the job's
} JobText;

/// A kernel as C sees it.
typedef struct JobKernel {
    const KernelUnit *unit;
    const char *c_name;     ///< with --prefix
    ArtifactParam *params;  ///< the run-time ones
    uint32_t param_count, record_size;
    ArtifactInput *inputs;  ///< tensors that C passes
    ArtifactSizeRule *rules;
    ArtifactArg *args;
    uint32_t input_count, rule_count, arg_count;
    ArtifactVariant *variants;    ///< entries are filled when images are there
    Balance *balances;            ///< by variant
    Buf ir;                       ///< what --emit=ir or ir-after prints
    VEC(JobText *) texts;         ///< configuration by configuration
    VEC(const IrFunc *) choices;  ///< the functions of heuristics in the host text
} JobKernel;

/// What a request was made for.
typedef struct JobOrigin {
    uint32_t kernel, text, arch;
} JobOrigin;

/// An entry of the tuning store of --tune-db: for arguments of this class the configuration `text`
/// was fastest.
enum { TUNE_RECORD_KEYS = 16 };
typedef struct TuneRecord {
    const char *kernel;  ///< exported name without --prefix
    const char *gpu, *arch, *text;
    uint32_t key_count;
    const char *names[TUNE_RECORD_KEYS];
    int64_t values[TUNE_RECORD_KEYS];
} TuneRecord;

typedef enum {
    JOB_TIME_FRONT,
    JOB_TIME_LOWER,
    JOB_TIME_NVRTC,
    JOB_TIME_WRITE,
    JOB_TIME_COUNT
} JobTime;

typedef struct Job {
    const Options *opt;
    const ArchList *archs;
    Arena arena;
    SymTable syms;
    SourceMap sources;
    DiagSink diags;
    Program program;
    const char *path, *stem;
    const char *text;  ///< as read
    size_t text_len;
    Module *module;
    KernelUnits units;
    JobKernel *kernels;
    Buf host;                ///< C of grids and host kernels
    uint32_t map_functions;  ///< of tensor maps, in it
    CudaRequest *requests;
    CudaImage *images;
    JobOrigin *origins;  ///< of each request
    VEC(TuneRecord) tuned;
    uint32_t request_count;
    unsigned emit;          ///< what to write, defaults applied
    uint32_t cached_count;  ///< images that came from the cache
    double seconds[JOB_TIME_COUNT];
    bool no_images;           ///< -M and -###: names are wanted, not bytes
    bool environment_failed;  ///< exit code 2: the file could not be read or written
} Job;

void job_init(Job *job, const Options *opt, const ArchList *archs, const char *path);
void job_free(Job *job);

bool job_front(Job *job);
bool job_lower(Job *job);
/// Fills request_count requests (none when no image is wanted).
bool job_collect(Job *job);
/// Checks the images and writes every output.
bool job_finish(Job *job);

/// True when some output of `emit` needs NVRTC.
bool job_wants_images(const Job *job);
/// "STEM.KERNEL.CONFIG" for the names of a text's files; the configuration only where there are
/// several.
const char *job_text_name(Job *job, uint32_t kernel, uint32_t text);
/// The chips of a text, "sm_80+sm_86", where others have another text; else "".
const char *job_text_chips(Job *job, uint32_t kernel, uint32_t text);
/// Reports a file that cannot be read or written (exit code 2).
void job_file_error(Job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- outputs.c ---- */
/// Folder and stem of the outputs that have no name of their own.
const char *outputs_base(Job *job);
/// Writes all outputs of a job that went through; false after reporting why not.
bool outputs_write(Job *job, const Artifact *art);
/// Outputs that need no image or artifact: tokens, ast.
bool outputs_write_front(Job *job);
/// The module without tile kernels, as text; nothing when there were errors.
bool outputs_write_newt(Job *job);

#endif
