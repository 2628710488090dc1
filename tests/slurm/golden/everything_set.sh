#!/bin/bash
#SBATCH --job-name=sweep-0123456789ab
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=16G
#SBATCH --time=08:00:00
#SBATCH --partition=compute
#SBATCH --account=games
#SBATCH --qos=long
#SBATCH --constraint=avx2&ib
#SBATCH --mail-user=ada@example.org
#SBATCH --mail-type=END,FAIL,TIME_LIMIT
#SBATCH --output=/data/my results/sweep-0123456789ab/slurm/%j.log
#SBATCH --open-mode=append
#SBATCH --reservation=may
#SBATCH --nice=100
#SBATCH --requeue
#SBATCH --no-kill

set -u
cd /home/ada/lab || exit 1
module load python/3.11
source env/bin/activate
export PYTHONUNBUFFERED=1

this=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
this=${this:-$SLURM_JOB_ID}
echo "$(date '+%F %T') job $this on $SLURM_JOB_NODELIST, start $((${SLURM_RESTART_COUNT:-0} + 1))"

# Whoever does not have this job's token cannot use its Ray cluster.
token='/data/my results/sweep-0123456789ab/slurm'/$SLURM_JOB_ID.token
(umask 077; rm -f "$token"; od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$token") || exit 1
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$token
unset RAY_AUTH_TOKEN # it would come before the file

# The driver hands out no more work so many seconds before the end; a job without an end never stops by itself.
end=$(squeue --noheader --jobs="$this" --format=%e)
stop_at=$(date --date="$end" +%s 2>/dev/null) && stop_at=$((stop_at - 120)) || stop_at=null

room=$TMPDIR/ttr-$SLURM_JOB_ID-0 # this node's; the others' end in their own number
driver= cluster=
stop() {
  trap '' TERM INT HUP EXIT
  [ -z "$driver" ] || { kill -TERM "$driver" 2>/dev/null; wait "$driver"; }
  [ -z "$cluster" ] || { kill -USR1 "$cluster" 2>/dev/null; wait "$cluster"; } # srun passes USR1 on; TERM would kill at once
  rm -f "$token"
}
trap 'stop; exit 143' TERM INT HUP
trap stop EXIT

export TTR_RAY_ADDRESS
TTR_RAY_ADDRESS=$(python -m slurm.cluster address --ports=20000-29999 --interface=ib0) || exit 1
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpus-per-task=16 --no-kill --kill-on-bad-exit=0 --wait=0 \
  python -m slurm.cluster node --tmp='$TMPDIR' --cache='/local/ada' --interface=ib0 -- cmcts_posas base &
cluster=$!
python -m slurm.cluster wait --seconds=300 --folder='/data/my results/sweep-0123456789ab' &
driver=$!
wait -n $driver $cluster || { echo "The Ray cluster did not come up." >&2; exit 1; }

export RAY_ADDRESS=$TTR_RAY_ADDRESS TTR_CACHE_DIR="/local/ada"
python -m experiments.sweep +sweep=posas scale=paper 'sweep.grid.agent.momentum=[0,0.1]' 'results_dir=/data/my results' batch_seconds=5 cluster=ray "stop_at=$stop_at" &
driver=$!
wait -n $driver $cluster
code=$?
if kill -0 $driver 2>/dev/null; then
  echo "The Ray cluster ended before the driver." >&2
  code=1
fi
stop
if [ $code -eq 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 100 ]; then
  echo "$(date '+%F %T') the time is nearly over and games are left: the job queues itself again"
  scontrol requeue "$this" && sleep 60 # SLURM ends this script meanwhile
fi
exit $code
