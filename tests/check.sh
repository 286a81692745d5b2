# For test scripts, which source this file. Counts in $passed and $failed. $work is the script's own folder.
passed=0 failed=0

# check NAME COMMAND...: the command must succeed. If it does not, its output is shown.
check() {
	local name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok   $name"
	else
		failed=$((failed + 1))
		echo "FAIL $name"
		sed 's/^/     /' "$work/log" | head -40
	fi
}
