#!/bin/sh
# run.sh <build> <peers.py or -> <out> [suite...]   measures ours and theirs in one run, on the GPU machine
#
# Builds nothing: <build> holds bench/bench_* and compiler/newtc. First every instance is checked at every shape, on
# the GPU, then the suites are timed: theirs, ours, theirs, ours. <out> receives head.txt (date, GPU, driver,
# command), ours.jsonl, peers.jsonl, table.md and bars.svg. "-" leaves the peers out. ROUNDS (2) and DEVICE (cuda:0)
# are taken from the environment.
set -eu
[ $# -ge 3 ] || {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
build=$1
peers=$2
out=$3
command="$0 $*"
shift 3
[ $# -gt 0 ] || set -- copy add sum softmax layernorm matmul tf32 fp8 attention launch
rounds=${ROUNDS:-2}
device=${DEVICE:-cuda:0}
mkdir -p "$out"

{
    echo "# date: $(date -u +%Y-%m-%dT%H:%MZ)"
    echo "# gpu, driver: $(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem \
        --format=csv,noheader 2>/dev/null | head -n 1)"
    echo "# command: $command"
} >"$out/head.txt"
cp "$out/head.txt" "$out/ours.jsonl"
cp "$out/head.txt" "$out/peers.jsonl"

failed=0
for suite in "$@"; do
    [ "$suite" = launch ] && continue
    "$build/bench/bench_$suite" --quick --check "$device" >>"$out/checks.txt" || failed=1
done
[ "$failed" = 0 ] || {
    echo "wrong results at the small shapes; the timings below leave these instances out:"
    grep WRONG "$out/checks.txt" || true
}

for suite in "$@"; do
    round=0
    while [ "$round" -lt "$rounds" ]; do
        [ "$peers" = - ] || python3 "$peers" "$suite" >>"$out/peers.jsonl" || failed=1
        "$build/bench/bench_$suite" "$device" >>"$out/ours.jsonl" || failed=1
        round=$((round + 1))
    done
done

{
    cat "$out/head.txt"
    echo
    "$build/bench/bench_report" --svg "$out/bars.svg" "$out/ours.jsonl" "$out/peers.jsonl"
} >"$out/table.md"
grep -h WRONG "$out/ours.jsonl" || true
cat "$out/table.md"
exit "$failed"
