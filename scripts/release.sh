#!/usr/bin/env bash
# Builds what is published, the same to the byte from the same commit: the crates, the Python and npm packages, and the
# program as an archive and as a Debian package, with checksums of them all.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/release.sh [--twice] [PART ...]

  PART      crates, python, npm or program; all of them if left out
  --twice   build everything again elsewhere, and compare
  --help    this text

What is built is in .cache/release/out. Needs Rust with the target wasm32-unknown-unknown, Python 3.10 or newer
(PYTHON=… picks another one), npm, and dpkg for the Debian package. DEL=… packs another program `del`.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/release
venv=$cache/venv
tools=$cache/tools
python=${PYTHON:-python3}
cargo_deb_version=3.8.0
all=(crates python npm program)
parts=()
twice=no
out=
work=
del=

main() {
    read_options "$@"
    cd "$root"
    mkdir -p "$cache"
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
    export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never LC_ALL=C TZ=UTC
    install_tools
    build "$cache/out" "$cache/work"
    if [[ $twice == yes ]]; then
        build "$cache/again" "$cache/elsewhere"
        diff "$cache/out/SHA256SUMS" "$cache/again/SHA256SUMS" || die "two builds differ (see above)"
        echo "==> both builds are the same"
    fi
    cat "$cache/out/SHA256SUMS"
}

read_options() {
    while (($#)); do
        case $1 in
        --twice) twice=yes ;;
        -h | --help)
            usage
            exit 0
            ;;
        *)
            [[ " ${all[*]} " == *" $1 "* ]] || {
                usage >&2
                exit 2
            }
            parts+=("$1")
            ;;
        esac
        shift
    done
    ((${#parts[@]})) || parts=("${all[@]}")
}

install_tools() {
    make_venv
    install_pins "$root/scripts/release/requirements.txt" "maturin and ziglang" --require-hashes
    PATH=$tools/bin:$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/bin:$venv/bin:$PATH
    has program && tool cargo-deb "$cargo_deb_version"
    return 0
}

tool() {
    [[ -x $tools/bin/$1 ]] || cargo install --quiet --locked --root "$tools" --version "$2" "$1"
}

has() {
    [[ " ${parts[*]} " == *" $1 "* ]]
}

build() {
    out=$1 work=$2
    # What a compiler writes of where it ran must not show.
    export CARGO_TARGET_DIR=$work
    export RUSTFLAGS="--remap-path-prefix=$root=/del --remap-path-prefix=$work=/work --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    rm -rf "$out"
    mkdir -p "$out" "$work"
    local part
    for part in "${parts[@]}"; do
        echo "==> $part"
        "build_$part"
    done
    (cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
}

build_crates() {
    cargo package --quiet --workspace --locked --no-verify --exclude del-c
    cp "$work"/package/*.crate "$out"
}

# The wheel is built of the source package, so that this is known to build. It is for every glibc from 2.28 on: the linker is
# zig's, which knows what the old ones have.
build_python() {
    maturin build --quiet --release --strip --sdist --zig --compatibility manylinux_2_28 \
        --manifest-path bindings/python/Cargo.toml --interpreter "$(command -v "$python")" --out "$out"
}

build_npm() {
    local package
    (cd bindings/js && npm ci --silent --no-audit --no-fund && ./build.sh)
    (cd bindings/js/ai-sdk && npm ci --silent --no-audit --no-fund &&
        mkdir -p node_modules && ln -sfn ../.. node_modules/del-dialects && npm run --silent build)
    for package in bindings/js bindings/js/ai-sdk; do
        (cd $package && npm pack --silent --pack-destination "$out" >/dev/null)
    done
}

# The program with its manual and completions, as an archive and as a Debian package.
build_program() {
    local version name staged=$work/staged shell
    build_del
    version=$("$del" --version | cut -d ' ' -f 2)
    name=del-$version-$(uname -m)-linux
    rm -rf "$staged"
    mkdir -p "$staged/completions"
    cp "$del" "$staged/del"
    cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$staged"
    "$del" man --dir "$staged/man"
    # `del help NAME` is a command to the parser of arguments, and has a page of nothing but its name.
    rm "$staged"/man/del-help*
    find "$staged/man" -type f -exec gzip -9n {} +
    for shell in bash zsh fish; do
        "$del" completions $shell >"$staged/completions/$shell"
    done
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        --transform "s,^\.,$name," -C "$staged" -cf - . | gzip -9n >"$out/$name.tar.gz"
    # cargo-deb looks for what it packs beside the manifest.
    rm -rf crates/del-cli/staged
    cp -r "$staged" crates/del-cli/staged
    cargo deb --quiet --no-build --no-strip --manifest-path crates/del-cli/Cargo.toml --output "$out" ||
        die "cargo-deb cannot pack (see above)"
    rm -rf crates/del-cli/staged
}

die() {
    echo "release: $1" >&2
    exit 1
}

# shellcheck source=scripts/python.sh
source "$root/scripts/python.sh"
# shellcheck source=scripts/build.sh
source "$root/scripts/build.sh"
main "$@"
