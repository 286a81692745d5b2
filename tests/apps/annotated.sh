#!/bin/sh
# annotated.sh - lists which kernels of real programs ran annotated, from the reports that compare.sh kept.
#
#   annotated.sh FOLDER     (GPUSIM_TEST_KEEP of run.sh: FOLDER/NAME/report.*.json)
#
# Prints one line per program and launched kernel, sorted. The line is "PROGRAM KERNEL annotated", with a reason if some
# launches were not, or "PROGRAM KERNEL untouched: REASON". Also prints how many of each there are in each program. The program
# is NAME up to a hyphen.
set -eu
export LC_ALL=C

# A report has one line per launch, and one line with all reasons.
kernels_of() {
	sed -n "s/^{\"seq\":[0-9]*,\"kernel\":\"\([^\"]*\)\".*/$1 \1 annotated/p" "$2"
	sed -n 's/^"not_modelled":\[\(.*\)\],*$/\1/p' "$2" | sed 's/},{/}\n{/g' |
		sed -n "s/^{\"kernel\":\"\([^\"]*\)\",\"launches\":[0-9]*,\"reason\":\"\(.*\)\"}\$/$1 \1 untouched: \2/p"
}

for report in "$1"/*/report.*.json; do
	name=$(basename "$(dirname "$report")")
	kernels_of "${name%%-*}" "$report"
done | sort -u | awk '
	{
		kernel = $1 " " $2
		if (!(kernel in state)) {
			kernels[++count] = kernel
			if (!($1 in all)) names[++n] = $1
			all[$1]++
		}
		if ($3 == "annotated") {
			state[kernel] = $3
			annotated[$1]++
		} else {
			reason = substr($0, length(kernel " untouched: ") + 1)
			state[kernel] = state[kernel] == "" ? "untouched: " reason : state[kernel] ", but not always: " reason
		}
	}
	END {
		for (i = 1; i <= count; i++)
			print kernels[i], state[kernels[i]]
		print ""
		for (i = 1; i <= n; i++) {
			printf "%s: %d of %d kernels annotated\n", names[i], annotated[names[i]], all[names[i]]
			sum += annotated[names[i]]
		}
		printf "all: %d of %d kernels annotated\n", sum, count
	}'
