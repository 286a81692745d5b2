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

for name in $names; do check "$name gives what C gives" as_in_c "$name"; done
for name in $under; do check "$name gives the same under the library, which models every launch" as_in_c_under_library "$name"; done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
