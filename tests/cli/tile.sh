# Tile kernels printed as newt text compile to the same code: the CUDA text of the variant in 32 bits, without the
# lines that say where in the source it comes from.
# shellcheck source-path=SCRIPTDIR
. "$(dirname -- "$0")/common.sh"

# code <file.newt>: the first device function of each kernel.
code() {
    "$newtc" --emit=cuda --specialize=none --arch=sm_80 -o - "$1" 2>"$work/err" |
        sed -e '/^ *\/\//d' -e '/^#line/d' -e 's/"[^"]*[.]newt", [0-9]*, //' |
        awk '/^extern "C"/ { on = 1; text = "" } on { text = text $0 "\n" }
             /^}/ { if (on && text ~ /_0\(/) printf "%s", text; on = 0 }'
}

for file in "$here"/../golden/expanded/*.newt "$here"/../run/tile*.newt; do
    name=$(basename "$file")
    count=$((count + 1))
    folder=$work/$count
    mkdir "$folder"
    cp "$file" "$folder/given.newt"
    if ! (cd "$folder" && "$newtc" -E given.newt >printed.newt 2>err && [ ! -s err ]); then
        echo "$name: -E fails"
        cat "$folder/err"
        failed=1
        continue
    fi
    code "$folder/given.newt" >"$folder/given"
    code "$folder/printed.newt" >"$folder/printed"
    if [ ! -s "$folder/given" ] || ! cmp -s "$folder/given" "$folder/printed"; then
        echo "$name: the printed kernels compile to other code"
        diff "$folder/given" "$folder/printed" | head -20
        cat "$work/err"
        failed=1
    fi
    (cd "$folder" && "$newtc" -E printed.newt) >"$folder/again" 2>&1
    if ! cmp -s "$folder/printed.newt" "$folder/again"; then
        echo "$name: the printed kernels are printed in another way"
        diff "$folder/printed.newt" "$folder/again" | head -20
        failed=1
    fi
done
finish
