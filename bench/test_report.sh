#!/bin/sh
# test_report.sh <bench_report>: joins four results and compares the ratios with ones worked out by hand.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/ours.jsonl" <<'LINES'
# a comment
{"suite": "copy", "shape": "1G fp32", "who": "newt", "value": 4000.00, "unit": "GB/s", "cfg": "copy_1024"}
{"suite": "add", "shape": "1M", "who": "newt", "value": 1500.00, "unit": "GB/s", "cfg": "add_512"}
{"suite": "add", "shape": "1M", "who": "newt", "value": 1700.00, "unit": "GB/s", "cfg": "add_512"}
{"suite": "add", "shape": "1M", "who": "newt/add_512", "value": 1600.00, "unit": "GB/s"}
{"suite": "add", "shape": "1M", "who": "newt/add_256", "value": 1500.00, "unit": "GB/s"}
{"suite": "add", "shape": "1M", "who": "newt/tile_add_64", "value": 1200.00, "unit": "GB/s"}
{"suite": "add", "shape": "1M", "who": "newt/tile_add", "value": 1568.00, "unit": "GB/s"}
{"suite": "launch", "shape": "host time per launch", "who": "newt", "value": 2.50, "unit": "us"}
{"suite": "compile", "shape": "newtc --version", "who": "newt", "value": 4.00, "unit": "ms", "goal": 3}
LINES
cat >"$dir/peers.jsonl" <<'LINES'
{"suite": "add", "shape": "1M", "who": "torch", "value": 1000.0, "unit": "GB/s"}
{"suite": "add", "shape": "1M", "who": "triton", "value": 1280.0, "unit": "GB/s", "cfg": "(1024, 4)"}
{"suite": "launch", "shape": "host time per launch", "who": "triton", "value": 17.5, "unit": "us"}
LINES
"$1" --svg "$dir/a.svg" "$dir/ours.jsonl" "$dir/peers.jsonl" >"$dir/table"

expect() {
    grep -qF -- "$1" "$2" || {
        echo "missing: $1"
        cat "$2"
        exit 1
    }
}
expect '| add | 1M | GB/s | 1600 (12.5 %) | add_512 | triton 1280 | **1.250** | 0.400 |' "$dir/table"
expect '| launch | host time per launch | us | 2.500 |  | triton 17.5 | **7.000** |  |' "$dir/table"
expect '| compile | newtc --version | ms | 4.000 |  | goal 3 | **missed** |  |' "$dir/table"
expect '- add: 1.250 over 1 shapes' "$dir/table"
expect '| add | 1M | GB/s | 1568 | tile_add | 1600 | add_512 | **0.980** |' "$dir/table"
expect 'add 1M</text>' "$dir/a.svg"
expect '</svg>' "$dir/a.svg"
