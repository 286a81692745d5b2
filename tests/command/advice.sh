#!/usr/bin/env bash
# Tests advice: each rule finds its fault in a kernel that has it, and is silent about one that has not (kernels/faults.cl).
#   tests/command/advice.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-advice.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C GPUSIM_GPU=h200 GPUSIM_ADVICE=always
. "$root/tests/check.sh"

# One run of all kernels, and its report.
ran() {
	GPUSIM_REPORT=json,text GPUSIM_OUTPUT=faults "$gpusim" run -- "$build/kernels/faults" "$root/kernels" \
		{groups,divergence,coalescing,sizes,local,doubles,instructions,vectors,conflicts,atomics}_{bad,good} 2>text && [ -s faults.json ]
}

# advice FILTER...: kernel, rule, line and saving in percent of each advice
advice() {
	python3 - faults.json <<'PYTHON'
import json, sys
for a in json.load(open(sys.argv[1]))["advice"]:
    print(a["kernel"], a["rule"], a["line"], round(100 * a["saving"]), a["evidence"])
PYTHON
}

# saves KERNEL RULE LEAST MOST: the rule promises so many percent of the kernel.
saves() {
	advice | tee all
	awk -v k="$1" -v r="$2" -v least="$3" -v most="$4" '$1 == k && $2 == r && $4 >= least && $4 <= most { found = 1 } END { exit !found }' all
}

# silent KERNEL RULE
silent() { advice | tee all && ! grep -q "^$1 $2 " all; }

# line_of KERNEL TEXT: the line of the source with that text, in the kernel
names_line() {
	local line
	line=$(awk -v k="void $1(" -v t="$3" 'index($0, k) { on = 1 } on && index($0, t) { print NR; exit }' "$root/kernels/faults.cl")
	advice | tee all && grep "^$1 $2 $line " all
}

# told KERNEL...: rules of advice about the program, in a run of these
told() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=told "$gpusim" run -- "$build/kernels/faults" "$root/kernels" "$@" 2>err &&
		python3 -c 'import json; print([a["rule"] for a in json.load(open("told.json"))["advice"] if a["kernel"] is None])' | tee rules
}
launches_found() { told launches_bad && grep -q "'launches'" rules; }
# Copies take 0.6 ms: kernels of 0.4 ms could hide behind them, one of 6 us has nothing to hide.
copies_found() { told launches_bad && grep -q "'copies'" rules && told launches_good && ! grep -q "'copies'" rules; }

schema() { python3 "$root/tests/command/reports/schema.py" "$root/docs/report.schema.json" faults.json; }
text() { cat text && grep -q 'advice: conflicts_bad, program.cl:' text && grep -q 'saves about' text; }
annotated() {
	"$gpusim" annotate faults.json --kernel coalescing_bad | tee out && grep -q '^saves .*program.cl:.*sectors' out &&
		grep -Eq '32\.0 +18\.0 +17 .*in\[' out && grep -Eq '^ +\^ [a-z0-9_]+ [0-9]+%' out
}
page() { "$gpusim" report faults.json -o faults.html && grep -q '"rule":"bank-conflicts"' faults.html; }
switched_off() {
	GPUSIM_ADVICE=never GPUSIM_REPORT=json,text GPUSIM_OUTPUT=off "$gpusim" run -- "$build/kernels/faults" "$root/kernels" conflicts_bad 2>out
	cat out && ! grep -q advice: out && grep -q '"advice":\[\]' off.json
}

# Trials of both are dearer than what is tried beside the program: they are made at the end. The copies need no trial.
default_trials() {
	GPUSIM_ADVICE=auto GPUSIM_REPORT=json GPUSIM_OUTPUT=auto "$gpusim" run -- "$build/kernels/faults" "$root/kernels" conflicts_bad atomics_bad 2>err &&
		python3 -c 'import json; r = json.load(open("auto.json")); print([(a["kernel"], a["rule"]) for a in r["advice"] if a["kernel"]], r["no_advice"])' | tee rules &&
		grep -q "('conflicts_bad', 'bank-conflicts'), ('atomics_bad', 'atomics')\] \[\]" rules
}

# 33 groups on 132 SMs: full SMs would be 32 times the work, but a few of them tell the time of all.
default_groups() {
	GPUSIM_ADVICE=auto GPUSIM_REPORT=json GPUSIM_OUTPUT=auto "$gpusim" run -- "$build/kernels/faults" "$root/kernels" groups_bad 2>err &&
		python3 -c 'import json; r = json.load(open("auto.json")); print([(a["rule"], 0.5 < a["saving"] < 0.8) for a in r["advice"] if a["kernel"]], r["no_advice"])' | tee rules &&
		grep -q "('groups', True)\] \[\]" rules
}

# Six launches: the warps of some are kept for their trials, those of others are made again. It is the same, and trials change no estimate.
same_with_any_threads() {
	local jobs kind
	for jobs in 1 3; do
		for kind in auto never; do
			GPUSIM_JOBS=$jobs GPUSIM_ADVICE=$kind GPUSIM_REPORT=json GPUSIM_OUTPUT=same-$kind-$jobs GPUSIM_CACHE_DIR=$work/cache-$kind-$jobs "$gpusim" run -- \
				"$build/kernels/faults" "$root/kernels" {divergence,coalescing,local,vectors,conflicts,atomics}_bad 2>err || return 1
		done
	done
	python3 - <<'PYTHON'
import json
runs = {(k, j): json.load(open(f"same-{k}-{j}.json")) for k in ("auto", "never") for j in (1, 3)}
times = {tuple(l["estimates"][0]["time_ns"] for l in r["launches"]) for r in runs.values()}
print(times, runs["auto", 1]["advice"])
assert len(times) == 1 and len(next(iter(times))) == 6
assert runs["auto", 1]["advice"] == runs["auto", 3]["advice"] != []
PYTHON
}

# line KERNEL TEXT MEMBER: that member of the line with that text, in the kernel, rounded
line() {
	python3 - faults.json "$root/kernels/faults.cl" "$@" <<'PYTHON'
import json, sys
report, source, kernel, text, member = sys.argv[1:]
lines = open(source).read().split("\n")
first = next(i for i, l in enumerate(lines) if f"void {kernel}(" in l)
number = 1 + next(i for i in range(first, len(lines)) if text in lines[i])
k = next(k for k in json.load(open(report))["kernels"] if k["name"] == kernel)
l = next(l for l in k["estimates"][0]["lines"] if l["line"] == number)
print(l[member] if l[member] is None else f"{l[member]:.1f}")
PYTHON
}
# Of each warp: 32 rows of memory, or 4 sectors side by side. 32 rows of one bank take 31 turns more. Half of the lanes go each way.
lines_tell_why() {
	[ "$(line coalescing_bad 'in[(i %' sectors_per_request)" = 18.0 ] && # the line's store touches 4
		[ "$(line coalescing_good 'in[i]' sectors_per_request)" = 4.0 ] &&
		[ "$(line coalescing_good 'in[i]' bank_conflicts_per_access)" = None ] &&
		[ "$(line conflicts_bad 'tile[x]' bank_conflicts_per_access)" = 31.0 ] && [ "$(line conflicts_bad 'tile[x]' sectors_per_request)" = None ] &&
		[ "$(line conflicts_good 'tile[x]' bank_conflicts_per_access)" = 0.0 ] &&
		[ "$(line divergence_bad 'v * 0.99f' active_lanes)" = 16.0 ] && [ "$(line divergence_good 'v * 0.99f' active_lanes)" = 32.0 ]
}
# What lines wait for adds up to their cycles, and those to the kernel's, but for launch, tail.
stalls_add_up() {
	python3 - <<'PYTHON'
import json
for k in json.load(open("faults.json"))["kernels"]:
    e = k["estimates"][0]
    for l in e["lines"]:
        assert abs(sum(l["cycles_by"].values()) - l["cycles"]) <= 1e-6 * e["cycles"], l
    own = e["cycles"] - e["cycles_by"]["launch"] - e["cycles_by"]["tail"]
    assert abs(sum(l["cycles"] for l in e["lines"]) - own) <= 0.01 * e["cycles"], (k["name"], own)
    assert 0 < max(e["unit_use"].values()) <= 1, e["unit_use"]
PYTHON
}
# 4 Mi floats are read and written once: every level carries their 16 MiB, but DRAM keeps what L2 has from the flush.
levels_carry_the_bytes() {
	python3 - <<'PYTHON'
import json
r = json.load(open("faults.json"))
m = next(k for k in r["kernels"] if k["name"] == "coalescing_good")["estimates"][0]["longest"]["memory"]
g = next(l for l in r["launches"] if l["kernel"] == "coalescing_good")["global"][0]
print(m)
assert m["load_requests"] == m["store_requests"] == g / 32 and m["load_sectors"] == m["store_sectors"] == g / 8
assert abs(m["l2_read_bytes"] - 4 * g) < 0.02 * 4 * g and abs(m["l2_written_bytes"] - 4 * g) < 0.02 * 4 * g
assert m["shared_requests"] == m["private_requests"] == m["atomic_requests"] == 0
t = r["targets"][0]
assert t["l1_gbps"] > t["l2_gbps"] > t["dram_gbps"]
PYTHON
}

check "the kernels run" ran
check "lines have sectors, conflicts and lanes" lines_tell_why
check "what lines wait for adds up" stalls_add_up
check "bytes between the levels of memory are told" levels_carry_the_bytes
check "reads 4 KB apart are found" saves coalescing_bad coalescing 20 60
check "their line is named" names_line coalescing_bad coalescing 'in[(i %'
check "reads side by side are not blamed" silent coalescing_good coalescing
check "bank conflicts are found" saves conflicts_bad bank-conflicts 85 97
check "their line is named" names_line conflicts_bad bank-conflicts 'tile[x]'
check "padded rows are not blamed" silent conflicts_good bank-conflicts
check "idle SMs are found" saves groups_bad groups 50 80
check "groups that fill the GPU are not blamed" silent groups_good groups
check "lanes that go different ways are found" saves divergence_bad divergence 20 45
check "their line is named" names_line divergence_bad divergence 'if (i % 2)'
check "warps that go different ways are not blamed" silent divergence_good divergence
check "atomics on few addresses are found" saves atomics_bad atomics 60 99
check "their line is named" names_line atomics_bad atomics 'atomic_inc('
check "atomics of a few lanes are not blamed" silent atomics_good atomics
check "loads that could be a vector are found" saves vectors_bad vector-loads 30 75
check "vectors are not blamed" silent vectors_good vector-loads
check "local memory that keeps groups out is found" saves local_bad occupancy 30 60
check "less local memory is not blamed" silent local_good occupancy
check "groups that are too small are found" saves sizes_bad occupancy 20 50
check "larger groups are not blamed" silent sizes_good occupancy
check "double precision is found" saves doubles_bad double-precision 25 50
check "single precision is not blamed" silent doubles_good double-precision
check "a line with most of the instructions is found" saves instructions_bad instructions 15 60
check "its line is named" names_line instructions_bad instructions '% by'
check "a kernel that waits for memory is not told to compute less" silent coalescing_good instructions
check "one that is busy with what it must compute is not told so either" silent instructions_good instructions
check "nor one that reads local memory" silent conflicts_good instructions
check "many short launches are found" launches_found
check "a few launches are not blamed" silent None launches
check "copies that could overlap are found" copies_found
check "the report has the form of its schema" schema
check "the text has advice" text
check "annotate has advice" annotated
check "the page has advice" page
check "GPUSIM_ADVICE=never gives none" switched_off
check "by default, kernels that take most of the time are tried first" default_trials
check "by default, idle SMs are found, too" default_groups
check "trials are the same with any number of threads, and change no estimate" same_with_any_threads
echo "$passed passed, $failed failed"
[ $failed = 0 ]
