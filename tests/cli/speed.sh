#!/bin/sh
# newtc's own time: 10,000 lines, growth to 100,000, a build whose images are cached. Processor time, so that a
# busy machine changes little.
. "$(dirname -- "$0")/common.sh"
! grep -q __asan "$newtc" || skip_all "a sanitizer's time tells nothing"
here_newt=$here/../../examples/01_vector_add/vector_add.newt
fresh

# spent <command...>: processor time of the command in milliseconds, in steps of the clock.
spent() {
    (
        "$@" >"$work/out" 2>"$work/err" </dev/null || exit 1
        times >"$work/times"  # in a pipe it would be another process
        awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); print int(1000 * (60 * (u[1] + s[1]) + u[2] + s[2])) }' \
            "$work/times"
    )
}

# within <name> <milliseconds> <most>
within() {
    count=$((count + 1))
    [ "${2:-0}" -gt 0 ] || fail "$1" "it failed, or its time was not seen"
    [ "${2:-0}" -le "$3" ] || fail "$1" "$2 ms, not at most $3"
    echo "$1: $2 ms"
}

# kernels <lines>: many functions of 25 lines. statements <lines>: one function.
kernels() {
    awk -v n="$1" 'BEGIN {
        print "import newt.language as nl"
        for (i = 0; i < n / 25; i++) {
            print "\n\n@newt.kernel(grid=lambda n, BLOCK: (nl.cdiv(n, BLOCK),))"
            print "def k" i "(x: nl.ptr[nl.float32], n: nl.int32, BLOCK: nl.constexpr = 1024):"
            print "    offs = nl.program_id(0) * BLOCK + nl.arange(0, BLOCK)\n    mask = offs < n"
            print "    v = nl.load(x + offs, mask=mask)"
            for (j = 0; j < 17; j++)
                print "    v = v * " j ".5 + " i % 7 ".25"
            print "    nl.store(x + offs, v, mask=mask)"
        }
    }'
}
statements() {
    awk -v n="$1" 'BEGIN {
        print "import newt.language as nl\n\n\n@newt.kernel(grid=(1,))\ndef k(x: nl.ptr[nl.float32]):\n    v = nl.load(x)"
        for (j = 0; j < n; j++)
            print "    v = v * " j % 97 ".5 + " j % 7 ".25"
        print "    nl.store(x, v)"
    }'
}
for shape in kernels statements; do
    "$shape" 10000 >large.newt
    "$shape" 100000 >larger.newt
    wc -l large.newt larger.newt | awk '{ print $1 }' | head -n 1 | grep -qE '^(99|100)..$' || fail "$shape" "not 10,000 lines"
    for kind in ast ir; do
        [ "$shape-$kind" != statements-ir ] || continue  # refused below
        once=$(spent "$newtc" --arch=host "--emit=$kind" -o /dev/null large.newt)
        within "10,000 lines of $shape to $kind" "$once" 1000
        within "ten times as many" "$(spent "$newtc" --arch=host "--emit=$kind" -o /dev/null larger.newt)" \
            $((20 * ${once:-0} + 100))
    done
done
"$newtc" --arch=host --emit=ir -o /dev/null larger.newt >"$work/out" 2>"$work/err"
judge "100,000 statements" 1 $? 'err more than [0-9]+ statements .*\[limit\] ; files large.newt larger.newt'

# Twenty builds of which only the first compiles; the least of their own times counts, since it is no processor time.
cp "$here_newt" add.newt
export NEWTC_NVRTC="$3"
"$newtc" add.newt >"$work/out" 2>"$work/err" || fail "first build" "it failed"
twenty() {
    for run in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$newtc" -ftime-report=json add.newt >>"$work/report.$run" 2>&1 || return 1
    done
}
all=$(spent twenty)
within "cached build of vector_add" "$(( ${all:-20000} / 20 ))" 20
own=$(cat "$work"/report.* | sed -n 's/.*"front_ms": *\([0-9.]*\).*"lower_ms": *\([0-9.]*\).*"write_ms": *\([0-9.]*\).*/\1 \2 \3/p' |
    awk '{ all = $1 + $2 + $3; if (NR == 1 || all < least) least = all } END { print int(least + 0.999) }')
within "newtc's own part of it" "$own" 8  # 5 at most in a release build
finish
