#!/usr/bin/env bash
# For a machine with an NVIDIA GPU: what instructions, accesses and kernels of the suite take of energy, by NVML's counter.
#   tests/accuracy/truth/energy/measure.sh FOLDER
# Takes about 150 s. Needs nvcc, gcc, NVIDIA's driver with its OpenCL. FOLDER gets:
#   energy-micro.csv  microbenchmarks (micro.cu): operations a second, and watts
#   energy-suite.csv  kernels of the suite (cases.txt), each launched again and again for 1.8 s (loop.c)
#   log.txt           the GPU, and what went wrong
# Then energy.py keys FOLDER/energy-micro.csv SMS writes the keys of a description.
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$PATH:/usr/local/cuda/bin
exec 2>"$out/log.txt"
nvidia-smi --query-gpu=name,driver_version,power.limit,clocks.max.sm --format=csv >&2
nvcc -std=c++17 -O3 -arch=native -o "$work/micro" "$here/micro.cu" && timeout 120 "$work/micro" "$out/energy-micro.csv" 1.6 || echo "no microbenchmarks: log.txt says why"
# The library finds drivers by files that a bare machine may not have.
if ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
	mkdir "$work/vendors"
	echo libnvidia-opencl.so.1 >"$work/vendors/nvidia.icd"
	export OCL_ICD_VENDORS=$work/vendors OPENCL_VENDOR_PATH=$work/vendors
fi
export LOOP_SECONDS=1.8 LOOP_OUT=$out/energy-suite.csv
echo 'kernel,global,period_s,launches,watts,watts_ends,watts_gauge,sm_mhz,mem_mhz,temp_c,throttle,samples' >"$LOOP_OUT"
# shellcheck disable=SC2046
gcc -O2 -I"$root/kernels" -o "$work/suite" "$root/kernels/suite.c" -lOpenCL && gcc -O2 -fPIC -shared -o "$work/loop.so" "$here/loop.c" -ldl -lpthread &&
	LD_PRELOAD=$work/loop.so timeout 100 "$work/suite" -n "$root/kernels/medium-cases.txt" $(cat "$here/cases.txt") >>"$out/log.txt" || echo "no suite: log.txt says why"
