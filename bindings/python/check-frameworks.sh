#!/usr/bin/env bash
# The modules for frameworks in the frameworks themselves: smolagents, LangChain, LlamaIndex and LiteLLM, with their own
# clients, in front of a server whose answers are written down, and in front of a real model. The modules are those of the
# wheel that check.sh has built; the frameworks are installed under .cache/frameworks, where they take 700 MB.
set -euo pipefail

usage() {
    cat <<'END'
Usage: bindings/python/check-frameworks.sh [--upstream URL --model NAME] [TEST …]

  --upstream URL   a llama.cpp server, whose model the examples ask as well;
                   scripts/demo.sh --keep leaves one
  --model NAME     its model
  TEST             what pytest runs; left out, all of it
  --help           this text

Needs Python 3.11 (PYTHON=… picks another one).
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/bindings/python/frameworks
cache=$root/.cache/frameworks
venv=$cache/venv
python=${PYTHON:-python3}
upstream=
model=smollm2-135m-instruct
tests=()

main() {
    local wheel example
    read_options "$@"
    "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' ||
        die "what the frameworks need is pinned for Python 3.11, this is $("$python" -V); set PYTHON to that"
    wheel=$(ls "$root/.cache/wheel/dist"/*.whl 2>/dev/null) || die "there is no wheel; run bindings/python/check.sh"
    mkdir -p "$cache"
    make_venv
    install_pins "$here/requirements.txt" "the frameworks" --require-hashes
    find_pip
    rm -rf "$cache/plugin"
    logged plugin "${pip[@]}" install --quiet --no-deps --no-index --target "$cache/plugin" "$wheel" ||
        die "the wheel cannot be installed (see above)"
    # Each in a process of its own: LiteLLM changes what it imports.
    ((${#tests[@]})) || tests=("$here"/test_*.py)
    for test in "${tests[@]}"; do
        inside -m pytest --quiet --tb short --disable-warnings -p no:cacheprovider -o filterwarnings= "$test"
    done
    [[ -z $upstream ]] || for example in "$here"/examples/*.py; do
        echo "--- ${example##*/}"
        inside -W ignore "$example" "$upstream" "$model"
    done
    echo "==> the frameworks got their calls"
}

read_options() {
    while (($#)); do
        case $1 in
        --upstream | --model)
            (($# > 1)) || die "$1 needs a value"
            [[ $1 == --model ]] && model=$2 || upstream=$2
            shift
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        *) tests+=("$1") ;;
        esac
        shift
    done
}

# Python, with the frameworks and the wheel, and nothing that looks for the outside.
inside() {
    (cd "$here" && PYTHONPATH=$cache/plugin:. PYTHONDONTWRITEBYTECODE=1 LITELLM_LOCAL_MODEL_COST_MAP=True \
        HF_HUB_OFFLINE=1 "$venv/bin/python" "$@")
}

die() {
    echo "check-frameworks: $1" >&2
    exit 1
}

source "$root/scripts/python.sh"
main "$@"
