#!/usr/bin/env bash
# gpusim scale: descriptions of GPUs on paper. Expected values by hand from the rules (docs/gpus.md).
#   tests/command/scale.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-scale.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
. "$here/../check.sh"
. "$here/keys.sh"

# 12 nm to 5 nm: 0.985 * 1.2 * 1.15 = 1.3593 times 1530 MHz; 2000 / 900 of 32 channels are 71, with two slices of 96 KB each. DRAM is
# as many ns away as before.
example() {
	"$gpusim" scale v100 --sm 160 --dram-gbps 2000 --node 5nm >a.gpu 2>err && [ ! -s err ] &&
		has ./a.gpu name v100_scaled sm_count 160 clock_mhz 2080 dram_gbps 2000 dram_channels 71 l2_slices 142 l2_bytes $((142 * 96 * 1024)) &&
		python3 -c 'import sys; l2, old, new = map(float, sys.argv[1:]); assert new == round(l2 + (old - l2) * 2080 / 1530), new' \
			"$(value v100 l2_latency)" "$(value v100 dram_latency)" "$(value ./a.gpu dram_latency)"
}
# Every key that differs says why.
commented() { ! grep -v '^#' a.gpu | grep '=' | grep -v '^base\|^name\|^title' | grep -v '# .* '; }
nothing() { # nothing asked for, nothing changed
	"$gpusim" scale h200 --name same >same.gpu && "$gpusim" show ./same.gpu | sed 's/ *#.*//' | grep -v '^name\|^title\|^energy_validated' >new &&
		"$gpusim" show h200 | sed 's/ *#.*//' | grep -v '^name\|^title\|^energy_validated' >old && cmp old new && has ./same.gpu energy_validated 0
}
# Lanes in units as wide as a warp.
lanes() {
	"$gpusim" scale v100 --fp32-lanes 48 --fp64-lanes 8 -o b.gpu && has ./b.gpu fp32_units 1 fp32_fma_initiation 0.666667 fp64_units 1 fp64_initiation 4
}
memory() {
	"$gpusim" scale v100 --dram-channels 48 --l2-mb 50 --dram-gb 80 --link-gbps 50 >c.gpu &&
		has ./c.gpu dram_gbps 1350 dram_channels 48 l2_slices 96 l2_bytes $(((50 << 20) / (96 * 128 * $(value v100 l2_ways)) * 96 * 128 * $(value v100 l2_ways))) dram_bytes 80000000000 link_gbps 50 &&
		"$gpusim" scale v100 --dram-gbps 1800 --dram-channels 32 >d.gpu && has ./d.gpu dram_gbps 1800 dram_channels 32 l2_slices "$(value v100 l2_slices)"
}
# The clock stays, so the process saves energy: 0.78 from 5 to 4 nm. Back again is the opposite.
energy() {
	printf 'base = h200\nname = e\ntitle = e\nenergy_idle_w = 100\nenergy_fma_nj = 1\nenergy_dram_pj = 50\n' >e.gpu
	"$gpusim" scale ./e.gpu --node N4 --clock-mhz "$(value h200 clock_mhz)" >f.gpu && has ./f.gpu energy_fma_nj 0.78 energy_dram_pj 50 energy_idle_w 100 &&
		"$gpusim" scale ./e.gpu --node 4nm >g.gpu && has ./g.gpu energy_fma_nj 0.900901 clock_mhz 2173 &&
		"$gpusim" scale ./e.gpu --from-node 4 --node 5 >h.gpu && has ./h.gpu energy_fma_nj 1.11 clock_mhz 1764
}
# The Pascal that PPT projected from the K6000 (Section 5.1), which is described by hand. 900 instead of 901.5 MHz make no cycle of DRAM's latency.
pascal() {
	"$gpusim" scale k6000 --sm 16 --clock-mhz 900 --fp32-lanes 256 --fp64-lanes 128 --dram-gbps 1000 --dram-channels "$(value k6000 dram_channels)" --link-gbps 78.75 >p.gpu &&
		"$gpusim" show ./p.gpu | sed 's/ *#.*//' | grep -v '^name\|^title\|^arch\|^concurrent_kernels' >ours &&
		"$gpusim" show pascal_projected | sed 's/ *#.*//' | grep -v '^name\|^title\|^arch\|^concurrent_kernels' >theirs && diff ours theirs
}
fails() { # EXIT TEXT ARGUMENTS...
	local code=$1 text=$2
	shift 2
	"$gpusim" scale "$@" >out 2>err
	[ $? = "$code" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF "gpusim: scale: $text" err || { cat out err && return 1; }
}

check "more SMs, more bandwidth, a newer process" example
check "every derived key names its rule" commented
check "nothing asked for, nothing changed" nothing
check "lanes become units" lanes
check "channels and L2 belong together" memory
check "a process saves energy or buys speed" energy
check "the Pascal that PPT projected" pascal
check "no GPU" fails 2 "name the GPU to start from"
check "a GPU that there is not" fails 1 "there is no GPU 'v1000'" v1000
check "no number" fails 2 "--sm 1e400: not a whole number above 0" v100 --sm 1e400
check "half an SM" fails 2 "--sm 0.5: not a whole number above 0" v100 --sm 0.5
check "a process that is not known" fails 1 "'6nm' is no process that is known" v100 --node 6nm
printf 'base = h200\nname = new\ntitle = new\narch = sm_99\n' >new.gpu
check "a GPU whose process is not known" fails 1 "the process of new (sm_99) is not known: give --from-node" ./new.gpu --node 3nm
check "out of the range of a key" fails 1 "scaled description:" v100 --sm 100000000
check "more channels than there can be" fails 1 "900000 GB/s would need" v100 --dram-gbps 900000
check "an option that there is not" fails 2 "unexpected '--sms'" v100 --sms 3
echo "$passed passed, $failed failed"
[ $failed = 0 ]
