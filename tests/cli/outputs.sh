#!/bin/sh
# What is written, under which names, and that a failure or an interruption leaves nothing half done.
. "$(dirname -- "$0")/common.sh"

rows <<'TABLE'
default             | 0 | --arch=host good.newt             | files good.c good.h good.json ; quiet
no manifest         | 0 | --arch=host --no-manifest good.newt | files good.c good.h
named               | 0 | --arch=host -o other.c good.newt  | files other.c other.h other.json
folder              | 0 | --arch=host -o made/deep/ good.newt | files made made/deep made/deep/good.c made/deep/good.h made/deep/good.json
elsewhere           | 0 | --arch=host --header=h.h --manifest=m.json good.newt | files good.c h.h m.json
one kind            | 0 | --arch=host --emit=ir good.newt   | files good.ir
one kind named      | 0 | --arch=host --emit=ir -o x good.newt | files x
newt text           | 0 | --emit=newt -o x good.newt        | files x
newt text and more  | 0 | --arch=host --emit=newt,ir good.newt | files good.ir good.kernels.newt
two kinds           | 0 | --arch=host --emit=ir,host-c good.newt | files good.host.c good.ir
standard output     | 0 | --arch=host --emit=host-c -o - good.newt | out nth_ ; files
header only         | 0 | --arch=host --emit=header good.newt | files good.h
object              | 0 | --arch=host -c good.newt          | files good.h good.o
several inputs      | 0 | --arch=host --emit=ir good.newt fine.newt | files fine.ir good.ir
several to a folder | 0 | --arch=host --emit=ir -o d/ good.newt fine.newt | files d d/fine.ir d/good.ir
several to a file   | 2 | --arch=host -o x.c good.newt fine.newt | err with several inputs -o must name a folder, and 'x.c' is none
several to stdout   | 2 | --arch=host --emit=ir -o - good.newt fine.newt | err -o must name a folder
one header of two   | 2 | --arch=host --header=h.h good.newt fine.newt | err --header cannot name one file
same stem           | 2 | --arch=host good.newt ./good.newt | err would write the same outputs
one good one bad    | 1 | --arch=host good.newt four_errors.newt | errs 4 ; files good.c good.h good.json
one missing         | 2 | --arch=host nothing.newt good.newt | err cannot read 'nothing.newt': No such file ; files good.c good.h good.json
highest code wins   | 2 | --arch=host four_errors.newt nothing.newt | errs 5
stdout of two kinds | 2 | --arch=host -o - good.newt        | err -o - writes one kind of output
empty name          | 2 | --arch=host -o '' good.newt       | err -o has an empty name
over the input      | 2 | --arch=host --emit=ast -o good.newt good.newt | err output 'good.newt' is the input itself
twice one name      | 2 | --arch=host -o x.c --header=x.c good.newt | err two outputs would be called 'x.c'
no such folder      | 2 | --arch=host -o no/x.c good.newt   | err cannot write no/x.c: No such file
folder in the way   | 0 | --arch=host -o . --no-manifest good.newt | files good.c good.h
full disk           | 2 | --arch=host --emit=ir -o /dev/full good.newt | err cannot write /dev/full: No space left
bit bucket          | 0 | --arch=host --emit=ir -o /dev/null good.newt | files
dry run             | 0 | -### --arch=host good.newt        | err write good.c ; files
dry run of -c       | 0 | -### -c --arch=host good.newt     | err cc .*-std=c11.* -c module.c -o good.o ; files
rule only           | 0 | -M --arch=host good.newt          | out ^good.c good.h good.json: good.newt$ ; files
rule also           | 0 | -MD --arch=host good.newt         | files good.c good.d good.h good.json
rule elsewhere      | 0 | -MD -MF x.d -MT 'a$(b)' --arch=host good.newt | files good.c good.h good.json x.d
no rule of a failure | 1 | -MD four_errors.newt --arch=host | errs 4
times               | 0 | -ftime-report --arch=host good.newt | err good.newt: front end [0-9.]+ ms
times as JSON       | 0 | -ftime-report=json --arch=host good.newt | err ^\[. "file": "good.newt", "front_ms": [0-9.]+, .*"cached": 0 .\]$
broken compiler     | 2 | --arch=host -c --cc=false good.newt | err 'false' ended with 1 on the generated C
no compiler         | 2 | --arch=host -c --cc=/nonexistent/cc good.newt | err cannot run the C compiler '/nonexistent/cc': No such file
TABLE

fresh
"$newtc" --arch=host good.newt >"$work/out" 2>"$work/err"
judge "manifest" 0 $? 'quiet'
! command -v python3 >/dev/null 2>&1 || python3 -m json.tool good.json >/dev/null || fail "manifest" "good.json is no JSON"

# A folder and a file that may not be written; the superuser may.
if [ "$(id -u)" -ne 0 ]; then
    fresh
    mkdir locked && chmod a-w locked
    "$newtc" --arch=host -o locked/ good.newt >"$work/out" 2>"$work/err"
    judge "read-only folder" 2 $? 'err cannot write locked/good.c: Permission denied ; files locked'
fi

fresh
"$newtc" --arch=host --emit=ir -o - good.newt >&- 2>"$work/err"
judge "closed standard output" 2 $? 'err cannot write standard output'
fresh
"$newtc" --help >/dev/full 2>"$work/err"
judge "help on a full disk" 2 $? 'err cannot write to standard output'
fresh
(ulimit -f 8 && exec "$newtc" --arch=host good.newt) >"$work/out" 2>"$work/err"
judge "file beyond its limit" 2 $? 'err cannot write good.c: File too large'
fresh
"$newtc" --arch=host four_errors.newt >"$work/out" 2>&-
judge "closed standard error" 1 $? ''
fresh
{ "$newtc" --arch=host --emit=host-c -o - good.newt 2>"$work/err"; echo $? >"$work/status"; } | head -c 1 >/dev/null
judge "reader that leaves" "$(cat "$work/status")" "$(cat "$work/status")" ''

# An older output stays as it was when a later compile fails.
fresh
"$newtc" --arch=host good.newt && cp good.c before.c
cp four_errors.newt good.newt
"$newtc" --arch=host good.newt >"$work/out" 2>"$work/err"
judge "failure keeps what was there" 1 $? 'files before.c good.c good.h good.json'
cmp -s good.c before.c || fail "failure keeps what was there" "good.c changed"

# The header keeps its time stamp while its bytes do not change.
fresh
"$newtc" --arch=host good.newt && touch -d '2020-01-01' good.h && "$newtc" --arch=host good.newt >"$work/out" 2>"$work/err"
judge "unchanged header" 0 $? 'quiet'
[ -n "$(find good.h ! -newermt 2020-01-02)" ] || fail "unchanged header" "its time stamp is new"
"$newtc" --arch=host --touch good.newt >"$work/out" 2>"$work/err"
judge "--touch" 0 $? 'quiet'
[ -n "$(find good.h -newermt 2020-01-02)" ] || fail "--touch" "its time stamp is old"

# Interrupted at any moment, a compile leaves all outputs or none, and no temporary unless it is killed outright.
for signal in INT TERM KILL; do
    for delay in 0 0.002 0.005 0.01 0.02; do
        fresh
        "$newtc" --arch=host good.newt fine.newt warns.newt >"$work/out" 2>"$work/err" &
        child=$!
        sleep "$delay"
        kill -s "$signal" "$child" 2>/dev/null
        wait "$child" 2>/dev/null
        count=$((count + 1))
        for stem in good fine warns; do
            for file in "$stem.c" "$stem.json"; do
                [ ! -e "$file" ] || tail -c 3 "$file" | grep -q '}' || fail "$signal after $delay" "$file is not whole"
            done
        done
        [ "$signal" = KILL ] || [ -z "$(ls -A | grep tmp)" ] || fail "$signal after $delay" "a temporary is left"
    done
done
finish
