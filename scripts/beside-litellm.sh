#!/usr/bin/env bash
# Requests in a second through Del's proxy and through LiteLLM's, beside a pass-through, in the same run on loopback.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/beside-litellm.sh

  --help  this text

LiteLLM is installed below .cache/litellm, pinned, in some minutes. It runs with one worker, as `litellm` does when
nothing else is said, without a database, and lets go on what it does not know.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/litellm
venv=$cache/venv
python=${PYTHON:-python3}

main() {
    case ${1:-} in
        --help) usage && exit 0 ;;
        "") ;;
        *) usage >&2 && exit 2 ;;
    esac
    mkdir -p "$cache"
    make_venv
    install_pins "$root/scripts/litellm.txt" LiteLLM
    # It is started below the folder of the clone, whose name may hold blanks.
    cd "$root"
    export LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true OPENAI_API_KEY=none LITELLM_LOG=ERROR LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_TELEMETRY=False
    PATH=$venv/bin:$PATH cargo bench --quiet -p del-proxy --bench forward -- beside \
        "python -m litellm.proxy.proxy_cli --model openai/plain --alias plain --api_base http://{upstream}/v1 --host 127.0.0.1 --port {port} --num_workers 1 --telemetry False"
}

die() {
    echo "beside-litellm.sh: $1" >&2
    exit 1
}

# shellcheck source=scripts/python.sh
source "$root/scripts/python.sh"
main "$@"
