"""The same command, on a cluster: sbatch scripts, a Ray cluster inside the job, queue state and progress together."""
