#!/usr/bin/env bash
# Every guest program, alone and under the library, by each way in: nobody may be able to tell the difference.
#   tests/guests.sh BUILD_DIR
set -u
build=$(cd "$1" && pwd)
compare=$(cd "$(dirname "$0")" && pwd)/apps/compare.sh
export GPUSIM_TEST_LIB=$build/libgpusim.so GPUSIM_TEST_BIN=$build/gpusim
guest=$build/tests/guest
passed=0 failed=0

same() {
	if "$compare" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-guests.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for program in args ranges build queues binary printf untouchable; do
	same --seen 1 "$guest/$program"
done
for program in transfers garbage builtin fork no; do
	same "$guest/$program"
done
for way in layer run; do
	for program in args ranges; do
		same --way $way --seen 1 "$guest/$program"
	done
done
same --way layer --seen 1 "$guest/dlopen"
for ending in return thread _exit quick unfinished abort atexit atexit-first detached; do
	same --name "exits $ending" --seen 1 "$guest/exits" $ending
done
same --seen 8000 --name "8 threads, 1000 launches each" "$guest/threads" 1000
same --seen 8000 --way layer --name "8 threads as a layer" "$guest/threads" 1000
same --seen 20000 --name "20000 launches" "$guest/many" 20000
echo "$passed passed, $failed failed"
[ $failed = 0 ]
