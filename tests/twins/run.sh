#!/usr/bin/env bash
# Kernels with barriers in many different places. Their results with the library must be the driver's own, bit by bit.
#   tests/twins/run.sh BUILD_DIR quick|all [FILE...]
# Every kernel runs plain and with the library: by default, with every group traced, and with none. quick: some of the kernels,
# one local size. all: all kernels, or those of the files of these names, two sizes, and with one size also build options that let
# the driver compute inexactly. Ends with "N passed, N failed" over kernels, sizes, options and ways.
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
what=$2
shift 2
[ $# -gt 0 ] || set -- conditions loops helpers switches groups
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-twins.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
# run OUT ARGUMENT...: runs the driver's own kernels or, with variables set, twins.
run() {
	local out=$1
	shift
	timeout 900 "$build/tests/twins/twins" "$@" >"$out" 2>"$out.log" || {
		echo "FAIL twins $* (exit $?)"
		grep -v 'warnings\? generated' "$out.log" | head -5
		failed=$((failed + 1))
	}
}

# with OUT TRACE ARGUMENT...
with() {
	local out=$1 trace=$2
	shift 2
	GPUSIM_TRACE=$trace GPUSIM_REPORT=none GPUSIM_CACHE_DIR=$work/cache POCL_CACHE_DIR=$work/pocl LD_PRELOAD=$build/libgpusim.so \
		run "$out" "$@"
}

# compare WAY OPTIONS: compares the lines of both runs, one for each kernel and size.
compare() {
	local different line
	different=$(diff "$work/plain" "$work/twins" | sed -n 's/^< \([^ ]* [0-9]*\) .*/\1/p')
	passed=$((passed + $(comm -12 <(sort "$work/plain") <(sort "$work/twins") | wc -l)))
	[ -n "$different" ] || return
	while read -r line; do
		echo "FAIL $1 ${2:-without options}: $line"
		failed=$((failed + 1))
	done <<<"$different"
}

# try OPTIONS ARGUMENT...
try() {
	local options=$1 way
	shift
	POCL_CACHE_DIR=$work/pocl run "$work/plain" -o "$options" "$@"
	for way in auto all never; do
		with "$work/twins" $way -o "$options" "$@"
		compare "GPUSIM_TRACE=$way" "$options"
	done
}

if [ "$what" = quick ]; then
	try "" -l 64 -k guarded_compare -k guarded_else -k two_guards -k one_of_a_chain "$here"/{common.h,conditions.cl}
else
	for file; do
		try "" -l 16 -l 64 "$here"/{common.h,$file.cl}
		for options in -cl-fast-relaxed-math -cl-unsafe-math-optimizations -cl-mad-enable -cl-finite-math-only \
			-cl-no-signed-zeros -cl-denorms-are-zero -cl-opt-disable; do
			try "$options" -l 40 "$here"/{common.h,$file.cl}
		done
	done
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
