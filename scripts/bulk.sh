#!/usr/bin/env bash
# 200,000 rows in 40 files of Parquet through `del parse`, `del convert` and Ray: runs that are killed and go on, outputs
# compared byte for byte with those of undisturbed runs, memory, rates; and the same columns in Ray Data and datasets.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/bulk.sh [--rows N] [--files N] [--only del|ray|hosts]

  --rows N   rows of answers (200000)
  --files N  files that they are in (40)
  --only     one part of it
  --help     this text

Takes some minutes and 1 GB below .cache/bulk. DEL=… names another program `del`, WHEEL=… a
wheel of the Python package. Spark is tried where `pyspark` and Java are installed.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/bulk
venv=$cache/venv
python=${PYTHON:-python3}
del=

main() {
    case ${1:-} in
        --help) usage && exit 0 ;;
    esac
    mkdir -p "$cache"
    # shellcheck source=scripts/build.sh
    . "$root/scripts/build.sh"
    build_del
    make_venv
    install_pins "$root/scripts/bulk/requirements.txt" "Ray, datasets and pyarrow" --require-hashes
    install_package
    "$venv/bin/python" "$root/scripts/bulk/trial.py" --del "$del" --scratch "$cache" "$@"
}

# The wheel, built as it is released.
install_package() {
    local wheel=${WHEEL:-} packages
    packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    if [ -z "$wheel" ]; then
        rm -rf "$cache/dist"
        logged build "$packages/bin/maturin" build --release --locked --quiet --interpreter "$venv/bin/python" \
            --manifest-path "$root/bindings/python/Cargo.toml" --out "$cache/dist" || die "the wheel does not build (see above)"
        wheel=$(echo "$cache"/dist/*.whl)
    fi
    find_pip
    rm -rf "$packages"/del_dialects "$packages"/del_dialects-*.dist-info
    logged install "${pip[@]}" install --quiet --no-deps --no-index --target "$packages" "$wheel" ||
        die "the wheel cannot be installed (see above)"
}

die() {
    echo "bulk.sh: $1" >&2
    exit 1
}

# shellcheck source=scripts/python.sh
source "$root/scripts/python.sh"
main "$@"
