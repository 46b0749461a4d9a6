# shellcheck shell=sh
# common.sh - sourced by every rule. A rule defines
#   check <root> <build>    prints one line for each offender, nothing when all is well
#   sample <dir> good|bad   writes a little tree without, or with one, offender
# and ends with `rule_main "$@"`, which is run as
#   rule.sh <root> <build>  0: no offender; 1: offenders, printed; 77: a tool is missing
#   rule.sh --self-test     0: the rule accepts the good sample and refuses the bad one
set -u
export LC_ALL=C

# The project's files, relative to the root: tracked ones in a checkout, else all but the builds.
list_files() {
    if [ ! -e "$1/.git" ] || ! git -C "$1" ls-files 2>/dev/null; then
        (cd "$1" && find . -name build -prune -o -name .git -prune -o -type f -print | sed 's|^\./||')
    fi | sort | while IFS= read -r file; do
        [ ! -f "$1/$file" ] || printf '%s\n' "$file"  # tracked, but deleted just now
    done
}

# need <tool>...: skips the rule when one is missing.
need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || {
            echo "skipped: $tool is not installed"
            exit 77
        }
    done
}

# Lines "<object> <source below the root>" of the libraries' own objects in a build; generated
# sources and objects whose source is gone are left out.
list_objects() {
    for part in compiler runtime; do
        [ -d "$2/$part" ] || continue
        find "$2/$part" -name '*.c.o' | sort | while IFS= read -r object; do
            source=$part/${object##*.dir/}
            source=${source%.o}
            case $source in
            */__/*) continue ;;
            esac
            [ ! -f "$1/$source" ] || printf '%s %s\n' "$object" "$source"
        done
    done
}

self_test() {
    dir=$(mktemp -d) || exit 1
    trap 'rm -rf "$dir"' EXIT
    for kind in good bad; do
        mkdir -p "$dir/$kind/build"
        sample "$dir/$kind" "$kind"
        found=$(check "$dir/$kind" "$dir/$kind/build")
        if [ "$kind" = good ] && [ -n "$found" ]; then
            printf 'refused a tree without offenders:\n%s\n' "$found"
            exit 1
        elif [ "$kind" = bad ] && [ -z "$found" ]; then
            echo "accepted an offender"
            exit 1
        fi
    done
    exit 0
}

rule_main() {
    if [ "${1:-}" = --self-test ]; then
        self_test
    fi
    [ $# -eq 2 ] || {
        echo "usage: $0 --self-test | <root> <build>" >&2
        exit 2
    }
    found=$(check "$1" "$2")
    [ -z "$found" ] || {
        printf '%s\n' "$found"
        exit 1
    }
    exit 0
}
