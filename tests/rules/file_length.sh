#!/bin/sh
# R1: no file of ours over 600 lines. Tables (.def) may be longer.
. "$(dirname -- "$0")/common.sh"

check() {
    list_files "$1" | grep -E '(\.(c|h|cpp|cuh|re|y|sh|cmake|newt|md)|CMakeLists\.txt)$' |
        while IFS= read -r file; do
            lines=$(wc -l <"$1/$file")
            [ "$lines" -le 600 ] || echo "$file: $lines lines"
        done
}

sample() {
    awk -v n=700 'BEGIN { while (n--) print "ROW(" n ")" }' >"$1/long.def"
    awk -v n="$([ "$2" = good ] && echo 600 || echo 601)" 'BEGIN { while (n--) print "//" }' >"$1/a.c"
}

rule_main "$@"
