#!/bin/sh
# bootstrap.sh [build | demo | check] - from a fresh checkout to a working newtc.
#
#   build   (default) installs what the build needs, configures build/release and builds it
#   demo    build, then compiles examples/01_vector_add, runs it and shows the checked result
#   check   build, then runs every test
#
# Missing tools are installed with apt-get where that is possible (Debian or Ubuntu, as root or
# with a sudo that asks nothing); elsewhere their names are printed. Safe to repeat: nothing is
# installed, configured or built twice. Commands write to build/bootstrap.log; it is shown when
# one fails. Exit codes: 0 done, 1 a step or a test failed, 2 wrong usage or a tool is missing.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$root"
build=$root/build/release
log=$root/build/bootstrap.log

say() {
    printf '%s\n' "bootstrap: $*"
}

die() {
    printf '%s\n' "bootstrap: $*" >&2
    exit 2
}

# quietly <what> <command...>: runs it into the log; a failure shows the log and ends here.
quietly() {
    what=$1
    shift
    mkdir -p "$root/build"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        printf '%s\n' "bootstrap: $what failed: $*" >&2
        exit 1
    fi
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# The Debian packages of what is missing, one word each.
missing_packages() {
    has cc || has gcc || has clang || echo gcc libc6-dev
    has make || echo make
    has re2c || echo re2c
    has bison || echo bison
    has cmake || echo cmake
    has ninja || echo ninja-build
    if has pkg-config; then
        pkg-config --exists cmocka || echo libcmocka-dev
    else
        echo pkg-config libcmocka-dev
    fi
}

# Prints the prefix that makes apt-get work here ("" for root); false when nothing does.
find_privilege() {
    has apt-get || return 1
    if [ "$(id -u)" -eq 0 ]; then
        echo env
    elif has sudo && sudo -n true 2>/dev/null; then
        echo sudo -n env
    else
        return 1
    fi
}

apt_install() {
    # $privilege and the names are lists of words.
    # shellcheck disable=SC2086
    $privilege DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" ||
        {
            $privilege DEBIAN_FRONTEND=noninteractive apt-get update &&
                $privilege DEBIAN_FRONTEND=noninteractive apt-get install -y \
                    --no-install-recommends "$@"
        }
}

install_missing() {
    packages=$(missing_packages | tr '\n' ' ')
    packages=${packages% }
    [ -n "$packages" ] || return 0
    if privilege=$(find_privilege); then
        say "installing $packages"
        # shellcheck disable=SC2086
        quietly "installing tools" apt_install $packages
        packages=$(missing_packages | tr '\n' ' ')
        [ -z "$packages" ] || die "still missing after the installation: $packages"
    elif has apt-get; then
        die "tools are missing; install them with:  sudo apt-get install -y $packages"
    else
        die "tools are missing; install what Debian calls: $packages"
    fi
}

# One rule test measures functions with ctags and is skipped without it.
install_optional() {
    has ctags && return 0
    if privilege=$(find_privilege); then
        say "installing universal-ctags"
        mkdir -p "$root/build"
        apt_install universal-ctags >"$log" 2>&1 </dev/null ||
            say "universal-ctags cannot be installed; the test that needs it will be skipped"
    fi
}

check_cmake() {
    version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    # shellcheck disable=SC2086
    set -- $version
    [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 22 ]; } ||
        die "cmake 3.22 or newer is needed, found $1.$2"
}

# True when NVRTC is in one of the places where newtc looks.
has_nvrtc() {
    for file in "${NEWTC_NVRTC:-}" "${NEWTC_NVRTC:-}"/libnvrtc.so*; do
        [ ! -f "$file" ] || return 0
    done
    for dir in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        for file in "$dir"/lib64/libnvrtc.so* "$dir"/lib/libnvrtc.so* \
            "$dir"/targets/*/lib/libnvrtc.so*; do
            [ -z "$dir" ] || [ ! -f "$file" ] || return 0
        done
    done
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so'
}

# Prints an NVRTC that newtc finds only by NEWTC_NVRTC: a toolkit that is not the default one, or
# a Python package.
find_other_nvrtc() {
    site=$(python3 -c 'import sysconfig; print(sysconfig.get_path("platlib"))' 2>/dev/null) ||
        site=/nonexistent
    for file in /usr/local/cuda-*/lib64/libnvrtc.so* "$site"/nvidia/*/lib/libnvrtc.so*; do
        [ ! -f "$file" ] || { echo "$file" && return 0; }
    done
    return 1
}

use_nvrtc() {
    if has_nvrtc; then
        return 0
    elif nvrtc=$(find_other_nvrtc); then
        say "using NVRTC by NEWTC_NVRTC=$nvrtc"
        export NEWTC_NVRTC="$nvrtc"
        return 0
    fi
    say "no NVRTC found: kernels are compiled for the host only. For GPU code install the CUDA"
    say "toolkit, or only NVRTC (pip package nvidia-cuda-nvrtc), and set NEWTC_NVRTC to its"
    say "libnvrtc.so if it is outside the loader's path"
}

# A build folder that came along with a copied checkout belongs to the old place.
forget_moved_build() {
    [ -f "$build/CMakeCache.txt" ] || return 0
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt" || rm -rf "$build"
}

do_build() {
    install_missing
    check_cmake
    use_nvrtc
    forget_moved_build
    if [ ! -f "$build/build.ninja" ]; then
        say "configuring build/release"
        quietly "configuring" cmake --preset release
    fi
    [ -f "$build/.ninja_deps" ] || say "building"
    quietly "building" ninja -C "$build"
    grep -q 'no work to do' "$log" || say "built build/release"
}

do_demo() {
    do_build
    make --no-print-directory -C examples/01_vector_add NEWT_BUILD="$build" run
}

do_check() {
    install_optional
    do_build
    ctest --test-dir "$build" --output-on-failure --no-tests=error \
        --parallel "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" || exit 1
}

[ $# -le 1 ] || die "usage: bootstrap.sh [build | demo | check]"
case ${1:-build} in
build) do_build ;;
demo) do_demo ;;
check) do_check ;;
-h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" ;;
*) die "usage: bootstrap.sh [build | demo | check]" ;;
esac
