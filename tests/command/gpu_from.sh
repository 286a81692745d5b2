#!/usr/bin/env bash
# gpusim gpu-from: descriptions from configurations of GPGPU-Sim and Accel-Sim (tests/command/configs, written for these tests).
#   tests/command/gpu_from.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
configs=$here/configs
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-gpu-from.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
. "$here/../check.sh"
. "$here/keys.sh"

# All load, with nothing on stderr.
makes() { # NAME BASE
	"$gpusim" gpu-from "$configs/$1" >"$1.gpu" 2>err && [ ! -s err ] && "$gpusim" show "./$1.gpu" >/dev/null 2>err && [ ! -s err ] &&
		grep -q "are those of $2\.$" "$1.gpu"
}

# Every value of the configuration names the line that it came from, and the line has that option.
sources() { # NAME
	python3 - "$1.gpu" "$configs/$1" <<'PYTHON'
import re, sys
seen = 0
for line in open(sys.argv[1]):
    match = re.search(r'# .*?(gpgpusim\.config|trace\.config):(\d+): (-\S+)', line)
    if match:
        seen += 1
        there = open(f'{sys.argv[2]}/{match[1]}').read().split('\n')
        at = int(match[2]) - 1
        assert there[at].startswith(match[3]), line
    elif '=' in line and not line.startswith('#'):
        assert re.search(r'# ', line) or line.startswith(('name', 'title')), line
assert seen > 90, seen
PYTHON
}

# What we wrote by hand of the same configuration. Latencies are rules' there, and measured here: within 4%. What is not of the simulator may differ.
alike() { # NAME OURS KEY=VALUE...: keys that differ, with the value that gpu-from must have
	"$gpusim" show "$2" >ours && "$gpusim" show "./$1.gpu" >theirs && python3 - ours theirs "${@:3}" <<'PYTHON'
import re, sys
def read(path):
    return {m[1]: m[2] for m in (re.match(r'(\w+)\s+= (.*?)\s+#', line) for line in open(path)) if m}
ours, theirs = read(sys.argv[1]), read(sys.argv[2])
other = dict(word.split('=') for word in sys.argv[3:])
skipped = {'name', 'title', 'machine_code', 'concurrent_kernels', 'copy_engines'}
bad = []
for key, want in ours.items():
    got = theirs[key]
    if key in skipped or key.startswith('link_'):
        continue
    if key in other:
        want = other.pop(key)
    try:
        same = abs(float(got) - float(want)) <= 0.04 * abs(float(want))
    except ValueError:
        same = got == want
    if not same:
        bad.append(f'{key} = {got}, not {want}')
print('\n'.join(bad), *other)
sys.exit(bool(bad or other))
PYTHON
}

qv100_of_ptx() {
	"$gpusim" gpu-from "$configs/qv100/gpgpusim.config" --name ptx -o ptx.gpu && has ./ptx.gpu name ptx machine_code ptx math_library libclc &&
		alike ptx qv100 arch=sm_70 tensor_latency=64 tensor_initiation=32 tensor_half_latency=64 tensor_half_initiation=16 int_mul_unit=auto \
			int_mad_unit=auto tensor_ports=4 atomic_fast_latency=5 store_latency=25 coalesce_bytes=0 l1_ways=1024 const_kept=1 l2_fills_access=0 \
			l2_copies=17179869184
}

# Accel-Sim's tuner writes latencies as differences between levels: 32, 32 + 194 and so on; with what the pipeline and the network add.
turing() { has ./rtx2060.gpu arch sm_75 machine_code sass l1_latency 35 l2_latency 238 tensor_initiation 32 tensor_units 4 fp64_initiation 64 l2_bytes 3145728 \
	dram_gbps 336.048 l1_bytes 98304 launch_overhead_ns 3663.004 branch_latency 4 control_units 1 texture_latency 205 l1_access_bytes 128; }
hopper() { has ./h100.gpu sm_count 132 icnt_sm_flits 2 l2_slice_bytes 64 l2_bytes 52428800 l2_set_hash 1 shared_carveouts 8,16,32,64,228 l1_shared_bytes 262144 shared_carveout_room 1 int_latency 4 sfu_latency 23 tensor_initiation 8 \
	dram_row_bytes 2048 l2_spread_cycles 0; }

lists_the_rest() {
	grep -qx '# not taken: -power_simulation_enabled 0 (line 56): of power' gtx480.gpu &&
		grep -qx '# not taken: -specialized_unit_4 1,4,4,4,4,UDP (trace.config, line 13): not enabled, or a unit that gpusim has not' h100.gpu &&
		grep -q '^# not taken: -ptx_opcode_latency_int .*: trace.config has' h100.gpu && ! grep -q '^# not taken: -trace' qv100.gpu &&
		grep -q '^const_miss_cycles.*# .*-gpgpu_perfect_inst_const_cache' qv100.gpu
}

# The last of several lines counts. Values in quotes go on in the next line, and timings may have no names. Older versions have other names.
reads() {
	printf '%s\n' '-gpgpu_n_clusters 3 # a comment' '#-gpgpu_n_clusters 5' '-gpgpu_n_clusters 7 -gpgpu_n_cores_per_cluster 2' '-mystery x' '-l1_latency 9' \
		'-gpgpu_dram_timing_opt "16:2:6:12:' '  28:12:40:12:4:5:12:4:3:2"' '-gpgpu_scheduler two_level_active:6:0:1' >few.config
	"$gpusim" gpu-from few.config --base k40 -o few.gpu && has ./few.gpu sm_count 14 dram_banks 16 dram_open_ns 6 scheduler_policy two_level two_level_warps 6 \
		l1_lookup_cycles 9 && grep -qx '# not taken: -gpgpu_n_clusters 3 (line 1): line 3 sets it again' few.gpu &&
		grep -qx '# not taken: -mystery x (line 4)' few.gpu && grep -q 'are those of k40' few.gpu &&
		grep -q '^max_blocks_per_sm = 8 .*-gpgpu_shader_cta is not set: GPGPU-Sim.s default 8' few.gpu
}

# Lines that a merge left, the flit size of Booksim's file, and DRAM without banks.
quirks() {
	mkdir -p quirks && printf '%s\n' '<<<<<<< HEAD' '-gpgpu_n_clusters 3' '=======' '-gpgpu_n_clusters 4 -gpgpu_n_cores_per_cluster 1' '>>>>>>> other' \
		'-network_mode 1' '-inter_config_file net.icnt' '-gpgpu_simple_dram_model 1' '-gpgpu_n_mem 10' '-gpgpu_clock_domains 500:500:500:1000' '-dram_latency 50' \
		'-gpgpu_l1_latency 20' '-ptx_opcode_initiation_sfu 0' '-gpgpu_l2_rop_latency 100' >quirks/gpgpusim.config
	printf '// a network\nflit_size   = 36;\ninternal_speedup  = 1.5;\n' >quirks/net.icnt
	"$gpusim" gpu-from quirks >quirks.gpu && has ./quirks.gpu name quirks sm_count 4 icnt_flit_bytes 36 icnt_speedup 1.5 dram_gbps 320 dram_open_ns 0 l2_latency 149 dram_latency 199 sfu_initiation 1 &&
		grep -qx '# not taken: =======  (line 3): left by a merge' quirks.gpu && rm quirks/net.icnt && "$gpusim" gpu-from quirks >quirks.gpu &&
		has ./quirks.gpu icnt_flit_bytes 32 icnt_speedup 2 && grep -q '^# not taken: -inter_config_file net.icnt (line 7): there is no such file' quirks.gpu
}

# refuses TEXT MESSAGE: one line that says where, and no description.
refuses() {
	printf -- "$1" >bad.config
	"$gpusim" gpu-from bad.config >out 2>err
	[ $? = 1 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF "gpusim: gpu-from: $2" err || { cat out err && return 1; }
}
bad_files() {
	refuses '' 'bad.config: it has no options' && refuses 'hello\n' "bad.config:1: expected -option value, found 'hello'" &&
		refuses '\n-gpgpu_n_clusters\n' "bad.config:2: there is no value after '-gpgpu_n_clusters'" &&
		refuses '-gpgpu_n_mem -gpgpu_n_clusters 3\n' "bad.config:1: there is no value after '-gpgpu_n_mem'" &&
		refuses '-gpgpu_dram_timing_opt "nbk=16\n' "bad.config:1: there is no closing quote after '-gpgpu_dram_timing_opt'" &&
		refuses '-gpgpu_n_clusters 3\0' 'bad.config: not a configuration: it has a zero byte' &&
		"$gpusim" gpu-from nowhere.config 2>&1 | grep -q 'nowhere.config' && [ "$("$gpusim" gpu-from 2>&1 | wc -l)" = 1 ]
}
bad_values() {
	refuses '-gpgpu_n_clusters many\n' 'bad.config:1: -gpgpu_n_clusters many: expected a number' &&
		refuses '-gpgpu_n_clusters 0\n' 'sm_count = 0: must be 1 to 1024 (SMs, bad.config:1: -gpgpu_n_clusters 0' &&
		refuses '-gpgpu_n_clusters 99999999999999999999\n' 'bad.config:1: -gpgpu_n_clusters' &&
		refuses '-gpgpu_clock_domains 700:700\n' 'bad.config:1: -gpgpu_clock_domains 700:700: has too few numbers' &&
		refuses '-ptx_opcode_latency_int 4,x,4\n' 'bad.config:1: -ptx_opcode_latency_int 4,x,4: expected numbers' &&
		refuses '-gpgpu_cache:dl1 S:4:128\n' 'bad.config:1: -gpgpu_cache:dl1 S:4:128: not a cache' &&
		refuses '-gpgpu_cache:dl1 S:0:128:4,L:L:m:N:H,S:64:8,8\n' 'bad.config:1: -gpgpu_cache:dl1 S:0:128:4' &&
		refuses '-gpgpu_scheduler warp_limiting:2:3\n' 'bad.config:1: -gpgpu_scheduler warp_limiting:2:3: gpusim has' &&
		refuses '-gpgpu_dram_timing_opt nbk=16:CCD=2\n' 'bad.config:1: -gpgpu_dram_timing_opt nbk=16:CCD=2: expected nbk=N'
}

check 'a GTX 480 of GPGPU-Sim' makes gtx480 gtx480_card
check 'a QV100 of Accel-Sim' makes qv100 v100
check 'an RTX 2060 of Accel-Sim' makes rtx2060 rtx2060
check 'an RTX 3070 of Accel-Sim' makes rtx3070 rtx3070
check 'an H100 of Accel-Sim' makes h100 h100
check 'sources of the GTX 480' sources gtx480
check 'sources of the H100' sources h100
check 'the GTX 480 is as we have it' alike gtx480 gtx480 fp32_fma_unit=fp32
check 'the QV100 that executes PTX is as we have it' qv100_of_ptx
check 'latencies and units of machine code' turing
check 'clocks of interconnect and L2' hopper
check 'what has no counterpart is listed' lists_the_rest
check 'lines, quotes and older names' reads
check 'merges, networks and simple DRAM' quirks
check 'files that are no configurations' bad_files
check 'values that cannot be' bad_values
echo "$passed passed, $failed failed"
[ $failed = 0 ]
