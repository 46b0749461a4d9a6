#!/bin/sh
# Images for GPUs, made by a false NVRTC (the third argument): missing, refusing, crashing, cached.
. "$(dirname -- "$0")/common.sh"
fake=$3
export FAKE_NVRTC_CALLS="$work/calls" NEWTC_NVRTC="$fake"

rows <<'TABLE'
default           | 0 | good.newt                          | files good.c good.h good.json ; quiet
images as files   | 0 | --emit=cubin good.newt             | files good.sm_80.cubin good.sm_90a.cubin
loaded from files | 0 | --embed=file --arch=sm_80,ptx:compute_80,host -o d/ good.newt | files d d/good.c d/good.compute_80.ptx d/good.h d/good.json d/good.sm_80.cubin ; quiet
two kernels' files | 0 | --embed=file --arch=sm_80 two.newt | files two.c two.h two.json two.one.sm_80.cubin two.other.sm_80.cubin
their rule        | 0 | --embed=file --arch=sm_80 -M good.newt | out good.sm_80.cubin good.c good.h good.json: good.newt
files and objects | 0 | --embed=file --arch=sm_80 -c good.newt | files good.h good.o good.sm_80.cubin
files, no names   | 2 | --embed=file --arch=sm_80 --emit=c -o - good.newt | err -o - names none
side file, object | 0 | --embed=incbin --arch=sm_80 -c good.newt | files good.h good.o
side file         | 0 | --embed=incbin --arch=sm_80 good.newt | files good.c good.h good.images good.json
PTX               | 0 | --arch=ptx:compute_80 --emit=ptx -o - good.newt | out ^image of good.good.compute_80.cu, [0-9]+ bytes
kept texts        | 0 | --arch=sm_80 --save-temps good.newt | files good.c good.good.cu good.good.sm_80.log good.h good.json
kept elsewhere    | 0 | --arch=sm_80 --save-temps=d good.newt | files d d/good.good.cu d/good.good.sm_80.log good.c good.h good.json
verbose           | 0 | -v --arch=sm_80 good.newt          | err NVRTC 13.0 from .*fake_nvrtc ; err cache /
dry run           | 0 | -### --arch=sm_80 good.newt        | err nvrtc -arch=sm_80 good.good.sm_80.cu ; files
rule only         | 0 | -M good.newt                       | out good.c good.h good.json: good.newt ; files
takes long        | 0 | --arch=sm_80 slow.newt             | err slow.newt:5:5: warning: .*\[slow-compile\] ; errs 0
too long          | 1 | --arch=sm_80 --compile-budget 5 slow.newt | err more than the 5 s of --compile-budget \[compile-budget\]
budget as word    | 2 | --compile-budget=soon good.newt    | err 'soon' does not fit option '--compile-budget'
no machine code   | 0 | --arch=sm_80 --emit=sass-summary -o - good.newt | out ^good, generic, sm_80: no machine code to look at
report            | 0 | --emit=report -o - good.newt       | out sm_80: 128 threads, 11 registers ; out 16 blocks \(64 warps\) on a multiprocessor, limited by threads ; out good.newt:8:21: load of float32, 32 bits at once; no wider ; out host: [0-9]+ bytes
fits one of two   | 0 | --arch=sm_80,sm_90a --emit=header,cubin --configs=N32_W4_S3,N512_W16_S3 configs.newt | err configs.newt:4:49: note: configuration 'N512_W16_S3' of 'product' is left out on sm_80: needs 196608 bytes .*\[config-left-out\] ; files configs.h configs.product.N32_W4_S3.sm_80.cubin configs.product.N32_W4_S3.sm_90a.cubin configs.product.N512_W16_S3.sm_90a.cubin
fits nowhere      | 1 | --arch=sm_80 --configs=N512_W16_S3 configs.newt | err configs.newt:6:5: error: no configuration of 'product' fits sm_80 \[shared-memory\]
all of them       | 0 | --arch=sm_90a --emit=header -o - configs.newt | out PRODUCT_N1024_W16_S3 = 2, ; out ^    ///   fits none of the architectures
none of that name | 1 | --arch=sm_80 --configs=N999 configs.newt | err configs.newt:6:5: error: --configs names no configuration of 'product' \[bad-value\] ; files
only the default  | 0 | --arch=sm_80 --configs=default --emit=cuda configs.newt | files configs.cu
by its ways       | 0 | --arch=sm_90a --configs="N=64 K=32 copy='sync' persistent=0" --emit=header -o - configs.newt | out PRODUCT_N64_K32_W4_S3_SYNC_FLAT
by its values     | 0 | --arch=sm_80 --configs="N=64 K=32 num_warps=2 maxnreg=96" --emit=cuda -o - configs.newt | out __maxnreg__.96.
not that chip     | 2 | --arch=sm_120 good.newt            | err 'sm_120'
options passed on | 0 | --no-cache --arch=sm_80 -Xnvrtc -DA -Xptxas -O1 -g good.newt | quiet
no such library   | 2 | --nvrtc=/nonexistent --arch=sm_80 good.newt | err no libnvrtc found ; err note: /nonexistent: ; err help: give its place by --nvrtc=FILE
host without it   | 0 | --nvrtc=/nonexistent good.newt     | err note: no NVRTC was found, so only the host is compiled for ; files good.c good.h good.json
quiet without it  | 0 | -q --nvrtc=/nonexistent good.newt  | quiet
JSON without it   | 0 | -fdiagnostics-format=json --nvrtc=/nonexistent good.newt | json
places without it | 0 | --nvrtc=/nonexistent --print-nvrtc | out /nonexistent: .*No such file ; out no NVRTC
JSON of versions  | 0 | --nvrtc=/nonexistent --version=json | out "nvrtc": null
no device here    | 2 | --arch=native --nvrtc=/nonexistent good.newt | err --arch=native
TABLE

# only <name> <values> <variant>: the report has that variant and no other.
only() {
    fresh
    "$newtc" --emit=report --arch=sm_80 "--only-for=$2" -o - good.newt >"$work/out" 2>"$work/err"
    judge "$1" 0 $? "out ^  variant $3\$"
    [ "$(grep -c '^  variant' "$work/out")" -eq 1 ] || fail "$1" "there are other variants"
}
only "for multiples" n=4096 'x:align16 n:div4'
only "for odd sizes" n=4097 generic
only "for no size" m=4096 generic

# interface: what C passes, and what the host runs, of the module that was made.
interface() {
    sed -n '/newt_params_0\[/,/};/p; /newt_fills_0\[/,/};/p; /product_host(/,/^}/p' ways.c
}
fresh
"$newtc" --arch=sm_90a,host --configs=GROUP=4 ways.newt >"$work/out" 2>"$work/err"
interface >"$work/general"
"$newtc" --arch=sm_90a,host --configs=GROUP=4 ways.newt >"$work/out" 2>"$work/err" \
    "--only-for=M=512 N=512 K=512 x_s0=512 x_s1=1 y_s0=512 y_s1=1 out_s0=512 out_s1=1"
judge "the same interface" 0 $? 'files ways.c ways.h ways.json'
interface | cmp -s - "$work/general" || fail "the same interface" "C passes other arguments"
grep -q 'NEWT_FILL_SIZE' "$work/general" || fail "the same interface" "there is none to compare"
grep -q -- '-DA.*--ptxas-options=-O1\|--ptxas-options=-O1.*-DA' "$work/calls" || fail "options passed on" "NVRTC did not get them"

# A refusal of our text is our fault, one of the user's options is not. A crash names its stage.
FAKE_NVRTC=reject
export FAKE_NVRTC
rows <<'TABLE'
refused           | 3 | --no-cache --arch=sm_80 good.newt  | err internal error: NVRTC does not accept ; err this is a fake ; err what a report of this fault needs is in 'good.reproduce' ; files good.reproduce good.reproduce/command good.reproduce/generated good.reproduce/generated/good.good.cu good.reproduce/generated/good.good.sm_80.cu.log good.reproduce/good.diagnostics good.reproduce/inputs good.reproduce/inputs/good.newt good.reproduce/versions
refused option    | 2 | --no-cache --arch=sm_80 -Xnvrtc -DA good.newt | err NVRTC does not accept the options
one of two        | 3 | --no-cache --arch=sm_80 good.newt four_errors.newt --reproduce=r.tar -o d/ | err internal error ; files d d/good.reproduce d/good.reproduce/command d/good.reproduce/generated d/good.reproduce/generated/good.good.cu d/good.reproduce/generated/good.good.sm_80.cu.log d/good.reproduce/good.diagnostics d/good.reproduce/inputs d/good.reproduce/inputs/good.newt d/good.reproduce/versions r.tar
TABLE
tar tf r.tar | grep -q '^inputs/good.newt$' || fail "packed" "r.tar has no input"
FAKE_NVRTC=spills
rows <<'TABLE'
spills            | 0 | --no-cache --arch=sm_80 --emit=report -o - good.newt | out 11 registers, 20 bytes spilled
warned of         | 0 | --no-cache --arch=sm_80 -Wregister-spill good.newt | err good.newt:[0-9]+:5: warning: 'good' moves 20 bytes a thread between registers and local memory on sm_80 .register-spill. ; errs 0
as an error       | 1 | --no-cache --arch=sm_80 -Werror=register-spill good.newt | err error: 'good' moves 20 bytes ; files
TABLE
FAKE_NVRTC=interrupted FAKE_NVRTC_SIGNAL=2  # SIGINT
export FAKE_NVRTC_SIGNAL
rows <<'TABLE'
interrupted       | 130 | --no-cache good.newt             | files
interrupted, two  | 130 | --no-cache good.newt fine.newt   | files
TABLE
FAKE_NVRTC_SIGNAL=15  # SIGTERM
rows <<'TABLE'
terminated        | 143 | --no-cache good.newt             | files
TABLE
FAKE_NVRTC=crash
if ! grep -q __asan "$newtc"; then  # whose own handlers stay
    rows <<'TABLE'
crash             | 3 | --no-cache --arch=sm_80 good.newt  | err good.newt: internal error: an invalid memory access in stage 'NVRTC'
crash, packed     | 3 | --no-cache --arch=sm_80 --reproduce=r.tar good.newt | err help: this is a fault of newtc ; files r.tar
nowhere to pack   | 2 | --no-cache --arch=sm_80 --reproduce=no/r.tar good.newt | err cannot write no/r.tar: No such file
TABLE
    fresh
    "$newtc" --no-cache --arch=sm_80 --reproduce=r.tar good.newt >"$work/out" 2>"$work/err"
    judge "crash, unpacked" 3 $? 'files r.tar'
    tar xf r.tar && cmp -s inputs/good.newt good.newt && [ -s generated/good.good.cu ] ||
        fail "crash, unpacked" "r.tar is not whole"
fi
unset FAKE_NVRTC

# compile <name> <number of NVRTC's runs> [option...]: the cache answers exactly what it may.
compile() {
    name=$1
    wanted=$2
    shift 2
    : >"$work/calls"
    "$newtc" --arch=sm_80 "$@" good.newt >"$work/out" 2>"$work/err"
    judge "$name" 0 $? ''
    found=$(wc -l <"$work/calls")
    [ "$found" -eq "$wanted" ] || fail "$name" "NVRTC ran $found times, not $wanted"
}
fresh
rm -rf "$NEWT_CACHE_DIR"
compile "empty cache" 1
cp good.c first.c
compile "filled cache" 0
cmp -s good.c first.c || fail "filled cache" "the output differs"
compile "no cache" 1 --no-cache
compile "another option" 1 -Xptxas -O1
compile "line information" 1 -g
cp "$fake" "$work/newer.so"
FAKE_NVRTC_MINOR=1 NEWTC_NVRTC="$work/newer.so" compile "another NVRTC" 1
sed 's/2\.0/4.0/' good.newt >changed.newt
cp good.newt kept.newt && cp changed.newt good.newt
compile "another text" 1
cp kept.newt good.newt
compile "the first text" 0
for entry in "$NEWT_CACHE_DIR"/*.image; do
    printf 'x' | dd of="$entry" bs=1 seek=100 conv=notrunc 2>/dev/null
done
compile "damaged entries" 1
compile "repaired entries" 0
for entry in "$NEWT_CACHE_DIR"/*.image; do
    : >"$entry"
done
compile "empty entries" 1
# A library that was asked before is loaded only for what the cache does not have.
export FAKE_NVRTC_LOADS="$work/loads"
loads() {
    : >"$work/loads"
    compile "$@"
    [ "$(wc -l <"$work/loads")" -eq "$2" ] || fail "$1" "NVRTC was loaded $(wc -l <"$work/loads") times, not $2"
}
loads "nothing to compile" 0
loads "something to compile" 1 --no-cache
cp good.newt kept.newt && sed 's/2\.0/5.0/' kept.newt >good.newt
loads "another text, known library" 1
touch -d '2020-01-01' "$work/newer.so"
NEWTC_NVRTC="$work/newer.so" compile "touched library" 0
grep -q asked "$work/loads" || fail "touched library" "it was not asked again"
for facts in "$NEWT_CACHE_DIR"/*.nvrtc; do
    echo 'newt nvrtc 1 nonsense' >"$facts"
done
: >"$work/loads"
compile "damaged facts" 0
grep -q asked "$work/loads" || fail "damaged facts" "the library was not asked again"
cp "$fake" "$work/gone.so"
NEWTC_NVRTC="$work/gone.so" compile "a library" 0
rm "$work/gone.so"
NEWTC_NVRTC="$work/gone.so" "$newtc" --arch=sm_80 good.newt >"$work/out" 2>"$work/err"
judge "a library that is gone" 2 $? "err no libnvrtc found ; files $(made)"
cp kept.newt good.newt
compile "a place of its own" 1 --cache-dir="$work/other cache"
compile "the same place" 0 --cache-dir="$work/other cache"
compile "no place" 1 --cache-dir=/proc/nowhere -v
grep -q "cache off: cannot use '/proc/nowhere'" "$work/err" || fail "no place" "-v does not say so"
compile "no place, quietly" 1 --cache-dir=/proc/nowhere
[ ! -s "$work/err" ] || fail "no place, quietly" "it was not quiet"
[ "$(find "$NEWT_CACHE_DIR" -type f ! -name '*.image' ! -name '*.nvrtc')" = "" ] || fail "cache" "something else is in it"
finish
