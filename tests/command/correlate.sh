#!/usr/bin/env bash
# gpusim correlate on invented numbers: one check per promise.
#   tests/command/correlate.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-correlate.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
. "$here/../check.sh"

# Errors +10%, -20% and 0: mean and median 10%, bias -3.33%. Logarithms, minus their means: truth -.4621 -.4621 .9242, estimates
# -.3242 -.6426 .9668. Products 1.3403, squares 1.2812 and 1.4528: correlation 1.3403 / sqrt(1.2812 * 1.4528) = 0.982.
cat >results.csv <<'CSV'
case,kernel,group,half,metric,estimate,truth,error,left_out
a-s,one,first,A,cycles,110,100,,
b-s,one,first,A,cycles,80,100,,
c-s,two,second,B,cycles,400,400,,
d-s,two,second,B,cycles,1000,10,,"a reason, with a comma"
CSV

# Three cases. The report has the launches of two, each twice. The later one is first in the file. Case y ran with a quarter of
# its work-items.
cat >cases.txt <<'CASES'
# comment
x-s f.cl kx 64 32 f:64:zero
y-s f.cl ky 32,8 16,4 f:64:zero
z-s g.cl kz 64 32 f:64:zero
CASES
sed 's/32,8/64,16/' cases.txt >full.txt
cat >truth.csv <<'CSV'
# a comment
case,kernel,config,cycles,warp_instructions,inst_xu,l2_read_hits,l2_read_sectors,dram_read_bytes,strange
x-s,kx,one,200,1000,0,30,40,0,1
y-s,ky,one,100,400,8,0,0,50,1
z-s,kz,one,100,400,8,0,0,50,1
x-s,kx,two,1,1,1,1,1,1,1
CSV
python3 - <<'PYTHON'
import json
def launch(seq, kernel, cycles, machine, xu, l2, dram, measured):
    return {"seq": seq, "kernel": kernel, "global": [64, 1, 1], "local": [32, 1, 1], "measured_ns": measured,
            "estimates": [{"target": "g", "cycles": cycles, "time_ns": cycles * 2, "machine_instructions": machine,
                           "machine_by": {"xu": xu}, "memory": {"l2_hit": l2, "dram_read_bytes": dram}, "cycles_by": {"launch": 0}}]}
launches = [launch(1, "kx", 250, 1100, 0, 0.5, 5, 700), launch(0, "kx", 250, 1100, 0, 0.5, 5, 500),
            launch(2, "ky", 90, 110, 3, None, None, None), launch(3, "ky", 90, 110, 3, None, None, None)]
report = {"schema": "gpusim.report/1", "tool": {"version": "9"}, "run": {"started": "2001-02-03T04:05:06Z", "set": ""},
          "targets": [{"name": "g", "model": "full", "memory": "perfect"}], "launches": launches}
json.dump(report, open("report.json", "w"))
launches[0]["kernel"] = launches[1]["kernel"] = "<b>&"
json.dump(report, open("hostile.json", "w"))
PYTHON

# has LINE: the output has this line, with any blanks between its words.
has() { tr -s ' ' <out | sed 's/ *$//' | grep -qxF -- "$1" || { cat out; return 1; }; }

statistics_by_hand() {
	"$gpusim" correlate --split results.csv >out && has 'cycles 3 10.00% 10.00% -3.33% 0.982 -20.0% b-s (1 left out)' &&
		has 'one 2 15.00% 15.00% -5.00% - -20.0% b-s' && has 'second 1 0.00% 0.00% +0.00% - +0.0% c-s (1 left out)' &&
		has 'A 2 15.00% 15.00% -5.00% - -20.0% b-s' && has ' cycles: a reason, with a comma: d-s'
}

compared_with_truth() {
	"$gpusim" correlate --config one truth.csv --cases cases.txt report.json >out && has 'cycles 2 17.50% 17.50% +7.50% - +25.0% x-s' &&
		has 'warp_instructions 2 41.25% 41.25% -31.25% - -72.5% y-s' && has 'l2_hit 1 25.00p 25.00p -25.00p - -25.0p x-s (1 left out)' &&
		has 'x-s 250 200 +25.0% A f'
}

# Sorted by name, kx, ky and kz are in the halves A, B and A. Every case and every number that is not compared is named.
nothing_is_dropped() {
	"$gpusim" correlate --config one truth.csv --cases cases.txt --split report.json >out && has ' inst_xu: 0 in both: x-s' &&
		has ' l2_hit: truth has no number: y-s' && has ' dram_read_bytes: truth is 0: x-s' && has ' dram_read_bytes: not modelled: y-s' &&
		has ' all: truth has it, but it was not run or not modelled: z-s' && has " truth's columns that a report has nothing like: strange" &&
		has 'B 1 10.00% 10.00% -10.00% - -10.0% y-s'
}

# 110 and 3 for a quarter of the work-items are 440 and 12 for all. Cycles of a part say nothing about the whole.
fewer_work_items_are_scaled() {
	"$gpusim" correlate --config one truth.csv --full full.txt --cases cases.txt report.json >out &&
		has 'warp_instructions 2 10.00% 10.00% +10.00% - +10.0% x-s' && has 'inst_xu 1 50.00% 50.00% +50.00% - +50.0% y-s (1 left out)' &&
		has ' cycles: ran with fewer work-items than measured: y-s'
}

# Without truth, the times of the host device are used: the median of 500 and 700 beside 500.
host_time_is_no_truth() {
	! "$gpusim" correlate report.json >out 2>err && cat err && [ ! -s out ] && grep -q -- '--host-time compares' err
}

measured_is_truth() {
	"$gpusim" correlate report.json --host-time >out && has 'kx 64/32 500 600 -16.7% -' && has ' measured_ns: the queue did not measure: ky 64/32'
}

left_out_by_name() {
	"$gpusim" correlate --without 'b*=because' results.csv >out && has 'cycles 2 5.00% 5.00% +5.00% - +10.0% a-s (2 left out)' && has ' cycles: because: b-s'
}

# ends CODE ARGUMENTS...: the exit code.
ends() {
	local wanted=$1 code
	shift
	"$gpusim" correlate "$@" >out 2>err
	code=$?
	[ $code = "$wanted" ] || { echo "$code, not $wanted"; cat err; return 1; }
}

thresholds_decide() {
	ends 0 --mean 10.01 --worst 20.01 --correlation 0.98 results.csv && ends 1 --mean 9.9 results.csv && grep -q 'mean error, %, at most 9.9: it is 10' err &&
		ends 1 --worst 19 results.csv && ends 1 --correlation 0.99 results.csv && ends 0 --within cycles:10.1:2 results.csv &&
		ends 1 --within cycles:10.1:3 results.csv && grep -q '3 cases must be within 10.1%, but only 2 are' err
}

# A written file can be read again, and gives the same result.
files_are_written() {
	"$gpusim" correlate --config one truth.csv --cases cases.txt --split -o p report.json >first && "$gpusim" correlate --split -o q p.csv >second && cmp p.csv q.csv && cmp p.svg q.svg &&
		sed -n '/^metric/,/^left/p' first >a && sed -n '/^metric/,/^left/p' second >b && [ -s a ] && cmp a b &&
		grep -q '^# estimates: g, model full, memory perfect, gpusim 9, 2001-02-03$' p.csv && grep -q '^cycles,B,1,0,0.1,0.1,-0.1,-0.1,y-s,$' p-summary.csv &&
		python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]' p.svg p-others.svg && grep -q '>x-s</text>' p.svg
}

names_are_escaped() {
	"$gpusim" correlate --host-time -o h hostile.json >out && python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' h.svg && ! grep -q '<b>' h.svg
}

bad_input_is_one_line() {
	local file
	printf 'kernel,cycles\na,1\n' >nocase.csv
	printf 'case,cycles\na,1,2\n' >ragged.csv
	printf '{"schema":"other"}' >other.json
	printf 'x-s f.cl\n' >short.txt
	for file in absent nocase.csv ragged.csv other.json; do
		ends 2 "$file" && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || return 1
	done
	ends 2 && ends 2 truth.csv && grep -q 'several configurations' err && ends 2 --config three truth.csv && grep -q 'none of them three' err &&
		ends 2 --cases short.txt && ends 2 --metric cylces results.csv && grep -q "did you mean 'cycles'" err && ends 2 --mean x results.csv &&
		ends 2 --unknown results.csv && ends 2 --config one truth.csv && grep -q 'nothing to compare' err && grep -q 'estimates: none; truth: x-s, y-s, z-s$' err &&
		ends 0 truth.csv --cases cases.txt report.json --gpu g --config one && ends 2 truth.csv --cases cases.txt report.json --config one --gpu h
	sed 's/ky/kz/' cases.txt >wrong.txt && ends 2 --config one truth.csv --cases wrong.txt report.json && grep -q 'not in its order' err
}

check "mean, median, bias, worst and correlation are those computed by hand" statistics_by_hand
check "a report is compared with a table of truth, case by case" compared_with_truth
check "everything that is not compared is named, with its reason" nothing_is_dropped
check "counts of fewer work-items are scaled, times are not" fewer_work_items_are_scaled
check "without a table, what the device measured is truth, if that is asked for" measured_is_truth
check "and else there is none" host_time_is_no_truth
check "cases can be left out by name, which is told" left_out_by_name
check "thresholds decide on the exit code" thresholds_decide
check "CSV is read again, pictures are valid" files_are_written
check "names from reports are text in pictures" names_are_escaped
check "bad input is one line and exit code 2" bad_input_is_one_line
echo "$passed passed, $failed failed"
[ $failed = 0 ]
