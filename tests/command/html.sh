#!/usr/bin/env bash
# Tests the HTML report in headless Chromium: no console error, the table sorts, the page of a kernel opens, the source shows
# heat. It uses a small run, a hostile one and one of 10,000 launches. Pictures of them, light and dark, go to BUILD_DIR/html.
#   tests/command/html.sh BUILD_DIR
# Ends with "N passed, N failed".
set -u
export GPUSIM_GPU=${GPUSIM_GPU:-gtx480}
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-html.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$root/tests/check.sh"
mkdir -p "$build/html"
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_CACHE_DIR=${GPUSIM_CACHE_DIR:-$work/cache}

browser() { timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" --enable-logging=stderr --v=0 "$@" 2>browser.log; }

# report NAME PROGRAM...: NAME.html
report() {
	local name=$1
	shift
	GPUSIM_REPORT=html GPUSIM_OUTPUT=$name LD_PRELOAD=$build/libgpusim.so "$@" >/dev/null 2>err && [ -s "$name.html" ]
}

small() { GPUSIM_GPU=gtx480,v100,h200 report small "$build/kernels/demo" 4; }
hierarchy() { GPUSIM_MEMORY=hierarchy GPUSIM_GPU=gtx480,h200 report hierarchy "$build/kernels/demo" 4; }
hostile() { GPUSIM_MEMORY=perfect report hostile "$build/tests/guest/hostile" '</script><script>document.title="HARM"</script>'; }
large() { GPUSIM_MEMORY=perfect GPUSIM_MODEL=optimistic GPUSIM_GPU=gtx480,h200 report large "$build/tests/guest/many" 10000; }

# used NAME [STEPS]: the page, with the steps of a reader after its own script.
used() {
	python3 - "$1.html" "$root/tests/command/reports/${2:-page}.js" >"$1-used.html" <<'PYTHON'
import sys
page, steps = (open(f, encoding="utf-8").read() for f in sys.argv[1:3])
at = page.rindex("</script>")
print(page[:at] + steps + page[at:])
PYTHON
	browser --virtual-time-budget=5000 --dump-dom "file://$work/$1-used.html" >dom || return 1
	grep -o '<title>TESTED[^<]*' dom
	grep -i 'CONSOLE' browser.log
	grep -q '<title>TESTED OK' dom && ! grep -qi 'CONSOLE' browser.log
}

# The page of gpusim cluster, of a program whose name would do harm as HTML.
cluster() {
	local name='<img src=x onerror=document.title="HARM">' rank
	cp "$build/tests/mpi/calls" "$name"
	for rank in 0 1 2; do
		PMI_RANK=$rank PMI_SIZE=3 LD_LIBRARY_PATH=$build/tests/mpi "$build/gpusim" record -o "calls.%r.profile" -- "./$name" 1000 || return 1
	done
	"$build/gpusim" cluster calls.*.profile --gpu h200 --export smpi-ti traces --html cluster.html >/dev/null
}

# Milliseconds from the start of navigation until the layout is complete.
opens_in_two_seconds() {
	sed 's|</body>|<script>document.title = "DRAWN " + document.body.offsetHeight + " " + Math.round(performance.now());</script></body>|' \
		large.html >timed.html
	browser --dump-dom "file://$work/timed.html" >dom || return 1
	local ms
	ms=$(sed -n 's/.*<title>DRAWN [0-9]* \([0-9]*\).*/\1/p' dom)
	echo "drawn after $ms ms, $(wc -c <large.html) bytes"
	[ -n "$ms" ] && [ "$ms" -lt 2000 ] && [ "$(wc -c <large.html)" -lt 5000000 ]
}

# pictures NAME KERNEL
pictures() {
	local theme page
	for theme in light dark; do
		sed "s|<html lang=\"en\">|<html lang=\"en\" data-theme=\"$theme\">|" "$1.html" >themed.html
		browser --window-size=1300,3000 --screenshot="$build/html/$1-$theme.png" "file://$work/themed.html" >/dev/null &&
			browser --window-size=1300,2000 --screenshot="$build/html/$1-kernel-$theme.png" "file://$work/themed.html#/kernel/$2" >/dev/null || return 1
	done
	ls -l "$build/html/$1-light.png" "$build/html/$1-kernel-dark.png"
}

check "a small run has its page" small
check "a small run's page works" used small
check "a run with the memory hierarchy has its page" hierarchy
check "its page works" used hierarchy
check "a hostile run has its page" hostile
check "a hostile run's page works" used hostile
check "a run of 10,000 launches has its page" large
check "a large run's page works" used large
check "a large run's page opens in two seconds" opens_in_two_seconds
check "a program with MPI has its page" cluster
check "its page works" used cluster cluster
check "pictures of the small run" pictures small matmul
check "pictures of the run with the memory hierarchy" pictures hierarchy matmul
check "pictures of the large run" pictures large "$(sed -n 's/.*"kernels":\[{"name":"\([a-z_0-9]*\)".*/\1/p' large.html | head -1)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
