#!/usr/bin/env bash
# The Python client of the OpenAI API through `del serve`, in front of the demo's
# real model, whose template knows no tools. What is fetched stays under .cache.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/clients.sh [--upstream URL --model NAME]

  --upstream URL  a model server that runs, in place of the demo's
  --model NAME    its model
  --help          this text

Runs the demo first, with its server (DEL=… names another program `del`). Needs
Python 3.11 or newer (PYTHON=… picks another one).
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/clients
venv=$cache/venv
python=${PYTHON:-python3}
del=
upstream=
model=smollm2-135m-instruct
server_pid=
proxy_pid=

main() {
    read_options "$@"
    mkdir -p "$cache"
    trap stop EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "the client needs Python 3.11 or newer, this is $("$python" -V); set PYTHON to a newer one"
    install_client
    [[ -n $upstream ]] || start_server
    build_del
    start_proxy
    "$venv/bin/python" "$root/scripts/clients/openai_client.py" "$base_url" "$model" ||
        die "the client did not get what it should (see above); the proxy's log is $cache/proxy.log"
    echo "==> the client got its calls and its answers"
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
        *)
            usage >&2
            exit 2
            ;;
        esac
        shift
    done
}

install_client() {
    make_venv
    install_pins "$root/scripts/clients/requirements.txt" "the client" --require-hashes
}

# The demo's own run shows that the model and the server work; its server stays for the client.
start_server() {
    local line
    "$root/scripts/demo.sh" --keep 2>&1 | tee "$cache/demo.log"
    line=$(grep '^The server stays: ' "$cache/demo.log") || die "the demo left no server"
    [[ $line =~ base\ URL\ ([^,]+),\ pid\ ([0-9]+) ]] || die "cannot read the demo's line: $line"
    upstream=${BASH_REMATCH[1]}
    server_pid=${BASH_REMATCH[2]}
    echo "==> try what the demo suggests"
    bash -c "$(sed -n '/^Try: /,$ { s/^Try: //; p }' "$cache/demo.log")" </dev/null | grep -i 'flour' ||
        die "what the demo suggests does not work; it is at the end of $cache/demo.log"
}

start_proxy() {
    local waited
    echo "==> start del serve in front of $upstream"
    : >"$cache/address"
    "$del" serve --listen 127.0.0.1:0 --upstream "$upstream" --dialect hermes-json --constrain on \
        >"$cache/address" 2>"$cache/proxy.log" &
    proxy_pid=$!
    for ((waited = 0; waited < 300; waited++)); do
        if [[ $(<"$cache/address") =~ ^listening\ on\ ([^,]+), ]]; then
            base_url=${BASH_REMATCH[1]}
            return
        fi
        kill -0 "$proxy_pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$cache/proxy.log" >&2
    die "del serve did not start"
}

stop() {
    local pid
    for pid in $proxy_pid $server_pid; do
        kill "$pid" 2>/dev/null || true
    done
    [[ -z $proxy_pid ]] || wait "$proxy_pid" 2>/dev/null || true
}

die() {
    echo "clients: $1" >&2
    exit 1
}

source "$root/scripts/build.sh"
source "$root/scripts/python.sh"
main "$@"
