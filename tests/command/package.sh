#!/usr/bin/env bash
# Tests the Debian package (make deb): it has its files, its programs run from an unpacked copy as they do from the build folder, it installs under a
# root of its own, and lintian, where there is one, finds no errors.
#   tests/command/package.sh BUILD_DIR
# Ends with "N passed, N failed".
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-package.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$root/tests/check.sh"
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} GPUSIM_CACHE_DIR=$work/cache
export GPUSIM_GPU=h200 GPUSIM_MEMORY=perfect GPUSIM_MODEL=optimistic
demo=$build/kernels/demo

made() {
	"$root/packaging/deb.sh" "$build" && cp "$build"/gpusim_*_"$(dpkg --print-architecture)".deb package.deb && dpkg-deb -x package.deb unpacked && dpkg-deb -e package.deb control
}

has_files() {
	local f
	dpkg-deb -c package.deb | awk '{ print $6 }' >list
	for f in bin/gpusim lib/libgpusim.so libexec/gpusim/gpusim-cc lib/gpusim/cuda/libcudart.so.13 lib/gpusim/cuda/driver/libcuda.so.1 share/man/man1/gpusim.1.gz \
		share/man/man1/gpusim-sweep.1.gz share/doc/gpusim/{copyright,changelog.gz,README.md,options.md,report.schema.json} share/gpusim/gpus/h200.gpu \
		share/bash-completion/completions/gpusim share/zsh/vendor-completions/_gpusim; do
		grep -qx "./usr/$f" list || { echo "no $f"; return 1; }
	done
	! dpkg-deb -c package.deb | grep -v ' root/root ' && (cd unpacked && md5sum -c --quiet "$work/control/md5sums")
}

# Whoever installs it gets what it needs: libraries by the packages that have them, and a compiler.
depends() { dpkg-deb -f package.deb Depends | tee depends && grep -q 'libc6 (>= ' depends && grep -q 'libclang1-19\|libclang-cpp19\|libllvm19' depends && grep -q 'clang-19' depends; }

# dpkg unpacks and configures it in a root of its own. That root has none of the packages that it depends on.
installs() {
	mkdir -p target/var/lib/dpkg/{info,updates,triggers} && : >target/var/lib/dpkg/status &&
		dpkg --root="$work/target" --force-not-root --force-depends --log=/dev/null -i package.deb 2>&1 | tail -3 &&
		dpkg-query --root="$work/target" -W -f '${Status}\n' gpusim | grep -x 'install ok installed' && cmp target/usr/bin/gpusim unpacked/usr/bin/gpusim &&
		dpkg --root="$work/target" --force-not-root --force-depends --log=/dev/null -r gpusim >/dev/null 2>&1 && [ -z "$(find target/usr -type f -o -type l 2>/dev/null)" ]
}

runs() { "$demo" >plain && unpacked/usr/bin/gpusim run "$demo" >out 2>err && cmp plain out && grep -q ' saxpy$' err && ! grep -q 'not modelled' err; }
preloads() { LD_PRELOAD=$work/unpacked/usr/lib/libgpusim.so "$demo" >out 2>err && cmp plain out && grep -q ' saxpy$' err && ! grep -q 'not modelled' err; }
shows() { [ "$(unpacked/usr/bin/gpusim --version)" = "$("$build/gpusim" --version)" ] && unpacked/usr/bin/gpusim show h200 | grep -q '^sm_count'; }
has_pages() { zcat unpacked/usr/share/man/man1/gpusim.1.gz | grep -q '^\.SH' && zcat unpacked/usr/share/doc/gpusim/changelog.gz | grep -q '^gpusim ('; }

# Errors and warnings that the package does not explain.
lintian_is_content() { lintian --fail-on error,warning package.deb; }

check "the package is made" made
check "it has its files" has_files
check "it names what it depends on" depends
check "it installs and goes away again" installs
check "gpusim run works from an unpacked copy" runs
check "so does LD_PRELOAD" preloads
check "so do the commands" shows
check "it has manual pages and a changelog" has_pages
if command -v lintian >/dev/null; then
	check "lintian finds no errors and no warnings" lintian_is_content
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
