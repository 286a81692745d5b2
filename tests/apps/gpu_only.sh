#!/bin/sh
# gpu_only.sh PROGRAM - the guest program `gpu_only` on a machine without a GPU: alone it finds none and exits with 3,
# under gpusim (GPUSIM_TEST_LIB) it gets one, by either of the two calls and either way in.
set -eu
[ -e "${GPUSIM_TEST_LIB:-}" ] || { echo "gpu_only.sh: GPUSIM_TEST_LIB does not name a library" >&2 && exit 2; }
failures=0

expect() {
	want=$1 what=$2
	shift 2
	code=0
	said=$("$@" 2>&1) || code=$?
	if [ "$code" -eq "$want" ]; then
		echo "PASS gpu_only $what"
	else
		echo "FAIL gpu_only $what: exit code $code, not $want"
		printf '%s\n' "$said" | sed 's/^/    /'
		failures=$((failures + 1))
	fi
}

for mode in device context; do
	expect 3 "$mode alone" "$1" "$mode"
	expect 0 "$mode preload" env GPUSIM_REPORT=none LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$GPUSIM_TEST_LIB" "$1" "$mode"
	expect 0 "$mode layer" env GPUSIM_REPORT=none OPENCL_LAYERS="$GPUSIM_TEST_LIB" "$1" "$mode"
done
[ "$failures" -eq 0 ]
