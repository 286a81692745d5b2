#!/usr/bin/env bash
# Traces for Accel-Sim of cases of medium size (kernels/medium-cases.txt), as its simulator reads them: check_traces.py finds nothing that would end it. Each for another GPU in
# turn, so that all tables of opcodes are used.
#   tests/command/exported.sh BUILD_DIR [CASE...]
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/validate.sh).
build=$1
shift
set -- "$build" v100 "${@:-gather-m histogram-m dot_double-m sobel_image-m radix_count-m}"
. "$(dirname "$0")/back.sh"
list=$root/kernels/medium-cases.txt
gpus=(v100 rtx2060 rtx3070 h200)
turn=0

exported() {
	gpu=${gpus[$((turn % 4))]}
	turn=$((turn + 1))
	record "$1" && "$gpusim" export --accel-sim p -o traces --gpu "$gpu" && python3 "$root/tests/command/check_traces.py" traces
}

each_case exported
