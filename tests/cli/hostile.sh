#!/bin/sh
# Inputs that nobody means well with: a diagnostic or success, in bounded time and memory, never a crash.
. "$(dirname -- "$0")/common.sh"

# hostile <name> <wanted status> <expectations>: compiles $work/text.
hostile() {
    fresh
    cp "$work/text" hostile.newt
    find . ! -name . | sort >"$work/before"
    timeout 20 "$newtc" --arch=host hostile.newt >"$work/out" 2>"$work/err"
    judge "$1" "$2" $? "$3"
}

body=$(cat "$here/inputs/good.newt")
: >"$work/text"
hostile "empty file" 0 'files hostile.c hostile.h hostile.json'
printf '\n\n# only a comment' >"$work/text"
hostile "only a comment" 0 'quiet'
printf 'x = 1\0\nimport newt.language as nl\n' >"$work/text"
hostile "NUL byte" 1 'err hostile.newt:1:6: error'
printf '\0\0\0\0' >"$work/text"
hostile "only NUL bytes" 1 'err hostile.newt:1:1: error'
printf '\357\273\277%s\n' "$body" >"$work/text"
hostile "byte order mark" 0 'quiet'
printf '%s\n' "$body" | sed 's/$/\r/' >"$work/text"
hostile "CRLF" 0 'quiet'
printf '%s\n' "$body" | tr '\n' '\r' >"$work/text"
hostile "CR only" 0 'quiet'
printf '%s' "$body" >"$work/text"
hostile "no final newline" 0 'quiet'
printf 'x = "\377\376"\n' >"$work/text"
hostile "invalid UTF-8" 1 'err hostile.newt:1:'
printf 'x = \303\251\303\n' >"$work/text"
hostile "cut UTF-8" 1 'err hostile.newt:1:'
printf 'if 1:\n\tx = 1\n        y = 2\n' >"$work/text"
hostile "tabs and spaces" 1 'err error'
awk 'BEGIN { printf "x = 1"; for (i = 0; i < 250000; i++) printf " + 1"; print "" }' >"$work/text"
hostile "one line of a megabyte" 1 'err error'
awk 'BEGIN { printf "x = "; for (i = 0; i < 1000000; i++) printf "a"; print "" }' >"$work/text"
hostile "a name of a megabyte" 1 'err is not defined'
[ "$(wc -c <"$work/err")" -lt 2000 ] || fail "a name of a megabyte" "the message floods the terminal"
awk 'BEGIN { printf "x = "; for (i = 0; i < 10000; i++) printf "("; printf "1"; for (i = 0; i < 10000; i++) printf ")"; print "" }' >"$work/text"
hostile "10000 parentheses" 1 'err nest'
awk 'BEGIN { printf "x = "; for (i = 0; i < 10000; i++) printf "-"; print "1" }' >"$work/text"
hostile "10000 signs" 1 'err nest'
awk 'BEGIN { for (i = 0; i < 2000; i++) { for (j = 0; j < i; j++) printf " "; print "if x:" } }' >"$work/text"
hostile "2000 nested blocks" 1 'err nest'
awk 'BEGIN { printf "x = 1"; for (i = 0; i < 5000; i++) printf "0"; print "" }' >"$work/text"
hostile "an integer of 5000 digits" 0 'quiet'
awk 'BEGIN { for (i = 0; i < 3000; i++) print "y" i " = )" }' >"$work/text"
hostile "3000 faulty lines" 1 'err too many errors; stopping after 20'
awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) printf "%c", int(rand() * 256) }' >"$work/text"
hostile "noise" 1 'err error'
head -c 100000 "$newtc" >"$work/text"
hostile "a program" 1 'err error'
printf 'from hostile import x\n' >"$work/text"
hostile "import of itself" 1 'err bad-import'
printf 'import folder\n' >"$work/text"
hostile "import of nothing" 1 'err bad-import'
printf 'import newt.language as nl\n\n\n@newt.jit\ndef f(n: nl.constexpr):\n    return f(n + 1)\n\n\n@newt.kernel(grid=(1,))\ndef k(x: nl.ptr[nl.int32]):\n    nl.store(x, f(0))\n' >"$work/text"
hostile "endless recursion" 1 'err error'

# Passes that look at a loop's body twice must not do so at each depth again.
fresh
awk 'BEGIN {
    print "import newt.language as nl\n\n\n@newt.kernel(grid=(1,))\ndef k(x: nl.ptr[nl.float32], n: nl.int32):"
    for (i = 0; i < 60; i++) { pad = pad "    "; print pad "for i" i " in range(n):" }
    print pad "    nl.store(x, nl.load(x) + 1.0)"
}' >hostile.newt
find . ! -name . | sort >"$work/before"
timeout 20 "$newtc" --arch=sm_80 -S -o - hostile.newt >"$work/out" 2>"$work/err"
judge "60 loops inside each other" 0 $? 'out int i59 = 0'

# Not enough memory is exit code 2, not a crash. A sanitizer needs more address space than it gets here.
fresh
if (ulimit -v 2000000 && "$newtc" --version) >"$work/out" 2>/dev/null; then
    awk 'BEGIN { for (i = 0; i < 400000; i++) print "x" i " = 1" }' >large.newt
    find . ! -name . | sort >"$work/before"
    (ulimit -v 40000 && exec "$newtc" --arch=host large.newt) >"$work/out" 2>"$work/err"
    judge "no memory" 2 $? 'err out of memory'
fi
finish
