# Builds del, for the scripts beside this one. They set `root` and `python`, and have a function `die`.

# Sets `del` to the program that DEL names, or to the one that is built: where cargo puts it is a matter of its settings.
build_del() {
    local built
    del=${DEL:-}
    [[ -z $del ]] || return 0
    built=$(cd "$root" && cargo build --release --locked -p del-cli --message-format json-render-diagnostics) ||
        die "del does not build (see above)"
    del=$("$python" -c '
import json, sys
artifacts = [json.loads(line) for line in sys.stdin]
print([artifact["executable"] for artifact in artifacts if artifact.get("executable")][-1])' <<<"$built") ||
        die "cargo does not say what it has built"
}
