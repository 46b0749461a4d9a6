#!/bin/sh
# run.sh <newtc> <golden folder> <input>...: compares what newtc writes for each input with the
# golden file beside it.
#
# An input is <stage>/<name>.newt or .ir below the golden folder; its golden is <name>.<stage>.
#   <stage>/       newtc --emit=<stage> -o - <args> <input>; standard output, nothing on the other
#   pass/<name>/   the same with --emit=ir-after:<name>; the golden is <name of input>.<name>
#   expanded/      the same with --emit=newt
#   diag/          standard error and the exit code of newtc --emit=ir -o - <args> <input>
# <args> stand in the input's first line: "# args: --arch=sm_90a -D BLOCK=128". newtc runs in the
# input's folder, so that no other path gets into an output. NEWT_UPDATE_GOLDEN=1 writes the
# goldens instead. Exit code 1: some differ.
set -u
export LC_ALL=C NO_COLOR=1
unset NEWTC_FLAGS CLICOLOR_FORCE

[ $# -ge 2 ] || {
    echo "usage: $0 <newtc> <golden folder> <input>..." >&2
    exit 2
}
newtc=$1
root=$2
shift 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# produce <folder> <stage> <input>: leaves what is to be compared in $work/got.
produce() {
    args=$(sed -n '1s/^[^a-z]*args: *//p' "$1/$3")
    case $2 in
    diag) emit=ir ;;
    expanded) emit=newt ;;
    pass/*) emit=ir-after:${2#pass/} ;;
    *) emit=$2 ;;
    esac
    # The arguments are words.
    # shellcheck disable=SC2086
    (cd "$1" && "$newtc" "--emit=$emit" -o - $args "$3") >"$work/out" 2>"$work/err"
    status=$?
    if [ "$2" = diag ]; then
        {
            cat "$work/err"
            echo "[exit $status]"
        } >"$work/got"
        [ "$status" -le 1 ]
        return
    fi
    case $2 in
    host-c) sed "1,/^.. ---- end of support ---- ..\$/d" "$work/out" >"$work/got" ;;
    *) cp "$work/out" "$work/got" ;;
    esac
    [ "$status" -eq 0 ] && [ ! -s "$work/err" ]
}

# compare <input>: true when the golden holds what newtc writes, or was updated to it.
compare() {
    stage=$(dirname "$1")
    name=$(basename "$1")
    golden=$root/$stage/${name%.*}.${stage##*/}
    if ! produce "$root/$stage" "$stage" "$name"; then
        echo "$1: newtc ended with $status"
        cat "$work/err"
        return 1
    fi
    if cmp -s "$golden" "$work/got"; then
        return 0
    elif [ -n "${NEWT_UPDATE_GOLDEN:-}" ]; then
        cp "$work/got" "$golden"
        echo "$1: golden written"
        return 0
    fi
    echo "$1: the output changed (NEWT_UPDATE_GOLDEN=1 accepts it)"
    [ -f "$golden" ] || golden=/dev/null
    diff -u "$golden" "$work/got"
    return 1
}

failed=0
for input in "$@"; do
    compare "$input" || failed=1
done
exit $failed
