#!/usr/bin/env bash
# Real answers under real grammars: starts the demo's llama.cpp server, asks its model for calls that the grammars of
# several dialects hold it to, and counts how many of them `del parse` reads in that dialect. Takes some minutes.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: scripts/constrained.sh [--answers N] [DIALECT…]

  --answers N    answers for each dialect (default: 50)
  --help         this text

Needs what scripts/demo.sh has fetched; run that first. DEL=… names another build of del.
USAGE
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/demo
del=
answers=50
dialects=(hermes-json qwen3-coder llama3-json mistral-args deepseek-v31 pythonic kimi-k2 glm45 minimax-m2 harmony)
server_pid=

# The server is on this machine, whatever the proxy of the environment is.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

main() {
    read_options "$@"
    [[ -x $cache/venv/bin/python && -f $(weights) ]] || die "no server and model yet; run scripts/demo.sh first"
    build_del
    trap stop_server EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    start_server
    "$cache/venv/bin/python" "$root/scripts/constrained.py" --del "$del" --server "$address" --answers "$answers" \
        "${dialects[@]}"
}

read_options() {
    local named=()
    while (($#)); do
        case $1 in
        --answers)
            [[ ${2:-} =~ ^[0-9]+$ ]] || die "--answers: expected a number, got \"${2:-}\""
            answers=$2
            shift
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        -*)
            usage >&2
            exit 2
            ;;
        *) named+=("$1") ;;
        esac
        shift
    done
    ((${#named[@]} == 0)) || dialects=("${named[@]}")
}

weights() {
    echo "$cache"/*.gguf
}

start_server() {
    local address_file=$cache/constrained.$$ waited
    rm -f "$address_file"
    GOMP_SPINCOUNT=0 OMP_WAIT_POLICY=PASSIVE "$cache/venv/bin/python" "$root/scripts/server.py" "$(weights)" \
        --alias demo --context 2048 --address-file "$address_file" >"$cache/constrained.log" 2>&1 </dev/null &
    server_pid=$!
    for ((waited = 0; waited < 600; waited++)); do
        if [[ -s $address_file ]]; then
            address=$(<"$address_file")
            rm "$address_file"
            return
        fi
        kill -0 "$server_pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$cache/constrained.log" >&2
    die "the server did not start; its log is $cache/constrained.log"
}

stop_server() {
    if [[ -n $server_pid ]] && kill "$server_pid" 2>/dev/null; then
        wait "$server_pid" || true
    fi
}

die() {
    echo "constrained: $1" >&2
    exit 1
}

main "$@"
