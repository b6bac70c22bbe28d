#!/usr/bin/env bash
# The plugins in the parser modules of vLLM, SGLang and LMDeploy, from their published wheels: every case of every dialect, whole and
# in pieces, has to be read as Del reads it alone. A wheel of vLLM has 340 MB; each is fetched once, and only its Python files
# are kept, under .cache/engines. The plugins are those of the wheel that check.sh has built.
set -euo pipefail

usage() {
    cat <<'END'
Usage: bindings/python/check-engines.sh [--speed] [ENGINE==VERSION…]

  ENGINE==VERSION   a line of engines/engines.txt; left out, all of them
  --speed           measures how fast streams are read instead, with a wheel of
                    the release profile that it builds for that
  --help            this text

Needs Python 3.11 (PYTHON=… picks another one).
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/bindings/python
cache=$root/.cache/engines
venv=$cache/venv
python=${PYTHON:-python3}

main() {
    local wheel engines act=check
    case ${1:-} in
    --help | -h)
        usage
        exit
        ;;
    --speed)
        act=speed
        shift
        ;;
    esac
    "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' ||
        die "what the engines need is pinned for Python 3.11, this is $("$python" -V); set PYTHON to that"
    [[ $act == check ]] || build_release
    wheel=$(ls "$root/.cache/wheel/$([[ $act == check ]] && echo dist || echo release)"/*.whl 2>/dev/null) ||
        die "there is no wheel; run bindings/python/check.sh"
    mkdir -p "$cache"
    make_venv
    install_pins "$here/engines/requirements.txt" "what the engines need" --require-hashes
    find_pip
    rm -rf "$cache/plugin"
    logged plugin "${pip[@]}" install --quiet --no-deps --no-index --target "$cache/plugin" "$wheel" ||
        die "the wheel cannot be installed (see above)"
    engines=("$@")
    ((${#engines[@]})) || mapfile -t engines < <(sed -n 's/ --hash.*//p' "$here/engines/engines.txt")
    for engine in "${engines[@]}"; do
        unpack "$engine"
        echo "--- $engine"
        "$act" "$engine"
    done
    [[ $act == speed ]] || echo "==> ${engines[*]} read as Del does"
}

check() {
    inside "$1" -m pytest --quiet --tb short --disable-warnings -p no:cacheprovider -o filterwarnings= "test_${1%%==*}.py" |
        grep -v '^\.*  *\['
}

speed() {
    local push=${CARGO_TARGET_DIR:-$here/target}/release/examples/push
    PUSH=$push inside "$1" speed.py overhead 2>/dev/null
    inside "$1" speed.py "${1%%==*}" 2>/dev/null
}

# Python, with the engine and the plugin.
inside() {
    local engine=$1
    shift
    (cd "$here/engines" && ENGINES=$cache/$engine PYTHONPATH=$cache/plugin:.:../tests PYTHONDONTWRITEBYTECODE=1 \
        "$venv/bin/python" "$@")
}

build_release() {
    local maturin=("$root"/.cache/wheel/venv/lib/python3*/site-packages/bin/maturin)
    rm -rf "$root/.cache/wheel/release"
    (cd "$here" && cargo build --quiet --locked --release --example push &&
        "${maturin[0]}" build --quiet --locked --release --interpreter "$python" --out "$root/.cache/wheel/release") ||
        die "the wheel does not build; run bindings/python/check.sh first"
}

# The Python files of an engine's wheel.
unpack() {
    local engine=$1 name=${1%%==*} pins=$cache/$1.txt
    [[ ! -d $cache/$engine ]] || return 0
    echo "    fetching $engine"
    grep -F "$engine " "$here/engines/engines.txt" >"$pins" || die "$engine is not in engines/engines.txt"
    rm -rf "$cache/fetched"
    logged fetch "${pip[@]}" download --quiet --no-deps --only-binary :all: --require-hashes --dest "$cache/fetched" \
        --requirement "$pins" || die "$engine cannot be fetched (see above)"
    "$python" - "$cache/fetched" "$cache/$engine.part/$name" <<'END'
import sys, zipfile
from pathlib import Path

(wheel,) = Path(sys.argv[1]).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(sys.argv[2], [name for name in archive.namelist() if name.endswith(".py")])
END
    mv "$cache/$engine.part" "$cache/$engine"
    rm -rf "$cache/fetched" "$pins"
}

die() {
    echo "check-engines: $1" >&2
    exit 1
}

source "$root/scripts/python.sh"
main "$@"
