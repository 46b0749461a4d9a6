#!/bin/sh
# Matrix products: which instructions the chips get, how tiles come to shared memory; what NVRTC makes of them, where it is.
. "$(dirname -- "$0")/common.sh"

rows <<'TABLE'
best for sm_80      | 0 | --arch=sm_80 -S -o - dots.newt       | out nt_ldmatrix<4> ; out nt_ldmatrix_trans<4> ; out nt_mma_m16n8k16_f32_f16_f16
best for sm_75      | 0 | --arch=sm_75 -S -o - dots.newt       | out nt_mma_m16n8k8_f32_f16_f16
each chip its own   | 0 | --arch=sm_90,sm_75 -S -o - dots.newt | out nt_mma_m16n8k8_f32_f16_f16 ; out nt_mma_m16n8k16_f32_f16_f16
warpgroups          | 0 | --arch=sm_90a -S -o - dots.newt      | out nt_wgmma_m64n64k16_f32_f16_f16<0, 1>
a text each         | 0 | --arch=sm_80,sm_86,sm_90a -S -o d.cu dots.newt | files d.sm_80+sm_86.cu d.sm_90a.cu
a text for both     | 0 | --arch=sm_80,sm_90a --dot=fma -S -o d.cu dots.newt | files d.cu
warps on Hopper     | 0 | --arch=sm_90a --dot=mma -S -o - dots.newt | out nt_mma_m16n8k16_f32_f16_f16
plain               | 0 | --arch=sm_80 --dot=fma -S -o - dots.newt | out nt_mad
as by default       | 0 | --arch=sm_80 --dot=mma -S -o - dots.newt | out nt_mma_m16n8k16_f32_f16_f16
copies beside it     | 0 | --arch=sm_80 -S -o - copies.newt     | out nt_copy_async<16> ; out nt_copy_wait<1>
copies by registers  | 0 | --arch=sm_80 --copy=sync -S -o - copies.newt | out nt_put<
as newtc chooses     | 0 | --arch=sm_90a -S -o - --configs=GROUP=4 ways.newt | out nt_tma_load ; out int program =
by pointers          | 0 | --arch=sm_90a -S -o - "--configs=copy='cp_async'" ways.newt | out nt_copy_async<16>
no such copies       | 2 | --copy=dma dots.newt                 | err 'dma' does not fit option '--copy': expected sync, cp_async or tma
neither             | 2 | --dot=wmma dots.newt                 | err 'wmma' does not fit option '--dot': expected fma, mma or wgmma
TABLE

fresh
"$newtc" --arch=sm_90a -S -o - --configs=persistent=0 ways.newt >"$work/out" 2>"$work/err"
judge "a block a program" 0 $? 'out nt_tma_load'
! grep -q 'int program =' "$work/out" || fail "a block a program" "blocks stay"

fresh
if "$newtc" --arch=sm_80 --emit=sass-summary -o - dots.newt >"$work/out" 2>"$work/err"; then
    for how in wgmma mma fma; do
        for arch in sm_75 sm_80 sm_89 sm_90a; do
            count=$((count + 1))
            "$newtc" --arch=$arch --dot=$how -o dots.c dots.newt >"$work/out" 2>"$work/err" ||
                fail "$how on $arch" "NVRTC does not take it"
            if grep '"spills": [1-9]' dots.json >"$work/out"; then
                fail "$how on $arch" "registers go to memory"
            fi
        done
    done
fi
finish
