#!/bin/sh
# newtc tune on the host: what wins, what is refused, shards, stores, and being killed.
. "$(dirname -- "$0")/common.sh"
[ -n "$(command -v cc)" ] || skip_all "there is no C compiler"

rows <<'TABLE'
finds one            | 0 | tune --device host --kernel scale tuned.newt | out ^scale on host: .* us with BLOCK=(64¦128¦256¦512) KIND=0 ; out 6 of 6 configurations: 4 right, 1 wrong, 0 failed, 1 too large or refused ; out ^  wrong: BLOCK=1024 KIND=1 ; files tune.json tune.json.lock
explained            | 0 | tune --device host --kernel=scale --explain --report=r.json --svg=r.svg -o s.json tuned.newt | out by BLOCK=[0-9]+ against [0-9]+ ; files r.json r.svg s.json s.json.lock
another shape        | 0 | tune --device host --kernel scale --shape n=77 --shape=n=99 tuned.newt | out ^scale n=77 on host ; out ^scale n=99 on host
a tile kernel        | 0 | tune --device host --kernel double --shape N=300 --budget 5s tuned.newt | out ^double N=300 on host: .* us with BLOCK_TILE_N=
two to choose from   | 2 | tune --device host tuned.newt     | err 'scale' and 'double' can be tuned; name one with --kernel
no such kernel       | 2 | tune --device host --kernel scal tuned.newt | err no kernel 'scal' in 'tuned.newt'
no sizes             | 2 | tune --device host --kernel double tuned.newt | err the size 'N' of x has no value; give it with --shape
no buffer            | 2 | tune --device host --kernel plain --shape n=1 tuned.newt | err argument 'out' has no buffer; give it as --arg=out=
no value             | 2 | tune --device host --kernel plain --arg 'out=zeros(1)' tuned.newt | err argument 'n' has no value; give it as --shape=n=VALUE
a wrong generator    | 2 | tune --device host --kernel plain --shape n=1 --arg 'out=ones(1)' tuned.newt | err 'ones\(1\)' of out is none of normal, uniform
no such device       | 2 | tune --device gpu --kernel scale tuned.newt | err 'gpu' is no device
no such file         | 2 | tune --device host nothing.newt   | err cannot read 'nothing.newt'
an error in it       | 1 | tune --device host four_errors.newt | errs 1
nothing to tune      | 2 | tune --device host good.newt      | err no kernel in 'good.newt' has an @autotune
no file              | 2 | tune                              | err no input file
a wrong shard        | 2 | tune --shard 2/2 tuned.newt       | err '2/2' does not fit --shard
a wrong budget       | 2 | tune --budget soon tuned.newt     | err 'soon' does not fit --budget
help                 | 0 | tune --help                       | out ^newtc tune .options. file.newt
list of nothing      | 2 | tune --list nothing.json          | err cannot read 'nothing.json'
no store             | 2 | tune --list good.newt             | err 'good.newt' is no tuning store
TABLE

# tune <name> <exit code> <expectations> <option...>
tune() {
    name=$1 wanted=$2 expected=$3
    shift 3
    "$newtc" tune --device host "$@" >"$work/out" 2>"$work/err"
    judge "$name" "$wanted" $? "$expected"
}

# Two shards know what one search knows; a store that was made is not measured again.
fresh
tune "first shard" 0 'out 3 of 6 configurations: 3 right' --kernel scale --shard 0/2 -o a.json tuned.newt
tune "second shard" 0 'out 4 of 6 configurations: 2 right, 1 wrong' --kernel scale --shard 1/2 -o b.json tuned.newt
"$newtc" tune --merge a.json b.json -o both.json >"$work/out" 2>"$work/err"
judge "joined" 0 $? 'quiet'
"$newtc" tune --list both.json >"$work/out" 2>"$work/err"
judge "listed" 0 $? 'out ^scale on .* .host.: n=5000 ; out ^    best BLOCK(64|128|256|512)_KIND0_W4_S3, [0-9.]+ us ; out ^    wrong: BLOCK1024_KIND1_W4_S3'
cp both.json before.json
tune "resumed" 0 'out 4 right, 1 wrong' --kernel scale --resume -o both.json tuned.newt
grep '_KIND0_W4_S3": [0-9]' before.json >"$work/before_us"
grep '_KIND0_W4_S3": [0-9]' both.json | cmp -s - "$work/before_us" || fail "resumed" "something was measured again"

# A build with the store compiles the winners and the default; one for another text warns and does without.
"$newtc" --arch=host --tune-db=both.json -MD tuned.newt >"$work/out" 2>"$work/err"
judge "built" 0 $? 'quiet'
cp tuned.h "$work/out"
judge "winners only" 0 0 'out SCALE_BLOCK64_KIND0_W4_S3 = 0, ; out fastest for n=5000 on ; out SCALE_CONFIG_COUNT = [12]$'
! grep -q KIND1 tuned.h || fail "winners only" "a wrong configuration was compiled"
grep -q both.json tuned.d || fail "built" "the dependency rule lacks the store"
echo >>tuned.newt
"$newtc" --arch=host --tune-db=both.json tuned.newt >"$work/out" 2>"$work/err"
judge "of another text" 1 $? "err warning: 'both.json' was made for another version of 'tuned.newt', so it is not used .stale-tuning. ; files a.json a.json.lock b.json b.json.lock before.json both.json both.json.lock tuned.c tuned.d tuned.h tuned.json"
"$newtc" --arch=host --tune-db=tuned.newt tuned.newt >"$work/out" 2>"$work/err"
judge "no store" 2 $? "err 'tuned.newt' is no tuning store of schema 1 ; files a.json a.json.lock b.json b.json.lock before.json both.json both.json.lock tuned.c tuned.d tuned.h tuned.json"

# A search that is killed has lost nothing that it knew; the next one goes on.
fresh
"$newtc" tune --device host --kernel double --shape N=3000 tuned.newt >/dev/null 2>&1 &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.5
    [ ! -s tune.json ] || break
done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
"$newtc" tune --list tune.json >"$work/out" 2>"$work/err"
judge "killed" 0 $? 'out ^double_ on .*N=3000 ; out ^    best N[0-9]+_W'
tune "goes on" 0 'out ^double N=3000 on host' --kernel double --shape N=3000 --resume --budget 3 tuned.newt

finish
