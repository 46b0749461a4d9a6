#!/bin/sh
# Scalars of every width, mixed, reach a kernel from C++ and from Python's ctypes as from C (tests/run has C).
. "$(dirname -- "$0")/common.sh"
plain_library
pkg_config_path "$prefix"
here=$project/tests/package
step "compile the kernel" "$newtc" --arch=host --kernel=scalars -o scalars.c "$project/tests/run/reported_values.newt"
flags="-I. $(pkg-config --cflags newt)"
libs=$(pkg-config --libs newt)
# The flags are words.
# shellcheck disable=SC2086
step "compile it as C" cc -fPIC $flags -c -o scalars.o scalars.c
for compiler in g++ clang++; do
    has "$compiler" || continue
    # shellcheck disable=SC2086
    step "$compiler" "$compiler" -std=c++11 -Wall -Wextra -Werror $flags -o caller "$here/scalars.cc" scalars.o $libs
    step "called from $compiler's C++" ./caller
done
if has python3; then
    # shellcheck disable=SC2086
    step "a library of it" cc -shared -o libscalars.so scalars.o $libs
    step "called from Python" python3 "$here/scalars.py" ./libscalars.so
fi
finish
