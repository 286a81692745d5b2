#!/usr/bin/env bash
# Compares the time of gpusim-cc for a source with the driver's time to build it and to compile its kernels.
#   tests/bench/compile.sh BUILD_DIR CSV [ROUNDS]
# The times are wall times with cold caches. Each runs alone. The minimum over the rounds counts. The driver compiles a kernel
# at its first launch. So its time is that of clBuildProgram, in a process that has built before, plus the first launch of each
# of the source's kernels. The time of gpusim-cc is that of a whole process, for the default target. Appends to CSV.
set -eu
build=$(cd "$1" && pwd)
csv=$2 rounds=${3:-5}
kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/requests"

# cases FILE: the small cases of this file, one per kernel.
cases() {
	cat "$kernels/cases.txt" "$kernels/more-cases.txt" | awk -v file="$1" '$2 == file && $1 ~ /-s$/ && !seen[$3]++' >"$work/cases"
}

# driver: BUILD_NS,KERNELS_NS of those cases, with a cache of its own. Later builds of a program come from the cache, so a
# program with several kernels is built once.
driver() {
	rm -rf "$work/pocl"
	mkdir "$work/pocl"
	POCL_CACHE_DIR=$work/pocl "$build/kernels/suite" -k "$kernels" -b "$work/cases" 2>/dev/null |
		awk -F, 'NR == 1 { build = $8 } { kernels += $9 } END { printf "%.0f,%.0f\n", build, kernels }'
}

# A gpusim-cc that keeps its request.
cat >"$work/keep" <<END
#!/bin/sh
[ \$# = 2 ] && cp "\$1" "$work/requests/\$(cat "$work/file")"
exec "$build/gpusim-cc" "\$@"
END
chmod +x "$work/keep"
keep_request() {
	echo "$1" >"$work/file"
	head -1 "$work/cases" >"$work/case"
	POCL_CACHE_DIR=$work/pocl GPUSIM_CC=$work/keep GPUSIM_CACHE_SIZE=0 GPUSIM_REPORT=none LD_PRELOAD=$build/libgpusim.so \
		"$build/kernels/suite" -k "$kernels" "$work/case" >/dev/null 2>&1
}

ours() {
	local begin
	begin=$(date +%s%N)
	"$build/gpusim-cc" "$work/requests/$1" "$work/result"
	echo $(($(date +%s%N) - begin))
}

files=$(cd "$kernels" && ls ./*.cl | sed 's|^./||')
for round in $(seq "$rounds"); do
	echo "compile: round $round of $rounds" >&2
	for file in $files; do
		cases "$file"
		[ -e "$work/requests/$file" ] || keep_request "$file"
		echo "$file,$(driver),$(ours "$file")" >>"$work/results"
	done
done
awk -F, -v csv="$csv" '
	function least(a, b) { return a == "" || b < a ? b : a }
	function row(name, title, build, kernels, ours, ratio) {
		ratio = ours / (build + kernels)
		printf "| %s | %.0f ms | %.0f ms | %.0f ms | %.2fx |\n", title, build / 1e6, kernels / 1e6, ours / 1e6, ratio
		printf "compile time,%s,ms,%.3f,%.3f,%.3f\n", name, (build + kernels) / 1e6, ours / 1e6, ratio >>csv
	}
	!($1 in build) { names[++n] = $1 }
	{
		build[$1] = least(build[$1], $2)
		kernels[$1] = least(kernels[$1], $3)
		ours[$1] = least(ours[$1], $4)
	}
	END {
		print "| compiling a source of the suite, caches cold | driver: build | driver: kernels | gpusim-cc | ratio to both |"
		print "|---|--:|--:|--:|--:|"
		for (i = 1; i <= n; i++) {
			f = names[i]
			row(f, f, build[f], kernels[f], ours[f])
			builds += build[f]; all_kernels += kernels[f]; all_ours += ours[f]
		}
		row("all", "**all** (aim: less than 1x)", builds, all_kernels, all_ours)
	}' "$work/results"
