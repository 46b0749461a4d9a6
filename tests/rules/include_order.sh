#!/bin/sh
# R7: includes follow the arrows of compiler/CMakeLists.txt: a library sees those it names there
# and what these see, and the program's main.c sees all; the runtime sees nothing of the compiler;
# of the compiler only the tuner, the driver and the artifact writer see the runtime's headers.
. "$(dirname -- "$0")/common.sh"

check() {
    {
        sed -n 's/^newt_compiler_library(\(.*\))/L \1/p' "$1/compiler/CMakeLists.txt"
        (cd "$1" && list_files . | grep -E '^(compiler|runtime)/.*\.(c|h|re|y)$' |
            while IFS= read -r file; do
                sed -n "s|^ *# *include *[\"<]\([^\">]*\)[\">].*|I $file \1|p" "$file"
            done)
    } | awk '
        # The library that a path below compiler/ belongs to: the longest name that fits.
        function library(path,    l, best) {
            best = ""
            for (l in known)
                if (index(path, l "/") == 1 && length(l) > length(best))
                    best = l
            return best
        }
        $1 == "L" {
            known[$2] = 1
            sees[$2, $2] = 1
            for (i = 3; i <= NF; i++) {  # ORDER: what is named was declared above
                sees[$2, $i] = 1
                for (l in known)
                    if (($i, l) in sees)
                        sees[$2, l] = 1
            }
        }
        $1 == "I" {
            to = library($3)
            from = index($2, "compiler/") == 1 ? library(substr($2, 10)) : "runtime"
            if (to != "" && !((from, to) in sees) && $2 != "compiler/driver/main.c")
                print $2 ": " from " includes \"" $3 "\""
            if ($3 ~ /^newt\// && from != "runtime" && from != "driver" && from != "artifact" && from != "tuner")
                print $2 ": " from " includes <" $3 ">"
        }'
}

sample() {
    mkdir -p "$1/compiler/support" "$1/compiler/front" "$1/compiler/backend/cuda" "$1/runtime/src"
    printf 'newt_compiler_library(%s)\n' "support" "front support" "backend/cuda front" \
        >"$1/compiler/CMakeLists.txt"
    printf '#include "front/a.h"\n#include "support/a.h"\n' >"$1/compiler/backend/cuda/a.c"
    if [ "$2" = good ]; then
        echo '#include "support/a.h"' >"$1/compiler/front/a.c"
    else
        echo '#include "backend/cuda/a.h"' >"$1/compiler/front/a.c"
    fi
}

rule_main "$@"
