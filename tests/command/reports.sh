#!/usr/bin/env bash
# Tests the reports from outside: their content, their validity, and that no text from a program can inject anything into them.
#   tests/command/reports.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets POCL_CACHE_DIR and GPUSIM_CACHE_DIR (tests/run.sh).
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-reports.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$root/tests/check.sh"
export GPUSIM_MEMORY=perfect # quicker, and these tests do not depend on it

preloaded() { LD_PRELOAD=$build/libgpusim.so "$@"; }

# holds FILE EXPRESSION: a Python expression over the report r must be true.
holds() {
	python3 - "$1" "$2" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else print("not true:", sys.argv[2]) or 1)
PYTHON
}

runs_with_all_reports() {
	GPUSIM_REPORT=text,json,csv,html,trace GPUSIM_OUTPUT=run GPUSIM_GPU=gtx480,h200 GPUSIM_TEXT=verbose \
		preloaded "$build/kernels/demo" 2 >/dev/null 2>err && ls run.json run.csv run.html run.trace.json
}

html_alone_leaves_no_json() {
	GPUSIM_REPORT=html GPUSIM_OUTPUT=alone preloaded "$build/tests/guest/hostile" "<script>" >/dev/null 2>err &&
		[ ! -s err ] && [ -s alone.html ] && ! ls alone*json 2>/dev/null
}

# Where nothing can be written, nothing is said to be there.
what_was_not_written_is_not_named() {
	GPUSIM_REPORT=json,html GPUSIM_OUTPUT=nowhere/out preloaded "$build/kernels/demo" 1 >/dev/null 2>err
	cat err
	[ "$(wc -l <err)" = 1 ] && grep -q 'cannot write .*nowhere/out.json' err
}

# In the normal text: what was measured, or that nothing was.
text_says_how_far_to_trust_it() {
	GPUSIM_MEMORY=hierarchy GPUSIM_GPU=h200,t4,a10 preloaded "$build/tests/guest/hostile" 2>text >/dev/null && sed 's/^gpusim: *//' text | tr -s '\n ' ' ' >line &&
		grep -Eq 'accuracy: h200: .* [0-9.]+% off .* in the mean' line && grep -q 'accuracy: t4, a10: not validated' line
}

# Every note of the JSON is in the text once, and in the page. Of two GPUs one is not validated, which the text says with the other's accuracy.
notes_are_in_all_reports() {
	GPUSIM_REPORT=text,json,html GPUSIM_OUTPUT=notes GPUSIM_MEMORY=perfect GPUSIM_GPU=h200,a10 preloaded "$build/tests/guest/unsized" >/dev/null 2>text &&
		sed 's/^gpusim: *//' text | tr -s '\n ' ' ' >line && python3 - <<'PYTHON'
import json, re
notes = json.load(open("notes.json"))["notes"]
page = re.search(r'<script type="application/json" id="data">(.*?)</script>', open("notes.html", encoding="utf-8").read(), re.S).group(1)
text = open("line").read()
about = [n["about"] for n in notes]
print(about)
assert {"perfect_memory", "local_size_chosen", "launch_overhead", "not_validated"} <= set(about), about
assert json.loads(page)["notes"] == notes
for n in notes:
    said = "a10: not validated" if n["about"] == "not_validated" else " ".join(n["text"].split())
    assert text.count(said) == 1, (n, text)
PYTHON
}

text_is_short_when_quiet() {
	GPUSIM_TEXT=quiet preloaded "$build/kernels/demo" 1 2>&1 >/dev/null | awk '/./ { lines++ } END { exit lines != 1 }'
}

# Long names of GPUs and kernels, in all forms.
text_fits_a_hundred_columns() {
	local form
	sed 's/saxpy/saxpy_with_a_name_that_no_table_of_a_hundred_columns_has_room_for_beside_its_numbers/' "$root/kernels/demo.c" >long.c
	${CC:-cc} -I"$root" -o long long.c -lOpenCL -lm || return 1
	for form in quiet normal verbose; do
		GPUSIM_TEXT=$form GPUSIM_GPU=gtx480_card,pascal_projected,h200 preloaded ./long 1 2>text >/dev/null &&
			awk 'length > 100 { print; bad = 1 } END { exit bad || !NR }' text || return 1
	done
	grep -q 'saxpy_with.*\.\.\.' text
}

# On a terminal there are colours, unless NO_COLOR says otherwise.
colours_on_a_terminal_only() {
	! grep -q "$(printf '\033')" err &&
		script -qec "env LD_PRELOAD=$build/libgpusim.so $build/kernels/demo 1" /dev/null | grep -q "$(printf '\033')\[" &&
		! NO_COLOR=1 script -qec "env LD_PRELOAD=$build/libgpusim.so $build/kernels/demo 1" /dev/null | grep 'matmul' | grep -q "$(printf '\033')\["
}

# What a paper has to name: sources, host, driver, every key of the GPU, options and command. The slower GPU has 5 SMs.
provenance() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=from GPUSIM_RECORD=from.profile GPUSIM_SET=sm_count=5 preloaded "$build/kernels/demo" 1 >/dev/null 2>&1
	"$gpusim" replay from.profile --report json --output again >/dev/null 2>&1
	python3 - from.json again.json "$("$gpusim" show gtx480 | grep -c ' = ')" "$root" <<'PYTHON'
import json, os, subprocess, sys
a, again = (json.load(open(f)) for f in sys.argv[1:3])
host, target = a["host"], a["targets"][0]
print(a["tool"], host, a["run"])
assert all(host.values()) and "OpenCL" in host["platform_version"] and again["host"] == host
assert len(target["description"]) == int(sys.argv[3]) and target["description"]["sm_count"] == "5" and target["sm_count"] == 5
assert a["run"]["options"]["SET"] == "sm_count=5" and a["run"]["command"][0].endswith("demo") and a["run"]["command"][1:] == ["1"]
assert len(a["tool"]["models"]) == len(a["tool"]["compiler"]) == 12
commit = a["tool"]["commit"].split("-")[0]
assert not commit or not subprocess.run(["git", "-C", sys.argv[4], "cat-file", "-e", commit + "^{commit}"]).returncode
assert commit or not os.path.exists(sys.argv[4] + "/.git")
PYTHON
}
json_is_valid() { python3 "$root/tests/command/reports/schema.py" "$root/docs/report.schema.json" run.json; }

# keeps_rules PROGRAM...: programs with many queues, in order and out of order, with waits, user events and threads; and in
# boxes.
keeps_rules() {
	GPUSIM_REPORT=trace GPUSIM_OUTPUT=rules GPUSIM_GPU=gtx480,h200 preloaded "$@" >/dev/null 2>err &&
		python3 "$root/tests/command/reports/trace.py" rules.trace.json
}

trace_is_valid() {
	python3 "$root/tests/command/reports/trace.py" run.trace.json && keeps_rules "$build/tests/guest/queues" &&
		keeps_rules "$build/tests/guest/transfers" && GPUSIM_MEMORY=hierarchy keeps_rules "$build/tests/guest/boxes"
}

# A file in which one event is late, a name is missing or an arrow has no end must not pass.
trace_rules_can_fail() {
	local change
	for change in '[x for x in e if x["ph"] != "f"]' '[x for x in e if x["name"] != "process_name"]' \
		'[dict(x, dur=x["dur"] + 1e6) if x["ph"] == "X" else x for x in e]' '[dict(x, id=1) if "id" in x else x for x in e]'; do
		python3 -c 'import json, sys
t = json.load(open("run.trace.json"))
e = t["traceEvents"]
t["traceEvents"] = eval(sys.argv[1])
json.dump(t, open("broken.trace.json", "w"))' "$change" && ! python3 "$root/tests/command/reports/trace.py" broken.trace.json >/dev/null || return 1
	done
}

# Sums by name are sums of kernels alone: a call that enqueues a kernel has another name.
trace_counts_kernels_once() {
	python3 - <<'PYTHON'
import json
events = [e for e in json.load(open("run.trace.json"))["traceEvents"] if e["ph"] == "X" and e["pid"] == 1]
kernels = {k["name"]: k["estimates"][0]["total_ns"] for k in json.load(open("run.json"))["kernels"]}
for name, ns in kernels.items():
    found = sum(e["dur"] for e in events if e["name"] == name) * 1000
    assert abs(found - ns) <= 10, (name, found, ns)
assert any(e["name"] == "enqueue matmul" and e["cat"] == "call" for e in events)
PYTHON
}

# What changed is of all launches, as the times above it.
diff_compares_like_with_like() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=more GPUSIM_GPU=gtx480 preloaded "$build/kernels/demo" 6 >/dev/null 2>&1
	python3 - >changes <<'PYTHON'
import json
a, b = (next(e for k in json.load(open(f))["kernels"] if k["name"] == "matmul" for e in k["estimates"] if e["target"] == "gtx480")
        for f in ("run.json", "more.json"))
mhz = next(t["clock_mhz"] for t in json.load(open("run.json"))["targets"] if t["name"] == "gtx480")
print("%.3g" % ((b["cycles_by"]["issue"] - a["cycles_by"]["issue"]) / mhz))
PYTHON
	"$gpusim" diff run.json more.json >diff && head -1 diff | grep -q 'all launches$' && grep -q 'launches 2 -> 6; ' diff &&
		grep -q "issue +$(cat changes) us" diff
}

contrast_is_enough() { python3 "$root/tests/command/reports/contrast.py" "$root/runtime/cmd/page/page.css"; }

# The assembler's words, and those of users.
text_has_one_word_for_a_thing() {
	sed 's/^gpusim: *//' err | tr -s '\n ' ' ' | grep -Eq '[0-9.]+ [KM]? ?register bank conflicts' &&
		"$gpusim" annotate run.json --kernel matmul | grep -q "of no source line (the compiler's own)" &&
		"$gpusim" --help | grep -A3 'GPUSIM_DEVICE' | grep -q 'Default: any device$' && ! "$gpusim" --help | grep -q '; default:'
}

# A unit stands before a colon, what the key means after it.
show_tells_units_apart() {
	"$gpusim" show gtx480 | grep -q '^read_window .* # cycles: in which ' && "$gpusim" show h200 | grep -q '^clock_mhz .* # MHz, measured: '
}

# matmul: 65,536 work-items go 16 times around the outer loop. Its body is line 13.
lines_tell_what_ran() {
	holds run.json 'next(l for k in r["kernels"] if k["name"] == "matmul" for l in k["estimates"][0]["lines"]
		if l["line"] == 13)["executions"] == 2 * 65536 * 16' &&
		holds run.json 'all(abs(sum(l["cycles"] for l in e["lines"]) + e["cycles_by"]["launch"] + e["cycles_by"]["tail"] - e["cycles"])
			< 1e-3 * e["cycles"] for k in r["kernels"] for e in k["estimates"])' &&
		holds run.json '"__kernel void saxpy" in r["sources"][0]["text"]'
}

# Two queues and an out-of-order queue. Its launches have lanes of their own where they overlap, and the GPU is busy for less than the sum.
overlap_shows() {
	GPUSIM_PROFILING=simulated GPUSIM_REPORT=text,json,trace GPUSIM_OUTPUT=overlap GPUSIM_GPU=h200,gtx480 preloaded "$build/tests/guest/overlap" times 2>err &&
		grep -q 'h200: launches and copies overlap: busy for' err && python3 "$root/tests/command/reports/trace.py" overlap.trace.json && grep -q 'launches (2)' overlap.trace.json &&
		python3 "$root/tests/command/reports/schema.py" "$root/docs/report.schema.json" overlap.json &&
		holds overlap.json 'all(t["busy_ns"] < 0.95 * t["commands_ns"] and t["busy_ns"] < t["program_ns"] for t in r["timeline"]["totals"])'
}

# In one queue, no command begins before the previous one has ended.
timeline_keeps_the_order() {
	holds run.json 'len(r["timeline"]["commands"]) == 6 + 8 and all(a["times"][t][1] <= b["times"][t][0] + 1 for t in (0, 1)
		for a, b in zip(r["timeline"]["commands"], r["timeline"]["commands"][1:]))' &&
		holds run.json 'all(abs(t["busy_ns"] - t["commands_ns"]) < 1 for t in r["timeline"]["totals"])'
}

diff_says_why() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=slow GPUSIM_GPU=gtx480 GPUSIM_SET=sm_count=5 preloaded "$build/kernels/demo" 2 >/dev/null 2>&1
	"$gpusim" diff run.json slow.json >diff && grep -Eq '^ .*x slower +matmul$' diff && grep -q 'issue +' diff &&
		"$gpusim" diff run.json --gpu gtx480 --against h200 | grep -Eq 'x faster +matmul$' &&
		"$gpusim" diff run.json run.json | grep -Eq ' same +matmul$' && awk 'length > 104 { exit 1 }' diff
}

annotate_shows_heat() {
	"$gpusim" annotate run.json --kernel matmul --gpu h200 >heat && grep -Eq '^ +[0-9.]+% #+ .* sum \+= ta' heat &&
		awk 'length > 100 { exit 1 }' heat
}

page_of_hostile_text_is_text() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=hostile preloaded "$build/tests/guest/hostile" '</script><script>x' >/dev/null 2>err &&
		"$gpusim" report hostile.json && python3 - <<'PYTHON'
import json, re
page = open("hostile.html", encoding="utf-8").read()
data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
assert not re.search(r"[<>&]", data), "markup in the data"
assert page.count("<script") == 2 and page.count("</script") == 2, "another script"
assert "</script><script>document.title" in json.loads(data)["sources"][0]["text"], "the source is there as it is"
PYTHON
}

hostile_text_reaches_no_terminal() {
	"$gpusim" annotate hostile.json --all >heat && ! grep -q "$(printf '\033\\|\007')" heat
}

# gtx480 runs 4096 work-items in a few microseconds. The second launch follows the first.
simulated_times_are_told() {
	local told estimate
	told=$(GPUSIM_PROFILING=simulated GPUSIM_REPORT=json GPUSIM_OUTPUT=sim preloaded "$build/tests/guest/hostile" 2>err) &&
		[ "${told% *}" = 1 ] && holds sim.json "abs(r['launches'][0]['estimates'][0]['time_ns'] - ${told#* }) <= 1"
}

# peak GPU LEAST MOST [SETTING] ARGUMENT...: the result of a benchmark, in 10^9 per second.
peak() {
	local found
	found=$(GPUSIM_PROFILING=simulated GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=none GPUSIM_GPU=$1 GPUSIM_SET=$4 \
		preloaded "$build/tests/guest/peak" "${@:5}") && echo "$1: $found" && awk "BEGIN { exit !($found >= $2 && $found <= $3) }"
}

# The peaks are those of the vendors: 1345 GFLOPS on 15 SMs and 177.4 GB/s, 15.7 TFLOPS on 80, 67 TFLOPS on 132.
benchmarks_find_the_peaks() {
	peak gtx480_card 76.2 89.7 sm_count=1 compute 48 && peak v100 166.8 196.3 sm_count=1 compute 48 &&
		peak h200 431 508 sm_count=1 compute 48 && peak gtx480_card 150.8 177.4 '' read 960
}

target_speaks_for_the_device() {
	GPUSIM_IDENTITY=target GPUSIM_GPU=v100 GPUSIM_REPORT=none preloaded clinfo >info 2>err
	grep -q 'Device Name .*NVIDIA Tesla V100 SXM2' info && grep -Eq 'Max compute units +80' info &&
		grep -Eq 'Max clock frequency +1530' info && grep -Eq 'Device Type +GPU' info && grep -Eq 'Max work group size +1024' info
}

# 10,000 launches: the page stays small.
many_launches_make_a_small_page() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=many GPUSIM_MODEL=optimistic preloaded "$build/tests/guest/many" 10000 >/dev/null 2>err &&
		"$gpusim" report many.json && [ "$(wc -c <many.html)" -lt 5000000 ]
}

# heat2d makes two buffers of 64 KiB with contents, and reads one.
contents_of_new_memory_are_copies() {
	GPUSIM_MEMORY=perfect GPUSIM_REPORT=json GPUSIM_OUTPUT=contents preloaded "$build/kernels/shapes" -k "$root/kernels/shapes" heat2d small >/dev/null 2>err || return 1
	[ "$(jq -c '[.transfers[] | [.kind, .commands, .size_bytes]], [.timeline.commands[:3][].kind]' contents.json | tr -d '\n')" = \
		'[["read",1,65536],["write",2,131072]]["write","write","launch"]' ]
}

wrong_files_are_told() {
	echo '{}' >empty.json
	! "$gpusim" report empty.json 2>err && grep -q 'not a report of gpusim' err && ! "$gpusim" diff run.json 2>err &&
		! "$gpusim" annotate missing.json 2>err && grep -q 'missing.json' err
}

# Three GPUs: a launch that fills one does not wait for those of the others.
several_gpus() {
	[ "$(GPUSIM_DEVICES=3 GPUSIM_REPORT=text,json,trace GPUSIM_OUTPUT=several preloaded "$build/tests/guest/several" 2>err)" = "several: 3 ok" ] &&
		grep -q 'gtx480, GPU 2 of 3: busy for' err && grep -q 'GPU 2, queue' several.trace.json && python3 "$root/tests/command/reports/trace.py" several.trace.json &&
		python3 "$root/tests/command/reports/schema.py" "$root/docs/report.schema.json" several.json &&
		holds several.json 'sorted(c["gpu"] for c in r["timeline"]["commands"] if c["kind"] == "launch") == [0, 0, 1, 1, 2, 2] and len(r["timeline"]["gpus"][0]) == 3' &&
		holds several.json 'all(abs(c["times"][0][1] - c["times"][0][0] - r["launches"][0]["estimates"][0]["time_ns"]) < 0.05 * r["launches"][0]["estimates"][0]["time_ns"] for c in r["timeline"]["commands"] if c["kind"] == "launch")' &&
		[ "$(GPUSIM_REPORT=json GPUSIM_OUTPUT=one preloaded "$build/tests/guest/several" 2>err)" = "several: 1 ok" ] &&
		holds one.json 'r["timeline"]["gpus"] == [] and not any("gpu" in c for c in r["timeline"]["commands"])'
}

# 0 and 1 have a link of 10 GB/s and 500 ns, 1 and 2 one of 5 GB/s and 1000 ns. 184320 bytes take 18432 + 500 ns from 0 to 1, and from 0 to 2, over both
# links, 36864 + 1500 ns. A copy within GPU 0 is none between GPUs.
copies_between_gpus() {
	printf '0 1 10 500 # a comment\n\n2 1 5 1000\n' >links
	GPUSIM_DEVICES=3 GPUSIM_TOPOLOGY=links GPUSIM_REPORT=json GPUSIM_OUTPUT=links GPUSIM_RECORD=several.profile preloaded "$build/tests/guest/several" >/dev/null 2>err && [ ! -s err ] &&
		holds links.json '[(c["gpu"], round(c["times"][0][1] - c["times"][0][0])) for c in r["timeline"]["commands"] if c["kind"] == "peer"] == [(1, 18932), (2, 38364)]' &&
		holds links.json '[c["gpu"] for c in r["timeline"]["commands"] if c["kind"] == "copy"] == [0]' &&
		holds links.json '[(t["commands"], round(t["estimates"][0]["time_ns"])) for t in r["transfers"] if t["kind"] == "peer"] == [(2, 57296)]'
}

# A replay has the timeline of the run, with the same links and with others: twice the bandwidth here, so that a copy from 0 to 1 takes 9216 + 500 ns.
replays_have_timelines() {
	"$gpusim" replay several.profile --topology links --report json --output replayed 2>err && [ ! -s err ] && [ "$(jq -c .timeline links.json)" = "$(jq -c .timeline replayed.json)" ] &&
		[ "$(jq -c .transfers links.json)" = "$(jq -c .transfers replayed.json)" ] && printf '0 1 20 500\n2 1 10 1000\n' >wide &&
		"$gpusim" replay several.profile --topology wide --report json --output wide 2>err &&
		holds wide.json '[round(c["times"][0][1] - c["times"][0][0]) for c in r["timeline"]["commands"] if c["kind"] == "peer"] == [9716, 19932]' &&
		! "$gpusim" replay several.profile --topology absent --report none 2>err && [ "$(wc -l <err)" = 1 ] && grep -q 'replay: cannot open absent' err &&
		printf '0 7 20 500\n' >wrong && ! "$gpusim" replay several.profile --topology wrong --report none 2>err && grep -q 'wrong:1: there is no GPU 7: the program has 3' err
}

# One line each, and the program runs as if there were no file.
wrong_links_are_told() {
	printf '0 1 10 500\n1 3 10 500\n' >wrong
	[ "$(GPUSIM_DEVICES=3 GPUSIM_TOPOLOGY=wrong GPUSIM_REPORT=none preloaded "$build/tests/guest/several" 2>err)" = "several: 3 ok" ] &&
		[ "$(wc -l <err)" = 1 ] && grep -q 'wrong:2: there is no GPU 3: the program has 3' err &&
		GPUSIM_DEVICES=3 GPUSIM_TOPOLOGY=absent GPUSIM_REPORT=none preloaded "$build/tests/guest/several" >/dev/null 2>err && [ "$(wc -l <err)" = 1 ] && grep -q 'absent' err
}

# Idle power for the whole time, and a nJ for each instruction of the fma pipe; nothing where the description has no energies.
energy_is_told() {
	GPUSIM_REPORT=text,json,csv GPUSIM_OUTPUT=energy GPUSIM_GPU=h200 GPUSIM_TEXT=verbose \
		GPUSIM_SET=energy_idle_w=100,energy_sm_w=0,energy_lane_share=1,energy_fma_nj=1,energy_alu_nj=0,energy_other_nj=0,energy_lsu_nj=0,energy_xu_nj=0,energy_fp64_nj=0,energy_l1_nj=0,energy_shared_nj=0,energy_validated=0 \
		preloaded "$build/kernels/demo" 1 >/dev/null 2>text && python3 "$root/tests/command/reports/schema.py" "$root/docs/report.schema.json" energy.json &&
		grep -Eq 'energy: [0-9.]+ [mu]J, 1[0-9]+ W .not validated.: idle' text && sed 's/^gpusim: *//' text | tr -s '\n ' ' ' |
		grep -Eq 'h200: kernels take [0-9.]+ [mu]J, 1[0-9]+ W on average .energy is not validated' && python3 - <<'PYTHON'
import csv, json, math
r, rows = json.load(open("energy.json")), list(csv.DictReader(open("energy.csv")))
total, found = r["summary"][0]["energy"], [l["estimates"][0] for l in r["launches"]]
near = lambda a, b: math.isclose(a, b, rel_tol=1e-4)
assert found and not total["validated"] and near(sum(total["joules_by"].values()), total["joules"]), total
for e in found:
    assert near(e["energy"]["joules_by"]["idle"], 100e-9 * e["time_ns"]) and near(e["energy"]["joules_by"]["fma"], 1e-9 * e["machine_by"]["fma"]), e
assert near(total["joules"], sum(e["energy"]["joules"] for e in found)) and near(total["joules"], sum(float(row["energy_j"]) for row in rows))
assert near(total["joules"], sum(k["estimates"][0]["energy"]["joules"] for k in r["kernels"]))
assert near(total["watts"], total["joules"] / (r["summary"][0]["kernels_ns"] * 1e-9))
PYTHON
}
no_energy_without_keys() {
	holds run.json 'r["summary"][0]["target"] == "gtx480" and r["summary"][0]["energy"] is None' && python3 -c 'import csv; assert all(not r["energy_j"] for r in csv.DictReader(open("run.csv")) if r["target"] == "gtx480")'
}

check "all reports of a run are written" runs_with_all_reports
check "the text has one word for a thing" text_has_one_word_for_a_thing
check "html alone leaves no json" html_alone_leaves_no_json
check "what was not written is not named" what_was_not_written_is_not_named
check "the text says how far to trust it" text_says_how_far_to_trust_it
check "what is assumed is in text, JSON and page, once" notes_are_in_all_reports
check "the quiet text is a line per GPU" text_is_short_when_quiet
check "the text fits 100 columns" text_fits_a_hundred_columns
check "colours on a terminal only" colours_on_a_terminal_only
check "the json is as its schema says" json_is_valid
check "energy is in text, JSON and CSV" energy_is_told
check "no energy without its keys" no_energy_without_keys
check "the json says what made it, and with what" provenance
check "the trace keeps the format's rules" trace_is_valid
check "a trace that breaks them is found" trace_rules_can_fail
check "sums by name in the trace count kernels once" trace_counts_kernels_once
check "text in the page's bars can be read" contrast_is_enough
check "show tells units apart" show_tells_units_apart
check "lines tell what ran" lines_tell_what_ran
check "the timeline keeps the queue's order" timeline_keeps_the_order
check "launches that overlap are shown so" overlap_shows
check "several GPUs have lanes and times of their own" several_gpus
check "copies between GPUs take their links" copies_between_gpus
check "a replay has the timeline of the run, and takes links of its own" replays_have_timelines
check "wrong links are told" wrong_links_are_told
check "diff says what and why" diff_says_why
check "diff compares like with like" diff_compares_like_with_like
check "annotate shows heat in 100 columns" annotate_shows_heat
check "hostile text stays text in the page" page_of_hostile_text_is_text
check "hostile text reaches no terminal" hostile_text_reaches_no_terminal
check "simulated times are told" simulated_times_are_told
check "a benchmark finds the GPU's peaks" benchmarks_find_the_peaks
check "the target speaks for the device" target_speaks_for_the_device
check "10,000 launches make a small page" many_launches_make_a_small_page
check "contents of new memory are copies" contents_of_new_memory_are_copies
check "wrong files are told" wrong_files_are_told
echo "$passed passed, $failed failed"
[ $failed = 0 ]
