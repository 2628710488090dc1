"""Turns rows of games into knowledge: estimators, rankings, tests, tables, plots, and a page beside the published one."""

import experiments  # noqa: F401  (commands end without a traceback, also while they are imported)
