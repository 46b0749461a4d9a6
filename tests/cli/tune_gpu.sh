#!/bin/sh
# newtc tune on a GPU that is none: a copy of newtc beside a libnewt whose driver runs one kernel.
. "$(dirname -- "$0")/common.sh"
[ -n "$(command -v cc)" ] || skip_all "there is no C compiler"
mkdir -p "$work/fake/bin" "$work/fake/lib/newt" || exit 2
cp "$newtc" "$work/fake/bin/newtc" && cp "$4" "$work/fake/lib/newt/libnewt.so" || exit 2
ln -s "$(dirname -- "$newtc")/../include" "$work/fake/include"

# tune <name> <exit code> <expectations> <option...>
tune() {
    name=$1 wanted=$2 expected=$3
    shift 3
    "$work/fake/bin/newtc" tune --device cuda:0 --kernel double --shape N=3000 --nvrtc="$nvrtc" "$@" tuned.newt \
        >"$work/out" 2>"$work/err"
    judge "$name" "$wanted" $? "$expected"
}

# The planted block of 64 is wrong and the fastest; warps and stages that change nothing are not measured again.
nvrtc=$3
fresh
tune "finds one" 0 'out ^double N=3000 on Fake 0: 10.00 us with BLOCK_TILE_N=256 ; out [1-9][0-9]* the same code as others ; out ^  wrong: BLOCK_TILE_N=64 ' --budget 15 --report=r.json
grep -q '"verdict": "same code"' r.json || fail "finds one" "the report names no candidate of the same code"
grep '"verdict": "right"' r.json | sed 's/.*"config": "\([^"]*\)".*/\1/' | sort | uniq -d | grep -q . &&
    fail "finds one" "something was measured twice"
"$newtc" tune --list tune.json >"$work/out" 2>"$work/err"
judge "listed" 0 $? 'out ^double_ on Fake 0 .sm_90a.: N=3000 ; out wrong: .*N64_'

# Known candidates come from the store; only what is new needs the reference, and so host code.
cp tune.json before.json
tune "all is known" 0 'out ^double N=3000 on Fake 0: 10.00 us' --budget 12 --resume
grep -o '"N[0-9]*_W[0-9]*_S[0-9]*": [0-9.]*' before.json >"$work/before_us"
[ -s "$work/before_us" ] || fail "all is known" "the store has no times"
while read -r line; do
    grep -qF -- "$line" tune.json || fail "all is known" "$line was measured again"
done <"$work/before_us"

# Killed in the middle, it leaves no process behind that holds anything, and goes on at once.
fresh
"$work/fake/bin/newtc" tune --device cuda:0 --kernel double --shape N=3000 --nvrtc="$nvrtc" tuned.newt >/dev/null 2>&1 &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.3
    ! grep -q '"us": { *"' tune.json 2>/dev/null || break
done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
tune "goes on" 0 'out ^double N=3000 on Fake 0: 10.00 us with BLOCK_TILE_N=256 ' --resume --budget 12
[ ! -s "$work/err" ] || fail "goes on" "it complains"
finish
