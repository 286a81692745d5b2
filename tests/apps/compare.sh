#!/bin/sh
# compare.sh - runs a command alone and under gpusim, and says whether there is a visible difference.
#
#   compare.sh [--way preload|layer|run|none] [--name NAME] [--exact | --filter SED] [--seen N] [--timeout SECONDS]
#              [--cache DIR] [--] command...
#
# It compares stdout, stderr without our own lines, and the exit code.
#   --filter  applies a sed -E script (or, with a leading @, a file of them) to stdout and stderr of both runs, for times and rates.
#   --seen    demands that the JSON reports have at least N launches and reasons for not modelling.
#   --way none  runs the command alone both times, which tests the test itself.
# The library is GPUSIM_TEST_LIB. The command (for --way run) is GPUSIM_TEST_BIN. GPUSIM_TEST_KEEP names a directory that keeps
# the outputs.
#
# Each run has fresh caches, POCL's among them. With --cache, both runs share the caches in DIR, which is much faster. Then
# lines in which POCL counts warnings are not compared, because POCL prints them only with a cold cache.
#
# Prints one line, PASS or FAIL, and the differences. Exits 0, 1, or 2 for a wrong call.
set -eu

OURS='^gpusim(\[[0-9]+\])?:'
WARNINGS='^[0-9]+ (warning|error)s?( and [0-9]+ errors?)? generated\.$'
way=preload
name=''
filter=''
seen=0
limit=600
cache=''

fail_usage() {
	echo "compare.sh: $*" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--way) way=$2 && shift 2 ;;
	--name) name=$2 && shift 2 ;;
	--exact) filter='' && shift ;;
	--filter) filter=$2 && shift 2 ;;
	--seen) seen=$2 && shift 2 ;;
	--timeout) limit=$2 && shift 2 ;;
	--cache) cache=$2 && shift 2 ;;
	--) shift && break ;;
	-*) fail_usage "no option $1" ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || fail_usage "no command"
[ -n "$name" ] || name=$(basename "$1")
case $way in
preload | layer) [ -e "${GPUSIM_TEST_LIB:-}" ] || fail_usage "GPUSIM_TEST_LIB does not name a library" ;;
run) [ -x "${GPUSIM_TEST_BIN:-}" ] || fail_usage "GPUSIM_TEST_BIN does not name a command" ;;
none) seen=0 ;;
*) fail_usage "no way $way" ;;
esac
command -v "$1" >/dev/null || fail_usage "no command $1"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
keep=${GPUSIM_TEST_KEEP:-}

# run_one NAME command...: leaves NAME.out, NAME.err and NAME.code. A shell prints a message if a signal kills the command. The
# inner shell keeps this message out of the command's own stderr.
run_one() {
	run=$1
	shift
	caches=${cache:-$work/$run}
	mkdir -p "$caches/pocl" "$caches/gpusim"
	code=0
	POCL_CACHE_DIR="$caches/pocl" sh -c 'out=$1 err=$2; shift 2; "$@" >"$out" 2>"$err" </dev/null' \
		sh "$work/$run.out" "$work/$run.err" timeout "$limit" "$@" 2>/dev/null || code=$?
	echo "$code" >"$work/$run.code"
}

# env starts last before the command, so that nothing else runs under the library
run_under() {
	case $way in
	preload) set -- LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$GPUSIM_TEST_LIB" "$@" ;;
	layer) set -- OPENCL_LAYERS="$GPUSIM_TEST_LIB" "$@" ;;
	run) set -- "$GPUSIM_TEST_BIN" run -- "$@" ;;
	esac
	run_one under env GPUSIM_REPORT=json GPUSIM_OUTPUT="$work/report.%p" \
		GPUSIM_CACHE_DIR="${GPUSIM_CACHE_DIR:-${cache:-$work/under}/gpusim}" "$@"
}

apply_filter() {
	case $filter in
	'') cat ;;
	@*) sed -E -f "${filter#@}" ;;
	*) sed -E "$filter" ;;
	esac
}

# count KEY: the number of elements in all arrays of that name in all reports
count() {
	cat "$work"/report.*.json 2>/dev/null | jq -s --arg key "$1" 'map(.[$key] // [] | length) | add // 0'
}

run_one plain "$@"
run_under "$@"
for run in plain under; do
	apply_filter <"$work/$run.out" >"$work/$run.stdout"
	grep -Ev "$OURS${cache:+|$WARNINGS}" "$work/$run.err" | apply_filter >"$work/$run.stderr" || true
done
grep -E "$OURS" "$work/under.err" >"$work/said" || true
launches=$(count launches)
not_modelled=$(count not_modelled)

different=''
differs() {
	different="${different:+$different, }$*"
}
read -r plain_code <"$work/plain.code"
read -r under_code <"$work/under.code"
[ "$plain_code" = "$under_code" ] || differs "exit code $plain_code and $under_code"
[ "$plain_code" -ne 124 ] && [ "$under_code" -ne 124 ] || differs "stopped after $limit seconds"
for stream in stdout stderr; do
	cmp -s "$work/plain.$stream" "$work/under.$stream" || differs "$stream"
done
[ $((launches + not_modelled)) -ge "$seen" ] || differs "fewer than $seen launches seen"

if [ -n "$keep" ]; then
	mkdir -p "$keep/$name"
	cp "$work"/*.out "$work"/*.err "$work"/*.code "$keep/$name/"
	cp "$work"/report.*.json "$keep/$name/" 2>/dev/null || true
fi
summary="$way, $launches launches modelled, $not_modelled reasons not to"
if [ -z "$different" ]; then
	echo "PASS $name ($summary)"
	sed 's/^/    /' "$work/said"
	exit 0
fi
echo "FAIL $name: $different ($summary)"
for stream in stdout stderr; do
	diff -u -a --label "$stream alone" --label "$stream under gpusim" "$work/plain.$stream" "$work/under.$stream" |
		head -n 60 | sed 's/^/    /' || true
done
sed 's/^/    /' "$work/said"
exit 1
