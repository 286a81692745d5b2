#!/bin/sh
# Runs the OpenCV script on the first OpenCL device of any type, with a kernel cache of its own: cold, then warm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir "$home/cache"
export HOME="$home" OPENCV_OPENCL_CACHE_DIR="$home/cache" OPENCV_OPENCL_DEVICE="${OPENCV_OPENCL_DEVICE:-::0}"
for run in cold warm; do
	echo "$run:"
	/usr/bin/python3 "$here/opencv_umat.py"
done
