#!/bin/sh
# The CUDA C++ of the kernels that bench/ measures stays readable: at most 1,500 lines a variant.
. "$(dirname -- "$0")/common.sh"
kernels=$here/../../bench/kernels
most=1500

# longest <file>...: the lines of the longest variant, and its file
longest() {
    awk 'FNR == 1 || /^\/\/ variant:/ { lines = 0 }
         ++lines > most { most = lines; file = FILENAME }
         END { print most + 0, file }' "$@"
}

fresh
for kernel in attention layernorm matmul softmax tile tile_attention; do
    count=$((count + 1))
    "$newtc" --arch=sm_80,sm_90a -w -S -o "$kernel.cu" "$kernels/$kernel.newt" >"$work/out" 2>"$work/err" ||
        fail "$kernel" "newtc fails"
    longest "$kernel".*.cu >"$work/longest"
    read -r lines file <"$work/longest"
    [ "$lines" -gt 50 ] && [ "$lines" -le $most ] || fail "$kernel" "$lines lines in $file, not at most $most"
done

# A text that is too long is seen.
awk 'BEGIN { print "// variant: one"; for (i = 0; i < 1600; i++) print "x" }' >"long.cu"
count=$((count + 1))
[ "$(longest long.cu)" = "1601 long.cu" ] || fail "a long text" "it counts $(longest long.cu)"

finish
