#!/usr/bin/env bash
# Tests what the library and the command promise to users, from outside: one check per promise.
#   tests/command/behaviour.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR, POCL_CACHE_DIR and GPUSIM_CACHE_DIR (tests/run.sh).
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480} GPUSIM_MEMORY=perfect # quicker, and most promises do not depend on it
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
lib=$build/libgpusim.so
gpusim=$build/gpusim
guest=$build/tests/guest
demo=$build/kernels/demo
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-behaviour.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$root/tests/check.sh"

preloaded() { LD_PRELOAD=$lib "$@"; }

# json FILE EXPRESSION: a Python expression over the report r must be true.
json() {
	python3 - "$1" "$2" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
if not eval(sys.argv[2]):
    print("not true:", sys.argv[2])
    print(json.dumps(r, indent=1)[:3000])
    sys.exit(1)
PYTHON
}

nothing_without_opencl() {
	preloaded "$guest/no" >out 2>err
	"$guest/no" 2>err2 | cmp - out && cmp err err2 && ! ls gpusim.* 2>/dev/null
}

report_on_stderr_only() {
	"$demo" >plain && (unset GPUSIM_GPU GPUSIM_MEMORY && preloaded "$demo" >out 2>err) && cmp plain out &&
		grep -q 'gpusim: .* saxpy$' err && grep -q 'gpusim: h200 ' err && ! grep -vq '^gpusim: ' err # h200: the default
}

report_fits_a_terminal() {
	GPUSIM_GPU=gtx480,v100,h200 GPUSIM_TEXT=verbose preloaded "$demo" 2>&1 >/dev/null |
		awk 'length > 100 { print; bad = 1 } END { exit bad || NR < 20 }'
}

quiet_with_report_none() {
	GPUSIM_REPORT=none preloaded "$demo" >out 2>err
	[ ! -s err ] && ! ls gpusim.* 2>/dev/null
}

json_says_it_all() {
	GPUSIM_MEMORY=hierarchy GPUSIM_REPORT=json,csv GPUSIM_OUTPUT=a GPUSIM_GPU=gtx480,h200 preloaded "$demo" 4 >/dev/null 2>err || return 1
	json a.json 'r["schema"] == "gpusim.report/1" and [t["name"] for t in r["targets"]] == ["gtx480", "h200"]' &&
		json a.json 'len(r["launches"]) == 12 and not r["not_modelled"]' &&
		json a.json 'sorted(l["seq"] for l in r["launches"]) == list(range(12))' &&
		json a.json 'all(len(l["estimates"]) == 2 and len(l["global"]) == len(l["local"]) == 3 for l in r["launches"])' &&
		json a.json 'all(set("""target model cycles time_ns low_ns high_ns limiter thread_instructions
			warp_instructions registers_per_thread occupancy blocks_per_sm register_bank_conflicts cycles_by memory
			lane_efficiency flags""".split()) <= set(e) for l in r["launches"] for e in l["estimates"])' &&
		json a.json 'all(abs(sum(e["cycles_by"].values()) - e["cycles"]) < 1 for l in r["launches"] for e in l["estimates"])' &&
		json a.json 'all(e["converged"] and len(e["convergence"]) == e["iterations"] and
			abs(e["convergence"][-1] - e["cycles"]) <= 0.01 * e["cycles"]
			for l in r["launches"] for e in l["estimates"] if e["target"] == "gtx480")' &&
		json a.json '{"read", "write"} <= {t["kind"] for t in r["transfers"]}' &&
		json a.json 'all(abs(s["kernels_ns"] - sum(e["time_ns"] for l in r["launches"] for e in l["estimates"]
			if e["target"] == s["target"])) < 1 for s in r["summary"])' &&
		[ "$(wc -l <a.csv)" = 25 ] # the header and 12 launches on 2 GPUs
}

process_id_in_the_name() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=x.%p.y preloaded "$demo" >/dev/null 2>&1
	ls x.*.y.json | grep -Eq '^x\.[0-9]+\.y\.json$'
}

# Each work-item of matmul counts one entry. The counters of every group must add up.
counts_agree_with_the_range() {
	json a.json 'not any("counts_disagree" in e["flags"] for l in r["launches"] for e in l["estimates"])'
}

killed_program_leaves_its_reports() {
	GPUSIM_REPORT=json,csv GPUSIM_OUTPUT=k preloaded "$guest/killed" >ready 2>err &
	local pid=$! i
	for i in $(seq 600); do
		grep -q ready ready 2>/dev/null && [ -s k.json ] && break
		sleep 0.05
	done
	sleep 0.5
	kill -9 $pid
	wait $pid 2>/dev/null
	json k.json 'len(r["launches"]) >= 1' && [ "$(wc -l <k.csv)" -ge 2 ]
}

# until_ready FILE: waits until a program in the background has printed "ready" into the file. Then its launches have ended.
until_ready() {
	local i
	for i in $(seq 600); do
		grep -q ready "$1" 2>/dev/null && return
		sleep 0.05
	done
	return 1
}

# interrupted SIGNAL NUMBER MODE [html]: the signal ends the program, and all reports have what is known. Shells ignore SIGINT
# in background jobs.
interrupted() {
	rm -f i.* ready
	GPUSIM_REPORT=text,json,csv${4:+,html} GPUSIM_OUTPUT=i env --default-signal LD_PRELOAD=$lib "$guest/signals" "$3" >ready 2>err &
	local pid=$! code
	until_ready ready || return 1
	sleep 0.3
	kill -"$1" $pid
	wait $pid 2>/dev/null
	code=$?
	cat err
	[ $code = $((128 + $2)) ] && grep -q '^gpusim: .* put$' err && { [ -z "${4:-}" ] || grep -q '</html>' i.html; } && ! ls i.*.new 2>/dev/null &&
		json i.json 'len(r["launches"]) >= 1 and len(r["launches"]) == sum(k["launches"] for k in r["kernels"])' &&
		[ "$(wc -l <i.csv)" = $(($(grep -c '"seq":' i.json) + 1)) ]
}

interrupted_program_leaves_its_reports() {
	interrupted INT 2 loop && interrupted TERM 15 threads && interrupted HUP 1 stuck html
}

ignored_signal_stays_ignored() {
	rm -f i.* ready
	GPUSIM_REPORT=text,json GPUSIM_OUTPUT=i env --default-signal --ignore-signal=HUP LD_PRELOAD=$lib "$guest/signals" loop >ready 2>err &
	local pid=$! code
	until_ready ready && kill -HUP $pid && sleep 0.3 && kill -0 $pid && [ ! -s err ] && kill $pid
	wait $pid 2>/dev/null
	[ $? = 143 ] && grep -q ' put$' err
}

crashed_program_leaves_valid_reports() {
	local ms
	for ms in 90 410 1600; do # the first launch need not be modelled after 90 ms, and is after 1600
		rm -f c.*
		GPUSIM_REPORT=json,csv GPUSIM_OUTPUT=c preloaded "$guest/signals" crash $ms >/dev/null 2>err
		[ $? = 139 ] || return 1
		[ $ms != 1600 ] && [ ! -e c.json ] && continue
		json c.json 'len(r["launches"]) >= 1' && [ -z "$(tail -c 1 c.csv)" ] && [ "$(ls c.* | wc -l)" = 2 ] || return 1
	done
}

report_begins_a_line() {
	preloaded "$guest/signals" open 2>err && grep -qx "the program's own line" err && ! grep -q '^$' err &&
		preloaded "$guest/signals" open 2>&1 | cat >both && grep -qx "the program's own line" both
}

report_follows_a_link() {
	rm -rf links && mkdir links && ln -s "$work/links/real" links/r.json && touch links/r.csv && chmod 600 links/r.csv || return 1
	GPUSIM_REPORT=json,csv GPUSIM_OUTPUT=links/r preloaded "$guest/killed" 0 >/dev/null 2>err &&
		[ -L links/r.json ] && json links/real 'len(r["launches"]) == 3' && [ "$(stat -c %a links/r.csv)" = 600 ] &&
		[ "$(ls links | wc -l)" = 3 ]
}

# The driver needs the rest for its own start. A twin is made if there is enough memory for it.
limited_address_space() {
	(ulimit -v 400000 && "$guest/killed" 0 >out 2>&1) || return 0 # it fails even without us
	(ulimit -v 400000 && preloaded "$guest/killed" 0 >out2 2>err) && cmp out out2 && grep -q ' fill$\|not modelled.*ulimit' err &&
		(ulimit -v 1000000 && preloaded "$guest/killed" 0 >out2 2>err) && cmp out out2 && grep -q ' fill$' err
}

# gone PID: the process ends within two seconds.
gone() {
	local i
	for i in $(seq 40); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	ps -o pid,ppid,stat,args "$1"
	kill -9 "$1"
	return 1
}

# gpusim-cc is stopped, as by a debugger, while the application is killed or interrupted.
stopped_gpusim_cc_ends_with_the_program() {
	printf '#!/bin/sh\necho $$ >%s/stopped.new\nmv %s/stopped.new %s/stopped\nkill -STOP $$\nsleep 60\n' "$work" "$work" "$work" >stop
	chmod +x stop
	local signal i pid
	for signal in KILL INT; do
		rm -f stopped
		GPUSIM_CC=$work/stop GPUSIM_CACHE_SIZE=0 env --default-signal LD_PRELOAD=$lib "$guest/killed" >out 2>err &
		pid=$!
		for i in $(seq 200); do
			[ -s stopped ] && break
			sleep 0.05
		done
		kill -$signal $pid
		wait $pid 2>/dev/null
		gone "$(cat stopped)" || return 1
	done
}

not_twice_with_both_ways() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=b LD_PRELOAD=$lib OPENCL_LAYERS=$lib "$demo" >/dev/null 2>err &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=c "$gpusim" run -- "$demo" >/dev/null 2>err &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=d OPENCL_LAYERS=$lib "$demo" >/dev/null 2>err &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=e preloaded "$demo" >/dev/null 2>err || return 1
	local f
	for f in b c d e; do
		json $f.json 'len(r["launches"]) == 12' || return 1
	done
}

dlopen_is_caught_as_a_layer() {
	GPUSIM_REPORT=json "$gpusim" run --output=dl -- "$guest/dlopen" >/dev/null 2>err &&
		json dl.json 'len(r["launches"]) >= 1 and not r["not_modelled"]'
}

off_means_off() {
	GPUSIM_OFF=1 GPUSIM_MODEL=nonsense preloaded "$demo" >out 2>err && [ ! -s err ] &&
		GPUSIM_OFF=1 OPENCL_LAYERS=$lib "$demo" >out 2>err && [ ! -s err ]
}

bad_values_are_told_in_one_line() {
	GPUSIM_MODEL=magic GPUSIM_GPU=gtx48 GPUSIM_REPORTS=json GPUSIM_LOG=loud GPUSIM_SET=sm_cout=3 \
		preloaded "$demo" >out 2>err || return 1
	grep -qx "gpusim: GPUSIM_MODEL: 'magic' is not allowed; allowed: full|optimistic|probabilistic|occupancy; using 'full'" err &&
		grep -q "^gpusim: GPUSIM_GPU: there is no GPU 'gtx48' (did you mean 'gtx480'?); using 'h200'" err &&
		grep -q "^gpusim: GPUSIM_REPORTS is not one of our variables; did you mean GPUSIM_REPORT?" err &&
		grep -q "^gpusim: GPUSIM_LOG: 'loud' is not allowed" err &&
		grep -q "^gpusim: GPUSIM_SET: .*sm_cout.*sm_count" err && grep -q ' saxpy$' err
}

settings_override_a_gpu() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=s GPUSIM_SET=sm_count=1 preloaded "$demo" >/dev/null 2>err &&
		json s.json 'r["targets"][0]["sm_count"] == 1' &&
		python3 -c 'import json
def cycles(file):
    launches = sorted(json.load(open(file))["launches"], key=lambda l: l["seq"])
    return [l["estimates"][0]["cycles"] for l in launches]
assert all(one > 5 * fifteen for one, fifteen in zip(cycles("s.json"), cycles("e.json")))'
}

patterns_choose_kernels() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=p GPUSIM_KERNELS='sax*,none' preloaded "$demo" >/dev/null 2>err &&
		json p.json '{l["kernel"] for l in r["launches"]} == {"saxpy"}' &&
		json p.json '{n["reason"] for n in r["not_modelled"]} == {"not among GPUSIM_KERNELS"}'
}

device_is_chosen() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=v GPUSIM_DEVICE=0.0 preloaded "$demo" >/dev/null 2>err &&
		json v.json 'len(r["launches"]) == 12' &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=v GPUSIM_DEVICE=voodoo preloaded "$demo" >/dev/null 2>err &&
		json v.json 'not r["launches"] and "GPUSIM_DEVICE" in r["not_modelled"][0]["reason"]'
}

gpu_is_offered_to_those_who_insist() {
	"$guest/gpu_only" >out 2>&1
	[ $? = 3 ] || return 1
	preloaded "$guest/gpu_only" >out 2>err && grep -q 'groups of 1024' out &&
		preloaded "$guest/gpu_only" context >out 2>err && grep -q 'groups of 1024' out &&
		GPUSIM_LIMITS=host preloaded "$guest/gpu_only" >out 2>err && ! grep -q 'groups of 1024' out || return 1
	GPUSIM_OFFER_GPU=never preloaded "$guest/gpu_only" >out 2>err
	[ $? = 3 ]
}

broken_gpusim_cc_leaves_kernels_alone() {
	printf '#!/bin/sh\nkill -SEGV $$\n' >crash
	printf '#!/bin/sh\nsleep 60\n' >hang
	printf '#!/bin/sh\necho garbage >$2\n' >garbage
	chmod +x crash hang garbage
	local what
	for what in crash hang garbage absent; do
		GPUSIM_CC=$work/$what GPUSIM_CC_TIMEOUT=1 GPUSIM_CACHE_SIZE=0 preloaded "$demo" >out 2>err && cmp plain out || return 1
		grep -q '^gpusim: not modelled: 4 launches of saxpy: .*gpusim-cc\|GPUSIM_CC' err || { cat err; return 1; }
		[ "$(grep -c '^gpusim: not modelled' err)" = 3 ] || return 1
	done
}

# Warps of more than 64 lanes cannot be modelled. The report says this, and not that memory ran out.
models_say_why_they_fail() {
	GPUSIM_SET=warp_size=128 preloaded "$demo" >out 2>err && cmp plain out || return 1
	grep -q '^gpusim: not modelled: 4 launches of saxpy: it cannot be modelled: its warps' err || { cat err; return 1; }
}

damaged_cache_is_made_again() {
	rm -rf cache
	GPUSIM_CACHE_DIR=$work/cache preloaded "$demo" >/dev/null 2>err && [ -n "$(ls cache/results)" ] || return 1
	for f in cache/results/*; do head -c 100 "$f" >t && mv t "$f"; done
	GPUSIM_CACHE_DIR=$work/cache preloaded "$demo" >/dev/null 2>err && grep -q ', 0 from the cache' err || return 1
	GPUSIM_CACHE_DIR=$work/cache preloaded "$demo" >/dev/null 2>err && grep -q ', 1 from the cache' err || return 1
	GPUSIM_CACHE_DIR=/proc/none preloaded "$demo" >/dev/null 2>err && grep -q ' saxpy$' err
}

changed_include_is_noticed() {
	mkdir -p inc
	cat >inc.c <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
int main(void)
{
	cl_platform_id p; cl_device_id d; size_t one = 1; int out = 0;
	clGetPlatformIDs(1, &p, NULL); clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL);
	cl_context c = clCreateContext(NULL, 1, &d, NULL, NULL, NULL);
	cl_command_queue q = clCreateCommandQueue(c, d, 0, NULL);
	const char *s = "#include \"value.h\"\n__kernel void f(__global int *x) { *x = VALUE; }";
	cl_program pr = clCreateProgramWithSource(c, 1, &s, NULL, NULL);
	if (clBuildProgram(pr, 1, &d, "-I inc", NULL, NULL)) return 1;
	cl_kernel k = clCreateKernel(pr, "f", NULL);
	cl_mem m = clCreateBuffer(c, CL_MEM_READ_WRITE, 4, NULL, NULL);
	clSetKernelArg(k, 0, sizeof m, &m);
	clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, NULL);
	clEnqueueReadBuffer(q, m, CL_TRUE, 0, 4, &out, 0, NULL, NULL);
	printf("%d\n", out);
	return 0;
}
C
	gcc -o inc.bin inc.c -lOpenCL || return 1
	echo '#define VALUE 1' >inc/value.h
	[ "$(preloaded ./inc.bin 2>err)" = 1 ] && grep -q ' f$' err || return 1
	[ "$(preloaded ./inc.bin 2>err)" = 1 ] && grep -q ', 1 from the cache' err || return 1
	echo '#define VALUE 2' >inc/value.h
	POCL_CACHE_DIR=$work/fresh "$work/inc.bin" >plain2
	[ "$(POCL_CACHE_DIR=$work/fresh preloaded ./inc.bin 2>err)" = 2 ] && grep -q ', 0 from the cache' err
}

binary_is_recognised_later() {
	preloaded "$guest/binary" save bin >out 2>err &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=n preloaded "$guest/binary" load bin >out 2>err &&
		json n.json 'r["launches"] and not r["not_modelled"]' &&
		GPUSIM_CACHE_DIR=$work/empty GPUSIM_REPORT=json GPUSIM_OUTPUT=n preloaded "$guest/binary" load bin >out 2>err &&
		json n.json '"PYOPENCL_NO_CACHE=1" in r["not_modelled"][0]["reason"] and not r["launches"]'
}

binary_with_includes_is_recognised_while_they_hold() {
	GPUSIM_REPORT=json GPUSIM_OUTPUT=h preloaded "$guest/rude" binary-kept >out 2>err &&
		json h.json 'r["launches"] and not r["not_modelled"]' &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=h preloaded "$guest/rude" binary >out 2>err &&
		json h.json 'not r["launches"] and r["not_modelled"]' && [ "$(cat out)" = 7 ]
}

children_are_followed_or_not() {
	rm -f f.*
	GPUSIM_REPORT=json "$gpusim" run --output f.%p -- sh -c "$demo; $demo" >/dev/null 2>&1
	[ "$(ls f.*.json | wc -l)" = 2 ] || return 1
	rm -f f.*
	GPUSIM_REPORT=json "$gpusim" run --follow 0 --output f.%p -- sh -c "$demo; $demo" >/dev/null 2>&1
	! ls f.*.json 2>/dev/null && GPUSIM_REPORT=json "$gpusim" run --follow 0 --output f.%p "$demo" >/dev/null 2>&1 &&
		[ "$(ls f.*.json | wc -l)" = 1 ]
}

same_output_name_in_two_processes() {
	rm -f g.*
	GPUSIM_REPORT=json GPUSIM_OUTPUT=g preloaded "$guest/killed" >ready 2>err &
	local pid=$! i
	for i in $(seq 600); do
		[ -s g.json ] && break
		sleep 0.05
	done
	GPUSIM_REPORT=json GPUSIM_OUTPUT=g preloaded "$demo" >/dev/null 2>err
	kill -9 $pid
	wait $pid 2>/dev/null
	[ "$(ls g.*json | wc -l)" = 2 ] && grep -q 'another process' err
}

closed_stderr_is_not_written_to() {
	preloaded "$demo" >out 2>&- && cmp plain out
	GPUSIM_GPU=nonsense preloaded sh -c "exec 2>&-; exec 3>data; exec $demo" >out; [ ! -s data ]
}

reader_of_stderr_goes_away() {
	{ GPUSIM_LOG=debug preloaded "$demo" 2>&1 >out; echo $? >code; } | true
	sleep 0.2
	[ "$(cat code)" = 0 ] && cmp plain out
}

# 2000 launches at once, with room for four. The program waits for none of them, and those without counters take the time of the others.
# Times differ by where the kernel's instructions are: in DRAM, in L2, then in all SMs.
counters_are_bounded() {
	GPUSIM_COUNTER_MEMORY=16K GPUSIM_REPORT=json GPUSIM_OUTPUT=m preloaded "$guest/many" 2000 >out 2>err &&
		json m.json '(len(r["launches"]) == 2000 and not r["not_modelled"] and r["summary"][0]["launches"] == 2000 and
			r["cost"]["not_counted_launches"] == sum("not_counted" in l["estimates"][0]["flags"] for l in r["launches"]) and
			r["cost"]["not_counted_launches"] > 1000 and len({l["estimates"][0]["time_ns"] for l in r["launches"]}) <= 3)'
}
# A clang that changes what a kernel computes makes a twin that differs. This is found, and the program gets the kernel's own
# results. To find it, a kernel runs again, also where the program has released the memory that it reads.
twin_that_differs_is_found() {
	cat >liar <<-'END'
		#!/bin/sh
		case " $* " in
		*" -E "*) clang-19 "$@" | sed 's/\* 3 + 1/* 3 + 2/' ;;
		*) exec clang-19 "$@" ;;
		esac
	END
	chmod +x liar
	"$guest/shadow" >plain.shadow
	for time in 1 2; do # the second process knows it from the cache
		GPUSIM_CACHE_DIR=$PWD/liars GPUSIM_CLANG=$PWD/liar GPUSIM_REPORT=text,json GPUSIM_OUTPUT=l preloaded "$guest/shadow" >out 2>err || return 1
		cmp plain.shadow out && grep -q '^gpusim: twin differs: .* of chain ' err || return 1
		# Which work-item of slots is first is chance: it may differ from its twin, and be the same twice.
		json l.json 'all((k["twin"]["differs"] > 0) == (k["name"] in ("chain", "from")) for k in r["kernels"] if k["name"] != "slots")' || return 1
	done
}

# What the driver made of our text is taken from the cache, and not with other settings of the driver.
built_programs_are_kept() (
	rm -rf built
	export GPUSIM_CACHE_DIR=$work/built GPUSIM_LOG=debug:twin
	preloaded "$demo" >first 2>err && ! grep -q 'a program comes from the cache' err || return 1
	preloaded "$demo" >second 2>err && grep -q 'a program comes from the cache' err && ! grep -q 'is built from its text' err || return 1
	POCL_EXTRA_BUILD_FLAGS=-DOTHER preloaded "$demo" >third 2>err && ! grep -q 'a program comes from the cache' err || return 1
	cmp first second && cmp first third
)

command_line_errors() {
	"$gpusim" run --gup h200 true 2>err
	[ $? = 2 ] && grep -q 'did you mean --gpu' err || return 1
	"$gpusim" run --gpu h2000 true 2>err
	[ $? = 2 ] && grep -q "did you mean 'h200'" err || return 1
	"$gpusim" run --model x true 2>err
	[ $? = 2 ] && grep -q 'allowed: full' err || return 1
	"$gpusim" rum 2>err
	[ $? = 2 ] && grep -q "did you mean 'run'" err || return 1
	"$gpusim" run ./no-such-program 2>err
	[ $? = 127 ] && grep -q 'no-such-program' err && "$gpusim" run sh -c 'exit 42'
	[ $? = 42 ]
}

gpus_are_listed_and_shown() {
	local g
	for g in gtx480 gtx480_card m2090 k40 k6000 titanx v100 qv100 rtx2060 rtx3070 a100 h100 h200 tegra_k1 pascal_projected; do
		"$gpusim" gpus | grep -q "^$g " && "$gpusim" show $g | grep -q '^sm_count .*#' || { echo $g; return 1; }
	done
	"$gpusim" show gtx480 | grep -q '^two_level_warps .*# warps: active warps' || return 1
	"$gpusim" show gtx480 --set clock_mhz=1 | grep '^clock_mhz' | grep -q GPUSIM_SET
}

own_gpu_needs_no_c() {
	printf 'base = gtx480\nname = mine\ntitle = A GPU of my own\nsm_count = 3 # SMs, invented\n' >mine.gpu
	GPUSIM_REPORT=json GPUSIM_OUTPUT=o GPUSIM_GPU=./mine.gpu preloaded "$demo" >/dev/null 2>err &&
		json o.json 'r["targets"][0]["name"] == "mine" and r["targets"][0]["sm_count"] == 3'
}

page_has_the_options() {
	"$gpusim" --help-markdown >table
	sed -n '/^| variable/,/^$/p' "$root/docs/options.md" | sed '/^$/d' | diff - table
}

# One table (models/flags.def) has the flags. Documentation and schema follow it.
flags_are_documented() {
	"$gpusim" --help-flags >flags
	grep '^|' "$root/docs/flags.md" | diff - flags &&
		sed -n 's/^| `\(.*\)` | .* | .* |$/\1/p' flags | diff <(jq -r '."$defs".flags.items.enum[]' "$root/docs/report.schema.json") -
}

help_is_there() {
	"$gpusim" --help | grep -q GPUSIM_GPU && "$gpusim" --version | grep -q '^gpusim [0-9]' && "$build/gpusim-cc" --version &&
		grep -q GPUSIM_REPORT "$build/gpusim.1"
}

cite_names_the_version() {
	"$gpusim" cite >cited && grep -q "version = {$("$gpusim" --version | cut -d' ' -f2)}" cited && grep -Eq '^% h200: .*[0-9.]+% off' cited && ! grep -q 'not validated' cited
}

# Every command has help and a manual page with its flags. Those of explain and tune print their own help, from which the table may not differ.
help_of_commands() {
	local command flag
	for command in $("$gpusim" --help-commands); do
		"$gpusim" "$command" --help >help && grep -q "^Usage: gpusim $command" help && "$gpusim" --help-man "$command" >page && grep -q '^.SH SYNOPSIS' page || return 1
		for flag in $(sed -n "s/^COMMAND_FLAG(\"$command\", \"\(-[^\"]*\)\".*/\1/p" "$root/runtime/cmd/flags.def"); do
			grep -q -- "^  $flag" help && grep -Fq -- "${flag//-/\\-}" page || { echo "$command $flag"; return 1; }
		done
	done
	! "$gpusim" help nothing 2>err && grep -q "no command 'nothing'" err
}

# words WORD...: what bash offers for the last word.
words() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_gpusim
	echo "${COMPREPLY[*]}"
}

completes() {
	"$gpusim" --help-bash >completion && . ./completion && gpusim() { "$build/gpusim" "$@"; } && [ "$(words gpusim sw)" = sweep ] &&
		[ "$(words gpusim sweep --var)" = --vary ] && [ "$(words gpusim run --gpu rtx4)" = rtx4090 ] &&
		[ "$(words gpusim run --memory '')" = 'perfect hierarchy' ] && "$gpusim" --help-zsh | grep -q '^#compdef gpusim$' &&
		{ ! command -v zsh >/dev/null || { "$gpusim" --help-zsh >_gpusim && zsh -n _gpusim; }; }
}

gpus_as_json() {
	"$gpusim" gpus --json >list.json && [ "$(jq 'length' list.json)" = "$(($("$gpusim" gpus | wc -l) - 1))" ] &&
		[ "$(jq -c '[.[] | select(.validated) | .name]' list.json)" = '["gtx480","h200"]' ] && [ "$(jq '.[] | select(.name == "t4") | .sm_count' list.json)" = 40 ]
}

# Lines are no longer than a terminal of 80 columns.
width_of_the_terminal() {
	script -qec "stty cols 80; $gpusim sweep --help; env GPUSIM_GPU=gtx480 GPUSIM_MEMORY=perfect LD_PRELOAD=$lib $demo 1" /dev/null | sed 's/\x1b\[[0-9;]*[mK]//g; s/\r//g' >lines
	grep -q ' saxpy$' lines && grep -q '^Usage: ' lines && grep -v 'a launch waits' lines | awk 'length > 80 { print; bad = 1 } END { exit bad }'
}

installed_copy_works() {
	make -s -C "$root" install O="$build" DESTDIR="$work/dest" PREFIX=/usr >/dev/null &&
		ls "$work"/dest/usr/share/{man/man1/gpusim-sweep.1,doc/gpusim/{options.md,report.schema.json},bash-completion/completions/gpusim} &&
		"$work/dest/usr/bin/gpusim" run "$demo" >out 2>err && cmp plain out && grep -q ' saxpy$' err &&
		make -s -C "$root" uninstall DESTDIR="$work/dest" PREFIX=/usr >/dev/null && [ -z "$(find dest -type f)" ]
}

check "a program without OpenCL: we print nothing" nothing_without_opencl
check "the report is on stderr, every line ours, stdout unchanged" report_on_stderr_only
check "the report fits a terminal" report_fits_a_terminal
check "GPUSIM_REPORT=none is silent" quiet_with_report_none
check "JSON and CSV say it all, launch by launch" json_says_it_all
check "counts agree with the range" counts_agree_with_the_range
check "%p in GPUSIM_OUTPUT is the process id" process_id_in_the_name
check "a killed program leaves valid reports" killed_program_leaves_its_reports
check "a program that a signal ends leaves its reports" interrupted_program_leaves_its_reports
check "a signal that is ignored stays ignored" ignored_signal_stays_ignored
check "a crashed program leaves valid reports" crashed_program_leaves_valid_reports
check "the report begins a line of its own" report_begins_a_line
check "a report goes where a link leads, and keeps its mode" report_follows_a_link
check "a limited address space is enough where it is without us" limited_address_space
check "LD_PRELOAD, OPENCL_LAYERS, both and gpusim run count the same" not_twice_with_both_ways
check "a program that dlopens libOpenCL is caught" dlopen_is_caught_as_a_layer
check "GPUSIM_OFF=1 stays out" off_means_off
check "bad values are told in one line each" bad_values_are_told_in_one_line
check "GPUSIM_SET overrides a description" settings_override_a_gpu
check "GPUSIM_KERNELS chooses kernels" patterns_choose_kernels
check "GPUSIM_DEVICE chooses the device" device_is_chosen
check "a GPU is offered to programs that insist" gpu_is_offered_to_those_who_insist
check "a gpusim-cc that crashes, hangs or lies leaves kernels alone" broken_gpusim_cc_leaves_kernels_alone
check "a launch that the models refuse has their reason" models_say_why_they_fail
check "a stopped gpusim-cc ends with the program" stopped_gpusim_cc_ends_with_the_program
check "a damaged or impossible cache does no harm" damaged_cache_is_made_again
check "programs that the driver built for us are kept" built_programs_are_kept
check "a changed include file is noticed" changed_include_is_noticed
check "a binary is recognised in a later process" binary_is_recognised_later
check "a binary with includes is recognised while they hold" binary_with_includes_is_recognised_while_they_hold
check "children are followed unless told otherwise" children_are_followed_or_not
check "two processes with one output name keep both reports" same_output_name_in_two_processes
check "a closed stderr is not written to" closed_stderr_is_not_written_to
check "a reader of stderr that goes away does no harm" reader_of_stderr_goes_away
check "counters in flight are bounded, and what finds no room is told" counters_are_bounded
check "a twin that differs from its kernel is found and kept from the results" twin_that_differs_is_found
check "the command's errors are one line and exit code 2" command_line_errors
check "every GPU is listed and shown with sources" gpus_are_listed_and_shown
check "a GPU of one's own needs no C" own_gpu_needs_no_c
check "the table in docs/options.md is the program's" page_has_the_options
check "docs and schema have the flags of estimates" flags_are_documented
check "--help, --version and the manual page" help_is_there
check "cite names the version and what was measured" cite_names_the_version
check "help and manual pages of commands" help_of_commands
check "completion for shells" completes
check "gpus as JSON" gpus_as_json
check "the width of the terminal" width_of_the_terminal
check "an installed copy works and uninstalls" installed_copy_works
echo "$passed passed, $failed failed"
[ $failed = 0 ]
