#!/bin/sh
# Rules for make and ninja: an edited import rebuilds, nothing else does, and an unchanged header keeps its time.
. "$(dirname -- "$0")/common.sh"
cat >helper.newt <<'NEWT'
import newt.language as nl


@newt.jit
def scale(x):
    return x * 2.0
NEWT
cat >"with space.newt" <<'NEWT'
import newt.language as nl
from helper import scale


@newt.kernel(grid=(1,))
def kernel(x: nl.ptr[nl.float32]):
    nl.store(x, scale(nl.load(x)))
NEWT
cat >Makefile <<'MAKE'
out.c out.h &: with\ space.newt
	echo run >>runs
	$(NEWTC) --arch=host --no-manifest -MD -MP -MF out.d -o out.c "with space.newt"
user.o: out.h
	echo user >>runs
	touch user.o
-include out.d
MAKE
cat >build.ninja <<'NINJA'
rule newt
  restat = 1
  command = echo run >>runs && $newtc --arch=host --no-manifest -MD -MF $out.d -o out.c "with space.newt"
  depfile = $out.d
  deps = gcc
rule user
  command = echo user >>runs && touch user.o
build out.c | out.h: newt with$ space.newt
build user.o: user | out.h
NINJA
sed -i "1i newtc = $newtc" build.ninja

# The words in `runs` since the last look.
runs() {
    tr '\n' ' ' <runs
    : >runs
}
expect_runs() {
    found=$(runs)
    steps=$((steps + 1))
    [ "$found" = "$2" ] || {
        failed=1
        echo "FAILED $1: ran '$found', not '$2'"
    }
}

# check <tool> <command...>
check() {
    tool=$1
    shift
    rm -f out.* user.o .ninja*
    : >runs
    step "$tool: first" "$@"
    expect_runs "$tool: first" "run user "
    step "$tool: nothing to do" "$@"
    expect_runs "$tool: nothing to do" ""
    sleep 1.1
    touch helper.newt
    step "$tool: touched import" "$@"
    expect_runs "$tool: touched import" "run "
    sleep 1.1
    sed -i 's/def kernel(x:/def kernel(y:/; s/store(x, scale(nl.load(x)/store(y, scale(nl.load(y)/' "with space.newt"
    step "$tool: changed header" "$@"
    expect_runs "$tool: changed header" "run user "
    sed -i 's/def kernel(y:/def kernel(x:/; s/store(y, scale(nl.load(y)/store(x, scale(nl.load(x)/' "with space.newt"
    sleep 1.1
    echo 'broken(' >>helper.newt
    "$@" >"$work/log" 2>&1 && { failed=1; echo "FAILED $tool: a broken import built"; }
    sed -i '$d' helper.newt
    : >runs
    step "$tool: mended import" "$@"
}
if has make && make --version | grep -qE 'GNU Make (4\.[3-9]|[5-9])'; then  # which have grouped targets
    check make make "NEWTC=$newtc" out.c user.o
fi
has ninja && check ninja ninja
finish
