#!/usr/bin/env bash
# Tests what gpusim import promises, from outside: one check per promise. The traces are written by hand, as Accel-Sim's tracer would.
#   tests/command/accelsim.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-accelsim.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C GPUSIM_CACHE_DIR=$work/cache
. "$here/../check.sh"

# made FOLDER VERSION MODE [OPCODE]: 16 blocks of 64 work-items that load, add and store; half of the lanes skip the addition.
made() {
	mkdir -p "$1" && python3 - "$@" <<'END'
import sys
folder, version, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
opcode = sys.argv[4] if len(sys.argv) > 4 else "FADD"
out = open(folder + "/kernel-1.traceg", "w")
out.write("-kernel name = _Z3addPf\n-kernel id = 1\n-grid dim = (16,1,1)\n-block dim = (64,1,1)\n-shmem = 0\n-nregs = 16\n-binary version = 80\n"
          "-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007f1000000000\n-nvbit version = 1.5\n"
          f"-accelsim tracer version = {version}\n-enable lineinfo = {int(version == 4)}\n\n#traces format = x\n\n")
def where(base, lanes):
    if mode == 1:
        return f"1 0x{base:x} 4"
    if mode == 2:
        return f"2 0x{base:x}" + " 4" * (lanes - 1)
    return "0 " + " ".join(f"0x{base + 4 * i:x}" for i in range(lanes))
for group in range(16):
    out.write(f"#BEGIN_TB\n\nthread block = {group},0,0\n\n")
    for warp in range(2):
        first = 0x500000000 + 4 * (group * 64 + warp * 32)
        lines = ["0000 ffffffff 1 R2 IMAD.WIDE 2 R0 R4 0", f"0010 ffffffff 1 R6 LDG.E.SYS 1 R2 4 {where(first, 32)}",
                 f"0020 0000ffff 1 R7 {opcode} 2 R6 R7 0", f"0030 ffffffff 0 STG.E.SYS 2 R2 R7 4 {where(first + 0x1000000, 32)}", "0040 ffffffff 0 EXIT 0 0"]
        before = (f"{group} 0 0 {warp} " if version < 3 else "") + ("12 " if version == 4 else "")
        out.write(f"warp = {warp}\ninsts = {len(lines)}\n" + "".join(before + line + (" 0" if version > 3 else "") + "\n" for line in lines) + "\n")
    out.write("#END_TB\n\n")
open(folder + "/kernelslist.g", "w").write("MemcpyHtoD,0x0000000500000000,4096\nkernel-1.traceg\n")
END
}

# replayed PROFILE: launches with all that the models made of them.
replayed() {
	"$gpusim" replay "$1" --gpu v100,h200 --report json --output "$1" 2>err && sed -n '/"launches":\[/,/^"transfers"/p' "$1.json" | sed 's/"modelled_ns":[^,]*,//g'
}

imported() {
	made one 3 1 && "$gpusim" import one -o one.profile >out 2>err && [ ! -s out ] && [ ! -s err ] && replayed one.profile >one.launches &&
		grep -q '_Z3addPf' one.launches && grep -q '"global":\[1024,1,1\]' one.launches && grep -q '"dram_bytes"' one.launches
}

# Versions and modes differ in how they write the same.
same_as_others() {
	local version mode
	while read -r version mode; do
		made "v$version" $version $mode && "$gpusim" import "v$version/kernelslist.g" -o v.profile && replayed v.profile >v.launches &&
			cmp one.launches v.launches || return 1
	done <<<$'1 0\n2 1\n4 2\n5 0'
}

packed() {
	command -v xz >/dev/null || return 0
	made x 3 1 && xz x/kernel-1.traceg && sed -i 's/traceg/traceg.xz/' x/kernelslist.g && "$gpusim" import x -o x.profile && replayed x.profile >x.launches &&
		cmp one.launches x.launches
}

# Cut off in the packed bytes.
packed_is_cut() {
	command -v xz >/dev/null || return 0
	head -c -40 x/kernel-1.traceg.xz >x/cut && mv x/cut x/kernel-1.traceg.xz
	! "$gpusim" import x -o cut.profile 2>err && [ "$(wc -l <err)" = 1 ] && grep -q 'cut off' err && [ ! -e cut.profile ] && [ ! -e cut.profile.part ]
}

# A warp adds once, which half of its lanes do not.
counts() { grep -q '"warp_instructions":160' one.launches && grep -q '"thread_instructions":4608' one.launches; }

# What is not in the table is named once, with how often it was executed.
unknown() {
	made u 3 1 FNEW && "$gpusim" import u -o u.profile 2>err && [ "$(wc -l <err)" = 1 ] && grep -q 'FNEW is not known, 32 times' err && replayed u.profile >u.launches &&
		cmp one.launches u.launches
}

commands() {
	"$gpusim" what-if one.profile --gpu v100 >out 2>&1 && "$gpusim" sweep one.profile --gpu v100 --vary sm_count=40,80 -o s >out 2>&1 && [ -s s.csv ]
}

refused() {
	! "$gpusim" import "$1" -o r.profile >out 2>err && [ "$(wc -l <err)" = 1 ] && grep -q "$2" err && [ ! -s out ] && [ ! -e r.profile ]
}
no_trace() { mkdir -p empty && refused empty 'kernelslist.g'; }
bad_line() { made b 3 1 && sed -i '30s/.*/nonsense/' b/kernel-1.traceg && refused b 'kernel-1.traceg:30: '; }
missing() { made m 3 1 && rm m/kernel-1.traceg && refused m 'kernel-1.traceg'; }

# 20,000 iterations of a warp, a load each. In windows the profile does not grow with them; cycles are those of all iterations, within a percent.
long_loop() {
	mkdir -p long && python3 - <<'END' && "$gpusim" import long/kernel-1.traceg -o windows && "$gpusim" import long/kernel-1.traceg -o all --trace all || return 1
out = open("long/kernel-1.traceg", "w")
out.write("-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 16\n-binary version = 70\n"
          "-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007f1000000000\n-nvbit version = 1.5\n"
          "-accelsim tracer version = 3\n-enable lineinfo = 0\n\n#traces format = x\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 80001\n")
for i in range(20000):
    out.write(f"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x{0x500000000 + 128 * i:x} 4\n0020 ffffffff 1 R6 FADD 2 R6 R4 0\n"
              "0030 ffffffff 1 R2 IADD3 1 R2 0\n0040 ffffffff 0 BRA 0 0\n")
out.write("0050 ffffffff 0 EXIT 0 0\n\n#END_TB\n")
END
	[ $(wc -c <windows) -lt 4000 ] && [ $(wc -c <all) -gt $(wc -c <windows) ] || return 1
	for f in windows all; do
		"$gpusim" replay $f --gpu v100 --report json --output $f || return 1
	done
	python3 - <<'END'
import json
a, b = (json.load(open(f + ".json"))["launches"][0]["estimates"][0] for f in ("all", "windows"))
print(a["cycles"], b["cycles"], a["warp_instructions"], b["warp_instructions"])
assert a["warp_instructions"] == b["warp_instructions"] == 80001 and abs(b["cycles"] / a["cycles"] - 1) < 0.01
END
}

check "a trace becomes a profile that replays" imported
check "long loops are kept in windows" long_loop
check "versions 1 to 5 and all modes of addresses say the same" same_as_others
check "counts are those of the trace" counts
check "a trace packed with xz is read" packed
check "one that is cut off is refused" packed_is_cut
check "an unknown opcode is named once and costed as its pipe" unknown
check "what-if and sweep take the profile" commands
check "a folder without a list is refused" no_trace
check "a line that is none is named" bad_line
check "a missing trace is named" missing
echo "$passed passed, $failed failed"
[ $failed = 0 ]
