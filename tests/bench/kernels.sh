#!/usr/bin/env bash
# Measures how much longer kernels run because they count, and because they are traced: every small case of the suite, annotated
# and plain, on one device.
#   tests/bench/kernels.sh BUILD_DIR CSV [ROUNDS [REPEATS]]
# The times are the device's own (profiling events) for one launch. Plain and annotated runs of a case alternate. The minimum
# over all repeats counts, because other work of the machine can only add to a time. POCL works with one thread: two threads
# wait for each other on a busy machine. The model is the one that takes no time. If two processors share a core, kernels took
# twice as long while our own thread simulated an earlier launch on the other processor. That is not a cost of counting. With
# traces on, launches 1 and 8 of 20 are traced and the others count. Here all launches of a run are traced, and the two times
# are weighted accordingly. Appends to CSV.
set -eu
build=$(cd "$1" && pwd)
csv=$2 rounds=${3:-5} repeats=${4:-20}
kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=$work/pocl GPUSIM_CACHE_DIR=$work/cache GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/report.%p
export POCL_MAX_PTHREAD_COUNT=1 GPUSIM_MODEL=optimistic GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
mkdir "$work/pocl"

# suite REPEATS CASES_FILE NAME
suite() {
	"$build/kernels/suite" -r "$1" "$kernels/$2.txt" "$3" 2>>"$work/said" || {
		cat "$work/said" >&2
		return 1
	}
}

# ways CASES_FILE NAME: all three ways, one after the other.
ways() {
	suite "$repeats" "$@" | sed 's/^/plain,/' >>"$work/results"
	GPUSIM_MEMORY=perfect LD_PRELOAD=$build/libgpusim.so suite "$repeats" "$@" | sed 's/^/annotated,/' >>"$work/results"
	GPUSIM_MEMORY=hierarchy GPUSIM_TRACE=all LD_PRELOAD=$build/libgpusim.so suite 4 "$@" |
		sed 's/^/traced,/' >>"$work/results"
}

for round in $(seq "$rounds"); do
	echo "kernels: round $round of $rounds" >&2
	for file in cases more-cases; do
		for name in $(awk '$1 ~ /-s$/ { print $1 }' "$kernels/$file.txt"); do
			ways $file "$name"
		done
	done
done
untouched=$(cat "$work"/report.*.json | jq -s 'map(.not_modelled // [] | length) | add // 0')

# Fields: way, name, kernel, global, local, checksum, median_ns, min_ns
awk -F, -v untouched="$untouched" -v csv="$csv" '
	!($2 in plain) && !($2 in annotated) { names[++n] = $2 }
	$1 == "plain" && (!($2 in plain) || $8 < plain[$2]) { plain[$2] = $8 }
	$1 == "traced" && (!($2 in traced) || $8 < traced[$2]) { traced[$2] = $8 }
	$1 == "annotated" && (!($2 in annotated) || $8 < annotated[$2]) { annotated[$2] = $8 }
	$2 in sums && sums[$2] != $6 { wrong[$2] = 1 }
	{ sums[$2] = $6 }
	END {
		print "| kernel time of a case of the suite | without us | annotated | ratio | traced | with traces, 20 launches |"
		print "|---|--:|--:|--:|--:|--:|"
		for (i = 1; i <= n; i++) {
			name = names[i]
			ratio = annotated[name] / plain[name]
			logs += log(ratio)
			twenty = (18 * annotated[name] + 2 * traced[name]) / 20 / plain[name]
			trace_logs += log(twenty)
			if (ratio > worst) { worst = ratio; worst_name = name }
			printf "| %s | %.1f us | %.1f us | %.2fx%s | %.1f us | %.2fx |\n", name, plain[name] / 1000, annotated[name] / 1000, \
				ratio, name in wrong ? ", other results" : "", traced[name] / 1000, twenty
			printf "kernel time,%s,us,%.3f,%.3f,%.3f\n", name, plain[name] / 1000, annotated[name] / 1000, ratio >>csv
			printf "kernels with traces,%s,us,%.3f,%.3f,%.3f\n", name, plain[name] / 1000, traced[name] / 1000, twenty >>csv
		}
		mean = exp(logs / n)
		printf "| **geometric mean** of %d (aims: 1.2x, 1.6x) | | | **%.2fx** | | **%.2fx** |\n", n, mean, exp(trace_logs / n)
		printf "| **worst**: %s (aim: 2x) | | | **%.2fx** | | |\n", worst_name, worst
		printf "kernel time,geometric mean,,,,%.3f\nkernel time,worst,,,,%.3f\n", mean, worst >>csv
		printf "kernels with traces,geometric mean,,,,%.3f\n", exp(trace_logs / n) >>csv
		if (untouched > 0)
			printf "\n%d reasons not to annotate: these cases ran untouched, their ratio says nothing.\n", untouched
	}' "$work/results"
