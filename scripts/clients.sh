#!/usr/bin/env bash
# Clients through `del serve`: OpenAI's Python client in front of the demo's real model, whose template knows no
# tools, and Claude Code in front of tools that run in the proxy; then the Python and JavaScript clients of each API,
# and two coding agents, in front of a server whose answers are written down. With --all, frameworks on these clients
# and more agents. What is fetched stays under .cache.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/clients.sh [--all] [--upstream URL --model NAME]

  --all           frameworks and more agents as well, which takes some minutes and
                  a gigabyte of packages
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
all=

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
    execute
    [[ -n $scripted ]] || start_scripted
    start_proxy --upstream "$scripted"
    python_clients
    [[ -z $all ]] || frameworks
    if command -v npm >/dev/null; then
        javascript_clients
        agents agents codex claude
        codex_as_openai
        [[ -z $all ]] || agents more-agents opencode qwen
    else
        echo "==> no JavaScript clients and no agents: npm is not installed"
    fi
    echo "==> the clients got their calls and their answers"
}

read_options() {
    while (($#)); do
        case $1 in
        --all) all=yes ;;
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

# The model works with tools of the proxy: for clients that have none, and beside those of Claude Code.
execute() {
    local tools=(--execute --working-dir "$root/scripts/sample") mode
    echo "==> clients without tools, whose model reads a file here"
    start_proxy --upstream "$upstream" --dialect hermes-json --constrain on --definitions short "${tools[@]}" \
        --tools list_directory,read_file
    "$venv/bin/python" "$root/scripts/clients/execute.py" "$base_url" "$model" ||
        die "the client did not get what it should (see above); the proxy's log is $cache/proxy.log"
    stop_proxy
    command -v npm >/dev/null || return 0
    install_npm agents
    start_scripted
    for mode in native hybrid; do
        echo "==> claude writes what the proxy read, tools mode $mode"
        start_proxy --upstream "$scripted" --tools-mode "$mode" --log json "${tools[@]}"
        model=copy ask claude "Copy notes.txt. Write the file $cache/work/written.txt"
        grep -q flour "$cache/work/written.txt" || die "claude did not write what was read; see $cache/claude.log"
        grep -q '"executed":\["read_file"\]' "$cache/proxy.log" || die "nothing ran in the proxy; see $cache/proxy.log"
        stop_proxy
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
    # As on a machine that slept: the server has to be there behind it.
    kill -STOP "$server_pid"
    sleep 2
    kill -CONT "$server_pid"
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
    logged apis "$venv/bin/python" "$root/scripts/clients/apis.py" "$base_url" ${all:+--all-cuts} ||
        die "a client did not get what it should (see above)"
    tail -n 2 "$cache/apis.log"
}

# In an environment of their own, as they need other releases of the clients.
frameworks() {
    local venv=$cache/frameworks
    mkdir -p "$cache/home"
    echo "==> frameworks on the Python clients"
    make_venv
    install_pins "$root/scripts/clients/frameworks.txt" "the frameworks" --require-hashes
    logged frameworks env HOME="$cache/home" "$venv/bin/python" "$root/scripts/clients/frameworks.py" "$base_url" ||
        die "a framework did not get what it should (see above)"
    tail -n 1 "$cache/frameworks.log"
}

javascript_clients() {
    echo "==> the JavaScript clients of the same"
    install_npm js
    cp "$root/scripts/clients/js/apis.mjs" "$cache/js/"
    logged javascript node "$cache/js/apis.mjs" "$base_url" || die "a client did not get what it should (see above)"
    tail -n 1 "$cache/javascript.log"
    [[ -n $all ]] || return 0
    echo "==> the AI SDK with its providers"
    install_npm ai
    cp "$root/scripts/clients/ai/ai.mjs" "$cache/ai/"
    logged ai-sdk node "$cache/ai/ai.mjs" "$base_url" || die "a provider did not get what it should (see above)"
    tail -n 1 "$cache/ai-sdk.log"
}

# Each agent of a folder is asked to write a file, which it does with a tool of its own.
agents() {
    local folder=$1 model agent
    shift
    install_npm "$folder"
    for model in native leaked prompt; do
        for agent in "$@"; do
            echo "==> $agent writes a file with a model of the kind: $model"
            ask "$agent" "Write the file $cache/work/written.txt"
            [[ $(<"$cache/work/written.txt") == "written by the model" ]] || die "$agent wrote no file; see $cache/$agent.log"
        done
    done
}

# Codex takes the proxy for OpenAI, and has it make the conversation shorter.
codex_as_openai() {
    echo "==> codex goes on with a conversation that was made shorter"
    model=native ask codex_as_openai "Write the file $cache/work/written.txt"
    grep -q '^context compacted' "$cache/codex_as_openai.log" || die "nothing was made shorter; see $cache/codex_as_openai.log"
}

# Asks an agent, in a directory with nothing in it.
ask() {
    rm -rf "$cache/home" "$cache/work"
    mkdir -p "$cache/home" "$cache/work"
    (cd "$cache/work" && logged "$1" "ask_$1" "$2" </dev/null) || die "$1 failed (see above)"
}

# Nothing of the user's settings, and nothing but loopback.
alone() {
    timeout 120 env -i "PATH=$cache/agents/node_modules/.bin:$cache/more-agents/node_modules/.bin:$PATH" \
        "HOME=$cache/home" NO_PROXY=127.0.0.1 "$@"
}

ask_codex() {
    local provider="{name=\"del\",base_url=\"$base_url\",env_key=\"DEL_KEY\",wire_api=\"responses\"}"
    alone DEL_KEY=none codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox \
        -c model_provider=del -c "model_providers.del=$provider" -m "$model" "$1"
}

ask_codex_as_openai() {
    alone OPENAI_API_KEY=none codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox \
        -c "openai_base_url=\"$base_url\"" -c model_auto_compact_token_limit=5 -m "$model" "$1"
}

ask_claude() {
    alone "ANTHROPIC_BASE_URL=${base_url%/v1}" ANTHROPIC_AUTH_TOKEN=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        DISABLE_AUTOUPDATER=1 IS_SANDBOX=1 claude -p "$1" --model "$model" --dangerously-skip-permissions
}

ask_opencode() {
    cat >"$cache/work/opencode.json" <<END
{"provider": {"del": {"npm": "@ai-sdk/openai-compatible", "models": {"$model": {}},
  "options": {"baseURL": "$base_url", "apiKey": "none"}}},
 "model": "del/$model", "small_model": "del/$model", "autoupdate": false, "share": "disabled"}
END
    alone OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 opencode run --model "del/$model" "$1"
}

ask_qwen() {
    alone "OPENAI_BASE_URL=$base_url" OPENAI_API_KEY=none "OPENAI_MODEL=$model" \
        qwen --auth-type openai --yolo --prompt "$1"
}

# `npm ci` would refuse a lock file that says nothing of programs for other platforms, as that of more-agents.
install_npm() {
    local folder=$cache/$1 pins=$root/scripts/clients/$1
    cmp -s "$pins/package-lock.json" "$folder/installed.json" && return
    mkdir -p "$folder"
    cp "$pins"/package*.json "$folder/"
    (cd "$folder" && logged npm npm install --no-audit --no-fund) ||
        die "npm could not install what is in $folder (see above)"
    cp "$pins/package-lock.json" "$folder/installed.json"
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
