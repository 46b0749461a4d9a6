/// tuner_impl.h - what the files of the tuner share.
#ifndef NEWT_TUNER_TUNER_IMPL_H
#define NEWT_TUNER_TUNER_IMPL_H
#include "driver/job.h"
#include "support/proc.h"
#include "target/target.h"
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
void space_of(Arena *a, const Function *f, const KernelUnit *unit, const Target *target, Space *s);
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
    uint32_t made;
} Build;
/// The words of newtc's command line that all candidates have.
void build_words(Arena *a, const Build *b, bool with_host, StrList *argv);

enum { COMPILE_MOST = 3 };  ///< candidates in one object

/// A shared object on its way.
typedef struct Compile {
    const char *texts[COMPILE_MOST];
    uint32_t count;
    bool with_host;  ///< with the host code that gives the reference
    double seconds;  ///< that one command may take; 0: any
    /* what becomes of it */
    const char *why;  ///< the first error of a command; NULL: none
    const char *object;
    Resources resources[COMPILE_MOST];
    /* for build.c */
    Proc proc;
    enum { COMPILE_NEWT, COMPILE_C } step;
    const char *program, *source, *manifest;
} Compile;
/// Starts it. False with `why` when it cannot be.
bool build_start(Arena *a, Build *b, Compile *c);
/// Goes on when `proc.from` is readable, or now and then. True when it is over: `why` says how.
bool build_step(Arena *a, const Build *b, Compile *c);

/* ---- client.c ---- */
enum { WORKER_AGAIN = 9 };  ///< the word of a worker's command that says AGAIN

/// The process that measures.
typedef struct Worker {
    int to, from;  ///< pipes; -1: it does not run
    int pid;
    unsigned processors;  ///< of the device
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
/// Whether client_read would not wait.
bool client_has_line(const Worker *w);
void client_stop(Worker *w);

/* ---- worker.c ---- */
/// newtc tune --worker LIBNEWT DEVICE SYMBOL STORE SEED TIMEOUT AGAIN INPUTS
int worker_main(int argc, char **argv);

/* ---- draft.c ---- */
/// What lowering tells of a candidate before it is compiled.
typedef struct Draft {
    const char *text;
    const char *why;  ///< the compiler refuses it; NULL: it does not
    uint64_t code;    ///< candidates with the same become the same code
    unsigned threads, shared, stages;
    unsigned stays;   ///< blocks a multiprocessor that stay for several programs; 0: none does
    bool by_engine;   ///< the copy engine moves tiles
    double programs;  ///< 0: not known
    Balance balance;
    double cost;  ///< model_cost
} Draft;
typedef struct Drafts Drafts;

/* ---- search.c ---- */
typedef enum {
    TRIED_NOT,
    TRIED_RIGHT,
    TRIED_WRONG,
    TRIED_FAILED,
    TRIED_LARGE,
    TRIED_REFUSED,
    TRIED_PRUNED,
    TRIED_SAME,  ///< becomes the same code as another one
    TRIED_KIND_COUNT
} TriedKind;

typedef struct Tried {
    Point point;
    const char *text, *stage;
    const Draft *draft;
    TriedKind kind;
    double us, seconds;  ///< seconds: since the search began
    Resources res;
    const char *why;
} Tried;

typedef enum {
    REFERENCE_NONE,    ///< nobody asked for it yet
    REFERENCE_WANTED,  ///< its object is to be compiled
    REFERENCE_BUILDING,
    REFERENCE_READY,  ///< the worker can have its object
    REFERENCE_KNOWN   ///< the worker has its results
} ReferenceState;

/// Candidates in an object, as indices into Search.tried.
typedef struct Load {
    uint32_t at[COMPILE_MOST], count;
    const char *object;
    bool is_reference;
} Load;

typedef struct Slot {
    Compile compile;
    Load load;
    bool is_used;
} Slot;

enum { SLOTS_MAX = 32 };

typedef struct Search {
    Arena *arena;
    const TunerOptions *opt;
    Space space;
    Build build;
    Worker worker;
    Drafts *drafts;
    VEC(Tried) tried;
    double began;
    int best;  ///< index into tried; -1: none
    const char *stage;
    uint64_t random;
    bool is_terminal;
    /* search.c: what comes next */
    VEC(Point) seeds;
    uint32_t next_seed, waited;  ///< waited: proposals since something was better
    uint64_t next_index;         ///< of a space that is measured whole
    bool is_seeded;
    /* flow.c: what is on its way */
    Slot slots[SLOTS_MAX];
    uint32_t slot_count;
    VEC(Load) ready;
    Load busy;       ///< what the worker measures; count 0: nothing
    VEC(int) queue;  ///< taken from search_next, and not compiled yet from `queued` on
    uint32_t queued;
    Load reference;
    ReferenceState state;
    uint32_t next_reference;  ///< on a GPU: the index to try as the reference
    bool is_alone;            ///< candidates that were compiled together could not be
    const char *reference_why;
    double heard;  ///< when the worker was sent to or said something
    unsigned deaths;
} Search;

/// Lowers a candidate, or remembers what that gave.
const Draft *draft_of(Search *s, const char *text);
bool draft_begin(Search *s);
/// -j, or 0.
int draft_jobs(const Drafts *d);

/* ---- model.c ---- */
/// A time without a unit, for comparisons of a kernel's candidates; 0: nothing can be told, as of
/// kernels without products.
double model_cost(const Draft *d, const Target *target, unsigned processors);

/// Fills `tried`. False after printing why nothing can be searched.
bool search_run(Search *s);
/// The next candidate, an index into `tried`; -1: none before more results are there.
int search_next(Search *s);
void search_settle(Search *s, Tried *t, TriedKind kind, double us, const char *why);
/// Seconds of the budget that are left; a large number without one.
double search_left(const Search *s);
double tuner_now(void);

/* ---- flow.c ---- */
/// Compiles and measures what search_next gives, until it gives nothing more or the time is over.
bool flow_run(Search *s);

/* ---- report.c ---- */
void report_json(const Search *s, const char *shape, Buf *out);
void report_svg(const Search *s, const char *shape, Buf *out);
/// Why the winner won, in words, from what the compiler says of it and of the next ones.
void report_explain(const Search *s, FILE *out);

/* ---- stores.c ---- */
int stores_list(const char *path);
int stores_merge(const char *output, const StrList *paths);

#endif
