#!/bin/sh
# `newtc doctor`: tells what is there and tests it.
. "$(dirname -- "$0")/common.sh"

rows <<'TABLE'
without NVRTC   | 0 | doctor --nvrtc=/nonexistent | out ^newtc +[0-9.]+, / ; out ^NVRTC +not found ; out ^host code +works$ ; out ^cache +/ ; files
no cache        | 0 | doctor --nvrtc=/nonexistent --no-cache | out ^cache +off
unusable cache  | 0 | doctor --nvrtc=/nonexistent --cache-dir=/proc/nowhere | out ^cache +off: cannot use
no compiler     | 0 | doctor --nvrtc=/nonexistent --cc=/nonexistent/cc | out needed for -c only
broken compiler | 2 | doctor --nvrtc=/nonexistent --cc=true | out ^host object +FAILS
unknown option  | 2 | doctor --frobnicate         | err unknown option
TABLE
[ -z "$(ls "$TMPDIR")" ] || fail "temporaries" "it left $(ls "$TMPDIR")"
finish
