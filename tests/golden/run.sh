#!/usr/bin/env bash
# Compares annotated text, block table and counts of small kernels with the expected ones, and with counts made by hand.
#   tests/golden/run.sh BUILD_DIR [--update] [NAME...]
# --update writes the .expected files anew. Look at the difference before you keep them.
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
shift
update=0 passed=0 failed=0
[ "${1:-}" = --update ] && update=1 && shift
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-golden.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/pocl"
export POCL_CACHE_DIR=$work/pocl
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cl | sed 's|^./||; s/\.cl$//')

golden() { timeout 300 "$build/tests/golden/golden" "$build/gpusim-cc" "$@" >"$work/all" 2>"$work/err"; }

# All in one process, which is quicker. If that fails, each in one of its own, which tells whose fault it is.
golden $(printf "$here/%s.cl\n" "$@")
whole=$?
awk -v to="$work" '/^==== / { out = $0; sub(".*/", "", out); out = to "/" out ".out"; printf "" >out; next } { print >out }' "$work/all"
for name; do
	code=$whole
	if [ $whole != 0 ]; then
		golden "$here/$name.cl"
		code=$?
		sed 1d "$work/all" >"$work/$name.cl.out"
	fi
	mv "$work/$name.cl.out" "$work/out"
	[ $update = 1 ] && [ $code = 0 ] && cp "$work/out" "$here/$name.expected"
	if [ $code = 0 ] && diff -u "$here/$name.expected" "$work/out" >"$work/diff"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL golden $name (exit $code)"
		grep FAILED "$work/out"
		cat "$work/diff" "$work/err" 2>/dev/null | head -40
	fi
	rm -f "$work/diff"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
