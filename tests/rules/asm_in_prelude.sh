#!/bin/sh
# R5: machine instructions stand only in the device prelude; emitters call its functions by name.
# Comments may speak of asm, and the module writer may write .incbin.
. "$(dirname -- "$0")/common.sh"

check() {
    list_files "$1" | grep -E '^(compiler|runtime|stdlib|examples)/.*\.(c|h|cpp|cuh|re|y|newt)$' |
        grep -v '/prelude/' | while IFS= read -r file; do
        sed 's|//.*||; s|^ *\*.*||; s|/\*.*\*/||' "$1/$file" |
            grep -nE '(^|[^A-Za-z0-9_])(asm|__asm|__asm__)([^A-Za-z0-9_]+volatile)?[^A-Za-z0-9_]*\(' |
            grep -v '\.incbin' | sed "s|^|$file:|"
    done
}

sample() {
    mkdir -p "$1/compiler/backend/cuda/prelude"
    echo 'asm volatile("bar.sync 0;");' >"$1/compiler/backend/cuda/prelude/a.cuh"
    if [ "$2" = good ]; then
        echo 'puts("plasm(x)");  // not asm("...")' >"$1/compiler/backend/cuda/a.c"
    else
        echo 'puts("asm volatile(\"bar.sync 0;\");");' >"$1/compiler/backend/cuda/a.c"
    fi
}

rule_main "$@"
