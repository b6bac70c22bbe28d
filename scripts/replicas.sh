#!/usr/bin/env bash
# Three proxies behind nginx under load, while one is killed, one is told to end, and both come back. No request
# whose answer had not begun may fail; of answers that had begun, only those of the killed one may break off.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/replicas.sh [--seconds N] [--clients N]

  --seconds N  how long the load lasts (20)
  --clients N  clients at once (24)
  --help       this text

Needs nginx (NGINX=… names another program) and Python 3.11 or newer (PYTHON=… picks
another one); DEL=… names another program `del`. Everything listens on loopback.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
del=

main() {
    local nginx
    case ${1:-} in
        --help) usage && exit 0 ;;
    esac
    nginx=${NGINX:-$(PATH=$PATH:/usr/sbin command -v nginx)} || die "needs nginx: the Debian package nginx-light"
    # shellcheck source=scripts/build.sh
    . "$root/scripts/build.sh"
    build_del
    "$python" "$root/scripts/replicas/trial.py" --del "$del" --nginx "$nginx" "$@"
}

die() {
    echo "replicas.sh: $1" >&2
    exit 1
}

main "$@"
