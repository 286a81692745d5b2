#!/usr/bin/env bash
# The CUDA runtime as far as it needs no kernel, in all ways that lead into the library.
#   tests/cuda/api/run.sh BUILD_DIR
# Ends with "N passed, N failed, N skipped". The caller sets TMPDIR, POCL_CACHE_DIR and GPUSIM_CACHE_DIR (tests/run.sh).
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-api.XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$root/tests/check.sh"
skipped=0
export GPUSIM_GPU=h200 GPUSIM_REPORT=none
cc="${CC:-gcc} -O1 -g -I$root -Wall -pthread"
cuda=${CUDA_PATH:-/usr/local/cuda}

skip() {
	skipped=$((skipped + 1))
	echo "skip $1"
}

# A shared library of that version, with its version node, as CUDA's has it.
make_runtime() {
	mkdir -p "$work/$1" &&
		echo "libcudart.so.$1 { global: *; };" >"$work/$1/version" &&
		$cc -w -fPIC -shared -Wl,-soname,"libcudart.so.$1" -Wl,--version-script="$work/$1/version" \
			-o "$work/$1/libcudart.so.$1" "$root/tests/cuda/api/cudart.c"
}

# program NAME VERSION: links one with that runtime.
program() {
	$cc -DCUDA_MAJOR="${2%.*}" -o "$work/$1-$2" "$root/tests/cuda/api/$1.c" "$work/$2/libcudart.so.$2"
}

passes() { timeout 60 "$@" >"$work/out" 2>"$work/err"; local code=$?; cat "$work/out" "$work/err"; [ $code = 0 ] && grep -qx PASS "$work/out"; }
run() { passes "$build/gpusim" run -- "$@"; }
preloaded() { LD_LIBRARY_PATH=$work/$1 LD_PRELOAD=$build/libgpusim.so passes "$2"; }
alias_alone() { LD_LIBRARY_PATH=$build/cuda passes "$1"; }

for version in 11.0 12 13; do
	check "a runtime of version $version to link with" make_runtime $version
done
for name in memory streams events devices errors passing; do
	check "$name is built" program $name 13
done
for version in 11.0 12; do
	check "devices is built for $version" program devices $version
done

# Where CUDA is not installed: gpusim run has the library that is needed.
for name in memory streams events devices errors; do
	check "$name under gpusim run" run "$work/$name-13"
done
for version in 11.0 12; do
	check "devices, as version $version declares them" run "$work/devices-$version"
done
several_devices() {
	program several 13 && GPUSIM_DEVICES=3 GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/several run "$work/several-13" &&
		[ "$(jq -c '[.timeline.commands[] | select(.kind == "peer") | .gpu]' "$work/several.json")" = '[2,2,2,2]' ]
}
check "several devices, and copies between them" several_devices
# Where it is installed: preloading is enough.
check "memory with a runtime that is installed, preloaded" preloaded 13 "$work/memory-13"
check "devices of version 12 with a runtime that is installed, preloaded" preloaded 12 "$work/devices-12"
check "errors with the alias library alone" alias_alone "$work/errors-13"

# The driver's own interface. Where a driver is installed, gpusim run leaves it where it is.
$cc -o "$work/driver" "$root/tests/cuda/api/driver.c" -ldl
driver_launches() {
	LD_LIBRARY_PATH=$build/cuda/driver GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/driver-report passes "$work/driver" &&
		[ "$(jq -c '[.launches[].kernel]' "$work/driver-report.json")" = '["saxpy","saxpy","linked","saxpy","saxpy"]' ]
}
if ldconfig -p | grep -q 'libcuda\.so\.1 '; then
	skip "the driver's interface under gpusim run: a driver is installed"
else
	check "the driver's interface under gpusim run" run "$work/driver"
fi
check "the driver's interface, by a library of its name" driver_launches
$cc -o "$work/driver_memory" "$root/tests/cuda/api/driver_memory.c" -ldl
driver_memory() { LD_LIBRARY_PATH=$build/cuda/driver passes "$work/driver_memory"; }
check "memory that the driver maps, pools and textures" driver_memory
driver_peers() {
	$cc -o "$work/driver_peers" "$root/tests/cuda/api/driver_peers.c" -ldl &&
		LD_LIBRARY_PATH=$build/cuda/driver GPUSIM_DEVICES=2 GPUSIM_REPORT=json GPUSIM_OUTPUT=$work/peers passes "$work/driver_peers" &&
		[ "$(jq -c '[.timeline.commands[] | select(.kind == "peer") | .size_bytes]' "$work/peers.json")" = '[65536,65536,2048]' ]
}
check "copies between devices by the driver" driver_peers
registered() { $cc -o "$work/$1" "$root/tests/cuda/api/$1.c" && LD_PRELOAD=$build/libgpusim.so passes "$work/$1"; }
check "texture references of the runtime" registered references
check "surface references of the runtime" registered surfaces
check "views of arrays by textures of the runtime" registered views
# 716: cudaErrorMisalignedAddress, in the text that traces.
$cc -o "$work/misaligned" "$root/tests/cuda/misaligned.c"
misaligned() { # KERNEL ERROR
	[ "$(LD_PRELOAD=$build/libgpusim.so "$work/misaligned" "$1" 2>"$work/err")" = "$2 $2" ] || return 1
	[ "$2" = 0 ] || grep -q "kernel $1 accessed memory at an address that is no multiple" "$work/err"
}
for name in aligned bytes off; do check "accesses that are not misaligned: $name" misaligned $name 0; done
for name in rows wide one same atomic tile some; do check "accesses that are misaligned: $name" misaligned $name 716; done
nvrtc=$(ls "$cuda"/lib64/libnvrtc.so.[0-9]* "$cuda"/lib/libnvrtc.so.[0-9]* 2>/dev/null | head -1)
compiles_itself() { $cc -o "$work/nvrtc" "$root/tests/cuda/api/nvrtc.c" -ldl && LD_LIBRARY_PATH=$build/cuda/driver passes "$work/nvrtc" "$nvrtc"; }
if [ -n "$nvrtc" ]; then check "a kernel that NVRTC compiles" compiles_itself; else skip "a kernel that NVRTC compiles: there is no NVRTC"; fi

says_what_is_refused() {
	"$build/gpusim" run -- "$work/errors-13" 2>&1 >/dev/null | grep -c 'cudaUserObjectCreate is not implemented yet' | grep -qx 1
}
check "a call that is refused says so once" says_what_is_refused

# Switched off: calls go on, with their parameters. 385 = 1*1 + 2*2 + ... + 10*10, 204 = 1*1 + ... + 8*8.
off_preloaded() { [ "$(GPUSIM_OFF=1 LD_LIBRARY_PATH=$work/13 LD_PRELOAD=$build/libgpusim.so "$work/passing-13")" = "77 385 204" ]; }
off_run() { [ "$(GPUSIM_OFF=1 LD_LIBRARY_PATH=$work/13 "$build/gpusim" run -- "$work/passing-13")" = "77 385 204" ]; }
off_alone() { [ "$(GPUSIM_OFF=1 LD_LIBRARY_PATH=$build/cuda "$work/passing-13")" = "100 801 100" ]; }
check "GPUSIM_OFF=1 passes calls on" off_preloaded
check "GPUSIM_OFF=1 gpusim run passes calls on" off_run
check "GPUSIM_OFF=1 without a runtime: no device" off_alone

# A runtime that is opened at run time.
cat >"$work/open.py" <<'EOF'
import ctypes, sys
cudart = ctypes.CDLL(sys.argv[1])
version = ctypes.c_int()
address = ctypes.c_void_p()
assert cudart.cudaRuntimeGetVersion(ctypes.byref(version)) == 0
assert version.value // 1000 == int(sys.argv[2]), version.value
assert cudart.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(100)) == 0 and address.value
assert cudart.cudaFree(address) == 0
print("PASS")
EOF
for version in 11.0 12 13; do
	check "libcudart.so.$version is opened by Python" run python3 "$work/open.py" "libcudart.so.$version" "${version%.*}"
done

# A runtime inside the executable, with and without symbols, at a fixed address and at any.
inside() { # NAME FLAGS...
	local name=$1
	shift
	$cc -w -c -DINSIDE -o "$work/inside.o" "$root/tests/cuda/api/cudart.c" &&
		$cc "$@" -DCUDA_MAJOR=12 -o "$work/$name-inside" "$root/tests/cuda/api/$name.c" "$work/inside.o"
}
check "memory with the runtime inside is built" inside memory -pie
check "memory with the runtime inside" run "$work/memory-inside"
check "errors with the runtime inside, not relocatable, is built" inside errors -no-pie
check "errors with the runtime inside, not relocatable" run "$work/errors-inside"
check "devices with the runtime inside is built" inside devices
check "devices with the runtime inside" run "$work/devices-inside"
library_inside() {
	$cc -w -fPIC -DINSIDE -shared -fvisibility=hidden -o "$work/libinside.so" "$root"/tests/cuda/api/{library,cudart}.c &&
		$cc -o "$work/library_user" "$root/tests/cuda/api/library_user.c" -L"$work" -linside -Wl,-rpath,"$work"
}
check "a library with the runtime inside is built" library_inside
check "a library with the runtime inside" run "$work/library_user"
no_symbols() {
	strip -o "$work/stripped" "$work/errors-inside" || return 1
	"$build/gpusim" run -- "$work/stripped" >"$work/out" 2>"$work/err"
	cat "$work/err"
	grep -q 'link it with nvcc -cudart shared' "$work/err" && [ "$(grep -c gpusim "$work/err")" = 1 ]
}
check "one line about a program that is stripped" no_symbols
off_inside() { [ "$(GPUSIM_OFF=1 LD_PRELOAD=$build/libgpusim.so "$work/passing-inside")" = "77 385 204" ]; }
check "passing with the runtime inside is built" inside passing
check "GPUSIM_OFF=1 leaves the runtime inside alone" off_inside

# CUDA's own headers and compiler.
layout() {
	$cc -I"$cuda/include" -o "$work/layout" "$root"/tests/cuda/api/layout{,_ours}.c "$root"/interposer/cuda/device/*.c "$root"/runtime/base/*.c \
		-D_GNU_SOURCE && "$work/layout"
}
if grep -qs '#define CUDART_VERSION  *13' "$cuda/include/cuda_runtime_api.h"; then
	check "structs and numbers are those of CUDA's header" layout
else
	skip "structs and numbers against CUDA's header: there is no CUDA 13"
fi
# NVIDIA's own runtime inside the executable, with all symbols and without those for debuggers.
nvcc=$(command -v nvcc || { [ -x "$cuda/bin/nvcc" ] && echo "$cuda/bin/nvcc"; })
by_nvcc() { (cd "$root" && "$nvcc" -w -I. -std=c++17 -gencode arch=compute_75,code=compute_75 -o "$work/whole" tests/cuda/programs/memory.cu); }
has_no_failure() { timeout 120 "$build/gpusim" run -- "$@" >"$work/out" 2>&1; local code=$?; cat "$work/out"; [ $code = 0 ] && grep -q '^PASS' "$work/out"; }
without_debugging() { strip -g -o "$work/without" "$work/whole" && has_no_failure "$work/without"; }
if [ -n "$nvcc" ]; then
	check "nvcc builds a program that contains the runtime" by_nvcc
	check "a program that contains NVIDIA's runtime" has_no_failure "$work/whole"
	check "the same after strip -g" without_debugging
else
	skip "a program that contains NVIDIA's runtime: there is no nvcc"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
