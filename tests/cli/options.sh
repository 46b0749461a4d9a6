#!/bin/sh
# The command line itself: usage errors, information, options that do not fit together.
. "$(dirname -- "$0")/common.sh"

rows <<'TABLE'
no input            | 2 |                                   | err no input file; newtc --help
unknown option      | 2 | --frobnicate good.newt            | err unknown option '--frobnicate'; --help lists them
near option         | 2 | --emti=ir good.newt               | err unknown option '--emti=ir'; did you mean '--emit'\?
missing value       | 2 | good.newt -o                      | err option '-o' needs a value: FILE
missing long value  | 2 | good.newt --arch                  | err option '--arch' needs a value: ARCH
unknown kind        | 2 | --emit=foo good.newt              | err 'foo' does not fit option '--emit': expected tokens, ast
number wanted       | 2 | -fmax-errors=many good.newt       | err 'many' does not fit option '-fmax-errors': it takes a whole number
negative number     | 2 | -j -1 good.newt                   | err '-1' does not fit option '-j'
bad choice          | 2 | -fdiagnostics-color=red good.newt | err expected auto, always or never
bad format          | 2 | -fdiagnostics-format=xml good.newt | err expected text, json or sarif
bad prefix map      | 2 | -ffile-prefix-map=a good.newt     | err expected OLD=NEW
bad embed           | 2 | --embed=zip good.newt             | err expected words, incbin or file
unknown arch        | 2 | --arch=sm_81 good.newt            | err unknown architecture 'sm_81' ; err help: did you mean 'sm_80'\?
three warps         | 2 | --num-warps=3 good.newt           | err --num-warps is 3; it takes 1, 2, 4, 8, 16 or 32
bad prefix          | 2 | --prefix=1-x good.newt            | err --prefix is '1-x'
bad namespace       | 2 | --namespace=a:b good.newt         | err --namespace is 'a:b'
bad macro           | 2 | --export-macro='a b' good.newt    | err --export-macro is 'a b'
nine stages         | 2 | --num-stages=9 good.newt          | err --num-stages is 9
no stages           | 2 | --num-stages=0 good.newt          | err '0' does not fit option '--num-stages': it takes a whole number from 1 on
no warps            | 2 | --num-warps 0 good.newt           | err '0' does not fit option '--num-warps': it takes a whole number from 1 on
no kinds            | 2 | --emit= good.newt                 | err '' does not fit option '--emit': it takes words with commas between
no archs            | 2 | --arch= good.newt                 | err '' does not fit option '--arch': it takes words
a rule's file alone | 2 | -MF a.d good.newt                 | err -MF says something about a rule for make; ask for one by -M or -MD ; files
a second grid       | 1 | --arch=host --kernel=good --grid=4 good.newt | err 'good' has a grid, and --grid another \[bad-value\] ; files
tile layer          | 0 | -E good.newt                      | out def good ; files
unknown pass        | 2 | --emit=ir-after:foo good.newt     | err there is no pass 'foo'; the passes, in order: fold
pass run too often  | 2 | --emit=ir-after:fold.9 good.newt  | err there is no pass 'fold.9'
second run of pass  | 0 | --arch=host --emit=ir-after:fold.2 -o - good.newt | out func @good
bad define          | 1 | -D N good.newt                    | err -DN: expected NAME=VALUE
unknown define      | 1 | -DX=1 good.newt                   | err -DX=1: no constant or parameter has this name
unknown kernel      | 1 | --kernel=no good.newt             | err 'no'
separate value      | 0 | --arch host --emit ir -o - good.newt | out func @good
joined value        | 0 | --arch=host --emit=ir -o- good.newt  | out func @good
later word wins     | 0 | --arch=host --emit=ir -o x.ir -o y.ir good.newt | files y.ir
later: run          | 2 | run good.newt                     | err 'newtc run' is not part of this version
later: test         | 2 | test                              | err 'newtc test' is not part of this version
later: bench        | 2 | bench good.newt                   | err 'newtc bench' is not part of this version
later: doc          | 2 | doc good.newt                     | err 'newtc doc' is not part of this version
later: lsp          | 2 | --lsp                             | err 'newtc --lsp' is not part of this version
file of such a name | 2 | ./run                             | err cannot read './run': No such file
version             | 0 | --version                         | out ^newtc [0-9]+\.[0-9]+\.[0-9]+$
version as JSON     | 0 | --version=json                    | out "newtc": "[0-9.]+", "abi": 1
version as XML      | 2 | --version=xml                     | err --version takes json, not 'xml'
help                | 0 | --help                            | out --emit=LIST ; out ^running$
help on a topic     | 0 | --help=target                     | out --arch=ARCH
help on nothing     | 2 | --help=everything                 | err no help on 'everything'
explain             | 0 | --explain shape-mismatch          | out Two blocks have shapes
explain a typo      | 2 | --explain bad-vlue                | err no diagnostic is called 'bad-vlue'; did you mean 'bad-value'\?
operations          | 0 | --print-ops                       | out cdiv
architectures       | 0 | --print-archs                     | out ^host$
places of NVRTC     | 0 | --print-nvrtc                     | out NVRTC
unknown warning     | 2 | -Wshift-cuont warns.newt          | err no warning is called 'shift-cuont'; did you mean 'shift-count'\?
error as warning    | 2 | -Werror=syntax good.newt          | err 'syntax' is no warning
unknown -Wno        | 0 | -Wno-such --arch=host good.newt   | quiet
unknown -Wno told   | 0 | -Wno-such --arch=host warns.newt  | err -Wno-such: no warning is called 'such'
response file       | 0 | @words                            | files good.c good.h
missing response    | 2 | @nothing                          | err cannot read response file 'nothing'
endless response    | 2 | @endless                          | err nested too deep
options ended       | 2 | --arch=host -- -good.newt         | err cannot read '-good.newt'
flags with spaces   | 0 | --arch=host -o 'a b.c' --no-manifest good.newt | files a b.c a b.h
TABLE

# NEWTC_FLAGS stands before the command line, so the command line wins.
fresh
NEWTC_FLAGS='--arch=host --emit=ir -o "from flags.ir"' "$newtc" good.newt >"$work/out" 2>"$work/err"
judge "flags of the environment" 0 $? 'files from flags.ir'
fresh
NEWTC_FLAGS='--arch=host --emit=ir -o flags.ir' "$newtc" -o line.ir good.newt >"$work/out" 2>"$work/err"
judge "the command line wins" 0 $? 'files line.ir'
fresh
NEWTC_FLAGS=--frobnicate "$newtc" good.newt >"$work/out" 2>"$work/err"
judge "unknown flag of the environment" 2 $? "err unknown option '--frobnicate'"

# Every option of the help is known, and every topic is a group of it.
for topic in $("$newtc" --help | grep -E '^[a-z]+$'); do
    fresh
    "$newtc" --help="$topic" >"$work/out" 2>"$work/err"
    judge "topic $topic" 0 $? 'out ^  -'
done
for slug in $(sed -n 's/^DIAG([A-Z_0-9]*, "\([a-z-]*\)".*/\1/p' "$here/../../compiler/support/diags.def"); do
    fresh
    "$newtc" --explain "$slug" >"$work/out" 2>"$work/err"
    judge "explain $slug" 0 $? 'out [A-Za-z].*[.:]$'
done
finish
