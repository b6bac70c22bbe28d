#!/usr/bin/env bash
# Clients through `del serve`: OpenAI's Python client in front of the demo's real model, whose template knows no
# tools; then the Python and JavaScript clients of each API, and two coding agents, in front of a server whose
# answers are written down. What is fetched stays under .cache.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/clients.sh [--upstream URL --model NAME]

  --upstream URL  a model server that runs, in place of the demo's
  --model NAME    its model
  --help          this text

Runs the demo first, with its server (DEL=… names another program `del`). Needs
Python 3.11 or newer (PYTHON=… picks another one), and Node.js 20 or newer for the
JavaScript clients and the agents, which are left out without it.
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
scripted=
scripted_pid=
found=

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
    start_proxy --upstream "$upstream" --dialect hermes-json --constrain on
    "$venv/bin/python" "$root/scripts/clients/openai_client.py" "$base_url" "$model" ||
        die "the client did not get what it should (see above); the proxy's log is $cache/proxy.log"
    stop_proxy
    start_scripted
    start_proxy --upstream "$scripted"
    python_clients
    if command -v npm >/dev/null; then
        javascript_clients
        agents
    else
        echo "==> no JavaScript clients and no agents: npm is not installed"
    fi
    echo "==> the clients got their calls and their answers"
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
    install_pins "$root/scripts/clients/requirements.txt" "the Python clients" --require-hashes
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

# A server that calls the tool which it is offered, as its model's name says: by the API, as text, or told in the prompt.
start_scripted() {
    : >"$cache/scripted"
    "$python" "$root/scripts/clients/scripted.py" >"$cache/scripted" 2>"$cache/scripted.log" &
    scripted_pid=$!
    wait_for "$cache/scripted" '^(http.*)$' "$scripted_pid" || die "scripted.py did not start; see $cache/scripted.log"
    scripted=$found
}

start_proxy() {
    echo "==> start del serve $*"
    : >"$cache/address"
    "$del" serve --listen 127.0.0.1:0 "$@" >"$cache/address" 2>"$cache/proxy.log" &
    proxy_pid=$!
    wait_for "$cache/address" '^listening on ([^,]+),' "$proxy_pid" || {
        tail -n 5 "$cache/proxy.log" >&2
        die "del serve did not start"
    }
    base_url=$found
}

# Sets `found` to what a program writes into a file, once it does.
wait_for() {
    local waited
    for ((waited = 0; waited < 300; waited++)); do
        if [[ $(<"$1") =~ $2 ]]; then
            found=${BASH_REMATCH[1]}
            return
        fi
        kill -0 "$3" 2>/dev/null || break
        sleep 0.1
    done
    return 1
}

python_clients() {
    echo "==> the Python clients of openai, anthropic and ollama"
    logged apis "$venv/bin/python" "$root/scripts/clients/apis.py" "$base_url" ||
        die "a client did not get what it should (see above)"
    tail -n 1 "$cache/apis.log"
}

javascript_clients() {
    echo "==> the JavaScript clients of the same"
    install_npm js
    cp "$root/scripts/clients/js/apis.mjs" "$cache/js/"
    logged javascript node "$cache/js/apis.mjs" "$base_url" || die "a client did not get what it should (see above)"
    tail -n 1 "$cache/javascript.log"
}

# Each agent is asked to write a file, which it does with a tool of its own.
agents() {
    local model agent
    install_npm agents
    for model in native leaked prompt; do
        for agent in codex claude; do
            echo "==> $agent writes a file with a model of the kind: $model"
            rm -rf "$cache/home" "$cache/work"
            mkdir -p "$cache/home" "$cache/work"
            (cd "$cache/work" && logged "$agent" "ask_$agent" "Write the file $cache/work/written.txt" </dev/null) ||
                die "$agent failed (see above)"
            [[ $(<"$cache/work/written.txt") == "written by the model" ]] || die "$agent wrote no file; see $cache/$agent.log"
        done
    done
}

# Nothing of the user's settings, and nothing but loopback.
alone() {
    timeout 120 env -i "PATH=$cache/agents/node_modules/.bin:$PATH" "HOME=$cache/home" NO_PROXY=127.0.0.1 "$@"
}

ask_codex() {
    local provider="{name=\"del\",base_url=\"$base_url\",env_key=\"DEL_KEY\",wire_api=\"responses\"}"
    alone DEL_KEY=none codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox \
        -c model_provider=del -c "model_providers.del=$provider" -m "$model" "$1"
}

ask_claude() {
    alone "ANTHROPIC_BASE_URL=${base_url%/v1}" ANTHROPIC_AUTH_TOKEN=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        DISABLE_AUTOUPDATER=1 IS_SANDBOX=1 claude -p "$1" --model "$model" --dangerously-skip-permissions
}

install_npm() {
    local folder=$cache/$1
    cmp -s "$root/scripts/clients/$1/package-lock.json" "$folder/installed.json" && return
    mkdir -p "$folder"
    cp "$root/scripts/clients/$1"/package*.json "$folder/"
    (cd "$folder" && logged npm npm ci --no-audit --no-fund) || die "npm could not install what is in $folder (see above)"
    cp "$folder/package-lock.json" "$folder/installed.json"
}

stop_proxy() {
    kill "$proxy_pid" 2>/dev/null || true
    wait "$proxy_pid" 2>/dev/null || true
    proxy_pid=
}

stop() {
    local pid
    [[ -z $proxy_pid ]] || stop_proxy
    for pid in $server_pid $scripted_pid; do
        kill "$pid" 2>/dev/null || true
    done
}

die() {
    echo "clients: $1" >&2
    exit 1
}

source "$root/scripts/build.sh"
source "$root/scripts/python.sh"
main "$@"
