"""Experiments: from a few lines of YAML to complete, exact, resumable results (conf -> plan -> batches -> rows -> Parquet)."""
