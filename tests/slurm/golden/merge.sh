#!/bin/bash
#SBATCH --job-name=merge
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=01:00:00
#SBATCH --output=/data/my results/sweep-0123456789ab/slurm/%j.log
#SBATCH --open-mode=append

set -u
cd /home/ada/lab || exit 1
export PYTHONUNBUFFERED=1
echo 'Joining 8 slices.'
python -m experiments.merge '/data/my results/sweep-0123456789ab'
