#!/bin/sh
# agree.sh A B - compares what two runs of tests/run with the same --seed wrote by --outputs.
#
# Both must have got the same outputs, of the same sizes; that each is within its test's rounding of the expected values the
# runs themselves have checked. Prints how many have the same bits, and the tests of which some have not. Exit code 1: an
# output is lacking on one side or has another size.
awk -F'\t' '
    { key = $1 " " $2 }
    NR == FNR { bytes[key] = $3; hash[key] = $4; next }
    !(key in bytes) || bytes[key] != $3 { print "only in the second, or of another size: " key; bad++; next }
    { both++; seen[key] = 1 }
    hash[key] == $4 { same++; next }
    { count[$1]++ }
    END {
        for (key in bytes)
            if (!(key in seen)) {
                print "only in the first, or of another size: " key
                bad++
            }
        for (test in count)
            print "rounded otherwise: " test ": " count[test] " outputs"
        print both + 0 " outputs of both, " same + 0 " with the same bits, " bad + 0 " lacking"
        exit bad > 0 || both == 0
    }' "$1" "$2"
