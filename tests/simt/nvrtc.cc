// nvrtc.cc - a library with NVRTC's functions that compiles for the emulator: newtc --nvrtc=<this>.
//
// The image that comes out is the path of a shared object, which the emulator's driver loads. So newtc,
// its generated modules and libnewt run as they are, and no CUDA toolkit is needed.
#include "compile.h"

#include <cstring>

struct Program {
    std::string text, image, log;
    std::vector<SimtHeader> headers;
};

enum { NVRTC_OK = 0, NVRTC_FAILED = 6 };
static const int archs[] = { 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121 };

static int copy_out(const std::string &text, char *to)
{
    memcpy(to, text.c_str(), text.size() + 1);
    return NVRTC_OK;
}

extern "C" {
int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return NVRTC_OK;
}

int nvrtcGetNumSupportedArchs(int *count)
{
    *count = sizeof archs / sizeof *archs;
    return NVRTC_OK;
}

int nvrtcGetSupportedArchs(int *to)
{
    memcpy(to, archs, sizeof archs);
    return NVRTC_OK;
}

int nvrtcCreateProgram(Program **out, const char *text, const char *, int count, const char *const *headers,
                       const char *const *names)
{
    *out = new Program { text, "", "", {} };
    for (int i = 0; i < count; i++)
        (*out)->headers.push_back({ names[i], headers[i] });
    return NVRTC_OK;
}

int nvrtcDestroyProgram(Program **program)
{
    delete *program;
    *program = nullptr;
    return NVRTC_OK;
}

int nvrtcCompileProgram(Program *p, int, const char *const *)
{
    p->image = simt_compile(p->text, p->headers, p->log);
    return p->image.empty() ? NVRTC_FAILED : NVRTC_OK;
}

int nvrtcGetProgramLogSize(Program *p, size_t *size)
{
    *size = p->log.size() + 1;
    return NVRTC_OK;
}

int nvrtcGetProgramLog(Program *p, char *log)
{
    return copy_out(p->log, log);
}

int nvrtcGetCUBINSize(Program *p, size_t *size)
{
    *size = p->image.size() + 1;
    return NVRTC_OK;
}

int nvrtcGetCUBIN(Program *p, char *cubin)
{
    return copy_out(p->image, cubin);
}

int nvrtcGetPTXSize(Program *p, size_t *size)
{
    return nvrtcGetCUBINSize(p, size);
}

int nvrtcGetPTX(Program *p, char *ptx)
{
    return copy_out(p->image, ptx);
}
}
