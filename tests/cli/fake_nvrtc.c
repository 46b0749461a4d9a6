/// fake_nvrtc.c - a library with NVRTC's functions that compiles nothing, so that every way a
/// compile for a GPU can go is tested on any machine.
///
/// FAKE_NVRTC=reject refuses every text, =crash faults, =interrupted takes SIGINT and SIGTERM as
/// NVRTC does and gets the one that FAKE_NVRTC_SIGNAL numbers, =exits ends the program, =counted
/// takes a while and appends how many compile at once; else an image is the text's name and
/// length. Each compile appends a line to the file that FAKE_NVRTC_CALLS names, each load to
/// FAKE_NVRTC_LOADS.
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Program {
    char image[256], log[512];
} Program;

int nvrtcVersion(int *major, int *minor);
int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetSupportedArchs(int *archs);
int nvrtcCreateProgram(Program **out, const char *source, const char *name, int header_count,
                       const char *const *headers, const char *const *names);
int nvrtcDestroyProgram(Program **p);
int nvrtcCompileProgram(Program *p, int count, const char *const *options);
int nvrtcGetProgramLogSize(Program *p, size_t *size);
int nvrtcGetProgramLog(Program *p, char *log);
int nvrtcGetCUBINSize(Program *p, size_t *size);
int nvrtcGetCUBIN(Program *p, char *image);
int nvrtcGetPTXSize(Program *p, size_t *size);
int nvrtcGetPTX(Program *p, char *image);

int nvrtcVersion(int *major, int *minor)
{
    const char *text = getenv("FAKE_NVRTC_MINOR"), *loads = getenv("FAKE_NVRTC_LOADS");
    FILE *file = loads ? fopen(loads, "a") : NULL;
    if (file) {
        fputs("asked for its version\n", file);
        fclose(file);
    }
    *major = 13;
    *minor = text ? atoi(text) : 0;
    return 0;
}

int nvrtcGetNumSupportedArchs(int *count)
{
    *count = 2;
    return 0;
}

int nvrtcGetSupportedArchs(int *archs)
{
    archs[0] = 80;
    archs[1] = 90;
    return 0;
}

int nvrtcCreateProgram(Program **out, const char *source, const char *name, int header_count,
                       const char *const *headers, const char *const *names)
{
    (void)header_count, (void)headers, (void)names;
    *out = calloc(1, sizeof **out);
    snprintf((*out)->image, sizeof(*out)->image, "image of %s, %zu bytes", name, strlen(source));
    return *out ? 0 : 1;
}

int nvrtcDestroyProgram(Program **p)
{
    free(*p);
    *p = NULL;
    return 0;
}

static void taken(int sig)
{
    (void)sig;
    exit(4);  // as NVRTC's handlers do
}

/// Appends one line to the file that `variable` names.
static void note(const char *variable, const char *format, int value)
{
    const char *path = getenv(variable);
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, format, value);
    fclose(file);
}

static void take_a_while(void)
{
    static atomic_int running;
    note("FAKE_NVRTC_CALLS", "%d at once\n", atomic_fetch_add(&running, 1) + 1);
    nanosleep(&(struct timespec){ .tv_nsec = 60000000 }, NULL);
    atomic_fetch_sub(&running, 1);
}

static void interrupt(void)
{
    const char *number = getenv("FAKE_NVRTC_SIGNAL");
    signal(SIGINT, taken);
    signal(SIGTERM, taken);
    kill(getpid(), number ? atoi(number) : SIGINT);
    sleep(20);
}

int nvrtcCompileProgram(Program *p, int count, const char *const *options)
{
    const char *mode = getenv("FAKE_NVRTC"), *calls = getenv("FAKE_NVRTC_CALLS");
    FILE *file = calls ? fopen(calls, "a") : NULL;
    if (file) {
        fputs(p->image, file);
        for (int i = 0; i < count; i++)
            fprintf(file, " %s", options[i]);
        fputc('\n', file);
        fclose(file);
    }
    if (mode && strcmp(mode, "crash") == 0)
        raise(SIGSEGV);
    if (mode && strcmp(mode, "exits") == 0)
        exit(9);
    if (mode && strcmp(mode, "counted") == 0)
        take_a_while();
    if (mode && strcmp(mode, "interrupted") == 0)
        interrupt();
    if (mode && strcmp(mode, "reject") == 0) {
        snprintf(p->log, sizeof p->log, "good.newt(7): error: this is a fake\n");
        return 6;
    }
    snprintf(p->log, sizeof p->log,
             "ptxas info    : Compiling entry function 'good_0' for 'sm_80'\n"
             "%s"
             "ptxas info    : Used 11 registers, used 0 barriers\n",
             mode && strcmp(mode, "spills") == 0
                 ? "ptxas         .     16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
                 : "");
    return 0;
}

int nvrtcGetProgramLogSize(Program *p, size_t *size)
{
    *size = strlen(p->log) + 1;
    return 0;
}

int nvrtcGetProgramLog(Program *p, char *log)
{
    memcpy(log, p->log, strlen(p->log) + 1);
    return 0;
}

int nvrtcGetCUBINSize(Program *p, size_t *size)
{
    *size = strlen(p->image);
    return 0;
}

int nvrtcGetCUBIN(Program *p, char *image)
{
    memcpy(image, p->image, strlen(p->image));
    return 0;
}

int nvrtcGetPTXSize(Program *p, size_t *size)
{
    *size = strlen(p->image) + 1;
    return 0;
}

int nvrtcGetPTX(Program *p, char *image)
{
    memcpy(image, p->image, strlen(p->image) + 1);
    return 0;
}
