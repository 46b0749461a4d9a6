#!/bin/sh
# agree.sh A B - compares what two runs of tests/run with the same --seed wrote by --outputs.
#
# In each test of both, both must have got the same outputs, of the same sizes, and both must have found them right: within
# the bounds that the test states of the values it computes itself, which are the same for one seed. So outputs of which the
# bits differ are apart by two of these bounds at most. Prints how many have the same bits, and the tests of which some have
# not. Exit code 1: a test was not right in one of them, an output is lacking on one side or has another size, or there is
# nothing to compare.
awk -F'\t' '
    NR == FNR && NF == 2 { right[$1]++; next }
    NR == FNR { tests[$1] = 1; bytes[$1 FS $2] = $3; hash[$1 FS $2] = $4; next }
    !($1 in tests) { next }
    NF == 2 { right[$1]++; next }
    { common[$1] = 1; key = $1 FS $2; seen[key] = 1 }
    bytes[key] != $3 { print "only in the second, or of another size: " key; bad++; next }
    { both++ }
    hash[key] == $4 { same++; next }
    { differ[$1]++ }
    END {
        for (key in bytes) {
            split(key, part, FS)
            if (part[1] in common && !(key in seen)) {
                print "only in the first: " key
                bad++
            }
        }
        for (test in common) {
            count++
            if (right[test] != 2) {
                print "not found right by both: " test
                bad++
            }
        }
        for (test in differ)
            print "rounded otherwise: " test ": " differ[test] " outputs"
        print count + 0 " tests of both, " both + 0 " outputs, " same + 0 " with the same bits, " bad + 0 " lacking or wrong"
        exit bad > 0 || both == 0
    }' "$1" "$2"
