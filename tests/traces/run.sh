#!/usr/bin/env bash
# Events of small kernels against those written by hand.
#   tests/traces/run.sh BUILD_DIR [NAME...]
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
shift
passed=0 failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-traces.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/pocl"
export POCL_CACHE_DIR=$work/pocl
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cl | sed 's|^./||; s/\.cl$//')
for name; do
	if timeout 120 "$build/tests/traces/traces" "$build/gpusim-cc" "$here/$name.cl" >"$work/out" 2>"$work/err"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL traces $name"
		head -40 "$work/out" "$work/err"
	fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
