#!/usr/bin/env bash
# Tests what gpusim task promises, from outside: one check per promise. The lists are written by hand; what they count follows from them.
#   tests/command/task.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-task.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C GPUSIM_CACHE_DIR=$work/cache
. "$here/../check.sh"

# of JSON EXPRESSION: e is the estimate of the first launch.
of() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); l=d['launches'][0]; e=l['estimates'][0]; print($2)" "$1"; }
modelled() { "$gpusim" task "$1.task" --gpu v100 --set cuda_launch_overhead_ns=0 --report json --output "$1" >out 2>err && [ ! -s out ]; }

cat >saxpy.task <<'LIST'
# y = a x + y
buffer x 256K
buffer y 256K
kernel saxpy {
	grid 256
	block 256
	int_mad 1 -> i
	load x coalesced 4 -> a <- i
	load y coalesced 4 -> b <- i
	fma 1 -> b <- a b
	store y coalesced 4 <- b i
}
copy to x
copy to y 128K
repeat 2 { launch saxpy }
copy from y
LIST

# 2,048 warps of 6 instructions, the last of which is EXIT; 2 loads and a store of 4 sectors each; copies as they stand.
counts() {
	modelled saxpy && [ "$(of saxpy.json 'e["warp_instructions"]')" = 12288 ] && [ "$(of saxpy.json 'len(d["launches"])')" = 2 ] &&
		[ "$(of saxpy.json 'sorted((t["kind"], t["size_bytes"]) for t in d["transfers"])')" = "[('read', 262144), ('write', 393216)]" ] &&
		[ "$(of saxpy.json 'l["global"]')" = '[65536, 1, 1]' ]
}

# body STATEMENTS: a kernel of one warp.
body() { printf 'buffer a 1M\nkernel k { grid %s; block 32; local 1K\n%s\n}\n' "${2:-1}" "$1" >body.task && modelled body; }
executes() { [ "$(of body.json 'e["warp_instructions"]')" = "$1" ]; }
threads() { [ "$(of body.json 'e["thread_instructions"]')" = "$1" ]; }

# A turn is its body, the addition to its counter and its branch; repeat has none of these.
loops() { body 'loop 10 { fma 3 }' && executes 51 && body 'repeat 10 { fma 3 }' && executes 31 && body 'loop 4 { loop 2 { int } ; nop }' && executes 37; }
# Comparison and branch, 8 lanes of the one arm, 24 of the other, EXIT.
whens() { body 'when lane < 8 { fp32 2 } else { fp64 }' && executes 4 && threads 72; }
never() { body 'branch 0 { fp32 2 } else { fp64 }' && executes 4 && body 'branch 1 { fp32 2 } else { fp64 }' && executes 5; }
# Of 1,024 warps, about a quarter.
chance() {
	body 'branch 0.25 warp { nop 100 }' 1024 && [ "$(of body.json '20000 < e["warp_instructions"] - 3 * 1024 < 31000')" = True ] &&
		body 'branch 0.25 lane { nop 100 }' 1024 && [ "$(of body.json '700000 < e["thread_instructions"] - 3 * 32768 < 940000')" = True ] && executes 105472
}
pieces() { printf 'buffer a 1M\npiece p {\n LDG.E.64 -> R4\n DADD -> R6 <- R4 R6\n}\nkernel k {\n grid 1; block 32\n repeat 3 { do p (a at 8*lane + 256*i0) }\n}\n' >body.task && modelled body && executes 7; }

# Sectors of 32 bytes that a warp's load of 4 bytes asks L1 for: 4, 32, 1; 8 lanes of one sector each by twos.
sectors() {
	local pattern expected
	while read -r expected pattern; do
		body "load a $pattern" && [ "$(of body.json 'e["memory"]["load_sectors"]')" = "$expected" ] || { echo "$pattern: not $expected"; return 1; }
	done <<<$'4 coalesced 4\n32 strided 8 4\n1 broadcast 4\n8 at 8*lane\n32 at 4096*lane'
}

# What waits for another value takes longer than what does not.
chains() {
	body 'ilp 1; loop 100 { fma 8 }' && a=$(of body.json 'e["cycles"]') && body 'ilp 4; loop 100 { fma 8 }' && b=$(of body.json 'e["cycles"]') &&
		python3 -c "assert 1.5 * $b < $a, ($a, $b)"
}
waits() {
	body 'loop 50 { load a random 4 dependent }' && a=$(of body.json 'e["cycles"]') && body 'ilp 10; loop 5 { load a random 4 x10 }' && b=$(of body.json 'e["cycles"]') &&
		python3 -c "assert 3 * $b < $a, ($a, $b)"
}

# The host computes for 1 ms, from when the first copy has ended; the first launch runs beside it, the second comes after it.
host_steps() {
	printf 'buffer x 1M\nkernel k { grid 132; block 128\nfma 4\n}\ncopy to x\nlaunch k\nhost 0.001\nlaunch k\n' >host.task
	"$gpusim" task host.task --gpu v100 --report json,trace --output host 2>err && python3 - <<'PYTHON' && grep -q '^gpusim: steps of the host take 0.001 s' err
import json
t = json.load(open("host.json"))["timeline"]
copy, first, second = (c["times"][0] for c in t["commands"])
(begin, end), = (s[0] for s in t["host_steps"])
assert begin == copy[1] == first[0] and end == begin + 1000000 and second[0] == end and abs(t["totals"][0]["program_ns"] - second[1]) < 2, t
assert [e["dur"] for e in json.load(open("host.trace.json"))["traceEvents"] if e.get("name") == "host"] == [1000]
PYTHON
}
perfect_is_told() {
	"$gpusim" task saxpy.task --gpu v100 --memory perfect --report none 2>err && [ "$(grep -c '^gpusim: assumed: with --memory perfect' err)" = 1 ] &&
		"$gpusim" task saxpy.task --gpu v100 --memory perfect --trace all --report none 2>err && ! grep -q 'with --memory perfect' err
}

as_profile() {
	"$gpusim" task saxpy.task -o s.profile >out 2>err && [ ! -s err ] && "$gpusim" replay s.profile --gpu v100 --set cuda_launch_overhead_ns=0 --report json --output again 2>err &&
		[ "$(of again.json 'e["cycles"]')" = "$(of saxpy.json 'e["cycles"]')" ]
}
reports() { "$gpusim" task saxpy.task --gpu v100,h200 --report text,csv --output r 2>err && grep -q saxpy err && [ -s r.csv ]; }
same_again() { cp saxpy.json first.json && modelled saxpy && [ "$(of saxpy.json 'e["cycles"]')" = "$(of first.json 'e["cycles"]')" ] && [ -z "$(ls -d gpusim-task-* 2>/dev/null)" ]; }

# Launches of a kernel after its first have its counters and trace: 200 times two kernels take little more room than twice, every launch takes as
# long as the first, and others' tools get a trace for each. Where shared traces have no room, each has its own.
alike() {
	"$gpusim" replay many.profile --gpu v100 --memory hierarchy --report json --output many "$@" 2>err &&
		[ "$(of many.json 'len(d["launches"]), len({(l["kernel"], l["estimates"][0]["cycles"]) for l in d["launches"]}), [f for l in d["launches"] for f in l["estimates"][0]["flags"]]')" = '6 2 []' ]
}
shared() {
	local kernels='buffer a 256K\ncopy to a\nkernel k { grid 16; block 256\n load a coalesced 4\n fma 4\n}\nkernel l { grid 8; block 64\n loop 20 { load a random 4; fma 2 }\n}\n'
	printf "${kernels}repeat 200 { launch k; launch l }" >many.task && "$gpusim" task many.task -o large.profile &&
		printf "${kernels}repeat 3 { launch k; launch l }" >many.task && "$gpusim" task many.task --trace all --trace-memory 64K -o many.profile && alike &&
		size=$(wc -c <many.profile) && "$gpusim" task many.task --trace all -o many.profile && alike && alike --exact 1 &&
		[ $((2 * $(wc -c <many.profile))) -lt "$size" ] && [ "$(wc -c <large.profile)" -lt $(($(wc -c <many.profile) + 200000)) ] &&
		"$gpusim" export --accel-sim many.profile -o exported --gpu v100 2>err && [ "$(ls exported/*.traceg | wc -l)" = 6 ] &&
		[ "$("$gpusim" task --from many.profile --gpu v100 | grep -c '^launch')" = 6 ]
}

# refused TEXT MESSAGE
refused() {
	printf "$1" >bad.task
	! "$gpusim" task bad.task --gpu v100 >out 2>err && [ "$(wc -l <err)" = 1 ] && grep -q -- "$2" err && [ ! -s out ]
}
wrong() {
	refused '' 'no kernel' && refused 'kernel k {\n grid 1\n' 'bad.task:3: a } is missing' && refused 'kernel k {\n grid 1\n blokc 3\n}' "bad.task:3: .*mean 'block'" &&
		refused 'kernel k { grid 1; block 32\n load x coalesced\n}' "bad.task:2: there is no buffer 'x'" && refused '}' 'without a {' &&
		refused 'kernel k { grid 1; block 32\n branch 0.5 lane { barrier }\n}' 'bad.task:2: not all work-items' &&
		refused 'kernel k { grid 1; block 32; loop 9..2 { nop } }' 'turns' && refused 'kernel k { grid 1; block 4096; nop }' 'block is 1 to 1024' &&
		refused 'kernel k { grid 1; block 32\nloop 1000000 { loop 1000000 { nop } } }' 'at most' && refused 'launch k' "no kernel 'k'" &&
		refused 'buffer a 4\nkernel k { grid 1; block 32; load a at 4*foo }' 'no other names' && refused 'buffer a 4\ncopy up a' 'bad.task:2' &&
		refused 'kernel k { grid 1; block 32; load local coalesced }' 'no local memory' && refused 'buffer a 64\nkernel k { grid 1; block 32; load a coalesced 3 }' '1, 2, 4' &&
		refused 'kernel k { grid 1; block 32 }' 'does nothing' && refused 'kernel k { grid 1; nop }' 'needs' && refused 'kernel k { nop -> x y }' 'mean here'
}
missing() { ! "$gpusim" task nowhere.task 2>err && [ "$(wc -l <err)" = 1 ] && grep -q nowhere.task err; }

# A trace as Accel-Sim's tracer writes it: two groups of a warp that loads, adds eight times in a loop, and stores at twice its id; its list says so.
traced() {
	mkdir -p traced && python3 - <<'TRACE'
out = open("traced/kernel-1.traceg", "w")
out.write("-kernel name = twice\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 16\n-binary version = 70\n"
          "-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007f1000000000\n-nvbit version = 1\n"
          "-accelsim tracer version = 3\n-enable lineinfo = 0\n\n#traces format = x\n")
for group in range(2):
    lines = [f"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x{0x500000000 + 128 * group:x} 4"] + ["0010 ffffffff 1 R4 FADD 2 R4 R5 0", "0020 ffffffff 0 BRA 0 0"] * 8
    lines += [f"0030 000000ff 0 STG.E 2 R2 R4 4 1 0x{0x500000000 + 256 * group:x} 8", "0040 ffffffff 0 EXIT 0 0"]
    out.write(f"\n#BEGIN_TB\n\nthread block = {group},0,0\n\nwarp = 0\ninsts = {len(lines)}\n" + "\n".join(lines) + "\n\n#END_TB\n")
open("traced/kernelslist.g", "w").write("MemcpyHtoD,0x0000000500000000,4096\nkernel-1.traceg\nkernel-1.traceg\n")
TRACE
}
from_traces() {
	traced && "$gpusim" task --from traced >t.task 2>err && [ ! -s err ] && grep -q 'buffer b0 4096' t.task && grep -q 'repeat 8 {' t.task &&
		grep -q '(b0 at 4\*lx + 128\*gx)' t.task && grep -q 'when 0x000000ff >> lane & 1 { do .* (b0 at 8\*lx + 256\*gx) }' t.task &&
		[ "$(grep -c '^kernel' t.task)" = 1 ] && [ "$(grep -c '^launch twice_1' t.task)" = 2 ] && modelled t && [ "$(of t.json 'e["warp_instructions"]')" = 38 ] &&
		[ "$(of t.json 'e["thread_instructions"]')" = 1168 ]
}
# Twice the turns are 32 instructions more.
edited() { sed -i 's/repeat 8 {/repeat 16 {/' t.task && modelled t && [ "$(of t.json 'e["warp_instructions"]')" = 70 ]; }

# The example of PPT's paper, figure 5: two arrays, three entries each. With a loop of three it is 18 instructions, and EXIT.
ppt() {
	printf "[['GLOB_MEM_ACCESS', 'LD'], ['fALU', 4, 0], ['GLOB_MEM_ACCESS', 'ST', 1],\\n ['GLOB_MEM_ACCESS', 'LD'], ['fALU', 4, 3], ['GLOB_MEM_ACCESS', 'ST', 4]]\\n" >five.ppt
	body 'repeat 3 { ppt five.ppt a }' && executes 19 && body 'ppt five.ppt a' && a=$(of body.json 'e["cycles"]') && sed -i "s/4, 0/4/; s/4, 3/4/" five.ppt &&
		body 'ppt five.ppt a' && python3 -c "assert $(of body.json 'e["cycles"]') < $a" && echo "[['fALU', 4, 9]]" >bad.ppt &&
		refused 'kernel k { grid 1; block 32\n ppt bad.ppt\n}' 'bad.ppt:1: a dependency' && echo "[['dog']]" >bad.ppt && refused 'kernel k { grid 1; block 32; ppt bad.ppt }' 'a unit'
}
# A folder of PPT-GPU's tracer: two warps, ten turns of a loop, the second with an instruction more; 64 blocks.
ppt_gpu() {
	mkdir -p app/sass_traces app/memory_traces && python3 - <<'TRACE'
open("app/app_config.py", "w").write('app_kernels_id = [1]\nkernel_1 = {\n "kernel_name" : "add<float>",\n "num_registers" : 16,\n "shared_mem_bytes" : 0,\n'
                                     ' "grid_size" : 64,\n "block_size" : 64,\n "cuda_stream_id" : 0\n}\n')
with open("app/sass_traces/kernel_1.sass", "w") as out:
    for w in range(2):
        lines = ["S2R R0", "LDG.E.SYS R4 R2"] + ["FADD R4 R4 R5", "ISETP.GE.AND P0 R4", "BRA P0"] * 10 + ["MUFU.RCP R4 R4"] * w + ["STG.E.SYS R2 R4", "EXIT"]
        out.write("".join(f"{w} {line}\n" for line in lines))
with open("app/memory_traces/kernel_1_block_0.mem", "w") as out:
    out.write("=====\nLDG.E.SYS " + " ".join(hex(0x7f0000000 + 4 * i) for i in range(32)) + "\n")
TRACE
	"$gpusim" task app --gpu v100 --report json --output app >out 2>err && [ "$(of app.json 'e["warp_instructions"]')" = 4416 ] &&
		[ "$(of app.json 'e["memory"]["load_sectors"]')" = 512 ] && rm app/sass_traces/kernel_1.sass && ! "$gpusim" task app 2>err && grep -q 'kernel_1.sass' err
}

check "steps of the host are in the timeline" host_steps
check "a list is modelled, with its counts and copies" counts
check "loops execute their turns" loops
check "conditions part lanes" whens
check "branches that are always or never taken" never
check "chance is as often as it says" chance
check "pieces are executed where they are named" pieces
check "patterns make as many sectors as they should" sectors
check "operations wait for their chain" chains
check "a dependent load waits" waits
check "it is written as a profile that replay takes" as_profile
check "reports are those of replay" reports
check "the same list gives the same times, and leaves nothing behind" same_again
check "launches of a kernel share its counters and trace" shared
check "what is wrong is said in one line with its place" wrong
check "a missing file is named" missing
check "the list of a trace has its loops, lanes and addresses" from_traces
check "and can be edited" edited
check "entries of PPT are statements" ppt
check "a folder of PPT-GPU's tracer is a list" ppt_gpu
check "what perfect memory assumes is told" perfect_is_told
echo "$passed passed, $failed failed"
[ $failed = 0 ]
