#!/bin/sh
# R3: an extern name tells where it is defined: its first word begins the name of its file or
# folder (const_ in constprint.c, host_ in hostc/, pass_ in passes/). In runtime/, whose objects
# are linked into users' programs, every name begins with newt_ or newti_ (internal).
. "$(dirname -- "$0")/common.sh"
need nm

# Prints the offenders among the names on standard input.
check_names() {
    folder=$(basename "$(dirname "$1")")
    stem=$(basename "$1" .c)
    while read -r name type _; do
        case $type in
        [TDBRCSGWV]) ;;
        *) continue ;;
        esac
        word=${name%%_*}
        case $name in
        __* | main | newt_* | newti_* | nt_*) continue ;;  # __: a sanitizer's
        esac
        case $1:$stem:$folder in
        runtime/*) ;;
        *:"$word"*:* | *:*:"$word"*) continue ;;
        esac
        echo "$1: $name"
    done
}

check() {
    list_objects "$1" "$2" | while read -r object source; do
        nm --extern-only --defined-only --format=posix "$object" | check_names "$source"
    done
}

sample() {
    name=$([ "$2" = good ] && echo ast_walk || echo walk)
    mkdir -p "$1/compiler/front" "$1/build/compiler/x.dir/front"
    echo "int $name(void); int $name(void) { return 0; } static int local(void) { return 1; }
          int front_b(void); int front_b(void) { return local(); }" >"$1/compiler/front/ast.c"
    "${CC:-cc}" -c "$1/compiler/front/ast.c" -o "$1/build/compiler/x.dir/front/ast.c.o"
}

rule_main "$@"
