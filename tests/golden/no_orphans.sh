#!/bin/sh
# no_orphans.sh <golden folder>: every golden has its input, so that none is kept unread.
set -u
cd "$1" || exit 2
find . -mindepth 2 -type f | sort | {
    failed=0
    while IFS= read -r file; do
        stage=$(dirname "$file")
        base=${file%.*}
        case $file in
        *."${stage##*/}") [ -f "$base.newt" ] || { [ "$stage" != ./ir ] && [ -f "$base.ir" ]; } ||
            { echo "$file: its input is gone"; failed=1; } ;;
        *.newt | *.ir) [ -f "$base.${stage##*/}" ] ||
            { echo "$file: has no golden"; failed=1; } ;;
        */README.md) ;;
        *) echo "$file: neither an input nor a golden of '${stage##*/}'"; failed=1 ;;
        esac
    done
    exit $failed
}
