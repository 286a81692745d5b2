#!/usr/bin/env bash
# Checks that the tree has the files and functions that the documentation names in backquotes. In the pages that follow the
# code, it checks all names.
#   tests/docs.sh
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-docs.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$root" || exit 1
. tests/check.sh

names_exist() { python3 tests/docs.py "$root" $(ls README.md CONTRIBUTING.md docs/*.md 2>/dev/null); }

figures_agree() { python3 tests/accuracy/keep.py --check "$root"; }

# Two of these four names exist. Their words are separated here, because this file is in the tree, too.
missing_names_found() {
	local absent=no_such
	echo "See \`models/models.h\` and \`models/${absent}_file.c\`, \`main()\` and \`${absent}_function()\`." >"$work/page.md"
	python3 tests/docs.py "$root" "$work/page.md" >"$work/said" && return 1
	cat "$work/said"
	[ "$(wc -l <"$work/said")" = 2 ] && grep -q "page.md:1: no file models/${absent}_file.c in" "$work/said" &&
		grep -q "page.md:1: no function ${absent}_function() in" "$work/said"
}

check "README, CONTRIBUTING and docs name what there is" names_exist
check "a missing file and a missing function are found" missing_names_found
check "README and reports have the figures of docs/accuracy" figures_agree
echo "$passed passed, $failed failed"
[ $failed = 0 ]
