#!/bin/sh
# R2: no function over 60 lines, from its name's line to its closing brace. Names in
# capitals are macros that define functions, which ctags takes for one.
. "$(dirname -- "$0")/common.sh"
need ctags
ctags --version | grep -q 'Universal Ctags' || {
    echo "skipped: ctags is not universal-ctags"
    exit 77
}

check() {
    (cd "$1" && list_files . | grep -E '\.(c|h|cpp|cuh)$' |
        ctags -x --_xformat='%F %n %e %N' --langmap=C++:+.cuh --kinds-C=f --kinds-C++=f -L - |
        awk '$3 - $2 + 1 > 60 && $4 ~ /[a-z]/ { print $1 ":" $2 ": " $4 " has " $3 - $2 + 1 " lines" }')
}

sample() {
    {
        printf 'int f(void)\n{\n'
        awk -v n="$([ "$2" = good ] && echo 56 || echo 57)" 'BEGIN { while (n--) print "    ;" }'
        printf '    return 0;\n}\n'
    } >"$1/a.c"
}

rule_main "$@"
