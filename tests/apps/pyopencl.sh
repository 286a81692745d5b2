#!/bin/sh
# pyopencl.sh [elementwise|reduction|scan|program]... - runs the PyOpenCL script twice with a cache of its own. The second run
# takes its programs from binaries. It uses the Python that the packages are installed for.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_CACHE_HOME="$home/cache"
unset PYOPENCL_NO_CACHE PYOPENCL_CTX || true
for run in cold warm; do
	echo "$run:"
	/usr/bin/python3 "$here/pyopencl_ops.py" "$@"
done
