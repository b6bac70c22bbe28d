#!/usr/bin/env bash
# Asks XGrammar about the grammars of all dialects: each has to compile, to accept the canonical cases and to refuse the
# mutated ones. The engine is installed under .cache/grammars; torch, which only its Python layer wants, is not. GRAMMARS
# names the file that a run of the tests has written with it; without one, the tests of del-grammar write it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/grammars
venv=$cache/venv
python=${PYTHON:-python3}

main() {
    mkdir -p "$cache"
    make_venv
    install_pins "$root/scripts/grammars.txt" XGrammar
    [[ -s ${GRAMMARS:-} ]] || write_grammars
    "$venv/bin/python" "$root/scripts/grammars.py" "$GRAMMARS"
}

write_grammars() {
    export GRAMMARS=$cache/grammars.jsonl
    (cd "$root" && cargo test --quiet --locked -p del-grammar --test grammar canonical_cases) ||
        die "the grammars could not be written (see above)"
}

die() {
    echo "grammars: $1" >&2
    exit 1
}

source "$root/scripts/python.sh"
main "$@"
