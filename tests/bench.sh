#!/usr/bin/env bash
# make bench: measures what the library costs, side by side in one run. Only the ratios matter: the times depend on this
# machine.
#   tests/bench.sh BUILD_DIR [ROUNDS]
# Prints tables. The same numbers go to BUILD_DIR/bench.csv. Takes about half an hour.
set -eu
build=$(cd "$1" && pwd)
rounds=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)/bench
csv=$build/bench.csv
calls=$build/tests/bench/calls
lib=$build/libgpusim.so
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export GPUSIM_REPORT=none GPUSIM_GPU=${GPUSIM_GPU:-gtx480}

# run WAY COMMAND...: appends "WAY NAME VALUE" lines to the results.
run() {
	local way=$1
	shift
	case $way in
	plain*) "$@" ;;
	off*) env GPUSIM_OFF=1 LD_PRELOAD="$lib" "$@" ;;
	*) env LD_PRELOAD="$lib" "$@" ;;
	esac | sed "s/^/$way /" >>"$work/results"
}

# value WAY NAME: the median over rounds.
value() {
	awk -v way="$1" -v name="$2" '$1 == way && $2 == name { print $3 }' "$work/results" | sort -g |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# row TITLE NAME UNIT WAY...: the values of a measurement for each way. The others are compared with the first.
row() {
	local title=$1 name=$2 unit=$3 base way
	shift 3
	base=$(value "$1" "$name")
	awk -v v="$(value "${!#}" "$name")" -v b="$base" -v u="$unit" -v title="$title" 'BEGIN {
		scale = u == "ms" ? 1000 : 1
		gsub(",", ";", title)
		printf "calls and builds,%s,%s,%.3f,%.3f,%.3f\n", title, u, b / scale, v / scale, v / b }' >>"$csv"
	printf '| %s |' "$title"
	for way; do
		awk -v v="$(value "$way" "$name")" -v b="$base" -v u="$unit" -v first="$([ "$way" = "$1" ] && echo 1)" 'BEGIN {
			v2 = u == "ms" ? v / 1000 : v; printf u == "ms" ? " %.0f %s" : " %.2f %s", v2, u
			if (!first) printf u == "ms" ? " (%.2fx)" : " (%+.2f)", u == "ms" ? v / b : v - b
			printf " |" }'
	done
	echo
}

for round in $(seq "$rounds"); do
	echo "calls and builds: round $round of $rounds" >&2
	export POCL_CACHE_DIR=$work/pocl-calls GPUSIM_CACHE_DIR=$work/cache-calls
	for way in plain off on; do run $way "$calls"; done
	# cold: POCL's cache and ours are empty; warm: both have everything
	for way in plain on; do
		export POCL_CACHE_DIR=$work/pocl-$way-$round GPUSIM_CACHE_DIR=$work/cache-$round
		mkdir -p "$POCL_CACHE_DIR"
		run $way-cold "$calls" build 8
		run $way-warm "$calls" build 8
	done
done
echo 'table,row,unit,without us,with us,ratio' >"$csv"
echo '| caller'"'"'s time per call | without us | GPUSIM_OFF=1 | with us |'
echo '|---|---|---|---|'
row 'a call that is passed on (clGetDeviceInfo)' passed-on us plain off on
row 'clSetKernelArg' argument us plain off on
row 'clEnqueueNDRangeKernel' launch us plain off on
echo
echo '| building a program | without us | with us |'
echo '|---|---|---|'
row 'clBuildProgram, caches cold' build ms plain-cold on-cold
row 'clBuildProgram, caches warm' build ms plain-warm on-warm
row 'build, first launch and finish, caches cold' build-and-launch ms plain-cold on-cold
row 'build, first launch and finish, caches warm' build-and-launch ms plain-warm on-warm
echo
"$here/kernels.sh" "$build" "$csv" "$rounds"
echo
"$here/lifted.sh" "$build" "$csv"
echo
"$here/compile.sh" "$build" "$csv" "$rounds"
echo
"$here/engine.sh" "$build" "$csv" "$rounds"
echo
"$here/sampling.sh" "$build" "$csv" "$rounds"
echo
"$here/modelling.py" "$build" "$csv"
echo
echo "The same as CSV: $csv; every program that was modelled: $build/modelling.csv"
