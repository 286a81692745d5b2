#!/usr/bin/env bash
# Traces for Accel-Sim and back: the suite's cases, exported, imported and replayed, take as long as they do from the profile itself: within 1%.
#   tests/command/round_trip.sh BUILD_DIR [GPU [CASE...]]
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/validate.sh).
. "$(dirname "$0")/back.sh"

back() {
	record "$1" && "$gpusim" export --accel-sim p -o traces --gpu "$gpu" && "$gpusim" import traces -o back --trace all --trace-memory 4G &&
		compare "$1" 0.01
}

each_case back
