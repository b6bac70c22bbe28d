#!/usr/bin/env bash
# Builds what is published, the same to the byte from the same commit: the crates, the Python and npm packages, and the
# program as archives and as a Debian package, with lists of what is in them and checksums of them all.
set -euo pipefail

usage() {
    cat <<'END'
Usage: scripts/release.sh [--twice] [PART ...]

  PART      crates, python, npm, program (for the glibc of this machine, as an
            archive and a Debian package) or static (for any Linux, as an
            archive); all of them if left out
  --twice   build everything again elsewhere, and compare
  --help    this text

What is built is in .cache/release/out. Needs Linux on x86-64, Rust with the targets wasm32-unknown-unknown and
x86_64-unknown-linux-musl, Python 3.11 or newer (PYTHON=… picks another one), npm, and dpkg for the Debian package.
DEL=… packs another program `del` in the part program.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache/release
venv=$cache/venv
tools=$cache/tools
python=${PYTHON:-python3}
cargo_deb_version=3.8.0
cargo_semver_checks_version=0.51.0
all=(crates python npm program static)
musl=x86_64-unknown-linux-musl
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
    ! has npm || target wasm32-unknown-unknown
    ! has static || target $musl
    make_venv
    install_pins "$root/scripts/release/requirements.txt" "maturin, cargo-zigbuild, ziglang and auditwheel" --require-hashes
    PATH=$tools/bin:$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/bin:$venv/bin:$PATH
    has program && tool cargo-deb "$cargo_deb_version"
    return 0
}

target() {
    [[ -d $(rustc --print target-libdir --target "$1") ]] ||
        die "Rust cannot build for $1: its standard library is missing; rustup target add $1"
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
    local map=--remap-path-prefix cargo=${CARGO_HOME:-$HOME/.cargo}
    # Separated so that blanks may stand in the paths.
    printf -v CARGO_ENCODED_RUSTFLAGS '%s\x1f' "$map=$root=/del" "$map=$work=/work"
    CARGO_ENCODED_RUSTFLAGS+=$map=$cargo=/cargo
    # The same for C, whose assertions name their file.
    export CC_SHELL_ESCAPED_FLAGS=1 CFLAGS
    printf -v CFLAGS "'%s' " "-ffile-prefix-map=$work=/work" "-ffile-prefix-map=$cargo=/cargo"
    export CARGO_ENCODED_RUSTFLAGS
    unset RUSTFLAGS
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
    check_interfaces
    cargo package --quiet --workspace --locked --no-verify --exclude del-c
    cp "$work"/package/*.crate "$out"
}

# What programs call must not change without a version that says so. The release before is what it is compared with.
check_interfaces() {
    local before
    before=$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null) || {
        echo "    no release before this one: there is nothing to compare the crates' interfaces with"
        return 0
    }
    tool cargo-semver-checks "$cargo_semver_checks_version"
    cargo semver-checks --workspace --exclude del-cli --exclude del-c --baseline-rev "$before" ||
        die "a crate's interface has changed since $before more than its version says (see above)"
}

# The wheel is built of the source package, so that this is known to build, and always in the same folder, for its name shows
# in what comes out. It is for every glibc from 2.28 on: the linker is zig's, which knows what the old ones have.
build_python() {
    local source=$cache/source
    logged sdist maturin sdist --manifest-path bindings/python/Cargo.toml --out "$out" ||
        die "the source package of Python cannot be made (see above)"
    rm -rf "$source"
    mkdir -p "$source"
    tar -xzf "$out"/del_dialects-*.tar.gz -C "$source" --strip-components 1
    # There, what the package is called is read from pyproject.toml, which a manifest named here would pass by.
    (cd "$source" && maturin build --quiet --release --strip --locked --zig --compatibility manylinux_2_28 \
        --interpreter "$(command -v "$python")" --out "$out") || die "the wheel does not build (see above)"
    check_python
    list_contents bindings/python/Cargo.toml del-python del_dialects
}

# The wheel asks for no more of a system than its name says, and reads a call where nothing else is installed.
check_python() {
    local wheel tag fresh=$work/fresh
    wheel=$(echo "$out"/del_dialects-*.whl)
    tag=$("$venv/bin/python" -m auditwheel show "$wheel" | tr '\n' ' ')
    [[ $tag == *'consistent with the following platform tag: "manylinux_2_28_x86_64"'* ]] ||
        die "expected a wheel for manylinux_2_28_x86_64, got: $tag"
    find_pip
    rm -rf "$fresh"
    "$python" -m venv --without-pip "$fresh"
    logged fresh "${pip[@]}" install --quiet --no-deps --no-index \
        --target "$("$fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" "$wheel" ||
        die "the wheel cannot be installed (see above)"
    "$fresh/bin/python" - <<'END' || die "the wheel does not read a call (see above)"
import del_dialects as dd
parser = dd.Parser()
events = [event for piece in ("Look: <tool_c", 'all>{"name": "f", "argu', 'ments": {"a": 1}}</tool_call>') for event in parser.push(piece)]
assert any(isinstance(event, dd.CallStart) and event.name == "f" for event in [*events, *parser.finish()]), events
END
    echo "    the wheel is for manylinux_2_28, and reads a stream in a fresh environment"
}

build_npm() {
    local package
    (cd bindings/js && npm ci --silent --no-audit --no-fund && ./build.sh)
    (cd bindings/js/ai-sdk && npm ci --silent --no-audit --no-fund &&
        mkdir -p node_modules && ln -sfn ../.. node_modules/del-dialects && npm run --silent build)
    for package in bindings/js bindings/js/serving bindings/js/ai-sdk; do
        (cd $package && npm pack --silent --pack-destination "$out" >/dev/null)
    done
    list_contents bindings/js/Cargo.toml del-js del-dialects-npm
}

# The program with its manual and completions, as an archive and as a Debian package.
build_program() {
    build_del
    stage
    pack "linux-gnu"
    # cargo-deb looks for what it packs beside the manifest.
    rm -rf crates/del-cli/staged
    cp -r "$work/staged" crates/del-cli/staged
    cargo deb --quiet --no-build --no-strip --manifest-path crates/del-cli/Cargo.toml --output "$out" ||
        die "cargo-deb cannot pack (see above)"
    rm -rf crates/del-cli/staged
}

# The same program without libraries of the system; the C in it is compiled by zig as well.
build_static() {
    cargo zigbuild --quiet --release --locked -p del-cli --target $musl || die "del does not build (see above)"
    del=$work/$musl/release/del
    stage
    pack "linux-musl"
}

stage() {
    local staged=$work/staged shell
    rm -rf "$staged"
    mkdir -p "$staged/completions"
    cp "$del" "$staged/del"
    cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$staged"
    "$del" man --dir "$staged/man"
    find "$staged/man" -type f -exec gzip -9n {} +
    for shell in bash zsh fish; do
        "$del" completions $shell >"$staged/completions/$shell"
    done
}

pack() {
    local name
    name=del-$("$del" --version | cut -d ' ' -f 2)-$(uname -m)-$1
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        --transform "s,^\.,$name," -C "$work/staged" -cf - . | gzip -9n >"$out/$name.tar.gz"
    list_contents Cargo.toml del-cli "$name"
}

# The crates that a program or a library is made of, for those who watch over what they run.
list_contents() {
    "$venv/bin/python" scripts/release/sbom.py "$1" "$2" >"$out/$3.cdx.json" || die "the crates of $2 cannot be listed"
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
