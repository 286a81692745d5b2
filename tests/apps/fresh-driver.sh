#!/bin/sh
# fresh-driver.sh PROGRAM ARG... - runs a program with an empty kernel cache of the driver, whatever gpusim has cached. Then
# annotated kernels are compiled late, at their first launch, while the program may be ending.
set -eu
POCL_CACHE_DIR=$(mktemp -d)
export POCL_CACHE_DIR
trap 'rm -rf "$POCL_CACHE_DIR"' EXIT
code=0
"$@" || code=$?
exit "$code"
