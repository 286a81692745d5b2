#!/usr/bin/env bash
# Tests what gpusim record, replay and sweep promise, from outside: one check per promise.
#   tests/command/profiles.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-profiles.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
. "$here/../check.sh"

# estimates FILE.json: every number that the models made, and nothing that depends on the run.
estimates() { sed -n '/"launches":\[/,/^"transfers"/p' "$1" | sed 's/"\(measured\|modelled\)_ns":[^,]*,//g'; }

# A profile that was recorded for gtx480 alone. All groups are traced: which ones a later launch traces else depends on how fast the machine is
# (docs/guest.md, Rules).
recorded() {
	GPUSIM_TRACE=all "$gpusim" record -o p --gpu gtx480 -- "$build/kernels/launches" -k "$here/../../kernels" collatz 4096 8 >out &&
		grep -q '8 launches' out && [ "$(head -1 p)" = 'gpusim-profile 1' ] && tail -2 p | grep -aq '^end 0 0 '
}

# -o stands anywhere before the program, and needs a file.
file_anywhere() {
	"$gpusim" record --gpu gtx480 -o later --trace never -- "$build/kernels/launches" -k "$here/../../kernels" collatz 200 1 >out &&
		[ "$(head -1 later)" = 'gpusim-profile 1' ] && ! "$gpusim" record --gpu gtx480 -o 2>why && [ "$(cat why)" = 'gpusim: record: -o needs a file' ]
}

# The same program has the same estimates if it is modelled at once and if it is modelled from the profile. There is room for the traces of all launches: on a busy
# machine they come faster than they are read.
replayed_as_run() {
	GPUSIM_TRACE=all GPUSIM_TRACE_MEMORY=2G GPUSIM_REPORT=json GPUSIM_OUTPUT=run "$gpusim" run --gpu gtx480,h200 -- \
		"$build/kernels/launches" -k "$here/../../kernels" collatz 4096 8 >out &&
		GPUSIM_REPORT=json GPUSIM_OUTPUT=again "$gpusim" replay p --gpu gtx480,h200 && estimates run.json >a && estimates again.json >b &&
		[ -s a ] && cmp a b
}

# collatz_some is the profile's only kernel.
replay_kernels() {
	"$gpusim" replay p --gpu v100 --kernels 'other*' 2>none && ! grep -q collatz_some none &&
		"$gpusim" replay p --gpu v100 --kernels 'other*,coll*' 2>some && grep -q collatz_some some
}

# A launch has the estimate that it has among all, with what those before it left in caches.
replay_only() {
	"$gpusim" replay p --gpu gtx480 --memory hierarchy --sampling off --report json --output all 2>/dev/null &&
		"$gpusim" replay p --gpu gtx480 --memory hierarchy --sampling off --report json --output few --only 5,2-3 2>/dev/null &&
		"$gpusim" replay p --gpu gtx480 --report json --output named --only='coll*' 2>/dev/null && python3 - <<'PYTHON'
import json
def read(name): # what depends on the run left out
    return {l['seq']: {k: v for k, v in l.items() if k not in ('measured_ns', 'modelled_ns')} for l in json.load(open(name))['launches']}
whole, few = read('all.json'), read('few.json')
assert list(few) == [2, 3, 5] and all(few[n] == whole[n] for n in few), few
assert list(read('named.json')) == list(whole)
PYTHON
}
replay_only_refused() {
	refused 'only 99: none of the 8 launches of p' "$gpusim" replay p --gpu gtx480 --only 99 && refused 'only 3-1: expected launches' "$gpusim" replay p --only 3-1 &&
		refused 'only 3,: expected' "$gpusim" replay p --only=3, && refused 'only 2x: expected' "$gpusim" sweep p --only 2x --vary sm_count=4,8 &&
		refused 'only : expected' "$gpusim" what-if p --only ''
}
sweep_only() {
	"$gpusim" sweep p --gpu gtx480 --vary sm_count=4,8 -o some --only 2 >table 2>err && "$gpusim" sweep p --gpu gtx480 --vary sm_count=4,8 -o all >table 2>err &&
		python3 -c 'import csv; a, b = (float(next(csv.DictReader(open(f)))["time_ns"]) for f in ("some.csv", "all.csv")); assert 0 < a < b / 3, (a, b)'
}

# A profile that was recorded for selected code has no other. It is taken, and the report says so.
replay_for_machine_code() {
	"$gpusim" replay p --gpu h200 --report json --output plain 2>err && ! grep -q "machine's" plain.json &&
		"$gpusim" replay p --gpu h200 --code machine --report json --output wished 2>err && estimates plain.json >a && estimates wished.json >b && [ -s a ] && cmp a b &&
		grep -q "selected code instead of the machine's on h200 for collatz_some: the profile was recorded without GPUSIM_CODE=machine" wished.json
}

replay_text() { "$gpusim" replay p --gpu v100 2>text && grep -q 'v100 (' text && grep -q collatz_some text && ! grep -q 'cost:' text; }

# The page is made by the command itself.
replay_page() { "$gpusim" replay p --gpu v100 --report html --output page 2>err && [ ! -s err ] && grep -q collatz_some page.html && [ ! -e page.html.json ]; }

# refused EXPECTED COMMAND...: the exit code is 2, and one line says why.
refused() {
	local expected=$1 code
	shift
	"$@" >out 2>err
	code=$?
	cat err
	[ $code = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q "$expected" err && [ ! -s out ]
}

cut_is_refused() {
	head -c 5000 p >cut
	refused 'ends early' "$gpusim" replay cut --gpu gtx480
}

cut_is_taken_in_part() {
	head -c $(($(wc -c <p) - 100)) p >most
	"$gpusim" replay most --partial --gpu gtx480 2>text && grep -q 'what comes before' text && grep -q 'collatz_some' text
}

damaged_is_refused() {
	cp p bad
	printf '\377' | dd of=bad bs=1 seek=3000 conv=notrunc 2>/dev/null
	refused 'is damaged' "$gpusim" replay bad --gpu gtx480
}

# replay reads a pipe once. An endless file is not a profile.
pipes_and_devices() {
	mkfifo pipe && { cat p >pipe & } && timeout 60 "$gpusim" replay pipe --gpu gtx480 2>text && grep -q 'collatz_some' text &&
		refused 'not a regular file' timeout 20 "$gpusim" sweep pipe --gpu gtx480 --vary sm_count=4,8 &&
		refused 'is not a profile' timeout 20 "$gpusim" replay /dev/zero --gpu gtx480
}

swept() {
	"$gpusim" sweep p --gpu gtx480 --vary sm_count=4,8 --vary schedulers_per_sm=1,2 -o s >table 2>err &&
		[ "$(grep -c collatz_some table)" = 4 ] && [ "$(grep -c ',\*,' s.csv)" = 4 ] && grep -q '</svg>' s.svg &&
		[ "$(awk -F, '$4 == "*" && $2 == 4 && $3 == 2 { print $5 }' s.csv | cut -d. -f1)" -gt \
			"$(awk -F, '$4 == "*" && $2 == 8 && $3 == 2 { print $5 }' s.csv | cut -d. -f1)" ]
}

# Ranges and suffixes: 4, 8, 12; 2, 4, 8; two ways to write 768 KiB. Every kernel has its limiter. A plot has a title and at least four marks of time.
swept_in_ranges() {
	"$gpusim" sweep p --gpu gtx480 --vary sm_count=4..12:4 --vary max_blocks_per_sm=2..8:x2,6 --set l1_bytes=16Ki -o r >table 2>err || { cat err; return 1; }
	[ "$(awk 'NR > 1 { print $1 }' table | sort -nu | tr '\n' ' ')" = '4 8 12 ' ] && [ "$(awk 'NR > 1 { print $2 }' table | sort -nu | tr '\n' ' ')" = '2 4 6 8 ' ] &&
		awk -F, 'NR > 1 && $6 !~ /^[a-z]/ { exit 1 }' r.csv && [ "$(grep -c ',collatz_some,' r.csv)" = 12 ] &&
		grep -q '<title>p: time of all kernels on gtx480</title>' r.svg && [ "$(grep -c "class='tick' text-anchor='end'" r.svg)" -ge 4 ] &&
		python3 -c 'import html.parser, sys; p = html.parser.HTMLParser(); p.feed(open("r.html").read()); import xml.etree.ElementTree as e; e.parse("r.svg")' &&
		"$gpusim" sweep p --gpu gtx480 --vary l2_bytes=768K,0.75M -o k >table 2>err && [ "$(awk 'NR > 1 { print $1 }' table | sort -u)" = 786432 ]
}

# An SM costs 2 and a GPU of that name 10: 18 for 4 SMs, 26 for 8. More SMs are faster, so both are best; the dearer one that is no faster is not.
swept_by_cost() {
	"$gpusim" sweep p --gpu gtx480,gtx480_card --vary sm_count=4,8 --cost sm_count=2,gtx480=10,gtx480_card=1K -o c >table 2>err &&
		[ "$(awk -F, '$3 == "*" && $1 == "gtx480" { print $6 ":" $7 }' c.csv | tr '\n' ' ')" = '18:1 26:1 ' ] &&
		[ "$(awk -F, '$3 == "*" && $1 == "gtx480_card" { print $6 }' c.csv | tr '\n' ' ')" = '1008 1016 ' ] &&
		[ "$(grep -c '<svg' c.html)" = 2 ] && grep -q 'time against cost' c.html &&
		refused "'nothing' is neither" "$gpusim" sweep p --gpu gtx480 --vary sm_count=4,8 --cost nothing=1
}

# Each process takes configurations until there are no more: one whose others never came runs them all.
lone_rank() {
	PMI_RANK=1 PMI_SIZE=2 timeout 60 "$gpusim" sweep p --gpu gtx480 --vary sm_count=1..6 -o lone >table 2>err && [ "$(grep -c '^end$' lone.part)" = 6 ] && [ ! -s table ]
}

# Processes that a launcher started together divide a sweep. One of them is killed in the midst of it.
shared_sweep() {
	local values=1 i pids=()
	for i in $(seq 2 24); do values=$values,$i; done
	"$gpusim" sweep p --gpu gtx480 --vary sm_count="$values" -o alone >table 2>err || return 1
	for i in 0 1 2 3; do # one of them runs two at once
		PMI_RANK=$i PMI_SIZE=4 timeout 60 "$gpusim" sweep p --gpu gtx480 --vary sm_count="$values" -o shared -j $((i == 1 ? 2 : 1)) >"table.$i" 2>"err.$i" &
		pids[i]=$!
	done
	sleep 0.1
	pkill -KILL -P "${pids[3]}"
	wait "${pids[3]}" 2>/dev/null
	wait "${pids[0]}" && wait "${pids[1]}" && wait "${pids[2]}" || { cat err.* && return 1; }
	cmp alone.csv shared.csv && cmp table table.0 && [ ! -s table.1 ] && [ ! -e shared.claims ] && [ ! -e shared.part ]
}

# The same in an array job of a Slurm that is none (slurm/sbatch). One of its tasks is killed in the midst of it. Files are as those of shared_sweep's sweep alone.
slurm_sweep() {
	local values i
	values=$(seq -s, 1 24)
	export STUB_SLURM=$work/slurm
	rm -rf "$STUB_SLURM" && mkdir "$STUB_SLURM"
	PATH=$here/slurm:$PATH timeout 60 "$gpusim" sweep p --gpu gtx480 --vary sm_count="$values" -o "it's" --slurm --tasks 3 --sbatch '-p short --comment "two words"' >table.s 2>err &
	local pid=$!
	for i in $(seq 400); do
		[ "$(grep -c '^end$' "it's.part" 2>/dev/null)" -ge 3 ] 2>/dev/null && break
		kill -0 $pid 2>/dev/null || break # a fast machine
		sleep 0.02
	done
	kill -KILL "$(head -1 slurm/7/pids)"
	wait $pid || { cat err && return 1; }
	cmp alone.csv "it's.csv" && cmp table table.s && grep -q '^gpusim: sweep: job 7 has 3 tasks$' err && grep -q 'array=0-2 .*-p short --comment two words .*sbatch$' slurm/asked &&
		grep -q '^scancel 7$' slurm/asked && [ ! -e "it's.claims" ] && [ ! -e "it's.part" ] && [ ! -e "it's.sbatch" ] && [ ! -e "it's.slurm.log" ]
}

# An interrupt cancels the job. The same command without Slurm goes on.
slurm_interrupted() {
	local values i pid
	values=$(seq -s, 1 400)
	rm -rf "$STUB_SLURM" && mkdir "$STUB_SLURM"
	PATH=$here/slurm:$PATH env --default-signal "$gpusim" sweep p --gpu gtx480 --vary sm_count="$values" -o n --slurm --tasks 2 >table 2>err &
	pid=$!
	for i in $(seq 1500); do
		[ "$(grep -c ',\*,' n.csv 2>/dev/null)" -ge 4 ] 2>/dev/null && break # it grows
		sleep 0.02
	done
	kill -INT $pid
	wait $pid
	[ $? = 130 ] && grep -Eq '^gpusim: sweep: interrupted, [0-9]+ of 400 configurations are missing$' err && grep -q '^scancel 7$' slurm/asked &&
		[ "$(grep -c ',\*,' n.csv)" -ge 4 ] && [ "$(PATH=$here/slurm:$PATH squeue -j 7)" = '' ] && [ -s n.part ]
}

# Tasks that all die: what they have done is there. A Slurm that refuses or is absent, and a sweep that is not there, have a line each.
slurm_fails() {
	local sweep=("$gpusim" sweep p --gpu gtx480 --vary sm_count=1..400 -o d) pid i
	rm -rf "$STUB_SLURM" && mkdir "$STUB_SLURM"
	PATH=$here/slurm:$PATH "${sweep[@]}" --slurm --tasks 1 >table 2>err &
	pid=$!
	for i in $(seq 1500); do
		[ "$(grep -c '^end$' d.part 2>/dev/null)" -ge 2 ] 2>/dev/null && break
		sleep 0.02
	done
	kill -KILL $(cat slurm/7/pids)
	wait $pid
	[ $? = 2 ] && grep -Eq '^gpusim: sweep: [0-9]+ of 400 configurations have no result: .* see d.slurm.log$' err && [ "$(grep -c ',\*,' d.csv)" -ge 2 ] && touch slurm/refuses &&
		PATH=$here/slurm:$PATH refused 'sbatch has not taken the job' "${sweep[@]}" --slurm && refused 'there is no sbatch on PATH' env PATH=/nowhere "${sweep[@]}" --slurm &&
		refused 'no sweep runs that has the file d.claims' "${sweep[@]}" --join && refused 'tasks is for --slurm' "${sweep[@]}" --tasks 2 &&
		refused "from 1 to 10000, not 'many'" "${sweep[@]}" --tasks many
}

# The rows of a sweep that was interrupted are not computed again; those of other options are.
continued_sweep() {
	local values rows
	values=$(seq -s, 1 64)
	rows=$(grep -c '^end$' i.part) && [ "$rows" -ge 16 ] || return 1
	sed -i '/^configuration gtx480 sm_count=1,schedulers_per_sm=1$/{n;s/^[0-9.e+]*/123456789/}' i.part
	"$gpusim" sweep p --gpu gtx480 --vary sm_count="$values" --vary schedulers_per_sm=1,2 -o i >table 2>err &&
		grep -q "$rows of 128 configurations are in i.part already" err && [ "$(grep -c ',\*,' i.csv)" = 128 ] && [ ! -e i.part ] &&
		grep -q '^gtx480,1,1,\*,123456789,' i.csv &&
		"$gpusim" sweep p --gpu gtx480 --vary sm_count=1,2 --model optimistic -o i >table 2>err && ! grep -q already err
}

# 10,000 configurations of which all but two are known, and one was cut when it was written: reading them takes no longer than a second or two. Both with one value
# that is given twice have the result. The page has the fastest 2000 and those of the same time only.
long_sweep() {
	env --default-signal "$gpusim" sweep p --gpu gtx480 --vary sm_count=1..100 --vary clock_mhz=1001..1099,1001 -j 1 -o l >table 2>err &
	local pid=$! i
	for i in $(seq 400); do
		[ "$(grep -c '^end$' l.part)" -ge 1 ] && break
		sleep 0.02
	done 2>/dev/null
	kill -KILL $pid
	wait $pid 2>/dev/null
	head -1 l.part >first
	awk 'BEGIN { for (c = 1001; c < 1100; c++) for (n = 1; n <= 100; n++) if (n * c != 100 * 1099 && n * c != 1001)
		printf "configuration gtx480 sm_count=%d,clock_mhz=%d\n%d latency a\n%d latency a\nend\n", n, c, n * c, n * c
		print "configuration gtx480 sm_count=1,clock_mhz=1001"; printf "7 lat" }' | cat first - >l.part
	timeout 60 "$gpusim" sweep p --gpu gtx480 --vary sm_count=1..100 --vary clock_mhz=1001..1099,1001 -o l >table 2>err || { tail -3 err; return 1; }
	grep -q '^gpusim: sweep: 9997 of 10000 configurations are in l.part already$' err && [ "$(grep -c ',\*,' l.csv)" = 10000 ] &&
		[ "$(grep -c '^gtx480,100,1001,\*,100100,' l.csv)" = 2 ] && ! grep -q '^gtx480,1,1001,\*,7,' l.csv && [ "$(grep -c '<tr' l.html)" -lt 2100 ] &&
		grep -q 'Slower ones' l.html && refused 'more than 100000 configurations' "$gpusim" sweep p --gpu gtx480 --vary sm_count=1..400 --vary clock_mhz=1..400
}

# Shells ignore SIGINT in background jobs.
interrupted_sweep() {
	local values i pid
	values=$(seq -s, 1 64)
	env --default-signal "$gpusim" sweep p --gpu gtx480 --vary sm_count="$values" --vary schedulers_per_sm=1,2 -j 1 -o i >table 2>err &
	pid=$!
	for i in $(seq 400); do
		grep -q '16 of' err && break
		sleep 0.02
	done
	cp i.csv grown.csv # it grows while the sweep runs
	kill -INT $pid
	wait $pid
	[ $? = 130 ] && [ "$(awk -F, '$4 == "*" { print 2 * ($2 - 1) + $3 }' grown.csv | head -16 | tr '\n' ' ')" = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 ' ] &&
		head -33 i.csv | cmp - <(head -33 grown.csv) && grep -Eq '^gpusim: sweep: interrupted, [0-9]+ of 128 configurations are missing$' err &&
		[ "$(grep -c ',\*,' i.csv)" -ge 16 ] && [ "$(grep -c ',\*,' i.csv)" = "$(grep -c collatz_some table)" ]
}

interrupted_replay() {
	env --default-signal "$gpusim" replay p --gpu gtx480,v100,h200,a100,k40,titanx --report text,json --output r 2>text &
	local pid=$! code
	sleep 0.02
	kill -TERM $pid
	wait $pid
	code=$?
	[ $code = 0 ] || { [ $code = 143 ] && { [ ! -e r.json ] || python3 -c 'import json; json.load(open("r.json"))'; }; }
}

# Traces for Accel-Sim. In each warp, every lane ends once, and the last line is an EXIT.
exported() {
	GPUSIM_TRACE=all "$gpusim" record -o e --gpu v100 --report none -- "$build/kernels/launches" -k "$here/../../kernels" collatz 200 2 >out &&
		"$gpusim" export --accel-sim e -o traces --gpu v100 >out 2>err && [ ! -s out ] && grep -c '^kernel-.*traceg$' traces/kernelslist.g | grep -qx 2 &&
		grep -q '^MemcpyHtoD,0x00007f[0-9a-f]*,[0-9]*$' traces/kernelslist.g && python3 - traces/kernel-1.traceg <<'END'
import sys
lanes, last, warps = None, "", 0
def ended():
    assert lanes is None or lanes == 0 and last == "EXIT", (lanes, last)
for line in open(sys.argv[1]):
    words = line.split()
    if line.startswith("-block dim"):
        items = int(line.split("(")[1].split(",")[0])
    elif line.startswith("warp"):
        ended()
        left = items - 32 * int(words[2])
        lanes, warps = (1 << min(left, 32)) - 1, warps + 1
    elif words and words[0][0] in "0123456789abcdef":
        mask, results = int(words[1], 16), int(words[2])
        last = words[3 + results]
        assert (mask or last[:2] in ("LD", "ST")) and mask & lanes == mask, line
        if last == "EXIT":
            lanes &= ~mask
ended()
assert warps
END
}

# What was exported and imported again takes as long as it did: within a percent.
exported_and_back() {
	local overhead=launch_overhead_ns=0,cuda_launch_overhead_ns=0
	"$gpusim" import traces -o back --trace all 2>err && [ ! -s err ] &&
		"$gpusim" replay e --gpu v100 --exact 1 --set $overhead --report json --output direct 2>err &&
		"$gpusim" replay back --gpu v100 --exact 1 --set $overhead --report json --output back 2>err && python3 - direct.json back.json <<'END'
import json, sys
direct, back = ([l["estimates"][0]["cycles"] for l in json.load(open(f))["launches"]] for f in sys.argv[1:])
print(direct, back)
assert len(direct) == len(back) == 2 and all(abs(b / a - 1) < 0.01 for a, b in zip(direct, back))
END
}

# Where memory does not last for all groups, others stand for them: 64 groups of 128 work-items, of which 1 MB, half of what is given, has room for some.
exported_in_part() {
	GPUSIM_TRACE=all GPUSIM_TRACE_MEMORY=${1}M "$gpusim" record -o s --gpu v100 --report none -- "$build/kernels/launches" -k "$here/../../kernels" collatz 8192 1 >out &&
		"$gpusim" export --accel-sim s -o parts-$1 --gpu v100 >out 2>err
}
stand_ins() {
	exported_in_part 512 && [ ! -s err ] && exported_in_part 2 &&
		grep -q 'others stand for some of launches 0 (collatz_some, [0-9]* of [0-9]*)$' err && [ $(wc -l <err) = 1 ] && python3 - parts-512/kernel-1.traceg parts-2/kernel-1.traceg <<'END'
import sys
def read(path):
    blocks, lines = [], 0
    for line in open(path):
        if line.startswith("thread block"):
            blocks.append(line)
        elif line.startswith("insts"):
            lines += int(line.split()[2])
    return blocks, lines
(blocks, lines), (in_part, of_part) = read(sys.argv[1]), read(sys.argv[2])
print(len(blocks), lines, len(in_part), of_part)
assert blocks and in_part == blocks and abs(of_part / lines - 1) < 0.1
END
}

not_traced() {
	GPUSIM_TRACE=never "$gpusim" record -o n --gpu v100 --report none -- "$build/kernels/launches" -k "$here/../../kernels" collatz 200 2 >out &&
		! "$gpusim" export --accel-sim n -o untraced --gpu v100 >out 2>err && grep -q 'launch 0 .* is left out: it was not traced; record with' err &&
		grep -q 'no launch of n could be written' err && [ ! -e untraced/kernelslist.g ]
}

check 'a run is recorded' recorded
check 'the profile is named before or after options' file_anywhere
check 'a replay has the estimates of the run' replayed_as_run
check 'a replay for machine code takes the code of the profile' replay_for_machine_code
check 'a replay has a text report' replay_text
check 'a replay has a page' replay_page
check 'a replay takes the kernels that are asked for' replay_kernels
check 'a replay takes the launches that are asked for' replay_only
check 'launches that are not there are refused' replay_only_refused
check 'a sweep takes the launches that are asked for' sweep_only
check 'a profile that was cut is refused' cut_is_refused
check 'it is taken up to there with --partial' cut_is_taken_in_part
check 'a damaged profile is refused' damaged_is_refused
check 'another file is refused' refused 'is not a profile' "$gpusim" replay "$gpusim"
check 'a profile that is missing is told' refused 'cannot read' "$gpusim" replay nowhere
check 'a pipe is replayed, but not swept, and a device is neither' pipes_and_devices
check 'a profile becomes traces for Accel-Sim' exported
check 'these take as long as the profile when they are imported' exported_and_back
check 'of an export that memory does not last for, groups stand for others' stand_ins
check 'a launch that was not traced is told' not_traced
check 'a sweep has a row, a line of CSV and a point for every configuration' swept
check 'a sweep that is interrupted has what is done' interrupted_sweep
check 'a sweep goes on from there' continued_sweep
check 'a sweep of 10,000 goes on, too' long_sweep
check 'a process of a launcher goes on while there is something to do' lone_rank
check 'processes of a launcher divide a sweep, and one of them may die' shared_sweep
check 'tasks of a Slurm job divide a sweep, and one of them may die' slurm_sweep
check 'an interrupt cancels the job' slurm_interrupted
check 'a job that fails is told, and keeps what it has done' slurm_fails
check 'a sweep takes ranges and suffixes, and has limiters, marks and a title' swept_in_ranges
check 'a sweep takes several GPUs and weighs time against cost' swept_by_cost
check 'a range that is none is told' refused "'8..4' is no range" "$gpusim" sweep p --gpu gtx480 --vary sm_count=8..4
check 'a replay that is interrupted leaves valid reports' interrupted_replay
check 'a key that is not known is told before anything runs' refused "unknown key 'nothing'" "$gpusim" sweep p --gpu gtx480 --vary nothing=1,2
check 'an error of --vary is told of --vary' refused '^gpusim: sweep: --vary: sm_count = many' "$gpusim" sweep p --gpu gtx480 --vary sm_count=1,many
check 'a sweep of no configurations at once is told' refused 'j needs a number' "$gpusim" sweep p --vary sm_count=1,2 -j none
check 'a sweep without keys is told' refused 'is missing' "$gpusim" sweep p --gpu gtx480
echo "$passed passed, $failed failed"
[ $failed = 0 ]
