#!/bin/sh
# run.sh - compares the programs of the list with and without gpusim.
#
#   run.sh [--list FILE] [--quick | --long | --all] [--cold] [--plain] [name...]
#
#   --quick   the quick programs (the default); --long: the others; --all: every one; names: only those
#   --list    another file in the form of the list
#   --cold    gives every run fresh caches; otherwise all runs share one
#   --plain   runs each program alone twice, which tests the tests themselves
# GPUSIM_TEST_LIB and GPUSIM_TEST_BIN are the library and the command. Our own programs are built in APPS_BUILD (default: a
# temporary directory). CC and CXX are the compilers.
set -eu
export GPUSIM_GPU="${GPUSIM_GPU:-gtx480}"

apps=$(cd "$(dirname "$0")" && pwd)
list=$apps/list
speed=QUICK
plain=''
cold=''
while [ $# -gt 0 ]; do
	case $1 in
	--list) list=$2 && shift ;;
	--quick) speed=QUICK ;;
	--long) speed=LONG ;;
	--all) speed=ALL ;;
	--plain) plain=1 ;;
	--cold) cold=1 ;;
	-*) echo "usage: run.sh [--list FILE] [--quick | --long | --all] [--cold] [--plain] [name...]" >&2 && exit 2 ;;
	*) break ;;
	esac
	shift
done
names=" $* "

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
build=${APPS_BUILD:-$work}
mkdir -p "$build"
cache=$work/cache
[ -z "$cold" ] || cache=''

missing_package() {
	command -v dpkg-query >/dev/null || return 0
	for package in $(echo "$1" | tr , ' '); do
		[ "$package" = - ] && continue
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
	done
}

# Builds the program that the command names under $build, unless it exists and is newer than its source. The compiler's output
# is shown only if it fails.
build_program() {
	program=$(printf '%s\n' "$1" | sed -n 's/.*\$build\/\([a-z_]*\).*/\1/p')
	[ -n "$program" ] || return 0
	compiler="${CC:-cc} -std=c11 -O1 -I$apps/../.. -DCL_TARGET_OPENCL_VERSION=300"
	source=$apps/$program.c
	case $program in
	clblast) libraries='-lclblast -lOpenCL -lm' ;;
	clfft) libraries='-lclFFT -lOpenCL -lm' ;;
	viennacl) compiler="${CXX:-c++} -O1 -w" source=$apps/viennacl.cpp libraries=-lOpenCL ;;
	dlopen) source=$apps/../guest/dlopen.c libraries='' ;;
	*) source=$apps/../guest/$program.c libraries='-pthread -lOpenCL' ;;
	esac
	[ ! "$build/$program" -nt "$source" ] || return 0
	$compiler "$source" -o "$build/$program" $libraries >"$work/compiler" 2>&1 || {
		cat "$work/compiler"
		return 1
	}
}

wanted() {
	case $names in
	'  ') [ "$speed" = ALL ] || [ "$speed" = "$2" ] ;;
	*" $1 "*) true ;;
	*) false ;;
	esac
}

passed=0 failed=0 skipped=0
while read -r name way class packages command; do
	case $name in '' | \#*) continue ;; esac
	wanted "$name" "$class" || continue
	missing=$(missing_package "$packages" | tr '\n' ' ')
	if [ -n "$missing" ]; then
		echo "SKIP $name: package missing: $missing"
		skipped=$((skipped + 1))
		continue
	fi
	if ! build_program "$command"; then
		echo "FAIL $name: does not build"
		failed=$((failed + 1))
		continue
	fi
	[ -z "$plain" ] || way=none
	start=$(date +%s)
	# the shell evaluates the list's words: their variables (not split, because IFS is empty), quotes and comments
	options="--name $name --way $way --cache '$cache'"
	if (IFS='' && eval "\"\$apps/compare.sh\" $options $command") </dev/null >"$work/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	sed "1s/\$/, $(($(date +%s) - start)) s/" "$work/said"
done <"$list"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
