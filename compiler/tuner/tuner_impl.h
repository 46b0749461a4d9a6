/// tuner_impl.h - what the files of the tuner share.
#ifndef NEWT_TUNER_TUNER_IMPL_H
#define NEWT_TUNER_TUNER_IMPL_H
#include "driver/job.h"
#include "tuner/tuner.h"
#include <stdio.h>

enum { TUNER_CLEAN, TUNER_FAILED, TUNER_ENVIRONMENT };

/* ---- options.c ---- */
typedef struct TunerOptions {
    const char *file, *kernel, *device;
    const char *output;        ///< the store; "tune.json" by default
    const char *report, *svg;  ///< of the search; NULL: none
    StrList shapes;            ///< "M=512,N=512" each
    StrList args;              ///< "x=normal(M, N)"
    StrList merge;             ///< --merge: the stores to join
    StrList pass;              ///< options for the compiler
    double budget;             ///< seconds a shape; 0: no limit
    double timeout;            ///< seconds that one run may take; 0: libnewt decides
    uint64_t seed;
    int shard, shard_count;  ///< the part of the space that is searched
    bool resume, explain, list, quiet;
} TunerOptions;
/// False after printing what is wrong.
bool tuner_options(Arena *a, int argc, char **argv, TunerOptions *out);
void tuner_help(void);
bool tuner_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- space.c ---- */
/// One thing to choose: the values it can have, in an order in which neighbours are alike.
typedef struct Dimension {
    const char *name;
    int64_t *values;
    const char *const *words;  ///< what says each value, "" for newtc's choice; NULL: NAME=VALUE
    uint32_t count, start;
    bool is_ordered;  ///< else every value is every other's neighbour
} Dimension;

enum { SPACE_DIMENSIONS = 24 };

/// A list of configurations (a kernel with @autotune), or the product of dimensions.
typedef struct Space {
    StrList listed;
    Dimension dims[SPACE_DIMENSIONS];
    uint32_t dim_count;
    double size;  ///< how many configurations there are
} Space;

typedef struct Point {
    uint16_t at[SPACE_DIMENSIONS];  ///< index of a value, or at[0]: of a listed configuration
} Point;

/// On the host, `target` NULL, warps and stages change nothing.
void space_of(Arena *a, const Function *f, const KernelUnit *unit, const Target *target,
              Space *out);
/// "BLOCK=64 num_warps=4 num_stages=3", in the arena.
const char *space_text(Arena *a, const Space *s, const Point *p);
/// Whether `full`, as newtc prints a configuration, is that of `text`, which may leave out the end.
bool space_is(const char *text, const char *full);
Point space_start(const Space *s);
/// The `index`th configuration of a space that is small enough to be counted.
Point space_at(const Space *s, uint64_t index);

/* ---- inputs.c ---- */
/// Writes what the worker makes the arguments of: "x tensor float16 normal 512 256", "n scalar 5".
/// False after printing which argument has no value.
bool inputs_write(Arena *a, const TunerOptions *opt, const Job *job, const KernelUnit *unit,
                  const char *shape, Buf *out);

/// The integers among these arguments as --only-for takes them, given what inputs_write wrote; NULL
/// where the launcher has to look at them.
const char *inputs_values(Arena *a, const KernelUnit *unit, const char *lines);

/* ---- build.c ---- */
/// What the compiler says of a candidate on the device's architecture.
typedef struct Resources {
    uint32_t threads, registers, shared, spills;
    bool known;
} Resources;

typedef struct Build {
    const TunerOptions *opt;
    const char *function;  ///< --kernel
    const char *name;      ///< of the kernel or instance
    const char *symbol;    ///< its exported C name
    const char *arch;      ///< of the device
    const char *values;    ///< of the arguments, for --only-for; NULL: all variants
    const char *dir;       ///< temporary folder
    const char *program, *headers;
    double seconds;  ///< that one call of a compiler may take; 0: any
    uint32_t made;
} Build;
/// Compiles candidates into one shared object; its path, or NULL when the compiler refuses one of
/// them. `with_host`: with the host code that gives the reference. `res` gets what it says of
/// each; `why` the compiler's first error.
const char *build_batch(Arena *a, Build *b, const char *const *texts, uint32_t count,
                        bool with_host, Resources *res, const char **why);

/* ---- client.c ---- */
enum { WORKER_AGAIN = 9 };  ///< the word of a worker's command that says AGAIN

/// The process that measures.
typedef struct Worker {
    int to, from;  ///< pipes; -1: it does not run
    int pid;
    Buf line;
    char *const *argv;
    char arch[32], gpu[128];  ///< of the device, when it runs
} Worker;

/// What the worker says where it needs host code for the reference, and the object has none.
#define WORKER_WANTS_HOST "wants host code"

typedef enum { LINE_RESULT, LINE_DONE, LINE_DEAD } LineKind;
typedef struct WorkerLine {
    LineKind kind;
    double us;         ///< RESULT: microseconds, or below 0 what NewtTuneOptions.progress says
    const char *text;  ///< RESULT: the configuration; DONE: "" or what failed
} WorkerLine;

/// Starts the worker unless it runs; false after printing why the device cannot be opened.
bool client_start(Worker *w);
bool client_send(Worker *w, const char *line);
/// Waits for the next line. A worker that ended gives DEAD and is collected.
WorkerLine client_read(Arena *a, Worker *w);
void client_stop(Worker *w);

/* ---- worker.c ---- */
/// newtc tune --worker LIBNEWT DEVICE SYMBOL STORE SEED TIMEOUT AGAIN INPUTS
int worker_main(int argc, char **argv);

/* ---- search.c ---- */
typedef enum {
    TRIED_NOT,
    TRIED_RIGHT,
    TRIED_WRONG,
    TRIED_FAILED,
    TRIED_LARGE,
    TRIED_REFUSED,
    TRIED_PRUNED
} TriedKind;

typedef struct Tried {
    Point point;
    const char *text, *stage;
    TriedKind kind;
    double us, seconds;  ///< seconds: since the search began
    Resources res;
    const char *why;
} Tried;

typedef struct Search {
    Arena *arena;
    const TunerOptions *opt;
    Space space;
    Build build;
    Worker worker;
    VEC(Tried) tried;
    uint32_t batch;
    double began;
    int best;  ///< index into tried; -1: none
    const char *stage;
    uint64_t random;
    unsigned deaths;
    bool has_host;  ///< an object with host code was built
    bool is_terminal;
} Search;
/// Fills `tried`. False after printing why nothing can be searched.
bool search_run(Search *s);
double tuner_now(void);

/* ---- report.c ---- */
void report_json(const Search *s, const char *shape, Buf *out);
void report_svg(const Search *s, const char *shape, Buf *out);
/// Why the winner won, in words, from what the compiler says of it and of the next ones.
void report_explain(const Search *s, FILE *out);

/* ---- stores.c ---- */
int stores_list(const char *path);
int stores_merge(const char *output, const StrList *paths);

#endif
