# For test scripts that source this file with their arguments, BUILD_DIR [GPU [CASE...]]: what cases of the suite did is written as something else (traces, task
# lists), read back and replayed, and takes as long as from the profile itself. Without cases, the small ones.
# Starting a launch is left out: launches that are read back are CUDA's, these are OpenCL's.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
gpu=${2:-v100}
gpusim=$build/gpusim
shift $(($# < 2 ? $# : 2))
list=$root/kernels/cases.txt
cases=${*:-$(grep -o '^[a-z0-9_]*-s' "$root/kernels/cases.txt")}
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-back.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
. "$root/tests/check.sh"

# record CASE: writes the profile p.
record() {
	"$gpusim" record -o p --trace all --report none --gpu "$gpu" -- "$build/kernels/suite" -r 1 -n "$list" "$1" >out
}

# compare CASE SHARE: whether the cycles of the profile `back` are those of p to within that share.
compare() {
	local plain="--gpu $gpu --exact 1 --trace-memory 4G --set launch_overhead_ns=0,cuda_launch_overhead_ns=0 --report json"
	"$gpusim" replay p $plain --output direct && "$gpusim" replay back $plain --output again && python3 - direct.json again.json "$@" <<'LINES'
import json, sys
direct, again = ([l["estimates"][0]["cycles"] for l in json.load(open(f))["launches"]] for f in sys.argv[1:3])
for a, b in zip(direct, again):
    print(f"{sys.argv[3]}: {a:.0f} cycles, {b:.0f} read back, {100 * (b / a - 1):+.2f}%")
assert direct and len(direct) == len(again) and all(abs(b / a - 1) < float(sys.argv[4]) for a, b in zip(direct, again))
LINES
}

# each_case FUNCTION: checks it for every case, and ends with "N passed, N failed".
each_case() {
	local case
	for case in $cases; do
		rm -rf traces p back list.task
		check "$case" "$1" "$case"
	done
	echo "$passed passed, $failed failed"
	[ $failed = 0 ]
}
