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
passed=0 failed=0
[ $# -gt 0 ] || set -- "$here"/*.txt --rounding
for cases; do
	if timeout 300 "$build/tests/instructions/instructions" "$cases" >"$work/out" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL instructions $(basename -- "$cases")"
		head -40 "$work/out"
	fi
	tail -1 "$work/out"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
