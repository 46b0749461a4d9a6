#!/bin/sh
# The same input gives the same bytes: in another folder, with another number of jobs, from the cache, with -g too.
. "$(dirname -- "$0")/common.sh"
mkdir -p one two/deeper
cp "$project"/examples/01*/*.newt "$project/tests/package/kernels.newt" one/
cp one/*.newt two/deeper/
archs=host
"$newtc" --print-archs 2>/dev/null | grep -qx sm_90a && archs=sm_90a,host

# build <folder> <option...>
build() {
    (cd "$1" && shift && "$newtc" "--arch=$archs" "$@" ./*.newt)
}
same() {
    for file in one/*; do
        cmp "$file" "two/deeper/${file#one/}" || return 1
    done
}
kinds=c,header,manifest,host-c,ir
[ "$archs" = host ] || kinds=$kinds,cuda,cubin
step "one job" build one -j1 --no-cache --emit=$kinds
step "eight jobs" build two/deeper -j8 --no-cache --emit=$kinds
step "same bytes" same
step "fill the cache" build two/deeper -j2 --emit=$kinds
step "from the cache" build two/deeper -j2 --emit=$kinds
step "same bytes from the cache" same
step "one folder with -g" build one -g --no-cache -ffile-prefix-map="$work/one=."
step "another with -g" build two/deeper -g --no-cache -ffile-prefix-map="$work/two/deeper=."
step "same bytes with -g" same
archs=host
step "objects of one folder" build one -c -g -ffile-prefix-map="$work/one=."
step "objects of another" build two/deeper -c -g -ffile-prefix-map="$work/two/deeper=."
step "same objects" same
finish
