#!/usr/bin/env bash
# make validate: compares registers per thread with NVIDIA's assembler, if it is installed.
#   tests/command/registers.sh BUILD_DIR
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
if [ ! -x "$ptxas" ]; then
	echo "registers: no ptxas here; skipped"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-registers.XXXXXX")
trap 'rm -rf "$folder"' EXIT
GPUSIM_CC=$build/gpusim-cc "$build/tests/registers/registers" "$ptxas" "$folder" "$root"/kernels/*.cl
