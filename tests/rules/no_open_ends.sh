#!/bin/sh
# No tracked file holds a mark of unfinished work.
. "$(dirname -- "$0")/common.sh"

check() {
    (cd "$1" && list_files . | tr '\n' '\0' | xargs -0 grep -nHIwE 'TOD[O]|FIXM[E]' | cut -c 1-160)
}

sample() {
    echo "nothing is left" >"$1/a.c"
    [ "$2" = good ] || printf '// %s: the rest\n' "TO"DO >"$1/b.c"
}

rule_main "$@"
