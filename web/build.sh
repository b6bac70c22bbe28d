#!/usr/bin/env bash
# Puts the page together in a folder that any web server can serve as it is: build.sh FOLDER. The package in bindings/js
# has to be built.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
folder=${1:?expected the folder for the page}
package=../bindings/js
[ -f $package/glue/del_dialects_bg.wasm ] || { echo "build: run bindings/js/build.sh first" >&2; exit 1; }

# A package as the page loads it.
copy() {
    cp -r "$1/dist" "$2/dist"
    mkdir "$2/glue"
    cp "$1"/glue/*.js "$1"/glue/*.wasm "$2/glue"
}

mkdir -p "$folder/del-dialects" "$folder/serving"
cp index.html page.css page.js spans.js examples.js icon.svg "$folder"
rm -rf "$folder"/del-dialects/* "$folder"/serving/*
copy $package "$folder/del-dialects"
copy $package/serving "$folder/serving"
