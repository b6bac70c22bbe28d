#!/usr/bin/env bash
# Puts the page together in a folder that any web server can serve as it is: build.sh FOLDER. The package in bindings/js
# has to be built.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
folder=${1:?expected the folder for the page}
package=../bindings/js
[ -f $package/glue/del_dialects_bg.wasm ] || { echo "build: run bindings/js/build.sh first" >&2; exit 1; }
mkdir -p "$folder/del-dialects"
cp index.html page.css page.js spans.js examples.js icon.svg "$folder"
rm -rf "$folder"/del-dialects/*
cp -r $package/dist "$folder/del-dialects/dist"
mkdir "$folder/del-dialects/glue"
cp $package/glue/*.js $package/glue/*.wasm "$folder/del-dialects/glue"
