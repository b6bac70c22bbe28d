#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it in an environment of its own, and runs its tests and the examples of
# its documents there. What is installed stays under .cache/wheel.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/bindings/python
cache=$root/.cache/wheel
venv=$cache/venv
python=${PYTHON:-python3}

main() {
    mkdir -p "$cache"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        die "the package needs Python 3.10 or newer, this is $("$python" -V); set PYTHON to a newer one"
    make_venv
    install_pins "$here/requirements.txt" "maturin, mypy, pyarrow, pydantic and pytest" --require-hashes
    (cd "$here" && cargo fmt --check && cargo clippy --quiet --locked --all-targets -- -D warnings)
    install_wheel
    (cd "$here" && "$venv/bin/python" -m pytest --quiet -p no:cacheprovider "$@")
}

# The tests are of what is installed: not of the sources beside them.
install_wheel() {
    local packages
    packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    rm -rf "$cache/dist"
    logged build "$packages/bin/maturin" build --profile dev --locked --quiet --interpreter "$venv/bin/python" \
        --manifest-path "$here/Cargo.toml" --out "$cache/dist" || die "the wheel does not build (see above)"
    find_pip
    rm -rf "$packages"/del_dialects "$packages"/del_dialects-*.dist-info
    logged install "${pip[@]}" install --quiet --no-deps --no-index --target "$packages" "$cache"/dist/*.whl ||
        die "the wheel cannot be installed (see above)"
}

die() {
    echo "check: $1" >&2
    exit 1
}

source "$root/scripts/python.sh"
main "$@"
