#!/usr/bin/env bash
# A cache that one machine filled serves another machine without clang. Tested from outside: one check per promise.
#   tests/command/cache.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR and POCL_CACHE_DIR (tests/run.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
demo=$build/kernels/demo
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-cache.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_GPU=gtx480,h200
export GPUSIM_MEMORY=perfect # quicker, and these tests do not depend on it
. "$here/../check.sh"

# Two machines: one has a gpusim-cc, the other does not.
with_clang() { GPUSIM_CACHE_DIR=$work/with "$@"; }
without_clang() { GPUSIM_CACHE_DIR=$work/without GPUSIM_CC=$work/absent "$@"; }
run_demo() { LD_PRELOAD=$build/libgpusim.so "$demo" >out 2>err; }

# refused EXPECTED COMMAND...: the exit code is 2, and one line says why.
refused() {
	local expected=$1 code
	shift
	"$@" >said 2>complaint
	code=$?
	cat said complaint
	[ $code = 2 ] && [ "$(wc -l <complaint)" = 1 ] && grep -q "$expected" complaint && [ ! -s said ]
}

unanswered_is_kept() {
	without_clang run_demo && grep -q 'not modelled: .* saxpy' err && [ "$(ls without/wanted | wc -l)" = 1 ] &&
		without_clang run_demo && [ "$(ls without/wanted | wc -l)" = 1 ]
}

wanted_is_filled() {
	without_clang "$gpusim" cache wanted list >said && grep -q '^list: 1 request$' said && [ "$(head -1 list)" = 'gpusim-cache 1' ] &&
		with_clang "$gpusim" cache fill list >said && grep -q '^1 answered, 0 answered before, 0 not$' said &&
		with_clang "$gpusim" cache fill list >said && grep -q '^0 answered, 1 answered before, 0 not$' said
}

filled_serves() {
	with_clang "$gpusim" cache export carried >said && grep -q '^carried: 1 result$' said &&
		without_clang "$gpusim" cache import carried >said && grep -q '^carried: 1 entry for ' said &&
		without_clang run_demo && grep -q ' saxpy$' err && grep -q '1 from the cache' err && ! grep -q 'not modelled' err &&
		[ -z "$(ls without/wanted)" ]
}

# The same numbers as with its own gpusim-cc.
same_estimates() {
	local name
	for name in with without; do
		GPUSIM_REPORT=json GPUSIM_OUTPUT=$name "${name}_clang" run_demo || return 1
		sed -n '/"launches":\[/,/^"transfers"/p' $name.json | sed 's/"\(measured\|modelled\)_ns":[^,]*,//g' >$name.estimates
	done
	[ -s with.estimates ] && cmp with.estimates without.estimates
}

own_wanted_is_filled() {
	GPUSIM_CACHE_DIR=$work/own GPUSIM_CC=$work/absent run_demo && GPUSIM_CACHE_DIR=$work/own "$gpusim" cache fill >said &&
		grep -q '^1 answered, 0 answered before, 0 not$' said && [ -z "$(ls own/wanted)" ] &&
		GPUSIM_CACHE_DIR=$work/own GPUSIM_CC=$work/absent run_demo && ! grep -q 'not modelled' err
}

# Without clang, no request can be filled. A message says this, and the request stays.
fill_without_clang() {
	mkdir -p nowhere
	GPUSIM_CACHE_DIR=$work/nowhere GPUSIM_CC=$work/absent "$gpusim" cache fill list >said 2>complaint
	[ $? = 1 ] && grep -q '^0 answered, 0 answered before, 1 not$' said && grep -q "GPUSIM_CC: '.*absent' cannot be run" complaint
}

damaged_is_refused() {
	local byte
	byte=$(od -An -tu1 -j300 -N1 carried)
	cp carried bad && printf '%b' "\\x$(printf %02x $((byte ^ 255)))" | dd of=bad bs=1 seek=300 conv=notrunc 2>/dev/null
	head -c 2000 carried >cut
	echo hello >other.txt
	mkdir -p clean
	sed '1s/.*/gpusim-cache 2/' carried >newer
	local name
	for name in 'bad:is damaged' 'cut:ends early' 'other.txt:is not a cache file' 'newer:of another version' 'missing:cannot read'; do
		GPUSIM_CACHE_DIR=$work/clean refused "${name#*:}" "$gpusim" cache import "${name%%:*}" &&
			GPUSIM_CACHE_DIR=$work/clean refused "${name#*:}" "$gpusim" cache fill "${name%%:*}" || return 1
	done
	[ -z "$(ls clean)" ]
}

wrong_usage_is_told() {
	refused 'name a file' "$gpusim" cache export && refused "unexpected 'b'" "$gpusim" cache import a b &&
		refused "unexpected 'exprot'" "$gpusim" cache exprot && refused 'cannot write' "$gpusim" cache export absent/file
}

# Whether the demo, without clang, takes nothing from the cache in folder $1, and ends.
takes_nothing_from() {
	GPUSIM_CACHE_DIR=$work/$1 GPUSIM_CC=$work/absent LD_PRELOAD=$build/libgpusim.so timeout 60 "$demo" >out 2>err &&
		grep -q 'not modelled: .* saxpy' err
}

files_are_private() {
	(umask 0 && without_clang_in masked) || return 1
	[ -z "$(find masked -type d ! -perm 0700)" ] && [ -z "$(find masked -type f ! -perm 0600)" ] && [ "$(find masked -type f | wc -l)" = 1 ]
}
without_clang_in() { GPUSIM_CACHE_DIR=$work/$1 GPUSIM_CC=$work/absent run_demo; }

# In a folder that others can write to, others could have put any file. So our own folder is beside it.
# Files in the end: the answer, the estimates of three kernels on two GPUs, and what the driver built.
shared_folder_is_not_trusted() {
	local own
	own=open/user-$(id -u)
	cp -r with open && chmod 1777 open && takes_nothing_from open && [ "$(ls open/results | wc -l)" = 1 ] && [ -d "$own/wanted" ] &&
		GPUSIM_CACHE_DIR=$work/open "$gpusim" cache import carried >said && [ "$(ls "$own/results" | wc -l)" = 1 ] &&
		without_clang_in open && grep -q '1 from the cache' err && GPUSIM_CACHE_DIR=$work/open "$gpusim" cache | grep -q "^$work/$own: 8 files"
}

# It is better to have no cache than another user's. A line says so.
occupied_folder_is_told() {
	mkdir taken elsewhere && chmod 1777 taken && ln -s ../elsewhere "taken/user-$(id -u)" && takes_nothing_from taken &&
		[ "$(grep -c 'nothing is cached: ' err)" = 1 ] && [ -z "$(ls elsewhere)" ]
}

what_is_no_file_is_missing() {
	local entry
	cp -r with odd && entry=$(ls odd/results) && rm "odd/results/$entry" && mkfifo -m 600 "odd/results/$entry" && takes_nothing_from odd &&
		[ -p "odd/results/$entry" ] && rm "odd/results/$entry" && ln -s /dev/zero "odd/results/$entry" && takes_nothing_from odd &&
		[ -L "odd/results/$entry" ]
}

# Another user's entry, in our folder and in theirs. Only root can test this.
entries_of_others_are_not_used() {
	cp -r with theirs && chown -R 12345 theirs/results/* && takes_nothing_from theirs && [ "$(ls theirs/results | wc -l)" = 1 ] &&
		chown 0 theirs/results/* && without_clang_in theirs && grep -q '1 from the cache' err &&
		chown -R 12345 theirs && takes_nothing_from theirs && [ "$(ls theirs/results | wc -l)" = 1 ] && [ -d theirs/user-0 ]
}
# Two users in one folder: each has a folder of their own, which the other cannot read.
users_do_not_meet() {
	local stranger='setpriv --reuid 12345 --clear-groups' both result=1
	both=$(mktemp -d /tmp/gpusim-both.XXXXXX) && chmod 1777 "$both" && cp carried "$gpusim" "$both" && chmod 644 "$both/carried" &&
		$stranger env GPUSIM_CACHE_DIR="$both" "$both/gpusim" cache import "$both/carried" >said &&
		[ "$(ls "$both/user-12345/results" | wc -l)" = 1 ] && ln -s "$both" both && takes_nothing_from both && [ -d "$both/user-0" ] &&
		! $stranger ls "$both/user-0" 2>/dev/null && $stranger env GPUSIM_CACHE_DIR="$both" "$both/gpusim" cache | grep -q 'user-12345: 1 files' &&
		result=0
	rm -rf "$both"
	return $result
}

check "a request that no gpusim-cc answers is kept once" unanswered_is_kept
check "a machine with clang answers what another one wants" wanted_is_filled
check "the answers serve the machine without clang" filled_serves
check "estimates are those of a machine with clang" same_estimates
check "what is wanted here is filled here" own_wanted_is_filled
check "filling without clang says so" fill_without_clang
check "damaged, cut, foreign and newer files are refused, and nothing of them is kept" damaged_is_refused
check "wrong usage is one line" wrong_usage_is_told
check "files and folders are the user's alone, whatever the umask" files_are_private
check "in a folder that others can write, there is one of our own" shared_folder_is_not_trusted
check "a folder that somebody else took is told, and not used" occupied_folder_is_told
check "a FIFO and a link are missing entries, and stay" what_is_no_file_is_missing
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	check "entries of other users are not used, and stay" entries_of_others_are_not_used
	check "users that share a folder do not meet" users_do_not_meet
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
