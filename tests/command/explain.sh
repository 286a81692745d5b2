#!/usr/bin/env bash
# Tests what `gpusim explain` promises, from outside: one check per promise.
#   tests/command/explain.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/run.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-explain.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
unset NO_COLOR GPUSIM_GPU
. "$here/../check.sh"

mkdir source
cat >source/header.h <<'CL'
#define TIMES 2.0f
CL
cat >source/small.cl <<'CL'
#include "header.h"
float helper(float x)
{
    return x * TIMES;
}

__kernel void twice(__global float *p, __local float *t, int n) /* <b> & "quotes" */
{
    int i = get_local_id(0);
    t[i] = helper(p[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++)
        p[i * n + k] = native_sin(t[k]);
    for (int k = 0; k < 4; k++)
        p[k + 1000] = t[k + 8];
}

#ifdef MORE
__kernel void more(__global int *q)
{
    q[0] = 1;
}
#endif

__kernel void other(__read_only image2d_t in, __global float4 *out)
{
    out[0] = read_imagef(in, (int2)(1, 2));
}
CL

# row LINE: the row of that line of the source.
explained() { "$gpusim" explain source/small.cl --gpu gtx480 "$@"; }
row() { explained --kernel twice | grep -E "^ *$1 "; }

# An H200 executed 86016 warp instructions in 4096 warps of saxpy (tests/reference/h200-counters.csv): 21 each. The GTX 480 here
# is a simulator of PTX.
machine_instructions_where_there_are() {
	"$gpusim" explain "$here/../../kernels/memory.cl" --gpu h200 --kernel saxpy >h200 && grep -q "^  21 instructions of the machine's (17 of PTX), " h200 &&
		grep -Eq '^ +0 +21 .* all, every block once' h200 &&
		"$gpusim" explain "$here/../../kernels/memory.cl" --gpu gtx480 --kernel saxpy | grep -q '^  17 instructions, 1 block' &&
		"$gpusim" explain "$here/../../kernels/memory.cl" --gpu h200 --set machine_code=ptx --kernel saxpy | grep -q '^  17 instructions, 1 block'
}

# blocks PTX mix: the barrier is one instruction, and the local id one move.
lines_have_their_instructions() {
	row 11 | grep -Eq '^ +11 [0-9]+ +1 1X ' && row 9 | grep -Eq '^ +9 0 +1 1M ' && row 4 | grep -Eq ' 1 1F .*return x' &&
		row 7 | grep -Eq '__kernel void twice' && row 13 | grep -q 'S'
}

rows_add_up() {
	explained --kernel twice >out
	# "N instructions" of the summary, the sum of the column (its place is fixed), and the row of all
	awk '/ instructions, / { said = $1 } /^ line blocks/ { table = 1; next }
		table && /all, every block once/ { all = substr($0, 15, 4) + 0; table = 0 }
		table { sum += substr($0, 15, 4) }
		END { print said, sum, all; exit !(said > 20 && sum == said && all == said) }' out
}

loops_are_marked() {
	row 13 | grep -q '|  *p\[i' && row 15 | grep -q ':  *p\[k' && ! row 10 | grep -q '|'
}

only_what_a_kernel_uses_is_shown() {
	explained --kernel other >out
	grep -q read_imagef out && ! grep -q 'float helper' out && ! grep -q 'twice' out &&
		grep -q 'read_imagef.* from the table of library functions' out
}

# An SM has at most 48 warps. 64 work-items are 2 warps; at most 8 groups. 1024 work-items are 32 warps; one group fits into 48.
occupancy_is_that_of_the_gpu() {
	explained --kernel twice >out
	grep -Eq '^ +64 +8 +16 +33%  #{8}\.{16}  blocks$' out && grep -Eq '^ +1024 +1 +32 +67%  #{16}\.{8}  warps$' out
}

# 24 KiB of 48 KiB: two groups.
local_arguments_count() {
	explained --kernel twice | grep -q 'tell its size with --shared' &&
		explained --kernel twice --shared 24576 --local 16,16 >out &&
		grep -Eq '^> +256 +2 +16 +33%  #{8}\.{16}  shared$' out && ! grep -q -- --shared out &&
		explained --kernel twice --shared 100000 | grep -Eq '^ +256 +does not fit$'
}

fits_a_terminal() {
	! explained | awk 'length > 100' | grep . && ! explained | grep -q "$(printf '\033')" &&
		! explained | grep -q ' $'
}

on_terminal() { # COMMAND...: its output, written to a terminal
	python3 -c 'import os, pty, sys; os.environ["TERM"] = "xterm"; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" </dev/null
}

colours_on_a_terminal() {
	on_terminal "$gpusim" explain source/small.cl >out && grep -q "$(printf '\033\\[1m')" out &&
		NO_COLOR=1 on_terminal "$gpusim" explain source/small.cl >out && ! grep -q "$(printf '\033')" out
}

build_options_reach_the_compiler() {
	! explained | grep -q '^more$' && explained -DMORE | grep -q '^more$' && explained -D MORE=1 | grep -q '^more$' &&
		explained --options '-DMORE -cl-fast-relaxed-math' | grep -q '^more$'
}

includes_are_found() {
	mkdir -p elsewhere
	printf '#include "far.h"\n__kernel void k(__global int *p) { p[0] = FAR; }\n' >far.cl
	printf '#define FAR 5\n' >elsewhere/far.h
	! "$gpusim" explain far.cl && "$gpusim" explain far.cl -Ielsewhere && "$gpusim" explain far.cl -I elsewhere &&
		(cd / && "$gpusim" explain "$work/source/small.cl" >/dev/null)
}

# refused TEXT ARGUMENTS...: exit code 2, nothing on stdout, one line on stderr that has the text
refused() {
	local text=$1 code
	shift
	"$gpusim" explain "$@" >out 2>err
	code=$?
	cat out err
	[ $code = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err
}

errors_are_one_line() {
	printf '__kernel void k(__global int *p)\n{\n    p[0] = missing;\n}\n' >bad.cl
	printf 'int f(int x) { return x; }\n' >none.cl
	refused 'cannot open nowhere.cl' nowhere.cl && refused "no GPU 'gtx48'" source/small.cl --gpu gtx48 &&
		refused "did you mean 'twice'" source/small.cl --kernel twce &&
		refused "bad.cl:3:12: use of undeclared identifier 'missing'" bad.cl && refused 'has no kernel' none.cl &&
		refused 'must be N, N,M or N,M,K' source/small.cl --local 4,x &&
		refused '1024 work-items at most' source/small.cl --local 64,64 && refused 'name a source file' &&
		refused 'did you mean --kernel' source/small.cl --kernl x && refused 'needs a value' source/small.cl --gpu &&
		refused "unknown key 'sm_cout'" source/small.cl --set sm_cout=3 &&
		refused 'cannot write' source/small.cl --html nowhere/page.html
}

has_help() {
	"$gpusim" explain --help >out && grep -q -- --html out && "$gpusim" --help | grep -q 'gpusim explain'
}

# balanced FILE: braces outside of quotes
graphs_are_written() {
	explained --dot graphs/here >/dev/null && [ -s graphs/here/other.dot ] && [ -s graphs/here/twice.block-0.dot ] &&
		grep -q '^digraph "twice" {' graphs/here/twice.dot && grep -q 'cluster_0' graphs/here/twice.dot &&
		grep -q 'bar.sync' graphs/here/twice.dot || return 1
	for file in graphs/here/*.dot; do
		sed 's/"[^"]*"//g' "$file" | awk -v RS= '{ open += gsub(/{/, ""); close_ += gsub(/}/, "") }
			END { exit !(open == close_ && open > 0) }' || { echo "$file"; return 1; }
		if command -v dot >/dev/null; then dot -Tsvg "$file" >/dev/null || return 1; fi
	done
}

page_is_well_formed() {
	explained --html page.html --local 96 >out && [ ! -s out ] && python3 - <<'PYTHON'
from html.parser import HTMLParser
class Page(HTMLParser):
    stack, text, rows = [], "", 0
    def handle_starttag(self, tag, attributes):
        self.rows += tag == "tr"
        for name, value in attributes:
            assert name not in ("src", "onload") and not (value or "").startswith("http"), (name, value)
        if tag != "meta":
            self.stack.append(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, (tag, self.getpos())
    def handle_data(self, data):
        self.text += data
text = open("page.html", encoding="utf-8").read()
page = Page()
page.feed(text)
assert page.stack == [] and page.rows > 30, (page.stack, page.rows)
assert '/* <b> & "quotes" */' in page.text
assert "/* <b>" not in text
assert "prefers-color-scheme:dark" in text
PYTHON
}

# A loop of two instructions and a branch, and a kernel that cannot be lifted. The lines of the PTX are the source.
ptx_is_explained() {
	cat >loop.ptx <<'PTX'
.version 8.0
.target sm_70
.address_size 64
	.file 1 "elsewhere.cu"
.visible .entry loop(.param .u64 loop_param_0, .param .u32 loop_param_1)
{
	.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
	.loc 1 77 3
	ld.param.u64 %rd1, [loop_param_0];
	ld.param.u32 %r1, [loop_param_1];
	mov.u32 %r2, 0;
$AGAIN:
	add.u32 %r2, %r2,
		%r1;
	setp.lt.u32 %p1, %r2, 100;
	@%p1 bra $AGAIN;
	st.global.u32 [%rd1], %r2; ret;
}
.visible .entry strange() {
	unheardof.u32; ret;
}
PTX
	"$gpusim" explain loop.ptx --gpu v100 --set machine_code=ptx >out && cat out && grep -q '^  8 instructions, 3 blocks, 1 loop' out &&
		grep -Eq '^ +13 1 +1 1I .*\| +add' out && grep -Eq '^ +17 2 +2 1G 1B ' out && grep -q '^strange$' out &&
		"$gpusim" explain loop.ptx --gpu v100 --kernel strange >out && cat out && grep -q '(2 of PTX)' out &&
		grep -q 'unheardof.u32, 1 time, from PTX line 20' out &&
		env -u GPUSIM_GPU "$gpusim" explain loop.ptx | grep -q 'on NVIDIA H200' &&
		refused "no PTX of a kernel 'lop'" loop.ptx --kernel lop
}

# The machine's own code, by an assembler that writes what ptxas has written for this text (tests/analysis/sass), so that none is needed here.
machine_code() {
	local sass=$here/../analysis/sass
	cp "$sass/walk.ptx" . && mkdir -p bin &&
		printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "%s" "$2"\n' "$sass/walk-explained-sm_90.cubin" >bin/ptxas && chmod +x bin/ptxas &&
		PATH=$work/bin:$PATH "$gpusim" explain walk.ptx --gpu h200 >out && cat out &&
		grep -q '^  23 instructions of the machine.s (21 of PTX), 5 blocks, 1 loop; 10 registers' out && grep -Eq '^ +24 1 +1 1F +13 ' out
}

# What an assembler gets: a function that is declared before it is defined stays so; one that is not defined gets a body.
declared_functions() {
	mkdir -p bin && printf '#!/bin/sh\ncp k.ptx "%s/assembled.ptx"\nexit 1\n' "$work" >bin/ptxas && chmod +x bin/ptxas
	printf '%s\n' '.version 8.0' '.target sm_70' '.address_size 64' '.func own(.param .b32 own_param_0)' ';' '.func other();' '.visible .entry k() { ret; }' \
		'.func own(.param .b32 own_param_0)' '{' 'ret;' '}' >declared.ptx
	PATH=$work/bin:$PATH "$gpusim" explain declared.ptx --gpu h200 >out && cat out assembled.ptx && [ "$(grep -c '^.func own' assembled.ptx)" = 2 ] && grep -qx ';' assembled.ptx &&
		grep -q '^.func other(){ ret; }' assembled.ptx
}

selected_code_without_assembler() {
	cp "$here/../analysis/sass/walk.ptx" . && mkdir -p bin && printf '#!/bin/sh\necho "ptxas fatal : no" >&2\nexit 1\n' >bin/ptxas && chmod +x bin/ptxas &&
		PATH=$work/bin:$PATH "$gpusim" explain walk.ptx --gpu h200 >out && cat out &&
		PATH=$work/bin:$PATH "$gpusim" explain walk.ptx --gpu h200 --set machine_code=selected >selected && cmp out selected && ! grep -q ' 10 registers' out
}

check "instructions are those that the chip executes" machine_instructions_where_there_are
check "a line has the instructions that come from it" lines_have_their_instructions
check "the lines add up to the kernel" rows_add_up
check "loops are marked, unrolled ones apart" loops_are_marked
check "only functions that a kernel uses are shown" only_what_a_kernel_uses_is_shown
check "occupancy by local size" occupancy_is_that_of_the_gpu
check "local memory in arguments counts when it is told" local_arguments_count
check "100 columns, no colours in a file" fits_a_terminal
check "colours on a terminal, none with NO_COLOR" colours_on_a_terminal
check "build options reach the compiler" build_options_reach_the_compiler
check "includes are found beside the file and by -I" includes_are_found
# A program as nvcc 13 makes it: a container with nothing in it comes first.
programs_are_explained() {
	[ -f loop.ptx ] || return 1
	python3 - <<'PY' &&
import struct
text = open("loop.ptx", "rb").read() + b"\0"
text += b"\0" * (-len(text) % 8)
image = struct.pack("<HHIQIIHHIIIQQQIIII", 1, 0x101, 80, len(text), 0, 64, 4, 6, 70, 0, 0, 0x11, 0, 0, 72, 0, 0, 0) + text
open("fat", "wb").write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 0) + struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(image)) + image)
PY
		echo 'int main(void) { return 0; }' >plain.c && "${CC:-gcc}" -o plain plain.c && objcopy --add-section .nv_fatbin=fat plain program &&
		"$gpusim" explain program --gpu v100 --set machine_code=ptx --kernel loop >out && cat out && grep -q '^  8 instructions, 3 blocks, 1 loop' out
}

# Two modules: the one above, and one of which there is only what ptxas made of sums.ptx (tests/analysis/sass: 16 and 4 registers by its own account).
programs_are_listed() {
	[ -f fat ] || return 1
	python3 - "$here/../analysis/sass/sums-sm_90.cubin" <<'PY' &&
import struct, sys
code = open(sys.argv[1], "rb").read()
image = struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, len(code), 0, 0, 4, 6, 90, 0, 0, 0x11, 0, 0) + code
open("both", "wb").write(open("fat", "rb").read() + struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(image)) + image)
PY
		objcopy --add-section .nv_fatbin=both plain listed && "$gpusim" explain listed --gpu h200 >out && cat out &&
		grep -Eq '^ +16 +256 +0 +100%  sm_90        sums$' out && grep -Eq '^ +4 +0 +0 +100%  sm_90        empty$' out &&
		grep -Eq '%  PTX          loop$' out && grep -Eq '%  PTX          strange$' out && grep -q 'Registers of PTX are an estimate' out &&
		"$gpusim" explain listed --gpu h200 --kernel loop | grep -q '^loop$' && refused "no PTX of a kernel 'sums'" listed --kernel sums
}

check "PTX is explained line by line" ptx_is_explained
check "a program's kernels are explained" programs_are_explained
check "a program's kernels are listed" programs_are_listed
check "bad input is one line and exit code 2" errors_are_one_line
check "--help" has_help
check "--dot writes the graphs" graphs_are_written
check "--html is one page, well formed and escaped" page_is_well_formed
check "machine code by an assembler" machine_code
check "functions that an assembler gets" declared_functions
check "selected code where the assembler fails" selected_code_without_assembler
echo "$passed passed, $failed failed"
[ $failed = 0 ]
