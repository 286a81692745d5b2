#!/usr/bin/env bash
# How much longer kernels run because they count: every small case of the suite, annotated and as it is, on one device.
#   tests/bench/kernels.sh BUILD_DIR CSV [ROUNDS [REPEATS]]
# Times are the device's own (profiling events) of one launch; plain and annotated runs alternate, and the minimum over all
# repeats counts, because whatever else the machine does only adds to a time. POCL works with one thread: two of them,
# on a machine that does other things too, wait for each other. Appends to CSV.
set -eu
build=$(cd "$1" && pwd)
csv=$2 rounds=${3:-5} repeats=${4:-20}
kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
count=$(cd "$(dirname "$0")/../apps" && pwd)/count.awk
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=$work/pocl GPUSIM_CACHE_DIR=$work/cache GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/report.%p
export POCL_MAX_PTHREAD_COUNT=1
mkdir "$work/pocl"

suite() {
	local file
	for file in cases more-cases; do
		"$build/kernels/suite" -r "$repeats" "$kernels/$file.txt" '*-s' 2>>"$work/said" || {
			cat "$work/said" >&2
			return 1
		}
	done
}

for round in $(seq "$rounds"); do
	echo "kernels: round $round of $rounds" >&2
	suite | sed 's/^/plain,/' >>"$work/results"
	LD_PRELOAD=$build/libgpusim.so suite | sed 's/^/annotated,/' >>"$work/results"
done
untouched=$(cat "$work"/report.*.json | awk -v key=not_modelled -f "$count")

# Fields: way, name, kernel, global, local, checksum, median_ns, min_ns
awk -F, -v untouched="$untouched" -v csv="$csv" '
	!($2 in plain) && !($2 in annotated) { names[++n] = $2 }
	$1 == "plain" && (!($2 in plain) || $8 < plain[$2]) { plain[$2] = $8 }
	$1 == "annotated" && (!($2 in annotated) || $8 < annotated[$2]) { annotated[$2] = $8 }
	$2 in sums && sums[$2] != $6 { wrong[$2] = 1 }
	{ sums[$2] = $6 }
	END {
		print "| kernel time of a case of the suite | without us | annotated | ratio |"
		print "|---|--:|--:|--:|"
		for (i = 1; i <= n; i++) {
			name = names[i]
			ratio = annotated[name] / plain[name]
			logs += log(ratio)
			if (ratio > worst) { worst = ratio; worst_name = name }
			printf "| %s | %.1f us | %.1f us | %.2fx%s |\n", name, plain[name] / 1000, annotated[name] / 1000, ratio, \
				name in wrong ? ", other results" : ""
			printf "kernel time,%s,us,%.3f,%.3f,%.3f\n", name, plain[name] / 1000, annotated[name] / 1000, ratio >>csv
		}
		mean = exp(logs / n)
		printf "| **geometric mean** of %d (aim: 1.2x) | | | **%.2fx** |\n", n, mean
		printf "| **worst**: %s (aim: 2x) | | | **%.2fx** |\n", worst_name, worst
		printf "kernel time,geometric mean,,,,%.3f\nkernel time,worst,,,,%.3f\n", mean, worst >>csv
		if (untouched > 0)
			printf "\n%d reasons not to annotate: these cases ran untouched, their ratio says nothing.\n", untouched
	}' "$work/results"
