#!/usr/bin/env bash
# Del and the Python SDK of the Model Context Protocol: the SDK as a host of `del mcp serve`, and its servers as tools of
# Del, over standard input and output and over HTTP. What is installed stays under .cache/mcp.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/mcp.sh

  --help    this text

Builds del, or takes the program that DEL names. Needs Python 3.11 or newer
(PYTHON=… picks another one).
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/mcp
venv=$cache/venv
python=${PYTHON:-python3}
del=
server_pid=

# All of it talks to this machine only, whatever the proxy of the environment is.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

main() {
    (($# == 0)) || {
        usage
        [[ $1 == --help || $1 == -h ]] && exit 0
        exit 2
    } >&2
    mkdir -p "$cache"
    trap stop_server EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "the SDK needs Python 3.11 or newer, this is $("$python" -V); set PYTHON to a newer one"
    build_del
    make_venv
    install_pins "$root/scripts/mcp/requirements.txt" "the SDK" --require-hashes
    "$venv/bin/python" "$root/scripts/mcp/host.py" "$del" 2>"$cache/host.log" || {
        tail -n 15 "$cache/host.log" >&2
        die "the host did not get what it should"
    }
    # Servers are added to a configuration of their own.
    export XDG_CONFIG_HOME=$cache/config XDG_STATE_HOME=$cache/state
    rm -rf "$XDG_CONFIG_HOME"
    echo "--- a server on standard input and output"
    "$del" mcp add python -- "$venv/bin/python" "$root/scripts/mcp/server.py"
    check_server
    check_http
    check_http --json
    check_http --stateless
    check_http --stateless --json
    echo "==> hosts and servers of the SDK work with Del"
}

check_http() {
    local address
    echo "--- a server over HTTP $*"
    start_server "$@"
    "$del" mcp add python --url "$address"
    check_server
    stop_server
}

# Sets `address`.
start_server() {
    local waited
    : >"$cache/address"
    "$venv/bin/python" "$root/scripts/mcp/server.py" --http "$@" >"$cache/address" 2>"$cache/server.log" &
    server_pid=$!
    for ((waited = 0; waited < 300; waited++)); do
        address=$(<"$cache/address")
        [[ -z $address ]] || return 0
        kill -0 "$server_pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$cache/server.log" >&2
    die "the server did not start"
}

check_server() {
    local listed
    listed=$("$del" mcp test python --json) || die "its tools are not listed: $listed"
    [[ $listed == *'"server": "python 1.0"'* ]] || die "it is another server: $listed"
    calls add '{"a": 2, "b": 40}' 'True 42'
    calls fail '{}' 'False Error*fail'
    calls paint '{}' 'True ␛\[2Jred'
}

# Runs a call, and compares whether it succeeded and what it said with a pattern.
calls() {
    local got
    # A call that fails is an exit code of its own.
    got=$(printf '<tool_call>\n{"name": "mcp__python__%s", "arguments": %s}\n</tool_call>' "$1" "$2" |
        { "$del" exec --json --yes 2>"$cache/exec.log" || true; } |
        "$python" -c 'import json, sys; (result,) = json.load(sys.stdin); print(result["ok"], result["text"])') ||
        die "the call of $1 has no result; see $cache/exec.log"
    echo "call:   $1 -> $got"
    # shellcheck disable=SC2053 # It is a pattern.
    [[ $got == $3 ]] || die "expected $3"
}

stop_server() {
    if [[ -n $server_pid ]]; then
        kill "$server_pid" 2>/dev/null || true
        wait "$server_pid" 2>/dev/null || true
        server_pid=
    fi
}

die() {
    echo "mcp: $1" >&2
    exit 1
}

source "$root/scripts/build.sh"
source "$root/scripts/python.sh"
main "$@"
