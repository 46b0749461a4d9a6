#!/bin/sh
# R8: each header compiles alone, without warnings, as C11 and as C17.
. "$(dirname -- "$0")/common.sh"
cc=${CC:-cc}
need "$cc"

check() {
    list_files "$1" | grep -E '^(compiler|runtime)/.*\.h$' | grep -v '/prelude/' |
        while IFS= read -r file; do
            for standard in c11 c17; do
                echo "#include \"$1/$file\"" | "$cc" -std=$standard -D_POSIX_C_SOURCE=200809L \
                    -Wall -Wextra -Wpedantic -Wno-unused-function -Werror -fsyntax-only -x c \
                    -I "$1/compiler" -I "$1/lang" -I "$1/runtime/include" -I "$1/runtime/src" \
                    -I "$2/generated" - 2>&1 | grep -m 1 'error:' | sed "s|^|$file ($standard): |"
            done
        done
}

sample() {
    mkdir -p "$1/compiler/front"
    {
        [ "$2" = bad ] || echo '#include <stddef.h>'
        echo 'size_t front_count(void);'
    } >"$1/compiler/front/a.h"
}

rule_main "$@"
