#!/bin/sh
# binary.sh PROGRAM - runs the guest program `binary` in two processes: one saves a binary, a later one loads it.
set -eu
file=$(mktemp)
trap 'rm -f "$file"' EXIT
"$1" save "$file"
"$1" load "$file"
