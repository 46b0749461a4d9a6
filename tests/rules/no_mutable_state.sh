#!/bin/sh
# R4: no variable of static storage that can change, also not in a function and not one a thread.
# Sections tell: tables with addresses in them stand in .data.rel.ro and are constant.
# Exempt are seven variables by name; each file says why it must be.
. "$(dirname -- "$0")/common.sh"
need objdump
if grep -qs 'CMAKE_BUILD_TYPE:[A-Z]*=Sanitize' "${2:-}/CMakeCache.txt"; then
    echo "skipped: a sanitizer moves constants into .data"
    exit 77
fi

exempt='compiler/support/fs_commit.c:running compiler/support/fs_commit.c:running_count
    compiler/driver/crash.c:crash_input compiler/driver/crash.c:crash_doing
    compiler/driver/crash.c:crash_jobs
    runtime/src/error.c:last_error runtime/src/device.c:registry'

check() {
    # The words of $exempt are joined on one line.
    # shellcheck disable=SC2086,SC2116
    list_objects "$1" "$2" | while read -r object source; do
        objdump -t "$object" | sed -n 's/^[0-9a-f]* .\{6\}O //p' |
            awk -v source="$source" -v exempt=" $(echo $exempt) " '
                $1 ~ /^(\.t?data|\.t?bss|\*COM\*)/ && $1 !~ /^\.data\.rel\.ro/ &&
                !index(exempt, " " source ":" $3 " ") { print source ": " $3 " in " $1 }'
    done
}

sample() {
    mutable=$([ "$2" = good ] || echo "int f(void); int f(void) { static int calls; return calls++; }")
    mkdir -p "$1/compiler/front" "$1/build/compiler/x.dir/front"
    echo "const char *const names[] = { \"a\", \"b\" }; static const int one = 1;
          int g(void); int g(void) { return one; } $mutable" >"$1/compiler/front/ast.c"
    "${CC:-cc}" -fPIC -c "$1/compiler/front/ast.c" -o "$1/build/compiler/x.dir/front/ast.c.o"
}

rule_main "$@"
