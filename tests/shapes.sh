#!/usr/bin/env bash
# Checks the programs of kernels/shapes at their small sizes: results are those of C without the library, and with it.
#   tests/shapes.sh BUILD_DIR [all]
# Without "all", only some run under the library: one or two of each source, with the longest loops and the most launches. Ends
# with "N passed, N failed". The caller sets TMPDIR and the caches (tests/run.sh).
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-shapes.XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$root/tests/check.sh"
shapes=$build/kernels/shapes
names=$("$shapes" -l | cut -d' ' -f1)
under="gramschmidt phases scan wavefront bfs nbody_tiled"
[ "${2:-}" != all ] || under=$names

as_in_c() { "$shapes" -k "$root/kernels/shapes" -c "$1" small; }

as_in_c_under_library() {
	GPUSIM_GPU=h200 GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/report LD_PRELOAD=$build/libgpusim.so as_in_c "$1" &&
		jq -e '(.not_modelled | length) == 0 and (.launches | length) > 0' "$work/report.json"
}

# Cycles and flags of one launch, with so many threads of POCL. Four groups of 128 work-items go 128 times round a loop of 128 iterations: more than a trace has room for.
with_threads() {
	POCL_AFFINITY=0 POCL_MAX_PTHREAD_COUNT=$1 GPUSIM_GPU=h200 GPUSIM_ADVICE=never GPUSIM_REPORT=json GPUSIM_CACHE_DIR=$work/cache-$1 GPUSIM_OUTPUT=$work/threads-$1 \
		LD_PRELOAD=$build/libgpusim.so "$shapes" -k "$root/kernels/shapes" nbody_tiled small 16384 >"$work/out" &&
		jq -ce '.launches[].estimates[0] | [.cycles, .low_ns, .high_ns, .flags]' "$work/threads-$1.json"
}

threads_do_not_matter() {
	local two sixteen
	two=$(with_threads 2) && sixteen=$(with_threads 16) && echo "$two, $sixteen" && [ "$two" = "$sixteen" ] && [[ $two == *'[]]' ]]
}

for name in $names; do check "$name gives what C gives" as_in_c "$name"; done
for name in $under; do check "$name gives the same under the library, which models every launch" as_in_c_under_library "$name"; done
check "estimates do not depend on how many threads POCL has, and no trace is cut" threads_do_not_matter
echo "$passed passed, $failed failed"
[ $failed = 0 ]
