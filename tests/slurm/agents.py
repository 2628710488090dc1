"""Agents that make jobs long without making the machine busy, or that fail."""

import os
import time


def patient(view, moves, random):
    """Does anything, after a while that is set from outside: games take time, rows do not depend on it."""
    time.sleep(float(os.environ.get("TEST_PATIENCE", "0")))
    return random.choice(moves)


def broken(view, moves, random):
    """Has no idea."""
    raise RuntimeError("I have lost my glasses")
