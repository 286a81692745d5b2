#!/bin/sh
# Finds the word that has a known MD5 hash, with hashcat's kernel cache cold and then warm.
set -eu
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_DATA_HOME="$home/data" XDG_CACHE_HOME="$home/cache"
hash=$(printf b42 | md5sum | cut -d' ' -f1)
for run in cold warm; do
	echo "$run:"
	hashcat -m 0 -a 3 --force --potfile-disable --session compare --quiet -O --backend-vector-width 1 \
		"$hash" '?l?d?d' </dev/null
	find "$XDG_CACHE_HOME/hashcat/kernels" -type f | wc -l
done
