#!/usr/bin/env bash
# Makes a Debian package of what `make install` installs: packaging/deb.sh BUILD_DIR (make deb). The package is BUILD_DIR/gpusim_VERSION_ARCH.deb.
# It needs dpkg-deb; dpkg-shlibdeps (dpkg-dev) finds the libraries that it depends on.
set -eu
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
version=$("$build/gpusim" --version | cut -d' ' -f2)
arch=$(dpkg --print-architecture)
maintainer="$(git -C "$root" config user.name || echo gpusim) <$(git -C "$root" config user.email || echo "root@$(hostname -f)")>"
stage=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-deb.XXXXXX")
trap 'rm -rf "$stage"' EXIT
umask 022
chmod 755 "$stage"
package=$stage/package
doc=$package/usr/share/doc/gpusim

make -s -C "$root" install O="$build" DESTDIR="$package" PREFIX=/usr >/dev/null
find "$package" \( -name '*.so*' -o -path '*/bin/gpusim' -o -name gpusim-cc \) -type f -exec strip --strip-unneeded {} +
gzip -9n "$package"/usr/share/man/man1/*.1

mkdir -p "$package/DEBIAN" "$package/usr/share/lintian/overrides"
date=$(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")
printf 'gpusim (%s) unstable; urgency=low\n\n  * Built from source.\n\n -- %s  %s\n' "$version" "$maintainer" "$date" | gzip -9n >"$doc/changelog.gz"
{
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: gpusim\n\nFiles: *\nCopyright: the authors of gpusim\nLicense: gpusim\n'
	sed 's/^$/./; s/^/ /' "$root/LICENSE"
} >"$doc/copyright"

# The library is loaded by name (LD_PRELOAD), not linked with.
echo 'gpusim: sharedobject-in-library-directory-missing-soname' >"$package/usr/share/lintian/overrides/gpusim"
libraries=libc6
if command -v dpkg-shlibdeps >/dev/null; then
	mkdir -p "$stage/debian"
	printf 'Source: gpusim\n\nPackage: gpusim\nArchitecture: any\n' >"$stage/debian/control"
	libraries=$(cd "$stage" && dpkg-shlibdeps --ignore-missing-info -O package/usr/bin/gpusim package/usr/lib/libgpusim.so \
		package/usr/libexec/gpusim/gpusim-cc 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
fi
cat >"$package/DEBIAN/control" <<CONTROL
Package: gpusim
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$package" | cut -f1)
Depends: $libraries, clang-19, libclc-19
Recommends: pocl-opencl-icd
Section: devel
Priority: optional
Description: how long OpenCL and CUDA kernels would take on another GPU
 Runs an unmodified OpenCL or CUDA program and reports for every kernel
 launch how long it would take on a GPU that you do not have, and why.
CONTROL
(cd "$package" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group -Zxz --build "$package" "$build/gpusim_${version}_$arch.deb"
