#!/usr/bin/env bash
# Random OpenCL programs. The buffers must be the same plain, with the library, and from a C translation, which also counts how
# often each block ran.
#   tests/generate/run.sh BUILD_DIR KERNELS [SEED [WORD,... [PER_PROGRAM]]]
# Programs are numbered from SEED (1). Each has PER_PROGRAM (10) kernels. Ends with "N passed, N failed, N skipped" over the
# kernels. The words:
#   traced    the library traces every work-item; the driver compiles for minutes if a program has many kernels
#   divided   most barriers are under conditions
#   relaxed   programs are built with options that allow inexact arithmetic
# A kernel is skipped if the driver alone computes it wrongly but computes it correctly when it compiles in another way, or if the
# driver never finishes compiling it. The other ways: without its optimiser, and with a copy of the code for each work-item
# instead of a loop over work-items (some kernels cannot be linked without the optimiser).
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
kernels=$2
seed=${3:-1}
export GPUSIM_MEMORY=perfect # makes the library use the text that only counts
words=,${4:-},
[[ $words == *,traced,* ]] && export GPUSIM_MEMORY=hierarchy GPUSIM_TRACE=all GPUSIM_TRACE_ITEMS=1000000 GPUSIM_MODEL=optimistic
per_program=${5:-10} per_round=20 limit=600
# POCL 3.1 never finishes some kernels of this kind, plain or annotated.
[[ $words == *,divided,* ]] && limit=${GENERATE_LIMIT:-120}
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-generate.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# launches ENDING PREFIX...: one process for each program, so that a program that fails or hangs does not affect the others.
launches() {
	local ending=$1 prefix
	shift
	mkdir -p "$work/pocl-$ending"
	for prefix; do
		POCL_CACHE_DIR=$work/pocl-$ending GPUSIM_OUTPUT=$prefix timeout "$limit" "$build/tests/generate/run" launch "$ending" "$prefix" \
			>"$work/log-$ending" 2>&1 || {
			[ $? = 124 ] && touch "$prefix.$ending-never-ends"
			grep -v 'warnings\? generated' "$work/log-$ending" | head -20
		}
	done
}

# round PREFIX...: both runs at once. Each has a cache of its own, so that neither finds the other's kernels.
round() {
	local suspects prefix
	launches plain "$@" &
	GPUSIM_CACHE_DIR=$work/cache GPUSIM_REPORT=json GPUSIM_BLOCKS=1 LD_PRELOAD=$build/libgpusim.so launches library "$@"
	wait $!
	for prefix; do
		shift
		if [ -e "$prefix.plain-never-ends" ]; then
			skipped=$((skipped + $(grep -c '^// kernel ' "$prefix.cl")))
		else
			set -- "$@" "$prefix"
		fi
	done
	[ $# -gt 0 ] || return
	"$build/tests/generate/run" compare "$@" >"$work/compare"
	suspects=$(sed -n "s|^FAIL g\([0-9]*\)_.* without the library.*|$work/p\1|p" "$work/compare" | sort -u)
	if [ -n "$suspects" ]; then
		launches unoptimised $suspects
		POCL_WORK_GROUP_METHOD=repl launches replicated $suspects
		"$build/tests/generate/run" compare "$@" >"$work/compare"
	fi
	grep -v '^[0-9]* passed, ' "$work/compare"
	set -- $(tail -1 "$work/compare" | tr -d ,)
	passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
	rm -rf "$work"/*
}

prefixes=()
while [ "$kernels" -gt 0 ]; do
	count=$((kernels < per_program ? kernels : per_program))
	prefix=$work/p$seed
	"$build/tests/generate/generate" "$seed" $count "$prefix" ${words//,/ } &&
		${CC:-cc} -w -O0 -fPIC -shared -I"$here" -o "$prefix.so" "$prefix.c" || echo "FAIL seed $seed: no translation"
	prefixes+=("$prefix")
	kernels=$((kernels - count)) seed=$((seed + 1))
	if [ ${#prefixes[@]} = $per_round ] || [ "$kernels" = 0 ]; then
		round "${prefixes[@]}"
		prefixes=()
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
