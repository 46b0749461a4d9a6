#!/bin/sh
# R6: each diagnostic of diags.def has a golden in tests/golden/diag, named after its slug. Those that no kernel
# causes without an NVRTC are tested elsewhere: by unit tests and by tests/cli.
. "$(dirname -- "$0")/common.sh"

elsewhere=' internal ir-syntax file unknown-arch no-nvrtc tool-option shared-memory too-large
    slow-compile compile-budget config-left-out stale-tuning narrow-access
    register-spill serial-products '

check() {
    sed -n 's/^DIAG([A-Z_0-9]*, "\([a-z-]*\)".*/\1/p' "$1/compiler/support/diags.def" | while IFS= read -r slug; do
        # The words of the list are joined on one line.
        # shellcheck disable=SC2086,SC2116
        case " $(echo $elsewhere) " in
        *" $slug "*) continue ;;
        esac
        golden=$1/tests/golden/diag/$slug.diag
        if [ ! -f "$golden" ]; then
            echo "$slug: there is no tests/golden/diag/$slug.diag"
        elif ! grep -qF "[$slug]" "$golden"; then
            echo "$slug: tests/golden/diag/$slug.diag does not show it"
        fi
    done
}

sample() {
    mkdir -p "$1/compiler/support" "$1/tests/golden/diag"
    echo 'DIAG(SYNTAX, "syntax", ERROR, DEFAULT, "text")' >"$1/compiler/support/diags.def"
    echo "a.newt:1:1: error: text $([ "$2" = bad ] || echo '[syntax]')" >"$1/tests/golden/diag/syntax.diag"
}

rule_main "$@"
