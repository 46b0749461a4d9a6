#!/bin/sh
# How many images are compiled at once: -j, and make's jobserver, whose tokens come back however newtc ends.
. "$(dirname -- "$0")/common.sh"
export NEWTC_NVRTC="$3" FAKE_NVRTC=counted FAKE_NVRTC_CALLS="$work/calls"
inputs='good.newt fine.newt warns.newt'  # six images

# most <name> <least> <most> <status>: how many compiled at once, and how newtc ended.
most() {
    judge "$1" 0 "$4" ''
    found=$(sed -n 's/ at once$//p' "$work/calls" | sort -n | tail -n 1)
    [ "${found:-0}" -ge "$2" ] && [ "${found:-0}" -le "$3" ] || fail "$1" "$found at once, not $2 to $3"
}

# compile <name> <least> <most> [option...]
compile() {
    name=$1 least=$2 limit=$3
    shift 3
    fresh
    : >"$work/calls"
    # shellcheck disable=SC2086
    "$newtc" --no-cache -w "$@" $inputs >"$work/out" 2>"$work/err"
    most "$name" "$least" "$limit" $?
}
compile "one job" 1 1 -j1
compile "three jobs" 2 3 -j3

mkfifo "$work/jobs"
exec 9<>"$work/jobs"
# tokens <name>: all of them are there again, and no other.
tokens() {
    back=$(dd bs=64 count=1 iflag=nonblock <&9 2>/dev/null | fold -w 1 | sort | tr -d '\n')
    [ "$back" = "$given" ] || fail "$1" "the tokens are '$back', not '$given'"
    printf '%s' "$back" >&9
}
given=
MAKEFLAGS="rk -j3 --jobserver-auth=fifo:$work/jobs"
export MAKEFLAGS
compile "no token" 1 1
given=ab
printf '%s' "$given" >&9
compile "two tokens" 2 3
tokens "two tokens"
compile "-j wins" 1 1 -j1
tokens "-j wins"
MAKEFLAGS="--jobserver-auth=fifo:/nonexistent -j --jobserver-auth=fifo:$work/jobs -- A=b"
compile "the last one counts" 2 3
tokens "the last one counts"
FAKE_NVRTC=reject
rows <<'TABLE'
refused           | 2 | --no-cache -Xnvrtc -DA good.newt fine.newt | err does not accept the options
TABLE
tokens "refused"
FAKE_NVRTC=interrupted
rows <<'TABLE'
interrupted       | 130 | --no-cache good.newt fine.newt   | files
TABLE
tokens "interrupted"
FAKE_NVRTC=exits
rows <<'TABLE'
ended by NVRTC    | 9 | --no-cache good.newt fine.newt     | files
TABLE
tokens "ended by NVRTC"
if ! grep -q __asan "$newtc"; then  # whose own handlers stay
    FAKE_NVRTC=crash
    rows <<'TABLE'
crash             | 3 | --no-cache good.newt fine.newt     | err in stage 'NVRTC'
TABLE
    tokens "crash"
fi
FAKE_NVRTC=counted
exec 9>&-
for lost in 'fifo:/nonexistent' '-2,-2' '0,0' '77,78' 'nonsense'; do
    MAKEFLAGS=" --jobserver-auth=$lost"
    compile "no access by $lost" 1 1 -v
    grep -q 'one image at a time' "$work/err" || fail "no access by $lost" "-v does not say so"
done

# make itself, with the form of its version.
unset MAKEFLAGS
if command -v make >/dev/null 2>&1; then
    fresh
    : >"$work/calls"
    printf 'all: a b\na b:\n\t+"$(NEWTC)" --no-cache -w -o $@.d/ %s\n' "$inputs" >Makefile
    mkdir a.d b.d
    NEWTC=$newtc make -j3 >"$work/out" 2>"$work/err"
    most "make" 2 3 $?
fi
finish
