"""Times our kernels and the peers' in one process, every repetition in a new random order.

    python3 bench/beside.py PEERS.py LIBRARY OUT.jsonl [suite...]     # add softmax layernorm matmul tf32 fp8 attention

PEERS.py is the peers' script; its suites run as they stand, but instead of timing one candidate after another they hand
all of them over. LIBRARY is the shared library newt_bench_beside of the build. Candidates of a shape are checked, then
screened with SCREEN repetitions each; the KEEP fastest of each contestant are timed REPS times, interleaved. Before a
repetition 256 MiB are written. OUT.jsonl gets lines of the form that bench_report joins; a table goes to stdout.

Clock and power of a GPU move within milliseconds: what ran one second later ran on another chip. Here a ratio compares
medians of repetitions that lie between one another.
"""
import ctypes
import importlib.util
import json
import os
import random
import re
import sys
import time
import types

import torch

REPS, SCREEN, KEEP = (int(os.environ.get(name, value)) for name, value in (("REPS", 60), ("SCREEN", 12), ("KEEP", 2)))
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
SUITES = ("add", "softmax", "layernorm", "matmul", "tf32", "fp8", "attention")


class Later:
    """Stands for the time of the fastest of some candidates; what is divided by it becomes work."""

    def __init__(self, runs):
        self.runs = runs

    def __rtruediv__(self, work):
        return Rate(work, self.runs)


class Rate:
    def __init__(self, work, runs):
        self.work, self.runs = work, runs

    def __truediv__(self, x):
        return Rate(self.work / x, self.runs)


class Library:
    """The generated functions of bench/kernels, found by the names of their instances."""

    def __init__(self, path):
        self.at = ctypes.CDLL(path)
        self.device = ctypes.c_void_p()
        self.call("newt_device_open", b"cuda:0", ctypes.byref(self.device))

    def call(self, name, *args):
        function = getattr(self.at, name)
        function.restype = ctypes.c_void_p
        if function(*args):
            raise RuntimeError(f"{name} failed")

    def bind(self, name, *args):
        """A call of kernel `name` with tensors, which it keeps alive, and numbers as ctypes objects."""
        values = [ctypes.c_void_p(x.data_ptr()) if isinstance(x, torch.Tensor) else x for x in args]

        def run(tensors=args):
            self.call(name, self.device, None, *values)
        return run


def instances(file, prefix):
    with open(os.path.join(KERNELS, file + ".newt")) as source:
        return [name for name in re.findall(r'name="([A-Za-z0-9_]+)"', source.read()) if name.startswith(prefix)]


def int32(x):
    return ctypes.c_int32(x)


def int64(x):
    return ctypes.c_int64(x)


# ------------------------------------------------------------------------------------------ ours, by suite
# Each gives (output, reference, largest relative error in norm, {name: call}).
def ours_add(lib, shape):
    n = int(shape[:-1]) << 20
    x, y = torch.randn(2, n, device="cuda")
    out = torch.empty_like(x)
    return out, x + y, 0.0, {name: lib.bind(name, x, y, out, int64(n)) for name in instances("add", "add_")}


def ours_rows(lib, shape, file, reference, extra, last):
    rows, width = map(int, shape.split("x"))
    x = torch.randn(rows, width, device="cuda")
    more = [torch.randn(width, device="cuda") for _ in range(extra)]
    out = torch.empty_like(x)
    calls = {}
    for name in instances(file, file):
        size = re.match(file + r"(?:_rows_\d+x|_split)?_?(\d+)_w", name)
        if size and width <= int(size[1]) < 2 * width:
            calls[name] = lib.bind(name, x, *more, out, int32(rows), int32(width), int64(width), *last)
    return out, reference(x, *more), 1e-5, calls


def ours_softmax(lib, shape):
    return ours_rows(lib, shape, "softmax", lambda x: torch.softmax(x.double(), -1), 0, ())


def ours_layernorm(lib, shape):
    def reference(x, w, b):
        return torch.nn.functional.layer_norm(x.double(), x.shape[1:], w.double(), b.double())
    return ours_rows(lib, shape, "layernorm", reference, 2, (ctypes.c_float(1e-5),))


def ours_matmul(lib, shape, dtype, prefix, error):
    m, n, k = map(int, shape.split("x"))
    transposed = dtype.itemsize == 1
    a = torch.randn(m, k, device="cuda").to(dtype)
    b = torch.randn(*((n, k) if transposed else (k, n)), device="cuda").to(dtype)
    out = torch.empty(m, n, device="cuda", dtype=torch.float16 if transposed else dtype)
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    reference = a.float() @ (b.float().T if transposed else b.float())
    torch.backends.cuda.matmul.allow_tf32 = allowed
    names = [x for x in instances("matmul", prefix) if m <= 128 or "skinny" not in x]
    tail = [int32(m), int32(n), int32(k), int64(k), int64(k if transposed else n), int64(n)]
    return out, reference, error, {name: lib.bind(name, a, b, out, *tail) for name in names}


def ours_attention(lib, shape):
    batch, heads, length, width, kind = re.match(r"B(\d+) H(\d+) S(\d+) D(\d+) (\w+)", shape).groups()
    batch, heads, length, width = map(int, (batch, heads, length, width))
    q, k, v = torch.randn(3, batch, heads, length, width, device="cuda", dtype=torch.float16)
    out = torch.empty_like(q)
    reference = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=kind == "causal")
    tail = [int32(length), int32(batch * heads), ctypes.c_float(width ** -0.5)]
    names = instances("attention", f"{kind}_d{width}_")
    return out, reference, 3e-3, {name: lib.bind(name, q, k, v, out, *tail) for name in names}


OURS = {
    "add": ours_add,
    "softmax": ours_softmax,
    "layernorm": ours_layernorm,
    "matmul fp16": lambda lib, shape: ours_matmul(lib, shape, torch.float16, "fp16", 1e-3),
    "matmul bf16": lambda lib, shape: ours_matmul(lib, shape, torch.bfloat16, "bf16", 5e-3),
    "matmul tf32": lambda lib, shape: ours_matmul(lib, shape, torch.float32, "tf32", 1e-3),
    "matmul fp8e4m3": lambda lib, shape: ours_matmul(lib, shape, torch.float8_e4m3fn, "fp8", 1e-2),
    "attention fp16": ours_attention,
}


# ------------------------------------------------------------------------------------------ timing
class Timer:
    """The flush keeps the GPU busy while the host queues what is timed. Where a call takes the host longer than that,
    all contestants of the round are given more flushes; a repetition in which the host was late is done again."""

    def __init__(self):
        self.flush = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
        self.late = 0
        self.one_flush, self.flushes = float("inf"), 1
        self.one_flush = 0.8e-3 * min(ms for ms, _ in self.measure([self.flush.zero_] * 20))

    def queue(self, run):
        """The events around one call, and the seconds that the host needed for it."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(self.flushes):
            self.flush.zero_()
        start = time.perf_counter()
        begin.record()
        run()
        end.record()
        return begin, end, time.perf_counter() - start

    def measure(self, runs):
        """(ms on the GPU, seconds of the host) of each run."""
        queued = [self.queue(run) for run in runs]
        torch.cuda.synchronize()
        return [(begin.elapsed_time(end), seconds) for begin, end, seconds in queued]

    def rounds(self, runs, count):
        """Sorted times in ms of each run, up to `count` of each."""
        host = [max(seconds for _, seconds in self.measure(runs.values())) for _ in range(4)]
        self.flushes = 1 + int(sorted(host)[1] / self.one_flush)
        times = {key: [] for key in runs}
        for _ in range(2 * count):
            order = [key for key in runs if len(times[key]) < count]
            random.shuffle(order)
            for key, (ms, seconds) in zip(order, self.measure(runs[key] for key in order)):
                if seconds < self.flushes * self.one_flush:
                    times[key].append(ms)
                else:
                    self.late += 1
        return {key: sorted(x) for key, x in times.items() if x}


def quantile(values, q):
    return values[min(len(values) - 1, int(q * len(values)))]


class Contest:
    """All contestants of one shape."""

    def __init__(self, suite, shape, unit):
        self.suite, self.shape, self.unit = suite, shape, unit
        self.work = None
        self.runs = {}  # (who, name) -> call

    def add(self, who, rate):
        self.work = rate.work
        for name, run in rate.runs:
            self.runs[who, name] = run

    def add_ours(self, lib):
        out, reference, error, calls = OURS[self.suite](lib, self.shape)
        size = reference.double().norm()
        for name, run in calls.items():
            out.fill_(float("nan"))
            run()
            torch.cuda.synchronize()
            found = ((out.double() - reference.double()).norm() / size).item()
            if found <= error:
                self.runs["newt", name] = run
            else:
                print(f"# WRONG {self.suite} {self.shape} {name}: error {found:.3g} in norm", flush=True)

    def line(self, who, name, times):
        value = self.work / quantile(times, 0.5)
        low, mid, high = (1e3 * quantile(times, q) for q in (0.1, 0.5, 0.9))
        return dict(suite=self.suite, shape=self.shape, who=who, value=round(value, 2), unit=self.unit, cfg=name,
                    us=round(mid, 2), us_p10=round(low, 2), us_p90=round(high, 2), reps=len(times))

    def time(self, timer, lines):
        timer.late = 0
        screened = timer.rounds(self.runs, SCREEN)
        finalists = {}
        for who in dict.fromkeys(who for who, _ in self.runs):
            mine = sorted((key for key in screened if key[0] == who), key=lambda key: quantile(screened[key], 0.5))
            finalists.update((key, self.runs[key]) for key in mine[:KEEP])
            if who == "newt":
                lines += [self.line("newt/" + name, name, screened[who, name]) for who, name in mine]
        times = timer.rounds(finalists, REPS)
        best = {}
        for who, name in sorted(times, key=lambda key: -quantile(times[key], 0.5)):
            best[who] = self.line(who, name, times[who, name])
        lines += best.values()
        if "newt" not in best:
            return
        mine = best["newt"]
        ratios = [f"{who} {x['value']:.0f} ({x['us'] / mine['us']:.3f})" for who, x in best.items() if x is not mine]
        spread = 50 * (mine["us_p90"] - mine["us_p10"]) / mine["us"]
        print(f"{self.suite:14} {self.shape:28} newt {mine['value']:.0f} +-{spread:.1f}% [{mine['cfg']}]  "
              + "  ".join(sorted(ratios)) + f"  ({timer.late} late)", flush=True)


def freeze(call):
    """`call` with the variables it sees as they are now: the peers' loops give them new values for the next shape."""
    cells = tuple(types.CellType(cell.cell_contents) for cell in call.__closure__ or ())
    return types.FunctionType(call.__code__, call.__globals__, call.__name__, call.__defaults__, cells)


def freeze_backend(call):
    """`call` with the attention backend that is chosen now."""
    cuda, kinds = torch.backends.cuda, ("flash", "mem_efficient", "math", "cudnn")
    chosen = [getattr(cuda, kind + "_sdp_enabled")() for kind in kinds]

    def run():
        for kind, is_on in zip(kinds, chosen):
            getattr(cuda, f"enable_{kind}_sdp")(is_on)
        return call()
    return run


class Collector:
    """Takes the place of the peers' timing functions."""

    def __init__(self, peers, lib, out):
        self.lib, self.out, self.timer, self.now = lib, out, Timer(), None
        self.shapes = os.environ.get("SHAPES", "").split(",")
        peers.med = lambda fn, rep=0: Later([("", freeze_backend(freeze(fn)))])
        peers.best, peers.emit = self.best, self.emit

    def best(self, makers, rep=0):
        runs, first = [], None
        for name, make in makers:
            try:
                run = freeze(make())
                run()
                torch.cuda.synchronize()
            except Exception:  # a configuration that does not fit, as the peers' own loop has it
                continue
            first = first or name
            runs.append((str(name), run))
        return Later(runs), first

    def emit(self, suite, shape, who, value, unit, **more):
        if self.now and (self.now.suite, self.now.shape) != (suite, shape):
            self.finish()
        self.now = self.now or Contest(suite, shape, unit)
        self.now.add(who, value)

    def finish(self):
        contest, self.now = self.now, None
        if contest is None or contest.suite not in OURS or self.shapes != [""] and contest.shape not in self.shapes:
            return
        contest.add_ours(self.lib)
        lines = []
        contest.time(self.timer, lines)
        self.out.writelines(json.dumps(line) + "\n" for line in lines)
        self.out.flush()


def main():
    if len(sys.argv) < 4 or any(suite not in SUITES for suite in sys.argv[4:]):
        sys.exit(__doc__)
    spec = importlib.util.spec_from_file_location("peers", sys.argv[1])
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    torch.zeros(1, device="cuda")  # makes torch's context the one that libnewt finds
    with open(sys.argv[3], "a") as out:
        out.write(f"# command: {' '.join(sys.argv)}\n# gpu: {torch.cuda.get_device_name()}\n")
        collector = Collector(peers, Library(sys.argv[2]), out)
        for suite in sys.argv[4:] or SUITES:
            getattr(peers, "suite_" + suite)()
            collector.finish()


if __name__ == "__main__":
    main()
