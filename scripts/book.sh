#!/usr/bin/env bash
# Builds the book where mdbook is installed, and walks its tutorials and the page on the engine: each command is run, and has
# to print what stands there.
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
python=${PYTHON:-python3}
fresh=no
pages=()
del=

main() {
    read_options "$@"
    mkdir -p "$cache"
    if command -v mdbook >/dev/null; then
        mdbook build "$root"
    else
        echo "the pages are not made into a book: mdbook is not installed"
    fi
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

walk_fresh() {
    rm -rf "$cache/clone"
    git clone --quiet "$root" "$cache/clone"
    # What is installed goes where the shell of a tutorial finds it.
    "$python" "$root/scripts/book/walk.py" --all --root "$cache/clone" "${pages[@]}"
}

walk_here() {
    local options=() walked=() page
    build_del
    mkdir -p "$cache/bin"
    ln -sfn "$del" "$cache/bin/del"
    PATH=$cache/bin:$PATH
    export CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$root/target/book
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

source "$root/scripts/build.sh"
main "$@"
