# For tests of GPU descriptions, which source this file: values of keys. $gpusim is the command.

# value FILE KEY: as `gpusim show` prints it.
value() { "$gpusim" show "$1" | awk -v key="$2" '$1 == key { print $3 }'; }

# has FILE KEY VALUE...: every key has its value.
has() {
	local file=$1
	shift
	while [ $# -gt 1 ]; do
		[ "$(value "$file" "$1")" = "$2" ] || { echo "$1 = $(value "$file" "$1"), not $2" && return 1; }
		shift 2
	done
}
