#!/usr/bin/env bash
# Measures the speed of the occupancy vector with perfect memory: the suite's small cases, with every group simulated. The time
# of GPGPU-Sim for the same cases stands beside it, measured on the machine that made the reference.
#   tests/bench/engine.sh BUILD_DIR CSV [ROUNDS]
# CPU seconds of the model alone. The least of all rounds counts. Appends to CSV.
set -eu
build=$(cd "$1" && pwd)
csv=$2 rounds=${3:-5}
root=$(cd "$(dirname "$0")/../.." && pwd)

for round in $(seq "$rounds"); do
	echo "engine: round $round of $rounds" >&2
	"$build/tests/oracle/timing" -c "gtx480_pm_*" "$root/kernels/cases.txt" "$root/tests/reference" \
		"$root/tests/reference/gpgpusim.csv" '*-s'
done | awk -v csv="$csv" '
	/ CPU s, / && (!least || $1 < least) { least = $1; speed = $4; theirs = $9; their_speed = $12; ratio = $14; better = 1 }
	/^dearest:/ && better { dearest = substr($0, 10); better = 0 }
	END {
		print "| occupancy vector, exact paths, 81 launches | GPGPU-Sim | gpusim | ratio |"
		print "|---|--:|--:|--:|"
		printf "| CPU time | %.0f s | %.2f s | 1/%.0f |\n", theirs, least, ratio
		printf "| the cases that take most of it | | %s | |\n", dearest
		printf "| thread instructions (aim: 200 million/s) | %.2f million/s | %.0f million/s | %.0fx |\n", their_speed, speed, ratio
		printf "engine,CPU time,s,%.3f,%.3f,%.6f\n", theirs, least, least / theirs >>csv
		printf "engine,thread instructions,million/s,%.3f,%.3f,%.1f\n", their_speed, speed, speed / their_speed >>csv
	}'
