"""Ticket to Ride as data and jitted code: boards, rules, states, moves, whole games."""

from ttr.compile_cache import use_cache_for_these_sources

__version__ = "0.1.0"

use_cache_for_these_sources()
