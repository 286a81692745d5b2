#!/usr/bin/env bash
# For a machine with an NVIDIA GPU and nvcc: is what we expect of CUDA and PTX what the real runtime does?
#   tests/cuda/device.sh FOLDER [RANDOM_PROGRAMS [REPEATS]]
# Needs neither POCL nor LLVM. It executes every form of PTX instruction and random programs by the driver and compares them with the oracle, runs
# the programs of tests/cuda/programs, and times the cases of the suite. FOLDER gets: forms and random (what differs), programs (output), and
# suite.csv (case,kernel,global,local,checksum,median_ns,min_ns). Ends with "N passed, N failed".
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
count=${2:-2000} repeats=${3:-11}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$PATH:/usr/local/cuda/bin
cuda=$(dirname "$(dirname "$(command -v nvcc)")")
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
cd "$root" || exit 1
tools=$work/build/tests/lift/conformance
make -s -j"$(nproc)" O="$work/build" "$tools"/{generate,random,oracle,device,compare} >"$out/make" 2>&1 || { cat "$out/make" && exit 1; }
passed=0 failed=0

add() { # NAME FILE: adds up "N passed, N failed" of the file
	set -- "$1" $(grep -E '^[0-9]+ passed, [0-9]+ failed' "$2" | tail -1 | tr -d ,)
	echo "$1: ${2:-0} passed, ${4:-1} failed"
	passed=$((passed + ${2:-0})) failed=$((failed + ${4:-1}))
}

compared() { # NAME
	{
		"$tools/oracle" "$work/$1"
		"$tools/device" "$work/$1"
		"$tools/compare" "$work/$1" oracle device
	} >"$out/$1" 2>&1
	head -60 "$out/$1" | cut -c1-250
	add "$1" "$out/$1"
}

# A process compiles its programs one after the other, so several processes are quicker. The driver's compiler does not optimise: with its
# default level, some 2% of the programs give other registers, and one does not end.
random_programs() {
	local part parts=16
	for part in $(seq 0 $((parts - 1))); do
		mkdir -p "$work/random$part"
		"$tools/random" "$work/random$part" $((1 + part * (count / parts))) $((count / parts))
		{ "$tools/oracle" "$work/random$part" && "$tools/device" -O 0 "$work/random$part"; "$tools/compare" "$work/random$part" oracle device; } \
			>"$work/random$part.log" 2>&1 &
	done
	wait
	cat "$work"/random*.log | grep -v ' passed, ' | head -60 | cut -c1-250
	cat "$work"/random*.log | awk '/ passed, / { p += $1; f += $3; next } { print } END { print p " passed, " f " failed" }' >"$out/random"
	add "registers of random programs" "$out/random"
}

programs() {
	local program p=0 f=0
	for program in tests/cuda/programs/*.cu; do
		name=$(basename "$program" .cu)
		nvcc -w -I. -std=c++17 -arch=sm_90 -o "$work/$name" "$program" 2>"$work/nvcc" || { echo "FAIL $name does not compile" && f=$((f + 1)) && continue; }
		if timeout 60 "$work/$name" >"$work/said" 2>&1 && ! grep -q '^FAIL' "$work/said"; then
			p=$((p + 1))
		else
			f=$((f + 1))
			echo "FAIL $name"
		fi
		cat "$work/said"
	done
	echo "$p passed, $f failed"
}

mkdir "$work/forms"
"$tools/generate" "$work/forms"
compared forms
random_programs
programs >"$out/programs" 2>&1
grep '^FAIL' "$out/programs"
add "programs" "$out/programs"
gcc -O2 -I. -o "$work/host" kernels/cuda/host.c -L"$cuda/lib64" -Wl,--no-as-needed -lcudart -lm
for cases in cases more-cases; do
	"$work/host" -r "$repeats" "kernels/$cases.txt"
done >"$out/suite.csv" 2>"$out/suite.err"
echo "suite: $(wc -l <"$out/suite.csv") cases timed"
cat "$out/suite.err"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
