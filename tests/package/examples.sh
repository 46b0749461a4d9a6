#!/bin/sh
# Each example builds and runs on the host from its Makefile and from its CMakeLists.txt, with nothing but the
# installed package.
. "$(dirname -- "$0")/common.sh"
pkg_config_path "$prefix"
cp -r "$project/examples" examples
rm -rf examples/*/build

for folder in examples/*/; do
    folder=${folder%/}
    [ -f "$folder/Makefile" ] || continue
    step "$folder with make" make -C "$folder" run NEWTFLAGS=--arch=host 'ARGS=--quick host'
    step "$folder with make, again" make -q -C "$folder" NEWTFLAGS=--arch=host
    step "$folder with CMake: configure" "$cmake" -S "$folder" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
        -DNEWT_ARCHS=host -DCMAKE_BUILD_TYPE=Release || continue
    step "$folder with CMake: build" "$cmake" --build "$folder/cmake" || continue
    program=$(find "$folder/cmake" -maxdepth 1 -type f -perm -u+x | head -n 1)
    step "$folder with CMake: run" "$program" --quick host
done
finish
