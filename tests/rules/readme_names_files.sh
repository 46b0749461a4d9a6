#!/bin/sh
# R9: the README.md of a folder names every file in it. A folder without one is covered by the
# next one above, below the top. Names may be patterns in backquotes: `test_*.c`, `lex.{h,c}`.
# CMakeLists.txt explains itself. Data folders are described as a whole: goldens, fuzz corpora, embedded test files.
. "$(dirname -- "$0")/common.sh"

# The README.md that has to name the file; "" at the top, which has its own plan.
readme_of() {
    folder=$(dirname "$2")
    while [ "$folder" != . ]; do
        [ ! -f "$1/$folder/README.md" ] || break
        folder=$(dirname "$folder")
    done
    [ "$folder" = . ] || echo "$folder/README.md"
}

# The names in backquotes, {a,b} expanded, one a line.
names_in() {
    grep -o '`[^`]*`' "$1" | tr -d '`' | tr ' ' '\n' | sed 's/<[^>]*>/*/g; s|.*/\(.\)|\1|' | awk '
        match($0, /\{[^}]*\}/) {
            n = split(substr($0, RSTART + 1, RLENGTH - 2), part, ",")
            for (i = 1; i <= n; i++)
                print substr($0, 1, RSTART - 1) part[i] substr($0, RSTART + RLENGTH)
            next
        }
        { print }'
}

is_named() {
    names_in "$1" | {
        while IFS= read -r pattern; do
            # The pattern is meant as one.
            # shellcheck disable=SC2254
            case $2 in
            $pattern) exit 0 ;;
            esac
        done
        exit 1
    }
}

check() {
    list_files "$1" | grep / | grep -vE '^\.|/(golden|corpus[^/]*|embed)/[^/]*/?|(^|/)CMakeLists\.txt$|(^|/)README\.md$' |
        while IFS= read -r file; do
            readme=$(readme_of "$1" "$file")
            if [ -z "$readme" ]; then
                echo "$file: no README.md in its folder or above"
            elif ! is_named "$1/$readme" "$(basename "$file")"; then
                echo "$file: not named in $readme"
            fi
        done
}

sample() {
    mkdir -p "$1/lang/sub"
    touch "$1/lang/a.h" "$1/lang/a.c" "$1/lang/test_x.c" "$1/lang/sub/b.def"
    printf '`a.{h,c}` `test_*.c` %s\n' "$([ "$2" = bad ] || echo '`sub/b.def`')" >"$1/lang/README.md"
}

rule_main "$@"
