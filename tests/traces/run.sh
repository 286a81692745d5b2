#!/usr/bin/env bash
# Compares events of small kernels with events written by hand, two kernels at a time.
#   tests/traces/run.sh BUILD_DIR [NAME...]
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-traces.XXXXXX")
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cl | sed 's|^./||; s/\.cl$//')

try() {
	mkdir "$work/pocl-$1"
	if POCL_CACHE_DIR=$work/pocl-$1 timeout 120 "$build/tests/traces/traces" "$build/gpusim-cc" "$here/$1.cl" >"$work/$1.out" 2>&1; then
		echo "ok $1"
	else
		echo "FAIL traces $1"
		head -40 "$work/$1.out"
	fi
}

for name; do
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
	try "$name" >"$work/$name.said" &
done
wait
cat "$work"/*.said | grep -v '^ok '
failed=$(cat "$work"/*.said | grep -c '^FAIL ')
echo "$(($# - failed)) passed, $failed failed"
[ "$failed" = 0 ]
