#!/usr/bin/env bash
# Builds two npm packages in place, this one and `serving`: the modules and the JavaScript around them in `glue`, the rest in
# `dist`. `--dev` is faster to build and larger. `--module FOLDER` builds nothing but the module that a page loads, as it is
# published, into a folder. Needs what `npm ci` installs, and the Rust target wasm32-unknown-unknown.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
target=${CARGO_TARGET_DIR:-../../target/js}
profile=release
if [ "${1-}" = --dev ]; then
    profile=dev
fi

main() {
    cargo build --quiet --locked --target-dir "$target" -p del-js-bind
    if [ "${1-}" = --module ]; then
        module del_dialects dialects "$2"
        return
    fi
    rm -rf glue dist serving/glue serving/dist
    module del_dialects dialects glue
    module del_serving serving glue
    npx --no-install tsc
    part_serving
    cp ../../LICENSE-MIT ../../LICENSE-APACHE .
    cp ../../LICENSE-MIT ../../LICENSE-APACHE serving
}

# What programs that serve models load is a package of its own: twice as large as the rest.
part_serving() {
    mkdir -p serving/dist serving/glue
    mv glue/del_serving* serving/glue
    mv dist/serving serving/dist/serving
    cp dist/errors.* serving/dist
}

module() {
    local name=$1 features=$2 folder=$3
    cargo build --quiet --locked --target-dir "$target" --profile "$profile" --target wasm32-unknown-unknown \
        --lib --no-default-features --features "$features"
    "$target/debug/del-js-bind" "$target/wasm32-unknown-unknown/${profile/dev/debug}/del_js.wasm" "$folder" "$name"
}

main "$@"
