#!/usr/bin/env bash
# gpusim sweep --slurm in a Slurm of one node, which this script starts in a folder of its own and ends. Where that is impossible, it says so and skips.
#   tests/command/slurm.sh BUILD_DIR
# Ends with "N passed, N failed". The caller sets TMPDIR (tests/validate.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
gpusim=$build/gpusim
work=$(mktemp -d "${TMPDIR:-/tmp}/gpusim-slurm.XXXXXX")
daemons=()
ends() {
	[ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2>/dev/null
	wait
	rm -rf "$work"
}
trap ends EXIT
cd "$work" || exit 1
export LC_ALL=C PATH=$PATH:/usr/sbin POCL_CACHE_DIR=$work/pocl GPUSIM_CACHE_DIR=$work/cache SLURM_CONF=$work/slurm.conf
. "$here/../check.sh"

skip() {
	echo "skipped: $1"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

for tool in slurmctld slurmd sbatch squeue scancel sinfo; do
	command -v $tool >/dev/null || skip "there is no $tool"
done
[ "$(id -u)" = 0 ] || skip "slurmd runs jobs for root only"

# Neither munge nor cgroups. Four processors, whatever there are.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
node=$(hostname -s)
cat >slurm.conf <<CONF
ClusterName=gpusim
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
mkdir state spool
slurmctld -D >ctl.out 2>&1 &
daemons+=($!)
slurmd -D >d.out 2>&1 &
daemons+=($!)
for i in $(seq 60); do
	[ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
	sleep 0.5
done
[ "$(sinfo -h -o %T 2>/dev/null)" = idle ] || skip "Slurm does not start here: $(grep -h 'error\|fatal' slurmctld.log slurmd.log ctl.out d.out 2>/dev/null | tail -1)"

recorded() { "$gpusim" record -o p --gpu gtx480 -- "$build/kernels/launches" -k "$here/../../kernels" collatz 4096 8 >out; }

waits() { # FILE ROWS: until so many configurations are in the CSV
	for i in $(seq 600); do
		[ "$(grep -c ',\*,' "$1" 2>/dev/null)" -ge "$2" ] 2>/dev/null && return
		sleep 0.1
	done
	return 1
}

# Four tasks, of which one is killed when a few rows are there. What comes is what a sweep alone writes.
divided() {
	"$gpusim" sweep p --gpu gtx480 --vary sm_count=1..60 --memory perfect -o alone >table 2>err || return 1
	timeout 300 "$gpusim" sweep p --gpu gtx480 --vary sm_count=1..60 --memory perfect -o job --slurm --tasks 4 --sbatch '--comment "a sweep"' >table.job 2>err &
	local pid=$! id
	waits job.csv 2
	id=$(sed -n 's/^gpusim: sweep: job \([0-9]*\) has 4 tasks$/\1/p' err)
	scancel -s KILL --batch "${id}_1"
	wait $pid || { cat err job.slurm.log && return 1; }
	cmp alone.csv job.csv && cmp table table.job && [ ! -e job.part ] && [ ! -e job.claims ]
}

interrupted() {
	env --default-signal "$gpusim" sweep p --gpu gtx480 --vary sm_count=1..1000 --vary clock_mhz=1000,1001 -o long --slurm --tasks 2 >table 2>err &
	local pid=$! id
	waits long.csv 2
	kill -INT $pid
	wait $pid
	[ $? = 130 ] && grep -q 'interrupted, [0-9]* of ' err && id=$(sed -n 's/^gpusim: sweep: job \([0-9]*\) has.*/\1/p' err) || { cat err && return 1; }
	for i in $(seq 100); do
		[ "$(squeue -h -j "$id" 2>/dev/null)" = '' ] && return
		sleep 0.2
	done
	return 1
}

no_partition() {
	! "$gpusim" sweep p --gpu gtx480 --vary sm_count=1,2 -o none --slurm --sbatch '-p nowhere' >table 2>err && cat err && grep -q 'sbatch has not taken the job: .*nvalid partition' err
}

check 'a run is recorded' recorded
check 'tasks of a job divide a sweep, and one of them may die' divided
check 'an interrupt cancels the job' interrupted
check 'what sbatch complains of is told' no_partition
echo "$passed passed, $failed failed"
[ $failed = 0 ]
