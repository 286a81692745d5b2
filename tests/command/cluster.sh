#!/usr/bin/env bash
# gpusim record and gpusim cluster of MPI programs, without MPI and without SimGrid: the processes of a program of ours run one after the other, with
# a library that stands for MPI (tests/mpi/stub.c). tests/mpi/run.sh has the same with both.
#   tests/command/cluster.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-cluster.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C LD_LIBRARY_PATH=$build/tests/mpi
unset OMPI_COMM_WORLD_RANK PMIX_RANK SLURM_PROCID
. "$here/../check.sh"

recorded() { # PREFIX RANKS PROGRAM ARGUMENTS...: each rank in turn
	local rank
	for ((rank = 0; rank < $2; rank++)); do
		PMI_RANK=$rank PMI_SIZE=$2 "$gpusim" record -o "$1.%r.profile" -- "${@:3}" || return 1
	done
	[ -s "$1.0.profile" ] && [ -s "$1.$(($2 - 1)).profile" ]
}

# Of rank 1, by hand. The communicator that is split has all ranks, so that its collective is the world's.
expected() {
	cat <<'END'
1 init
1 sendRecv 800 2 800 0 6 6
1 irecv 0 42 1000
1 isend 2 42 1000
1 waitall 2
1 recv 0 1 7
1 send 2 1 7
1 allreduce 200 0
1 gatherv 32 32 32 32 0
1 barrier
1 finalize
END
}
exported() {
	"$gpusim" cluster a.*.profile --gpu h200 --host-scale 0 --export smpi-ti traces >/dev/null && grep -v compute traces/rank-1.txt | diff <(expected) - &&
		grep -q '^0 gatherv 16 16 32 48 0$' traces/rank-0.txt && [ "$(wc -l <traces/traces.txt)" = 3 ]
}

# The host's 30 ms between two calls are 3e7 operations of a host with 1e9 each second; half as much with half the time.
computes() { # FACTOR LEAST MOST
	"$gpusim" cluster slow.*.profile --gpu h200 --host-scale "$1" --export smpi-ti slow >/dev/null &&
		awk -v least="$2" -v most="$3" '$2 == "compute" && $3 > longest { longest = $3 } END { print longest; exit !(longest >= least && longest <= most) }' slow/rank-0.txt
}

# The first message has the version; then come nodes. Of rank 1: a receive and a send in one, two requests, a receive, a send, and three collectives.
chakra() {
	"$gpusim" cluster a.*.profile --gpu h200 --host-scale 0 --export chakra et >/dev/null && python3 - et.1.et <<'PYTHON'
import sys
data = open(sys.argv[1], 'rb').read()
def varint(at):
    value = shift = 0
    while True:
        byte = data[at]; value |= (byte & 0x7f) << shift; shift += 7; at += 1
        if not byte & 0x80: return value, at
def fields(at, end):
    while at < end:
        key, at = varint(at)
        value, at = varint(at)
        if key & 7 == 2: value, at = data[at:at + value], at + value
        yield key >> 3, value
messages, at = [], 0
while at < len(data):
    length, at = varint(at)
    messages.append(list(fields(at, at + length))); at += length
nodes = [m for m in messages[1:] if dict(m)[3] != 4]
print([(dict(m)[1], dict(m)[2], dict(m)[3], [v for f, v in m if f == 5]) for m in nodes])
assert [dict(m)[3] for m in nodes] == [5, 6, 6, 5, 6, 5, 7, 7, 7] and messages[0][0][0] == 1
# The receive after the wait depends on both requests.
assert sorted(v for f, v in nodes[4] if f == 5)[-2:] == [dict(nodes[2])[1], dict(nodes[3])[1]]
assert any(f == 10 and b'comm_size' in v and v.endswith(bytes([9 << 3]) + b'\xa0\x06') for f, v in nodes[0]) # 800
PYTHON
}

# Six ranks of four that were recorded: their places are 0 1 2 1 2 3. Of rank 4, whose neighbours are 3 and 5; rank 5's next one is rank 0. By hand.
expected_of_more() {
	sed -e 's/^1 /4 /' -e 's/\(sendRecv 800\) 2 800 0/\1 5 800 3/' -e 's/irecv 0/irecv 3/' -e 's/isend 2/isend 5/' -e 's/ recv 0/ recv 3/' -e 's/ send 2/ send 5/' \
		-e 's/gatherv 32 32 32 32 0/gatherv 48 48 48 48 48 48 48 0/' <(expected)
}
more_ranks() {
	"$gpusim" cluster four.*.profile --ranks 6 --gpu h200 --host-scale 0 --export smpi-ti more >text && [ "$(wc -l <more/traces.txt)" = 6 ] &&
		grep -v compute more/rank-4.txt | diff <(expected_of_more) - && grep -q '^0 gatherv 16 16 32 48 32 48 64 0$' more/rank-0.txt &&
		grep -q '^5 sendRecv 800 0 800 4 6 6$' more/rank-5.txt && grep -q '^0 sendRecv 800 1 800 5 6 6$' more/rank-0.txt &&
		grep -q '^assumed: 6 ranks do what the 4 recorded ones do' text &&
		"$gpusim" cluster four.*.profile --ranks 6 --gpu h200 --export smpi-ti more --json | jq -e '.recorded_ranks == 4 and (.ranks | length) == 6' >/dev/null
}

# One document, with what --json says and the spans of each rank; nothing that a page would load.
page() {
	"$gpusim" cluster a.*.profile --gpu h200 --export smpi-ti traces --json --html page.html >json && python3 - page.html json <<'PYTHON'
import json, re, sys
page, said = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
assert {k: data[k] for k in said} == said and len(data['ranks']) == 3
line = data['timeline']
names = [line['names'][s[1]] for s in line['ranks'][1] if s[0] <= 1]
print(names)
assert len(line['ranks']) == 3 and set(names) <= {'sendrecv', 'irecv', 'isend', 'wait', 'recv', 'send', 'allreduce', 'gatherv', 'barrier', 'comm', 'free'} and 'allreduce' in names
assert all(0 <= s[2] < s[3] <= data['time_ns'] + 1 and s[5] == 1 for r in line['ranks'] for s in r)
assert not re.search(r'(src|href)="(http|//)', page)
PYTHON
}

platform() { # TEXT OPTIONS...
	"$gpusim" platform "${@:2}" >p.xml && python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' p.xml && grep -qF -- "$1" p.xml
}
platform_refused() { # TEXT OPTIONS...
	"$gpusim" platform "${@:2}" >out 2>err
	[ $? = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err || { cat out err && false; }
}

refused() { # TEXT ARGUMENTS...: one line on stderr, nothing on stdout, exit code 2
	"$gpusim" cluster "${@:2}" >out 2>err
	[ $? = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err || { cat out err && false; }
}

refused_page() {
	"$gpusim" cluster a.*.profile --gpu h200 --export smpi-ti x --html none/page.html >out 2>err
	[ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'cluster: cannot write none/page.html: No such file' err || { cat out err && false; }
}

same_without_record() { PMI_RANK=0 PMI_SIZE=1 "$gpusim" run --report none -- "$build/tests/mpi/calls" && [ "$(ls ./*.profile 2>/dev/null | wc -l)" = 0 ]; }

check "a program with MPI runs without being recorded" same_without_record
check "each rank has a profile" recorded a 3 "$build/tests/mpi/calls"
check "MPI calls are recorded as they were made" exported
check "Chakra's traces have the same calls" chakra
check "the page has ranks and their timeline" page
check "a page that cannot be written is refused" refused_page
check "a fat tree: two levels, and none of them blocks" platform 'topo_parameters="2;32,4;1,32;1,1"' --nodes 128
check "a fat tree of one switch" platform 'topo_parameters="1;64;1;1"' --nodes 64
check "a torus" platform 'topo_parameters="4,4,4"' --nodes 64 --topology torus
check "a dragonfly" platform 'topo_parameters="3,1;3,1;2,1;2"' --nodes=36 --topology=dragonfly
check "nodes with 8 GPUs and 8 cards" platform 'core="8" bw="400GBps"' --nodes 2 --topology dgx
check "an unknown topology is refused" platform_refused "there is no topology 'star'" --nodes 4 --topology star
check "a number of nodes is asked for" platform_refused "--nodes is missing" --gpus 8
check "half a node is refused" platform_refused "--nodes needs a number from 1 up to 65536, not '2.5'" --nodes 2.5
recorded slow 2 "$build/tests/mpi/calls" 30000
check "what the host does between calls takes its time" computes 1 3e7 3e8
check "--host-scale scales that" computes 0.5 1.5e7 1.5e8
check "a missing rank is named" refused "the profile of rank 1 is missing: the program had 3 ranks, and there are 2 profiles" a.0.profile a.2.profile --export smpi-ti x
check "two profiles of one rank are refused" refused "are both of rank 0" a.0.profile a.0.profile a.1.profile --export smpi-ti x
check "profiles of two runs are refused" refused "is of a run with 2 ranks" a.0.profile slow.1.profile a.2.profile --export smpi-ti x
cp "$build/tests/mpi/calls" other && mkdir versions && cp other versions/program && PMI_RANK=0 PMI_SIZE=2 "$gpusim" record -o v.0.profile -- versions/program
printf x >>versions/program && PMI_RANK=1 PMI_SIZE=2 "$gpusim" record -o v.1.profile -- versions/program
check "profiles of two versions of a program are refused" refused "are of two versions of" v.0.profile v.1.profile --export smpi-ti x
head -c 600 a.1.profile >cut.profile
check "a profile that was cut off is refused" refused "cut.profile" a.0.profile cut.profile a.2.profile --export smpi-ti x
echo none >plain.txt
check "a file that is no profile is refused" refused "plain.txt" plain.txt --export smpi-ti x
check "a platform is asked for" refused "--platform is missing" a.*.profile
check "a platform that is not there is named" refused "none.xml: No such file" a.*.profile --platform none.xml
check "an unknown form of export is refused" refused "there is no form 'otf'" a.*.profile --export otf x
check "a factor that is none is refused" refused "--host-scale needs a factor, not 'fast'" a.*.profile --host-scale fast
recorded four 4 "$build/tests/mpi/calls"
check "more ranks than were recorded do what those in their places did" more_ranks
check "fewer ranks are refused" refused "4 ranks were recorded; they can become more, not 3" four.*.profile --ranks 3 --export smpi-ti x
check "too few to know their places by are refused" refused "--ranks needs a run with at least 4 ranks" a.*.profile --ranks 8 --export smpi-ti x
check "a number of ranks that is none is refused" refused "--ranks needs a number from 1 up to 65536, not 'many'" four.*.profile --ranks many --export smpi-ti x
recorded far 5 "$build/tests/mpi/calls" 0 far
check "partners that are no neighbours are refused" refused "rank 0 calls send with a rank that is neither the one before nor the one after" far.*.profile --ranks 8 --export smpi-ti x
echo '0 1 10 500' >links
check "links for ranks with one GPU each are refused" refused "links: links between GPUs are for programs with several" a.*.profile --topology links --export smpi-ti x
check "no profile is refused" refused "no profile given" --platform none.xml
echo "$passed passed, $failed failed"
[ $failed = 0 ]
