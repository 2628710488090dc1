"""How fast everything is: `make bench` prints tables and writes bench.json.

An area is a module of this package with a function `rows(step)`, step being the CPU seconds of one step of the reference kernel; it
is listed in AREAS (__main__.py). What a value must reach stands in goals.py. The names of rows never change.
"""
