#!/usr/bin/env bash
# Drives the assistant in tmux against a scripted server and keeps what stands on the screen, at 60, 80 and 120 columns.
#
# usage: scripts/try-terminal.sh [--out DIR] [--columns "60 80 120"]
#
# Needs tmux, python3 and a built `del` (target/debug/del, or the one that DEL names). Look at the screens one by one:
# whether they look right is nothing that a program can say.
set -euo pipefail
exec 9>/dev/null
here=$(cd "$(dirname "$0")" && pwd)
del=${DEL:-$here/../target/debug/del}
out=$(mktemp -d)
columns="60 80 120"
while [[ $# -gt 0 ]]; do
    case $1 in
        --out) out=$2; shift 2 ;;
        --columns) columns=$2; shift 2 ;;
        *) echo "usage: $0 [--out DIR] [--columns \"60 80 120\"]" >&2; exit 2 ;;
    esac
done
mkdir -p "$out"
socket=$(mktemp -u)
homes=$(mktemp -d -t tour-XXX)
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; exec 9>&-; rm -rf "$homes"' EXIT

keys() { tmux -S "$socket" send-keys -t del "$@"; }

# Waits until the screen shows a text, for half a minute at most.
await() {
    for _ in $(seq 300); do
        tmux -S "$socket" capture-pane -p -t del -S -200 | grep -qF -- "$1" && return
        sleep 0.1
    done
    echo "$name: expected on the screen: $1" >&2
    tmux -S "$socket" capture-pane -p -t del >&2
    return 1
}

# Keeps the screen as text, with its colours, and as pictures of it on a dark and on a light ground.
picture() {
    local file=$out/$name-$1 ground
    tmux -S "$socket" capture-pane -p -t del >"$file.txt"
    tmux -S "$socket" capture-pane -e -p -t del >"$file.ansi"
    for ground in dark light; do
        python3 "$here/terminal/picture.py" "$file.ansi" "$width" "$ground" >"$file-$ground.svg"
    done
}

# A terminal of so many columns with the assistant in an empty home: begin COLUMNS SCRIPT [VARIABLE=VALUE…]
begin() {
    local script=$2 home
    width=$1
    shift 2
    home=$homes/$name
    mkdir -p "$home/project"
    seq 20 >"$home/project/numbers.txt"
    printf '# Rules\n\nAnswer briefly.\n' >"$home/project/AGENTS.md"
    git -C "$home/project" init -q -b main
    tmux -S "$socket" kill-server 2>/dev/null || true
    # The next one finds the socket of the last as long as that has not ended.
    while [[ -S $socket ]] && tmux -S "$socket" has-session 2>/dev/null; do sleep 0.1; done
    mkfifo "$home/in" "$home/address"
    tmux -S "$socket" new-session -d -s del -x "$width" -y 45 -c "$home/project" \
        "env HOME='$home' LANG=C.UTF-8 TERM=xterm-256color $* bash --norc"
    tmux -S "$socket" set-option -g status off >/dev/null
    # The server ends with its input, which this shell holds open until the next one begins.
    exec 9>&-
    python3 "$here/terminal/server.py" "$script" --pace 0.01 <"$home/in" >"$home/address" &
    exec 9>"$home/in"
    read -r address <"$home/address"
    keys "PS1='\$ '; clear; '$del' --base-url $address" Enter
    await "ends"
}

tour() {
    begin "$@"
    sleep 0.5
    picture start
    keys "Show me what is in @num"
    sleep 0.5
    picture popup
    keys Tab
    keys Enter
    sleep 0.8
    picture waiting
    await "Done."
    sleep 0.5
    picture answer
    keys "run a command" Enter
    await 'running `for'
    sleep 1.3
    picture running
    await "Do this?"
    sleep 0.3
    picture question
    keys y
    await "words now"
    sleep 0.3
    picture change
    keys "and once more" Enter
    await "too many requests"
    sleep 0.2
    picture retry
    await "second try"
    sleep 0.3
    keys "a stall" Enter
    sleep 2
    keys "typed meanwhile" Enter
    keys "and more"
    sleep 0.3
    picture stall
    await "error:"
    sleep 0.3
    picture cut
    keys C-u
    for command in status context help; do
        keys "/$command" Enter
        sleep 0.7
        picture "$command"
    done
    keys "unsafe" Enter
    sleep 0.5
    picture unsafe
    keys "exit" Enter
    sleep 0.5
}

# What goes wrong easily: a terminal that changes its width, pastes, wide characters, keys that stop.
strain() {
    begin "$@"
    sleep 0.5
    keys "日本語の文章を書いて 👍 über alles, and more words so that this question takes a second row of the terminal" Enter
    await "second paragraph"
    tmux -S "$socket" resize-window -t del -x $((width * 3 / 4))
    await "at the end."
    sleep 0.5
    picture resized
    tmux -S "$socket" resize-window -t del -x "$width"
    sleep 0.5
    picture widened
    tmux -S "$socket" set-buffer "$(seq 30)"
    tmux -S "$socket" paste-buffer -p -t del
    sleep 0.5
    keys " sum this up"
    sleep 0.3
    picture paste
    keys Enter
    await "Esc stops"
    sleep 0.7
    keys Escape
    await "cancelled"
    sleep 0.3
    picture escape
    keys "/he"
    sleep 0.5
    picture commands
    keys C-u
    keys "/model" Enter
    await "Which one?"
    sleep 0.3
    picture picker
    keys Escape
    sleep 0.3
    keys "change it" Enter
    await "Do this?"
    keys n
    sleep 0.3
    keys "use a list" Enter
    await "As you like."
    sleep 0.3
    picture denied
    keys '!ls; printf "a\tb\n"; exit 3' Enter
    sleep 0.7
    keys "/diff" Enter
    sleep 0.4
    keys C-c
    sleep 0.3
    picture shell
    keys C-c
    sleep 0.5
}

for width in $columns; do
    name=$width
    tour "$width" "$here/terminal/tour.json"
    name=$width-strain
    strain "$width" "$here/terminal/strain.json"
done
name=plain
tour 80 "$here/terminal/tour.json" DEL_PLAIN=1
name=bare
tour 80 "$here/terminal/tour.json" NO_COLOR=1 LANG=C
echo "$out"
