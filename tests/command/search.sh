#!/usr/bin/env bash
# gpusim tune --cuda on simulated GPUs: the search must find values that the simulation has and the base does not.
#   tests/command/search.sh BUILD_DIR [quick]
# The machine is measured in virtual time, and only its table of times goes to the search. quick: refused calls. Ends with "N passed, N failed".
# The caller sets TMPDIR.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-search.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_CACHE_DIR=${GPUSIM_CACHE_DIR:-$work/cache}
. "$here/../check.sh"

# measured GPU SET PARTS: times of a GPU with some values set.
measured() {
	GPUSIM_REPORT=none "$gpusim" run --gpu "$1" --set "$2" --profiling simulated --trace all --sampling off -- \
		"$gpusim" tune --cuda --base "$1" --only "$3" --times times.csv --log measured.log
}

# found GPU PARTS: searches with these times.
found() { "$gpusim" tune --cuda --base "$1" --only "$2" --measured times.csv --log search.log -o found.gpu || { cat search.log && return 1; }; }

# has KEY VALUE: the key was found, and its value is that one, or is within 3% of it.
has() {
	grep -E "^$1 " found.gpu
	awk -v key="$1" -v value="$2" '$1 == key && /measured 2/ && ($3 == value || (value + 0 > 0 && $3 >= 0.97 * value && $3 <= 1.03 * value)) { ok = 1 } END { exit !ok }' \
		found.gpu || { grep "$1" search.log && return 1; }
}
# kept KEY WHY: the key was not found, and the description says why.
kept() { grep -E "^$1 .*\(not measured: .*$2" found.gpu || { grep -E "^$1 |$1" found.gpu search.log && return 1; }; }

# machine GPU SET PARTS
machine() {
	check "$1 with $2: times are measured" measured "$1" "$2" "$3"
	check "$1 with $2: the search ends well" found "$1" "$3"
}

refused() {
	local expected=$1 code=$2
	shift 2
	"$@" >out 2>err
	local got=$?
	cat err
	[ $got = "$code" ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && grep -q "$expected" err
}

if [ "${2:-}" = quick ]; then
	[ -e /dev/nvidiactl ] || check "no driver is told" refused 'there is no CUDA driver' 1 "$gpusim" tune --cuda --base v100 --times times.csv
	check "an unknown part is told" refused "did you mean 'slices'" 2 "$gpusim" tune --cuda --base v100 --only slice
	check "times without --cuda are told" refused 'belong to --cuda' 2 "$gpusim" tune --base v100 --measured times.csv
	check "OpenCL's options are told" refused "are OpenCL's" 2 "$gpusim" tune --cuda --base v100 --quick
	check "no file is told" refused 'none.csv' 1 "$gpusim" tune --cuda --base v100 --measured none.csv
	echo "lone 1;3" >bad.csv
	check "another file is told" refused 'bad.csv:1: not a time' 1 "$gpusim" tune --cuda --base v100 --measured bad.csv
	printf '# sms: 132\nlone 1,1500,ns,0\nlone 33,8000,ns,0\n' >other.csv
	check "another number of SMs is told" refused 'measured on 132 SMs, but v100 has 80' 1 "$gpusim" tune --cuda --base v100 --measured other.csv
	: >empty.csv
	check "an empty table is told" refused 'has no times' 1 "$gpusim" tune --cuda --base v100 --measured empty.csv
else
	machine v100 scheduler_policy=lrr,group_turnaround=300,grid_interval=2,l2_interleave_bytes=1024 start,lone,grid,schedule,slices
	check "group_turnaround is found" has group_turnaround 300
	check "grid_interval is found" has grid_interval 2
	check "group_interval, which the ends of groups hide, is not" kept group_interval 'fit alike'
	check "scheduler_policy is found" has scheduler_policy lrr
	check "l2_interleave_bytes is found" has l2_interleave_bytes 1024
	check "l2_hash is found" has l2_hash 1
	check "what cannot be measured is named" kept l2_slices 'not how many'
	check "every candidate is in the log, with its error" test "$(grep -cE '^  lone group_turnaround=[0-9.]+: error [0-9.]+%$' search.log)" -ge 10
	check "it is a description" "$gpusim" show ./found.gpu
	machine v100 group_interval=200,grid_interval=0.5 start,lone,grid
	check "group_interval is found where it shows" has group_interval 200
	check "grid_interval, which few launches show then, is found" has grid_interval 0.5
	machine h200 read_window=0,l2_turn_bytes=128 ports,slices
	check "read_window is found" has read_window 0
	check "l2_turn_bytes is found" has l2_turn_bytes 128
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
