# shellcheck shell=sh
# common.sh - sourced by every script here, which is called as `script.sh <newtc> <source folder>` and holds tables:
#
#     rows <<'TABLE'
#     name | exit code | arguments, quoted as in a shell | expectations
#     TABLE
#
# Each row runs newtc in a new folder with the files of inputs/. Expectations, separated by ` ; `:
#     err REGEX, out REGEX   a line of standard error or output matches (grep -E)
#     errs N                 standard error has N lines that say "error:"
#     quiet                  both are empty
#     files NAME...          exactly these were made (default: anything when the exit code is 0, else none)
#     json, sarif            standard error is one such document
# `skip_all` and `finish` end a script.
set -u
export LC_ALL=C NO_COLOR=1
unset NEWTC_FLAGS CLICOLOR_FORCE CC CFLAGS

newtc=$1
here=$2
work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export NEWT_CACHE_DIR="$work/cache" TMPDIR="$work/tmp"
mkdir "$TMPDIR"
failed=0
count=0

skip_all() {
    echo "skipped: $*"
    exit 77
}

finish() {
    echo "$count rows"
    [ "$count" -gt 0 ] && exit "$failed"
    exit 1
}

# fail <name> <what>: shows what newtc said.
fail() {
    failed=1
    echo "FAILED $1: $2"
    for stream in out err; do
        cut -c 1-200 "$work/$stream" | sed "s/^/    $stream: /" | head -n 20
    done
}

# fresh: a new folder with the inputs; the shell is in it afterwards.
fresh() {
    cd "$work" || exit 2
    [ ! -d "$work/row" ] || { chmod -R u+w "$work/row" && rm -rf "$work/row"; }
    mkdir "$work/row"
    cp "$here"/inputs/* "$work/row/"
    cd "$work/row" || exit 2
    find . ! -name . | sort >"$work/before"
}

# made: the files that are new in the folder, on one line.
made() {
    find . ! -name . | sort | comm -13 "$work/before" - | sed 's|^\./||' | tr '\n' ' ' | sed 's/ $//'
}

# expect <name> <expectation>
expect() {
    what=${2%% *}
    value=${2#"$what"}
    value=${value# }
    case $what in
    '') ;;
    err | out) grep -qE -- "$value" "$work/$what" || fail "$1" "no line of std$what matches '$value'" ;;
    errs) [ "$(grep -c 'error:' "$work/err")" -eq "$value" ] || fail "$1" "not $value errors" ;;
    quiet) [ ! -s "$work/out" ] && [ ! -s "$work/err" ] || fail "$1" "it was not quiet" ;;
    files) [ "$(made)" = "$value" ] || fail "$1" "the files made are '$(made)', not '$value'" ;;
    json | sarif) check_json "$what" "$work/err" || fail "$1" "no valid $what" ;;
    *) fail "$1" "the table has an unknown expectation '$what'" ;;
    esac
}

# check_json <json|sarif> <file>
check_json() {
    command -v python3 >/dev/null 2>&1 || return 0  # only what the other expectations say is checked
    python3 "$here/check_json.py" "$1" "$2" >>"$work/err" 2>&1
}

# judge <name> <wanted status> <status> <expectations>
judge() {
    count=$((count + 1))
    [ "$3" -eq "$2" ] || fail "$1" "ended with $3, not $2"
    case $4 in
    *files*) ;;
    *) [ "$2" -eq 0 ] || [ -z "$(made)" ] || fail "$1" "it left '$(made)'" ;;
    esac
    rest=$4
    while [ -n "$rest" ]; do
        one=${rest%% ; *}
        expect "$1" "$one"
        [ "$one" != "$rest" ] || break
        rest=${rest#"$one" ; }
    done
}

trim() {
    printf '%s' "$1" | sed 's/^ *//; s/ *$//'
}

rows() {
    while IFS='|' read -r name status arguments expectations; do
        name=$(trim "$name")
        case $name in
        '' | '#'*) continue ;;
        esac
        fresh
        # The table's quotes are a shell's.
        eval "set -- $arguments"
        "$newtc" "$@" >"$work/out" 2>"$work/err" </dev/null
        judge "$name" "$(trim "$status")" $? "$(trim "$expectations" | sed 's/¦/|/g')"
    done
}
