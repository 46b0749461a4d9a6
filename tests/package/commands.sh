#!/bin/sh
# Each command in a fenced block "sh" of README.md and in an example of the manual has a row in commands.txt and works.
. "$(dirname -- "$0")/common.sh"
table=$project/tests/package/commands.txt
PATH=$prefix/bin:$PATH
cp "$project/tests/package/kernels.newt" kernel.newt

# commands_of <document>: one a line, without comments.
commands_of() {
    case $1 in
    *.md) awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$1" | sed 's/ *#.*//; /^$/d' ;;
    *) sed -n 's/^\$ //p' "$1" | sed 's/\\-/-/g' ;;
    esac
}

# A command for a GPU needs an NVRTC that knows the chips.
has_gpus() {
    case $1 in
    *sm_120*) "$newtc" --print-archs | grep -qx sm_120 ;;
    *) "$newtc" --print-archs | grep -qx sm_90a ;;
    esac
}

for document in README.md examples/README.md man/newtc.1.in man/newtc-tune.1 man/newt.7.in man/libnewt.3; do
    commands_of "$project/$document" >commands
    while IFS= read -r command; do
        if grep -qxF "run | $command" "$table"; then
            case $command in
            *cuda* | *cubin*) has_gpus "$command" || continue ;;
            esac
            step "$document" sh -c "$command"
        elif ! grep -qF "elsewhere | $command | " "$table"; then
            failed=1
            echo "FAILED $document: '$command' has no row in commands.txt"
        fi
    done <commands
done

# No row is left of a command that is gone.
for document in README.md examples/README.md man/newtc.1.in man/newtc-tune.1 man/newt.7.in man/libnewt.3; do
    commands_of "$project/$document"
done >all
sed -n 's/^run | //p; s/^elsewhere | \(.*\) | .*/\1/p' "$table" | while IFS= read -r command; do
    grep -qxF -- "$command" all || echo "$command"
done >gone
[ ! -s gone ] || { failed=1; echo "FAILED: no document has these commands of commands.txt:"; cat gone; }

# The kernel that README.md and the manual show compiles.
awk '/^```python$/ { on = 1; next } /^```/ { on = 0 } on' "$project/README.md" >readme.newt
step "the kernel of README.md" "$newtc" --arch=host readme.newt
awk '/^\.EX$/ { on = 1; next } /^\.EE$/ { on = 0 } on' "$project/man/newt.7.in" >manual.newt
step "the kernel of newt.7" "$newtc" --arch=host manual.newt
step "its C name" grep -q ' double_(NewtDevice' manual.h

# The installed pages are whole, and groff has nothing to say of them.
for page in man1/newtc.1 man1/newtc-tune.1 man7/newt.7 man3/libnewt.3; do
    file=$(find "$prefix" -path "*/$page")
    step "$page is installed" test -s "$file"
    if has groff; then
        step "$page by groff" sh -c 'test -z "$(groff -man -Tutf8 -ww -z "$1" 2>&1)"' sh "$file"
    fi
done
for option in $("$newtc" --help | sed -n 's/^  \(-[^ =[]*\).*/\1/p'); do
    step "$option is in newtc.1" grep -qF -- "$(printf '%s' "$option" | sed 's/-/\\-/g')" "$(find "$prefix" -name newtc.1)"
done
finish
