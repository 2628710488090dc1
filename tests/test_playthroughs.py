"""One recorded game for each map and preset must be played again exactly (`python -m tests.test_playthroughs` renews them)."""

from pathlib import Path

import pytest

from ttr.board import load_board, map_names
from ttr.record import play_and_record, read_record, write_record
from ttr.replay import replay
from ttr.rules import preset_names, resolve_rules

GOLDEN = Path(__file__).parent / "golden"
FITTING_MAPS = {"warwick": "yang", "orebro": "first_journey"}  # for presets; usa for the others


def playthroughs():
    """Name, map, preset of every game."""
    yield from ((f"map_{name}", name, "official") for name in map_names())
    yield from ((f"rules_{name}", FITTING_MAPS.get(name, "usa"), name) for name in preset_names())


def fresh(map_name, preset):
    board = load_board(map_name)
    rules = resolve_rules(board, preset)
    agents = [("greedy", "random")[i % 2] for i in range(rules.players)]
    return play_and_record(board, rules, agents, seed=3, deal=1)


@pytest.mark.parametrize(("name", "map_name", "preset"), [pytest.param(*p, id=p[0]) for p in playthroughs()])
def test_playthrough(name, map_name, preset):
    path = GOLDEN / f"{name}.jsonl"
    assert path.exists(), f"{path} is missing; python -m tests.test_playthroughs makes it"
    recorded = read_record(path)
    assert recorded == fresh(map_name, preset)
    assert len(replay(path).texts) == len(recorded) - 2


def test_no_playthrough_is_left_over():
    assert {path.stem for path in GOLDEN.glob("*.jsonl")} == {name for name, _, _ in playthroughs()}


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, map_name, preset in playthroughs():
        write_record(fresh(map_name, preset), GOLDEN / f"{name}.jsonl")
