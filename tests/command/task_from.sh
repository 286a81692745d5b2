#!/usr/bin/env bash
# Task lists of recorded programs: the suite's cases, written as lists and modelled from these, take as long as they do from the profile: within 5%.
#   tests/command/task_from.sh BUILD_DIR [GPU [CASE...]]
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/validate.sh, tests/command/task.sh).
. "$(dirname "$0")/back.sh"

from_list() {
	record "$1" && "$gpusim" task --from p -o list.task --gpu "$gpu" && "$gpusim" task list.task -o back --trace all --trace-memory 4G &&
		compare "$1" 0.05
}

each_case from_list
