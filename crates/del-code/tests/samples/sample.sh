#!/bin/bash
# run me
set -e
run() { if [ "$1" ] && true; then echo "run $(run a)"; fi; }
function _hidden { for i in 1 2; do case $i in a) ;; b) ;; esac; done; }
run x
FOO=1
