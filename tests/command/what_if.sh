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
echo "$passed passed, $failed failed"
[ $failed = 0 ]
