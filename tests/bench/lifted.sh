#!/usr/bin/env bash
# Measures how long CUDA kernels take on the CPU beside the same kernels in OpenCL C: every medium case of the suite, without counters and
# with them, by processor time (tests/lift/bench.c).
#   tests/bench/lifted.sh BUILD_DIR CSV [PATTERN...]
# Takes about ten minutes, most of them for building. Appends to CSV.
set -eu
build=$(cd "$1" && pwd)
csv=$2
shift 2
kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/pocl"
export POCL_CACHE_DIR=$work/pocl

"$build/tests/lift/bench" "$kernels/medium-cases.txt" "$kernels" "$kernels/cuda/ptx" "$@" >"$work/results"

# Fields of a case: name plain "ms" lifted "ms" ratio counting "ms" ratio
awk -v csv="$csv" '
	BEGIN {
		print "| kernel time of a case as CUDA | OpenCL C | lifted | ratio | and counting | ratio |"
		print "|---|--:|--:|--:|--:|--:|"
	}
	NF == 9 {
		n++
		logs += log($6)
		count_logs += log($9)
		if ($9 > worst) { worst = $9; worst_name = $1 }
		printf "| %s | %.1f ms | %.1f ms | %.2fx | %.1f ms | %.2fx |\n", $1, $2, $4, $6, $7, $9
		printf "lifted kernels,%s,ms,%s,%s,%s\n", $1, $2, $7, $9 >>csv
		next
	}
	!/^geometric/ { print "\n" $0 "\n"; failed = 1 }
	END {
		printf "| **geometric mean** of %d (aim: 2x) | | | **%.2fx** | | **%.2fx** |\n", n, exp(logs / n), exp(count_logs / n)
		printf "| **worst**: %s | | | | | **%.2fx** |\n", worst_name, worst
		printf "lifted kernels,geometric mean,,,,%.3f\nlifted kernels,worst,,,,%.3f\n", exp(count_logs / n), worst >>csv
		exit failed
	}' "$work/results"
