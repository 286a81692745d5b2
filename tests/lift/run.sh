#!/usr/bin/env bash
# Lifted PTX against the oracle: every form of instruction, random programs, the kernels of the suite.
#   tests/lift/run.sh BUILD_DIR [COUNT [SEED]]
# COUNT random programs from SEED on. Ends with "N passed, N failed". The caller sets POCL_CACHE_DIR (tests/run.sh).
set -u
build=$(cd "$1" && pwd)
count=${2:-6} seed=${3:-1}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-lift.XXXXXX")
trap 'rm -rf "$work"' EXIT
conformance=$build/tests/lift/conformance
passed=0 failed=0

# Adds up the last "N passed, N failed" line of a log, after showing what failed.
add() { # NAME LOG
	grep -E '^FAIL|FAILED|cannot|fault' "$2" | cut -c1-300 | head -40
	set -- "$1" $(grep -E '^[0-9]+ passed, [0-9]+ failed' "$2" | tail -1 | tr -d ,)
	echo "$1: ${2:-0} passed, ${4:-1} failed"
	passed=$((passed + ${2:-0})) failed=$((failed + ${4:-1}))
}

# Both ways, and the comparison: kernels without results count as failed.
compared() { # NAME
	"$conformance/oracle" "$work/$1" && "$conformance/lifted" "$work/$1"
	"$conformance/compare" "$work/$1" oracle lifted
}

mkdir "$work/forms" "$work/random"
"$conformance/generate" "$work/forms"
compared forms >"$work/forms.log" 2>&1
add "forms of instructions" "$work/forms.log"
"$conformance/random" "$work/random" "$seed" "$count"
compared random >"$work/random.log" 2>&1
add "registers of random programs from $seed on" "$work/random.log"
{ "$conformance/lifted" --traced "$work/random" "random-$seed" && "$conformance/compare" "$work/random" oracle traced "random-$seed"; } >"$work/traced.log" 2>&1
add "registers of a random program that is traced" "$work/traced.log"
"$build/tests/lift/suite" "$root/kernels/cases.txt" "$root/tests/reference" '*-s' >"$work/suite.log" 2>&1
sed -i 's/^\([0-9]*\) cases, \([0-9]*\) failures, \([0-9]*\) not prepared$/\1 \2 \3/' "$work/suite.log"
tail -1 "$work/suite.log" | awk 'NF == 3 { print $1 - $2 " passed, " $2 + $3 " failed" }' >>"$work/suite.log"
add "the suite's kernels" "$work/suite.log"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
