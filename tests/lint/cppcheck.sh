#!/bin/sh
# cppcheck.sh <root> <build>: cppcheck's warnings and portability notes over the libraries.
set -u
command -v cppcheck >/dev/null 2>&1 || {
    echo "skipped: cppcheck is not installed"
    exit 77
}
cd "$1" || exit 2
cppcheck --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 --quiet \
    --suppress=identicalInnerCondition -j "$(getconf _NPROCESSORS_ONLN)" \
    -D_POSIX_C_SOURCE=200809L -DNEWTC_VERSION='""' \
    -I compiler -I lang -I runtime/include -I runtime/src -I "$2/generated" compiler runtime
