/// options.h - the command line as a struct. See options.def for every option.
#ifndef NEWT_DRIVER_OPTIONS_H
#define NEWT_DRIVER_OPTIONS_H
#include "artifact/artifact.h"
#include "passes/pass.h"

typedef VEC(const char *) StrList;

/// Bits of Options.emit.
typedef enum {
    EMIT_TOKENS = 1 << 0,
    EMIT_AST = 1 << 1,
    EMIT_NEWT = 1 << 2,
    EMIT_IR = 1 << 3,
    EMIT_IR_AFTER = 1 << 4,
    EMIT_CUDA = 1 << 5,
    EMIT_PTX = 1 << 6,
    EMIT_CUBIN = 1 << 7,
    EMIT_SASS = 1 << 8,
    EMIT_HOST_C = 1 << 9,
    EMIT_C = 1 << 10,
    EMIT_OBJ = 1 << 11,
    EMIT_HEADER = 1 << 12,
    EMIT_MANIFEST = 1 << 13,
    EMIT_REPORT = 1 << 14
} EmitKind;

typedef enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorMode;
/// DEP_ONLY: -M, nothing is compiled; DEP_ALSO: -MD.
typedef enum { DEP_NONE, DEP_ONLY, DEP_ALSO } DepMode;
typedef enum { TIME_NONE, TIME_TEXT, TIME_JSON } TimeReport;

typedef struct Options {
    StrList inputs;
    StrList words;  ///< the whole command line, response files expanded
    const char *output, *header, *manifest;
    bool no_manifest, touch;
    unsigned emit;         ///< EmitKind bits; 0: c, header, manifest
    const char *ir_after;  ///< the pass of ir-after:PASS
    const char *prefix, *cxx_namespace, *export_macro;
    bool hidden;
    EmbedMode embed;
    StrList archs;  ///< as written, commas split
    StrList defines, kernels;
    StrList configs;  ///< commas split
    const char *tune_db;
    const char *signature, *grid, *specialize, *only_for;
    bool index64;
    int num_warps, num_stages;  ///< 0: the kernel's own
    DepMode dep;
    const char *dep_file;
    StrList dep_targets;
    bool dep_phony;
    StrList import_dirs;
    bool no_stdlib, no_warnings;
    StrList warnings;
    int max_errors;
    ColorMode color;
    DiagFormat format;
    const char *diag_file;
    bool debug;
    int opt_level;
    DotChoice dots;
    CopyChoice copies;
    const char *save_temps;  ///< NULL: no; "": beside the output
    bool verbose, dry_run, verify_each;
    TimeReport time_report;
    StrList prefix_map;
    const char *reproduce;
    const char *nvrtc, *cuda_path, *cc;
    StrList xnvrtc, xptxas;
    int compile_budget;  ///< seconds; 0: any time is fine
    int jobs;            ///< 0: as many as processors
    const char *cache_dir;
    bool no_cache, quiet;
    const char *version, *help;  ///< "" when given without a value
    bool print_archs, print_ops, print_nvrtc;
    const char *explain;
} Options;

/// Reads argv[1..] after the words of NEWTC_FLAGS, with @FILE expanded and `--` ending options.
/// False after printing `newtc: error: ...` to standard error (exit code 2).
bool options_parse(Arena *a, int argc, char **argv, Options *out);

/// Splits as a shell does without expanding anything: CFLAGS, response files.
void options_split(Arena *a, const char *text, StrList *out);

/// What no single option can see: inputs and outputs that fit together, -W names that exist. False
/// after printing `newtc: error: ...` (exit code 2). Makes the folder that -o names by a final
/// slash.
bool options_check(Arena *a, const Options *opt);

/// Answers an unknown -Wno-SLUG as gcc does: silence, unless there is something else to say.
void options_note_unknown_warnings(const Options *opt);

/// The --help text: all groups, or the one named; false when there is no such topic.
bool options_help(const char *topic, Buf *out);

#endif
