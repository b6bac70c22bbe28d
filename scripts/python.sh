# Virtual environments and pip, for the scripts beside this one. They set `python`,
# `venv` and `cache`, and have a function `die`.

pip=()

# All of it talks to this machine only, whatever the proxy of the environment is.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
# Settings of the user that would send packages somewhere else.
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# Installs the packages of a file of pins into the virtual environment, unless they are there.
install_pins() {
    local pins=$1 what=$2 packages
    shift 2
    cmp -s "$pins" "$venv/installed.txt" && return
    echo "    installing $what"
    find_pip
    packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    logged install "${pip[@]}" install --quiet --no-deps --only-binary :all: "$@" \
        --upgrade --target "$packages" --requirement "$pins" ||
        die "pip could not install $what (see above); once it can, run this again"
    cp "$pins" "$venv/installed.txt"
}

# A virtual environment without pip of its own: Debian leaves that to a package
# that a fresh machine does not have. `pip` below finds one somewhere.
make_venv() {
    if ! "$venv/bin/python" -c '' 2>/dev/null; then
        rm -rf "$venv"
        logged venv "$python" -m venv --without-pip "$venv" ||
            die "$python cannot make a virtual environment; install it: apt-get install python3-venv"
    fi
}

# Sets `pip` to a command that runs some pip: the machine's, the one that Python
# carries, or the one of Debian's package, unpacked without installing it.
find_pip() {
    local bundled
    ((${#pip[@]} == 0)) || return 0
    if "$python" -m pip --version >/dev/null 2>&1; then
        # With its path: where PATH is another one later, the name may be that of a Python without pip.
        pip=("$(command -v "$python")" -m pip)
        return
    fi
    if "$venv/bin/python" -m ensurepip >/dev/null 2>&1; then
        pip=("$venv/bin/python" -m pip)
        return
    fi
    mkdir -p "$cache/pip"
    (cd "$cache/pip" && logged apt apt-get download python3-pip-whl && logged apt dpkg-deb -x python3-pip-whl_*.deb .) || true
    for bundled in "$cache"/pip/usr/share/python-wheels/pip-*.whl; do
        if "$venv/bin/python" "$bundled/pip" --version >/dev/null 2>&1; then
            pip=("$venv/bin/python" "$bundled/pip")
            return
        fi
    done
    die "no pip for $python; install it: apt-get install python3-venv"
}

# Runs a command with its output in a log, and shows the log's end when it fails.
logged() {
    local log=$cache/$1.log
    shift
    "$@" >"$log" 2>&1 || {
        tail -n 5 "$log" >&2
        return 1
    }
}
