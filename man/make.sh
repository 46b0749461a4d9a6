#!/bin/sh
# make.sh <newtc> <page.in> <page>: writes a manual page; its tables are what newtc prints about itself, so that they
# cannot say anything else.
set -eu
here=$(dirname -- "$0")
text=$3.text
trap 'rm -f "$text"' EXIT
case $2 in
*newtc.1.in) kind=OPTIONS ask=--help ;;
*) kind=BUILTINS ask=--print-ops ;;
esac
"$1" $ask >"$text"
version=$("$1" --version)
awk -v kind=$kind -v text="$text" -f "$here/roff.awk" "$2" | sed "s/@VERSION@/${version#newtc }/" >"$3"
