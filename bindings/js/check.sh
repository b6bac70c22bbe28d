#!/usr/bin/env bash
# Builds the npm packages, packs them, unpacks them below .cache/npm, and tests what was unpacked: types, all cases of all
# dialects, and the examples of the documents. `--release` tests what is published, not what is fast to build. Either way it
# holds to its size what a page loads, as it is published. Needs Node 20.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/bindings/js
app=$root/.cache/npm
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/js}
build=--dev
if [ "${1-}" = --release ]; then
    build=
fi
# What a page loads for reading and writing, compressed.
most_bytes=400000
# What is fetched to install a package.
most_packed=1000000

main() {
    mkdir -p "$app"
    cd "$here"
    quiet npm ci --no-audit --no-fund
    cargo fmt --all --check
    cargo clippy --quiet --locked --all-features --all-targets -- -D warnings
    ./build.sh $build
    measure
    unpack "$here" del-dialects
    unpack "$here/serving" @del/serving
    cp -r "$here/test" "$app/test"
    ln -sfn "$here/node_modules/smol-toml" "$app/node_modules/smol-toml"
    ln -sfn "$here/node_modules/@types" "$app/node_modules/@types"
    ln -sfn "$here/node_modules/openai" "$app/node_modules/openai"
    (cd "$app/test" && sed "s#\.\./\.\./tsconfig#$here/tsconfig#" -i types/tsconfig.json &&
        "$here/node_modules/.bin/tsc" -p types && "$here/node_modules/.bin/tsc" -p types/plain &&
        "$here/node_modules/.bin/tsc" -p types/openai &&
        DEL_ROOT=$root node --test --test-reporter=dot ./*.test.js)
    middleware
}

# The middleware, with the package that was unpacked beside it.
middleware() {
    cd "$here/ai-sdk"
    quiet npm ci --no-audit --no-fund
    ln -sfn "$app/node_modules/del-dialects" node_modules/del-dialects
    mkdir -p node_modules/@del
    ln -sfn "$app/node_modules/@del/serving" node_modules/@del/serving
    npm run --silent build
    node --test --test-reporter=dot test/*.test.js
}

measure() {
    local published=glue
    if [ -n "$build" ]; then
        published=$app/published
        ./build.sh --module "$published"
    fi
    hold "del_dialects_bg.wasm, compressed" "$(gzip -9 -c "$published/del_dialects_bg.wasm" | wc -c)" $most_bytes
}

# Fails where `what` has more bytes than it may have.
hold() {
    local what=$1 bytes=$2 most=$3
    if [ "$bytes" -gt "$most" ]; then
        echo "$what: expected at most $most bytes, got $bytes" >&2
        exit 1
    fi
    echo "$what: $bytes bytes"
}

# What would be published, where a program would have it.
unpack() {
    local from=$1 name=$2 packed
    rm -rf "$app/test" "$app/node_modules/$name"
    mkdir -p "$app/node_modules/$name"
    echo '{ "private": true, "type": "module" }' >"$app/package.json"
    packed=$(cd "$from" && npm pack --silent --pack-destination "$app")
    [ -n "$build" ] || hold "$packed" "$(wc -c <"$app/$packed")" $most_packed
    tar -xzf "$app/$packed" -C "$app/node_modules/$name" --strip-components 1
}

quiet() {
    "$@" >"$app.log" 2>&1 || { cat "$app.log" >&2; exit 1; }
}

main "$@"
