#!/usr/bin/env bash
# Asks XGrammar about the grammars of all dialects: each has to compile, to accept the canonical cases and to refuse the
# mutated ones. The engine is installed under .cache/grammars; torch, which only its Python layer wants, is not.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/grammars
venv=$cache/venv
pins=$root/scripts/grammars.txt
python=${PYTHON:-python3}

# Settings of the user that would send packages somewhere else.
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

main() {
    mkdir -p "$cache"
    "$venv/bin/python" -c '' 2>/dev/null || "$python" -m venv "$venv" ||
        die "$python cannot make a virtual environment; install it: apt-get install python3-venv"
    if ! cmp -s "$pins" "$venv/installed.txt"; then
        "$venv/bin/python" -m pip install --quiet --no-deps --only-binary :all: --requirement "$pins" ||
            die "pip could not install XGrammar (see above)"
        cp "$pins" "$venv/installed.txt"
    fi
    (cd "$root" && GRAMMARS=$cache/grammars.jsonl cargo test --quiet --locked -p del-dialects --test grammar \
        canonical_cases) || die "the grammars could not be written (see above)"
    "$venv/bin/python" "$root/scripts/grammars.py" "$cache/grammars.jsonl"
}

die() {
    echo "grammars: $1" >&2
    exit 1
}

main "$@"
