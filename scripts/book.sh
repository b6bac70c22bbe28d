#!/usr/bin/env bash
# Builds the book, and walks its tutorials and the page on the engine: each command is run, and has to print what stands there.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/book.sh [--fresh] [PAGE…]

  --fresh  clones the repository and installs everything as the tutorials say, which takes
           many minutes; without it, del is built here (DEL=… names another program), and the
           packages are those that bindings/python/check.sh and bindings/js/check.sh have made
  PAGE     pages to walk, such as docs/tutorial-data.md; all of them if left out
  --help   this text
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/book
venv=$cache/venv
python=${PYTHON:-python3}
fresh=no
pages=()
del=

main() {
    read_options "$@"
    mkdir -p "$cache"
    install_mdbook
    mdbook build "$root"
    if [[ $fresh == yes ]]; then
        walk_fresh
    else
        walk_here
    fi
}

read_options() {
    while (($#)); do
        case $1 in
        --fresh) fresh=yes ;;
        -h | --help)
            usage
            exit 0
            ;;
        -*)
            usage >&2
            exit 2
            ;;
        *) pages+=("$(realpath "$1")") ;;
        esac
        shift
    done
    ((${#pages[@]})) || pages=("$root"/docs/tutorial-*.md "$root/docs/engine.md")
}

# The machine's own, or one that is installed below .cache.
install_mdbook() {
    local packages
    ! command -v mdbook >/dev/null || return 0
    make_venv
    install_pins "$root/scripts/book/mdbook.txt" mdbook --require-hashes
    packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    PATH=$PATH:$packages/bin
}

walk_fresh() {
    # Readers have blanks in their paths.
    local clone="$cache/a clone"
    rm -rf "$clone"
    git clone --quiet "$root" "$clone"
    # What is installed goes where the shell of a tutorial finds it.
    "$python" "$root/scripts/book/walk.py" --all --root "$clone" "${pages[@]}"
}

walk_here() {
    local options=() walked=() page
    build_del
    mkdir -p "$cache/bin"
    ln -sfn "$del" "$cache/bin/del"
    PATH=$cache/bin:$PATH
    export CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$root/target/walk
    [[ ! -x $root/.cache/wheel/venv/bin/python ]] || PATH=$root/.cache/wheel/venv/bin:$PATH
    [[ ! -d $root/.cache/npm/node_modules ]] || options+=(--node-modules "$root/.cache/npm/node_modules")
    for page in "${pages[@]}"; do
        if is_possible "$page"; then
            walked+=("$page")
        fi
    done
    "$python" "$root/scripts/book/walk.py" "${options[@]}" --root "$root" "${walked[@]}"
}

# Whether what a page installs is there.
is_possible() {
    case $1 in
    *python*) [[ -x $root/.cache/wheel/venv/bin/python ]] || not_walked "$1" bindings/python/check.sh ;;
    *javascript*) [[ -d $root/.cache/npm/node_modules/del-dialects ]] || not_walked "$1" bindings/js/check.sh ;;
    esac
}

not_walked() {
    echo "${1##*/}: not walked; run $2 first"
    return 1
}

die() {
    echo "book: $1" >&2
    exit 1
}

# shellcheck source=scripts/python.sh
source "$root/scripts/python.sh"
# shellcheck source=scripts/build.sh
source "$root/scripts/build.sh"
main "$@"
