"""Ticket to Ride as data and jitted code: boards, rules, states, moves, whole games."""

import sys

from ttr.compile_cache import use_cache_for_these_sources
from ttr.ended_early import end_quietly

__version__ = "0.1.0"

use_cache_for_these_sources()
if sys.argv[:1] == ["-m"]:  # `python -m ttr.NAME` is looking for its module
    end_quietly()
