#!/bin/sh
# clang_tidy.sh <root> <build>: clang-tidy, with the settings of .clang-tidy, over every source of
# ours in the build's compile_commands.json.
set -u
command -v clang-tidy >/dev/null 2>&1 || {
    echo "skipped: clang-tidy is not installed"
    exit 77
}
[ -f "$2/compile_commands.json" ] || {
    echo "skipped: configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
    exit 77
}
cd "$1" || exit 2
sed -n 's|^ *"file": "\(.*\)",\{0,1\}$|\1|p' "$2/compile_commands.json" |
    grep -E "^$1/(compiler|runtime)/" | sort -u | tr '\n' '\0' |
    xargs -0 -P "$(getconf _NPROCESSORS_ONLN)" -n 4 clang-tidy --quiet -p "$2" 2>/dev/null
