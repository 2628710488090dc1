"""The simulation of many workers: it sees idle workers when batches are too short, and full ones when they are long enough."""

import pytest

from tests.bench.thousand_workers import RAY_SECONDS, simulate


@pytest.mark.full
def test_long_batches_keep_workers_busy_and_short_ones_do_not():
    few = 40
    assert simulate(100 * few * RAY_SECONDS, workers=few, rounds=4)["busy"] > 95
    starved = simulate(few * RAY_SECONDS / 4, workers=few, rounds=4)
    assert starved["busy"] < 25 and starved["tasks"] == 4 * few
