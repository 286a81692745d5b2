#!/usr/bin/env bash
# Tests gpusim what-if: more of the resource that a kernel waits for makes it faster, more of others does not.
#   tests/command/what_if.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-what-if.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C GPUSIM_GPU=h200
. "$root/tests/check.sh"

# A kernel whose groups are kept out by their local memory.
recorded() { GPUSIM_REPORT=json GPUSIM_OUTPUT=run "$gpusim" record -o p -- "$build/kernels/faults" "$root/kernels" local_bad && [ -s p ]; }
table() { "$gpusim" what-if p >table 2>err && cat table && grep -q '^local memory ' table && grep -q '^local_bad ' table; }
json() { "$gpusim" what-if p --json >w.json 2>err && python3 -m json.tool w.json >/dev/null; }

# is RESOURCE CHANGE EXPRESSION: of t, the time relative to the GPU as it is; change 0: a tenth more, 1: twice as much
is() {
	python3 - "$@" <<'PYTHON'
import json, sys
w = json.load(open("w.json"))
k = w["kernels"][int(len(sys.argv) > 4)]
ns = k["times"][sys.argv[1]][int(sys.argv[2])]
t = ns and ns / k["time_ns"]
print(t)
sys.exit(not eval(sys.argv[3]))
PYTHON
}
page() { "$gpusim" report run.json --what-if w.json -o run.html && grep -q '"what_if":{' run.html; }
refused() { ! "$gpusim" "$@" 2>err && cat err && grep -q '^gpusim: ' err; }

check "a profile is recorded" recorded
check "there is a table" table
check "there is JSON" json
check "twice as much local memory helps a kernel that it limits" is 'local memory' 1 't < 0.75'
check "twice as many registers do nothing for it" is registers 1 't == 1'
check "nor does bandwidth that it does not use" is 'DRAM bandwidth' 1 '0.95 < t < 1.02'
check "twice as many SMs help" is SMs 1 't < 0.75'
check "there is no tenth more of an issue slot" is 'issue width' 0 't is None'
# DRAM keeps its time
check "the kernel has its own row" is clock 1 '0.4 < t < 0.85' kernel
check "the page takes it" page
check "a report is no such file" refused report run.json --what-if run.json
check "a profile that is missing is told" refused what-if nowhere
check "several GPUs are refused" refused what-if p --gpu h200,v100
# The full model's time is that of the run. With perfect memory it is another, and shorter.
models_agree() {
	"$gpusim" compare-models p --json >m.json 2>err && python3 - <<'PYTHON'
import json
m, run = json.load(open("m.json")), json.load(open("run.json"))
kernel, everything = m["kernels"]
print(m, run["summary"])
assert m["schema"] == "gpusim.models/1" and m["target"] == "h200" and kernel["kernel"] == "local_bad" and everything["kernel"] is None
assert list(kernel["time_ns"]) == ["optimistic", "probabilistic", "occupancy", "perfect", "full"] and kernel["time_ns"] == everything["time_ns"]
assert abs(kernel["time_ns"]["full"] / run["summary"][0]["kernels_ns"] - 1) < 1e-6
assert 0 < kernel["time_ns"]["perfect"] < kernel["time_ns"]["full"] and all(t > 0 for t in kernel["time_ns"].values())
PYTHON
}
models_as_tables() {
	"$gpusim" compare-models p >table 2>err && cat table && grep -q '^kernel .*optimistic .* full$' table && grep -q '^local_bad .*%' table &&
		"$gpusim" compare-models p --csv >csv 2>err && cat csv && [ "$(head -1 csv)" = kernel,optimistic_ns,probabilistic_ns,occupancy_ns,perfect_ns,full_ns ] &&
		[ "$(sed -n 2p csv | cut -d, -f2-)" = "$(sed -n '3s/^\*,//p' csv)" ]
}
check "models are compared" models_agree
check "as text and as CSV, too" models_as_tables
check "compare-models has help" "$gpusim" compare-models --help
check "a profile that is missing is told by compare-models" refused compare-models nowhere
echo "$passed passed, $failed failed"
[ $failed = 0 ]
