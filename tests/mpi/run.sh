#!/usr/bin/env bash
# MPI programs, recorded under Open MPI and MPICH and replayed on SimGrid. Communication is compared with SMPI's replay of the exported traces, and with
# what SMPI says of the program itself. Without MPI or SimGrid, says so and skips.
#   tests/mpi/run.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-mpi.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 POCL_CACHE_DIR=$work/pocl GPUSIM_CACHE_DIR=$work/cache
. "$here/../check.sh"
for tool in mpicc.openmpi mpirun.openmpi mpicc.mpich mpirun.mpich smpicc smpirun; do
	command -v $tool >/dev/null || { echo "skipped: there is no $tool" && echo "0 passed, 0 failed" && exit 0; }
done

openmpi() { mpirun.openmpi --oversubscribe "$@"; }
mpich() { mpirun.mpich "$@"; }

cluster_of() { # HOSTS BANDWIDTH LATENCY
	cat <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="c" prefix="n" radical="0-$(($1 - 1))" suffix="" speed="1Gf" bw="$2" lat="$3"/>
</platform>
END
}

built() {
	mpicc.openmpi -O1 -w -o patterns-openmpi "$here/patterns.c" && mpicc.mpich -O1 -w -o patterns-mpich "$here/patterns.c" &&
		smpicc -O1 -w -o patterns-smpi "$here/patterns.c" && mpicc.openmpi -O1 -Wall -Wextra -o stencil "$here/stencil.c" -lOpenCL
}

seconds() { # PROFILE...: what gpusim cluster says, of messages alone
	"$gpusim" cluster "$@" --host-scale 0 --gpu h200 --json | python3 -c 'import json, sys; print("%.9f" % (json.load(sys.stdin)["time_ns"] / 1e9))'
}

near() { # WHAT OURS THEIRS: within 5%
	echo "$1: $2 s, SMPI $3 s"
	awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0 && b > 0 && a / b < 1.05 && b / a < 1.05) }'
}

# Recorded, replayed by us, exported and replayed by SMPI, and run by SMPI.
compared() { # LIBRARY RANKS PATTERN BYTES
	local name=$1-$2-$3-$4 ours theirs program
	"$1" -n "$2" "$gpusim" record -o "$name.%r.profile" -- "./patterns-$1" "$3" "$4" 8 || return 1
	ours=$(seconds "$name".*.profile --platform cluster.xml --export smpi-ti "$name") || return 1
	theirs=$(smpirun -np "$2" -platform cluster.xml -replay "$name/traces.txt" --log=root.fmt:%r%e%m%n --log=smpi_replay.thres:verbose 2>&1 |
		awk '/Simulation time/ { print $1 }')
	program=$(smpirun -np "$2" -platform cluster.xml --cfg=smpi/simulate-computation:no ./patterns-smpi "$3" "$4" 8 2>&1 | awk '/^took/ && $2 > most { most = $2 } END { print most }')
	near "the traces" "$ours" "$theirs" && near "the program" "$ours" "$program"
}

# All kinds of calls, also those that the exported traces have no form for. Both libraries give the same.
mixed_is_the_same() {
	openmpi -n 4 "$gpusim" record -o mixed-o.%r.profile -- ./patterns-openmpi mixed 10000 4 &&
		mpich -n 4 "$gpusim" record -o mixed-m.%r.profile -- ./patterns-mpich mixed 10000 4 || return 1
	local a b
	a=$(seconds mixed-o.*.profile --platform cluster.xml) && b=$(seconds mixed-m.*.profile --platform cluster.xml) || return 1
	echo "$a $b"
	near "Open MPI and MPICH" "$a" "$b"
}

stencil_runs() {
	openmpi -n 4 ./stencil 2048 8 >plain && openmpi -n 4 "$gpusim" record -o stencil.%r.profile -- ./stencil 2048 8 >recorded && diff plain recorded
}
time_of() { # OPTIONS...
	"$gpusim" cluster stencil.*.profile --host-scale 0 --json "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["time_ns"])'
}
# A slow network and a slow GPU, so that both count; then twice of each, and of both.
both_count() {
	cluster_of 4 100MBps 20us >slow.xml
	cluster_of 4 200MBps 10us >fast.xml
	local base network gpu all set
	set=sm_count=8,clock_mhz=500,link_gbps=2
	base=$(time_of --platform slow.xml --gpu h200 --set $set) && network=$(time_of --platform fast.xml --gpu h200 --set $set) &&
		gpu=$(time_of --platform slow.xml --gpu h200 --set sm_count=8,clock_mhz=1000,link_gbps=4) &&
		all=$(time_of --platform fast.xml --gpu h200 --set sm_count=8,clock_mhz=1000,link_gbps=4) || return 1
	echo "as it is $base ns; twice the network $network; twice the GPU $gpu; both $all"
	awk -v b="$base" -v n="$network" -v g="$gpu" -v a="$all" 'BEGIN { exit !(n < 0.98 * b && g < 0.98 * b && a < n && a < g && a > 0.45 * b) }'
}
traced() {
	"$gpusim" cluster stencil.*.profile --platform cluster.xml --gpu h200 -o out >/dev/null && jq -e '[.traceEvents[] | select(.name == "jacobi")] | length == 32' out.trace.json &&
		jq -e '.ranks | length == 4' out.json
}
# Each rank's time for others is the sum over those that it waited for; in a stencil these are neighbours, and all of them in a collective.
partners() {
	jq -e '. as $all | all(.ranks[]; . as $r | ([$all.waits[] | select(.rank == $r.rank) | .time_ns] | add // 0) - .others_ns | fabs < 1) and
		(.waits | length > 0) and all(.waits[]; .rank != .for and .for >= 0 and .for < 4)' out.json >/dev/null
}

refused() { # TEXT ARGUMENTS...
	"$gpusim" cluster "${@:2}" >out 2>err
	[ $? = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err || { cat out err && false; }
}

cluster_of 4 12.5GBps 1us >cluster.xml
cluster_of 3 12.5GBps 1us >small.xml
check "the programs are built" built
for ranks in 2 4; do
	for pattern in pingpong ring allreduce halo; do
		for bytes in 1000 100000 2000000; do
			check "$pattern of $bytes bytes with $ranks ranks is as with SMPI" compared openmpi $ranks $pattern $bytes
		done
	done
done
check "the same under MPICH" compared mpich 4 halo 100000
check "other calls, under both" mixed_is_the_same
# Fortran's functions go on to those of the C library. By hand: what rank 1 of three does in each of four turns.
fortran() { # LIBRARY
	local turn=$'1 irecv 0 7 8000\n1 isend 2 7 8000\n1 waitall 2\n1 sendRecv 40 2 40 0 6 6\n1 allreduce 8 0\n'
	"mpif90.$1" -O1 -w -fallow-argument-mismatch -o "ring-$1" "$here/ring.f90" && "$1" -n 3 "$gpusim" record -o "ring-$1.%r.profile" -- "./ring-$1" >said && grep -q 'total *3 *0' said &&
		"$gpusim" cluster "ring-$1".*.profile --gpu h200 --export smpi-ti "fortran-$1" >/dev/null &&
		diff <(printf '1 init\n%s%s%s%s1 bcast 8000 0\n1 finalize\n' "$turn" "$turn" "$turn" "$turn") <(grep -v compute "fortran-$1/rank-1.txt")
}
for library in openmpi mpich; do
	if command -v mpif90.$library gfortran >/dev/null; then
		check "a program in Fortran, under $library" fortran $library
	else
		echo "skipped: there is no mpif90.$library, or no gfortran"
	fi
done
check "a program with GPUs gives the same when it is recorded" stencil_runs
check "twice the network and twice the GPU make it faster" both_count
check "there is a timeline" traced
check "waits have partners" partners
# Four ranks that become eight, against eight that were recorded.
becomes_eight() { # NAME PROGRAM ARGUMENTS...: with four, with eight
	local four eight
	openmpi -n 8 "$gpusim" record -o "$1-8.%r.profile" -- "${@:2}" >/dev/null || return 1
	four=$(seconds "$1-4".*.profile --ranks 8 --platform eight.xml) && eight=$(seconds "$1-8".*.profile --platform eight.xml) || return 1
	near "four recorded ranks as eight, and eight" "$four" "$eight"
}
regular() { # PATTERN BYTES
	openmpi -n 4 "$gpusim" record -o "$1-4.%r.profile" -- ./patterns-openmpi "$1" "$2" 8 && becomes_eight "$1" ./patterns-openmpi "$1" "$2" 8
}
cluster_of 8 12.5GBps 1us >eight.xml
for pattern in ring allreduce strips; do
	check "$pattern: four ranks become eight" regular $pattern 100000
done
check "a grid of two dimensions is refused" refused "--ranks: the program is not regular" openmpi-4-halo-100000.*.profile --ranks 8 --platform eight.xml
# Twice the rows with twice the ranks.
stencil_becomes_eight() {
	for rank in 0 1 2 3; do cp stencil.$rank.profile stencil-4.$rank.profile; done
	becomes_eight stencil ./stencil 2048 8 512
}
check "a stencil on GPUs: four ranks become eight" stencil_becomes_eight
check "a platform with too few hosts is refused" refused "small.xml has 3 hosts for 3 ranks, but the program has 4" stencil.*.profile --platform small.xml
# Platforms of ours are such that SimGrid takes them. Within a node, messages are faster.
on_platform() { # OPTIONS...
	"$gpusim" platform "$@" >made.xml && seconds openmpi-4-halo-2000000.*.profile --platform made.xml
}
check "a fat tree" on_platform --nodes 128
check "a torus" on_platform --nodes 8 --topology torus
check "a dragonfly" on_platform --nodes 36 --topology dragonfly
# Nine times the bandwidth, of messages so large that little else counts.
one_node() {
	local apart together
	apart=$(on_platform --nodes 4 --gpus 1) && together=$(on_platform --nodes 4 --gpus 8) || return 1
	echo "$apart $together"
	awk -v a="$apart" -v t="$together" 'BEGIN { exit !(t < 0.5 * a) }'
}
check "four GPUs of one node are faster than four nodes" one_node
echo "<platform" >bad.xml
check "a platform that cannot be read is refused" refused "bad.xml" stencil.*.profile --platform bad.xml
echo "$passed passed, $failed failed"
[ $failed = 0 ]
