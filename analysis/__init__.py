"""Turns rows of games into knowledge: estimators, rankings, tests, tables, plots, and a page beside the published one."""
