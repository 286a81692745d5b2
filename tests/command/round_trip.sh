#!/usr/bin/env bash
# Traces for Accel-Sim and back: the suite's small cases, exported, imported and replayed, take as long as they do from the profile itself: within 1%.
# Starting a launch is left out: imported launches are CUDA's, these are OpenCL's.
#   tests/command/round_trip.sh BUILD_DIR [GPU [CASE...]]
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/validate.sh).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
gpu=${2:-v100}
gpusim=$build/gpusim
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- $(grep -o '^[a-z0-9_]*-s' "$root/kernels/cases.txt")
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-round.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
. "$root/tests/check.sh"

# reduce-s: registers of our own selection have the banks that suit them best, those of a trace are not known by banks.
within() { case $1 in reduce-s) echo 0.03 ;; *) echo 0.01 ;; esac; }

back() {
	local plain="--gpu $gpu --exact 1 --trace-memory 4G --set launch_overhead_ns=0,cuda_launch_overhead_ns=0 --report json"
	"$gpusim" record -o p --trace all --report none --gpu "$gpu" -- \
		"$build/kernels/suite" -r 1 -n "$root/kernels/cases.txt" "$1" >out &&
		"$gpusim" export --accel-sim p -o traces --gpu "$gpu" && "$gpusim" import traces -o back --trace all --trace-memory 4G &&
		"$gpusim" replay p $plain --output direct && "$gpusim" replay back $plain --output again &&
		python3 - direct.json again.json "$(within "$1")" "$1" <<'END'
import json, sys
direct, again = ([l["estimates"][0]["cycles"] for l in json.load(open(f))["launches"]] for f in sys.argv[1:3])
for a, b in zip(direct, again):
    print(f"{sys.argv[4]}: {a:.0f} cycles, {b:.0f} from the trace, {100 * (b / a - 1):+.2f}%")
assert direct and len(direct) == len(again) and all(abs(b / a - 1) < float(sys.argv[3]) for a, b in zip(direct, again))
END
}

for case in "$@"; do
	rm -rf traces p back
	check "$case" back "$case"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
