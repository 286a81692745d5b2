#!/usr/bin/env bash
# Runs single PTX instructions, lifted, on POCL, and compares their results with expected ones.
#   tests/instructions/run.sh BUILD_DIR [FILE...]
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-instructions.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/pocl"
export POCL_CACHE_DIR=$work/pocl
[ $# -gt 0 ] || set -- "$here"/*.txt --rounding
# All at once: forms of several files are compiled once.
timeout 600 "$build/tests/instructions/instructions" "$@" >"$work/out" 2>&1
code=$?
head -60 "$work/out"
[ $code = 0 ] && echo "1 passed, 0 failed" || echo "0 passed, 1 failed"
exit $code
