#!/bin/sh
# An installed package that was moved, into a folder with a space, still works as a whole.
. "$(dirname -- "$0")/common.sh"
plain_library
moved="$work/moved here"
cp -r "$prefix" "$moved"
pkg_config_path "$moved"
newtc=$moved/bin/newtc
cp "$project/tests/package/kernels.newt" "$project/tests/package/consumer.c" .
sed -i '/prefixed.h/d; /p_triple/d' consumer.c

step "newtc -c" "$newtc" -c --arch=host kernels.newt
step "newtc -c by a link" sh -c 'mkdir other && ln -s "$1" linked && ./linked -c --arch=host -o other/ kernels.newt' sh "$newtc"
step "same object" cmp kernels.o other/kernels.o
step "newtc by pkg-config" sh -c 'test "$(pkg-config --variable=newtc newt | tr -d "\\\\")" -ef "$1"' sh "$newtc"
# pkg-config quotes the space, so its words go through eval.
step "compile and link" sh -c 'eval "cc -std=c11 -I. $(pkg-config --cflags newt) -o consumer consumer.c kernels.o $(pkg-config --libs newt)"'
step "run" ./consumer
step "doctor" "$newtc" doctor --nvrtc=/nonexistent

mkdir project
cp kernels.newt consumer.c project/
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(demo LANGUAGES C)
find_package(Newt 0.1 REQUIRED)
newt_add_library(kernels SOURCES kernels.newt HEADER_DIR demo ARCHS host WARNINGS_AS_ERRORS)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE kernels)
CMAKE
sed -i 's|"kernels.h"|<demo/kernels.h>|' project/consumer.c
step "CMake: configure" "$cmake" -S project -B "$work/cmake build" "-DCMAKE_PREFIX_PATH=$moved"
step "CMake: build" "$cmake" --build "$work/cmake build"
step "CMake: run" "$work/cmake build/consumer"
if grep -rIl -- "$prefix/" "$moved" | grep -q .; then
    failed=1
    echo "FAILED: these files name the place of the installation:"
    grep -rIl -- "$prefix/" "$moved"
fi
finish
