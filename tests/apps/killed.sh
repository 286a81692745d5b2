#!/bin/sh
# killed.sh PROGRAM - kills the guest program `killed` under gpusim (GPUSIM_TEST_LIB) once its three launches are done: what
# was known by then must stand in a complete JSON report.
set -eu
[ -e "${GPUSIM_TEST_LIB:-}" ] || { echo "killed.sh: GPUSIM_TEST_LIB does not name a library" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
code=0
trap 'rm -rf "$work"' EXIT

env GPUSIM_REPORT=json GPUSIM_OUTPUT="$work/report" LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$GPUSIM_TEST_LIB" "$1" 60 \
	>"$work/out" 2>"$work/err" &
pid=$!
tries=0
until grep -q ready "$work/out" || [ $((tries += 1)) -gt 300 ]; do
	sleep 0.1
done
sleep "${KILLED_AFTER:-1}" # time for a thread of ours to write the report
kill -9 "$pid"
wait "$pid" 2>/dev/null || code=$?
[ -e "$work/report.json" ] || echo '{}' >"$work/report.json"
launches=$(awk -v key=launches -f "$here/count.awk" "$work/report.json")
if [ "$code" -eq 137 ] && [ "$launches" -eq 3 ]; then
	echo "PASS killed ($launches launches reported)"
else
	echo "FAIL killed: exit code $code, $launches launches of 3 reported"
	sed 's/^/    /' "$work/err"
	exit 1
fi
