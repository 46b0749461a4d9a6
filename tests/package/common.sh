# shellcheck shell=sh
# common.sh - sourced by every script here, which is called as
#     script.sh <installed prefix> <source folder of the project> <cmake>
# and works in a new folder outside the source tree. `step NAME command...` runs quietly and shows a failure.
set -u
export LC_ALL=C NO_COLOR=1
unset NEWTC_FLAGS CLICOLOR_FORCE CC CFLAGS NEWT_DEVICE MAKEFLAGS MAKELEVEL

prefix=$1
project=$2
cmake=$3
newtc=$prefix/bin/newtc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export NEWT_CACHE_DIR="$work/cache"
cd "$work" || exit 2
failed=0
steps=0

step() {
    name=$1
    shift
    steps=$((steps + 1))
    "$@" >"$work/log" 2>&1 </dev/null && return 0
    failed=1
    echo "FAILED $name: $*"
    cut -c 1-300 "$work/log" | tail -n 40
    return 1
}

# pkg_config_path <prefix>: makes pkg-config see the package there and no other.
pkg_config_path() {
    pc=$(find "$1" -name newt.pc) || exit 2
    export PKG_CONFIG_PATH="${pc%/*}"
}

# Programs that users link know nothing of a sanitizer in the library.
plain_library() {
    ! grep -q __asan "$newtc" || {
        echo "skipped: the library needs a sanitizer's flags"
        exit 77
    }
}

has() {
    command -v "$1" >/dev/null 2>&1
}

finish() {
    echo "$steps steps"
    [ "$steps" -gt 0 ] && exit "$failed"
    exit 1
}
