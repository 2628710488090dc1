"""Experiments: from a few lines of YAML to complete, exact, resumable results (conf -> plan -> batches -> rows -> Parquet)."""

import ttr  # noqa: F401  (commands end without a traceback, also while they are imported: ttr/ended_early.py)
