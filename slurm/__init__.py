"""The same command, on a cluster: sbatch scripts, a Ray cluster inside the job, queue state and progress together."""

import experiments  # noqa: F401  (commands end without a traceback, also while they are imported)
