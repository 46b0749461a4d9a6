#!/bin/sh
# Generated headers in C11, C17, C++11 and C++17, and the generated C with the user's strict flags, by gcc and clang.
. "$(dirname -- "$0")/common.sh"
plain_library
pkg_config_path "$prefix"
strict='-Wall -Wextra -Wpedantic -Wconversion -Werror'
here=$project/tests/package
cp "$here/consumer.c" consumer.c
cp consumer.c consumer.cc
step "compile the kernels" "$newtc" --arch=host "$here/kernels.newt"
step "compile with a prefix" "$newtc" --arch=host --prefix=p_ --namespace=demo::deep --export-macro=DEMO_API -o prefixed.c \
    "$here/kernels.newt"

# Every kernel there is, in a folder of its own: their headers have names like math.h.
mkdir more
for source in "$project"/examples/*/*.newt "$project"/tests/run/*.newt; do
    options=$(sed -n 's/^# newtc: //p' "$source")
    eval "set -- $options" # words, some of them quoted
    step "compile $source" "$newtc" -w --arch=host --no-manifest "$@" -o more/ "$source"
done

# Each generated header alone.
for header in *.h; do
    echo "#include \"$header\"" >"alone_${header%.h}.c"
    cp "alone_${header%.h}.c" "alone_${header%.h}.cc"
done

flags="-I. -DDEMO_API= $(pkg-config --cflags newt)"
libs=$(pkg-config --libs newt)
for compiler in gcc:g++ clang:clang++; do
    c=${compiler%:*}
    cxx=${compiler#*:}
    has "$c" || continue
    # The flags are words.
    # shellcheck disable=SC2086
    for standard in c11 c17; do
        for source in alone_*.c kernels.c prefixed.c consumer.c; do
            step "$c -std=$standard $source" "$c" -std=$standard $strict $flags -O1 -c -o "${source%.c}.o" "$source"
        done
        step "$c -std=$standard: link" "$c" -o consumer consumer.o kernels.o prefixed.o $libs
        step "$c -std=$standard: run" ./consumer
    done
    for source in more/*.c; do
        step "$c -std=c11 $source" "$c" -std=c11 $strict $flags -c -o other.o "$source"
    done
    has "$cxx" || continue
    # shellcheck disable=SC2086
    for standard in c++11 c++17; do
        for source in alone_*.cc consumer.cc; do
            step "$cxx -std=$standard $source" "$cxx" -std=$standard $strict $flags -c -o "${source%.cc}.o" "$source"
        done
        step "$cxx -std=$standard: link" "$cxx" -o consumer consumer.o kernels.o prefixed.o $libs
        step "$cxx -std=$standard: run" ./consumer
    done
done
finish
