#!/bin/sh
# clang_format.sh <root> <build>: every C file is as clang-format prints it.
set -u
command -v clang-format >/dev/null 2>&1 || {
    echo "skipped: clang-format is not installed"
    exit 77
}
cd "$1" || exit 2
find compiler runtime tests examples bench \( -name '*.c' -o -name '*.h' \) 2>/dev/null | sort |
    tr '\n' '\0' | xargs -0 clang-format --dry-run -Werror 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error.*//p' |
    sort -u | {
    failed=0
    while IFS= read -r file; do
        echo "$file: differs from clang-format's output"
        failed=1
    done
    exit $failed
}
