#!/usr/bin/env bash
# Checks which folder includes which: the directions of tests/layers.txt hold, paths of includes begin at the root, folders do
# not include each other in circles, and folders are not too large.
#   tests/layers.sh
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-layers.XXXXXX")
trap 'rm -rf "$work"' EXIT
. "$root/tests/check.sh"

layers() { python3 "$root/tests/layers.py" "$1" "$root/tests/layers.txt" "$2"; }

# found CHECK FILE LINE EXPECTED: in a separate tree, adds that line to the file. The check must then complain about the file.
found() {
	rm -rf "$work/tree"
	mkdir -p "$work/tree/models/sm" "$work/tree/models/gpu"
	printf '#include "models/gpu/gpu.h"\nstruct twice {\n};\n' >"$work/tree/models/sm/ov.h"
	touch "$work/tree/models/gpu/gpu.h"
	printf '\n%s\n' "$3" >"$work/tree/$2"
	layers "$work/tree" "$1" >"$work/said"
	cat "$work/said"
	grep -qF "$4" "$work/said"
}

many_found() {
	mkdir -p "$work/tree/models/gpu"
	touch "$work/tree/models/gpu/"{1..26}.c
	layers "$work/tree" sizes | grep 'models/gpu: 2[3-9] source files'
}

check "files include what their folder may use" layers "$root" directions
check "includes are paths from the root" layers "$root" rooted
check "folders do not include each other in circles" layers "$root" circles
check "no folder has many files" layers "$root" sizes
check "no two structs have one name" layers "$root" structs
check "an include against the direction is found" found directions models/gpu/gpu.h '#include "models/sm/ov.h"' \
	'models/gpu/gpu.h:2: models/gpu must not include models/sm/ov.h: models/gpu may use models/util '
check "an include that is not rooted is found" found rooted models/gpu/gpu.h '#include "ov.h"' 'models/gpu/gpu.h:2: "ov.h" '
check "a circle is found" found circles models/gpu/gpu.h '#include "models/sm/ov.h"' 'circle: models/gpu includes models/sm '
check "a second struct of a name is found" found structs models/gpu/gpu.h 'struct twice {' 'models/sm/ov.h:2: models/gpu/gpu.h has another struct twice'
check "a large folder is found" many_found
echo "$passed passed, $failed failed"
[ $failed = 0 ]
