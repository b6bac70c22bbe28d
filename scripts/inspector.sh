#!/usr/bin/env bash
# The inspector of `del serve` in a real browser: requests appear as they come, spans are marked, and hostile content does
# nothing. What is installed stays under .cache/inspector, and so do the pictures that are taken.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/inspector.sh [--pictures DIR]

  --pictures DIR   writes the pictures of the documents to DIR
  --help           this text

Builds del, or takes the program that DEL names. Needs Chromium (Debian's
package `chromium`; CHROMIUM=… names another one) and Python 3.10 or newer
(PYTHON=… picks another one).
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/inspector
venv=$cache/venv
python=${PYTHON:-python3}
pictures=$cache/pictures

# shellcheck source=scripts/python.sh
source "$root/scripts/python.sh"

main() {
    local chromium=${CHROMIUM:-}
    while (($# > 0)); do
        case $1 in
            --pictures)
                [[ -n ${2-} ]] || die "--pictures: expected a directory"
                pictures=$2
                shift
                ;;
            --help | -h)
                usage
                exit 0
                ;;
            *)
                usage >&2
                exit 2
                ;;
        esac
        shift
    done
    mkdir -p "$cache" "$pictures"
    [[ -n $chromium ]] || chromium=$(command -v chromium || command -v chromium-browser) ||
        die "no Chromium; install it: apt-get install chromium"
    local del=${DEL:-}
    if [[ -z $del ]]; then
        cargo build --quiet --locked --manifest-path "$root/Cargo.toml" -p del-cli
        del=${CARGO_TARGET_DIR:-$root/target}/debug/del
    fi
    make_venv
    install_pins "$root/scripts/inspector/requirements.txt" "the driver of the browser" --require-hashes
    "$venv/bin/python" "$root/scripts/inspector/look.py" "$del" "$chromium" "$pictures"
}

die() {
    echo "inspector: $*" >&2
    exit 1
}

main "$@"
