#!/usr/bin/env bash
# Task lists of recorded programs: the suite's small cases, written as lists and modelled from these, take as long as they do from the profile: within 5%.
# Starting a launch is left out: launches of lists are CUDA's, these are OpenCL's.
#   tests/command/task_from.sh BUILD_DIR [GPU [CASE...]]
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/validate.sh, tests/command/task.sh).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
gpu=${2:-v100}
gpusim=$build/gpusim
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- $(grep -o '^[a-z0-9_]*-s' "$root/kernels/cases.txt")
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-from.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
. "$root/tests/check.sh"

from_list() {
	local plain="--gpu $gpu --exact 1 --trace-memory 4G --set launch_overhead_ns=0,cuda_launch_overhead_ns=0 --report json"
	"$gpusim" record -o p --trace all --report none --gpu "$gpu" -- "$build/kernels/suite" -r 1 -n "$root/kernels/cases.txt" "$1" >out &&
		"$gpusim" task --from p -o list.task --gpu "$gpu" && "$gpusim" task list.task -o back --trace all --trace-memory 4G &&
		"$gpusim" replay p $plain --output direct && "$gpusim" replay back $plain --output again && python3 - direct.json again.json "$1" <<'LINES'
import json, sys
direct, again = ([l["estimates"][0]["cycles"] for l in json.load(open(f))["launches"]] for f in sys.argv[1:3])
for a, b in zip(direct, again):
    print(f"{sys.argv[3]}: {a:.0f} cycles, {b:.0f} from the list, {100 * (b / a - 1):+.2f}%")
assert direct and len(direct) == len(again) and all(abs(b / a - 1) < 0.05 for a, b in zip(direct, again))
LINES
}

for case in "$@"; do
	rm -f p back list.task
	check "$case" from_list "$case"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
