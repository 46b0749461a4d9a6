#!/bin/sh
# No tracked file names a place of one machine, or a package registry's host.
. "$(dirname -- "$0")/common.sh"

# The letter classes keep this file from finding itself.
paths='(^|[^A-Za-z0-9_.$}-])/(wor[k]|roo[t]|hom[e]/[a-z]|User[s]/)[a-z0-9_]*/'
hosts='pypi\.or[g]|files\.pythonhosted\.or[g]|npmjs\.or[g]|crates\.i[o]|deb\.debian\.or[g]|archive\.ubuntu\.co[m]|proxy\.golang\.or[g]|artifactor[y]|localhos[t]:[0-9]'

check() {
    (cd "$1" && list_files . | tr '\n' '\0' | xargs -0 grep -nHIE "$paths|$hosts" | cut -c 1-160)
}

sample() {
    echo 'see docs/work/x and $HOME/root/y, usr/home/z' >"$1/a.md"
    [ "$2" = good ] || printf 'see %s/me/x\n' /home >"$1/b.md"
}

rule_main "$@"
