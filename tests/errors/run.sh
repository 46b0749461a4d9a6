#!/bin/sh
# run.sh <newtc> <file.newt>...: compares what newtc says about each program with what the program expects.
#
# An expectation is a comment `# error[slug]: text`, `# warning[slug]: text` or `# help: text`, at the end of the line it
# is about, or on lines of its own before it. Every error and warning must be expected and every expectation must be
# met, with its whole text; helps are compared where a file expects some. Also checked: exit code 1 and no output with
# an error, 0 and an output without one. Further options stand in a first line `# args: OPTIONS`.
# Exit code 1: some programs differ.
set -u
export LC_ALL=C NO_COLOR=1
unset NEWTC_FLAGS CLICOLOR_FORCE

[ $# -ge 2 ] || {
    echo "usage: $0 <newtc> <file.newt>..." >&2
    exit 2
}
newtc=$1
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# expected <file>: "LINE error[slug]: text" for each expectation.
expected() {
    awk '
        function put(text, line) {
            while (match(text, /# (error\[|warning\[|help: )/)) {
                text = substr(text, RSTART + 2)
                end = match(text, / # (error\[|warning\[|help: )/)
                print line, end ? substr(text, 1, end - 1) : text
            }
        }
        /^[ \t]*# (error\[|warning\[|help: )/ { held[++n] = $0; next }
        { for (i = 1; i <= n; i++) put(held[i], NR); n = 0; put($0, NR) }
    ' "$1"
}

# reported <file name> <text>: the same from newtc's output; a help belongs to the line before it.
reported() {
    awk -v name="$1" '
        index($0, name ":") == 1 {
            split(substr($0, length(name) + 2), at, ":")
            rest = substr($0, length(name) + length(at[1]) + length(at[2]) + 5)
            if (rest ~ /^note: /)
                next
            slug = rest
            sub(/.* \[/, "[", slug)
            kind = rest ~ /^error/ ? "error" : "warning"
            text = substr(rest, length(kind) + 3, length(rest) - length(kind) - length(slug) - 3)
            line = at[1]
            print line, kind slug ": " text
            next
        }
        /^help: / { print line, $0; next }
        /^ *[0-9]* \|/ || /^note: / || /^$/ { next }
        { print "?", $0 }
    ' "$2"
}

# check <file>: true when newtc says what the file expects.
check() {
    name=$(basename "$1")
    args=$(sed -n '1s/^# args: *//p' "$1")
    rm -f "$work"/*
    # The options are words.
    # shellcheck disable=SC2086
    (cd "$(dirname "$1")" &&
        "$newtc" --arch=host -Wall -fmax-errors=0 --no-manifest $args -o "$work/out.c" "$name") >"$work/stdout" 2>"$work/stderr"
    status=$?
    expected "$1" | sort -n >"$work/want"
    reported "$name" "$work/stderr" | sort -n >"$work/got"
    if ! grep -q '^[0-9]* help: ' "$work/want"; then
        grep -v '^[0-9]* help: ' "$work/got" >"$work/less"
        mv "$work/less" "$work/got"
    fi
    good=true
    if ! cmp -s "$work/want" "$work/got"; then
        echo "$1: unexpected (+) or missing (-) messages"
        diff -U 0 "$work/want" "$work/got" | sed '1,2d;/^@/d'
        good=false
    fi
    want_status=0
    grep -q '^[0-9]* error' "$work/want" && want_status=1
    [ $status -eq $want_status ] || {
        echo "$1: exit code $status, should be $want_status"
        good=false
    }
    if [ $want_status -eq 1 ] && { [ -e "$work/out.c" ] || [ -e "$work/out.h" ]; }; then
        echo "$1: wrote an output in spite of errors"
        good=false
    elif [ $want_status -eq 0 ] && ! [ -s "$work/out.c" ]; then
        echo "$1: wrote no output"
        good=false
    fi
    $good
}

failed=0
for file in "$@"; do
    check "$file" || failed=1
done
exit $failed
