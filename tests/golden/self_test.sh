#!/bin/sh
# The golden runner against a newtc that echoes its arguments: equal, changed, missing, updated,
# failing, and the special stages.
set -u
run=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/run.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset NEWT_UPDATE_GOLDEN

cat >"$work/newtc" <<'SCRIPT'
#!/bin/sh
echo "newtc $*"
case $* in
*noisy*) echo "noise.newt:1:1: error: loud" >&2; exit 1 ;;
*crash*) exit 139 ;;
esac
SCRIPT
chmod +x "$work/newtc"
mkdir -p "$work/g/ir" "$work/g/pass/dce" "$work/g/diag"
printf '# args: -D N=4 --index64\n' >"$work/g/ir/args.newt"
for file in ir/noisy.newt ir/crash.newt pass/dce/loop.ir diag/noisy.newt diag/crash.newt; do
    echo >"$work/g/$file"
done

# expect <status> <input> [NAME=VALUE]
expect() {
    env ${3:+"$3"} sh "$run" "$work/newtc" "$work/g" "$2" >"$work/log" 2>&1
    got=$?
    [ $got -eq "$1" ] || {
        echo "$2 ${3:-}: ended with $got, not $1"
        cat "$work/log"
        exit 1
    }
}

# holds <golden> <text>
holds() {
    [ "$(cat "$work/g/$1")" = "$2" ] || {
        echo "$1 is: $(cat "$work/g/$1")"
        exit 1
    }
}

expect 1 ir/args.newt
expect 0 ir/args.newt NEWT_UPDATE_GOLDEN=1
holds ir/args.ir 'newtc --emit=ir -o - -D N=4 --index64 args.newt'
expect 0 ir/args.newt
echo more >>"$work/g/ir/args.ir"
expect 1 ir/args.newt
expect 1 ir/noisy.newt NEWT_UPDATE_GOLDEN=1
expect 1 ir/crash.newt NEWT_UPDATE_GOLDEN=1
expect 0 pass/dce/loop.ir NEWT_UPDATE_GOLDEN=1
holds pass/dce/loop.dce 'newtc --emit=ir-after:dce -o - loop.ir'
expect 0 diag/noisy.newt NEWT_UPDATE_GOLDEN=1
holds diag/noisy.diag 'noise.newt:1:1: error: loud
[exit 1]'
expect 0 diag/noisy.newt
expect 1 diag/crash.newt NEWT_UPDATE_GOLDEN=1
