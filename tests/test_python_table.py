"""Games run from Python are the games of the jitted batch; failures stop or forfeit; all of it can be recorded and replayed."""

import json

import numpy as np
import pytest

from ttr.agents.python_agent import AgentFailure
from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.game import CONTENT, RESULT
from ttr.python_table import PythonTable, forfeit, table_for
from ttr.record import WARWICK_AGENTS, play_and_record, score_line, start_game, write_record
from ttr.replay import RecordError, main, replay, score_table
from ttr.rules import resolve_rules
from ttr.tables import compile_game

AGENTS = '''
def uniform(view, moves, random):
    """The built-in random player, written anew."""
    if view.phase == "choose":
        fewest = min(len(move.tickets) for move in moves)
        moves = [move for move in moves if len(move.tickets) == fewest]
    return random.choice(moves)

class Fails:
    def __init__(self, at: int = 3, how: str = "raise"):
        self.at, self.how, self.n = at, how, 0
        if at == 0:
            raise RuntimeError("not today\\n   at all")

    def decide(self, view, moves, random):
        self.n += 1
        if self.n < self.at:
            return random.choice(moves)
        if self.how == "raise":
            return {}[self.n]
        if self.how == "exit":
            raise SystemExit
        if self.how == "none":
            return None
        self.kept = [move for move in view.offered]
        from ttr.moves import Move
        return Move("claim", 4, route=0, colour="red")
'''
SETTINGS = [
    pytest.param("yang", "warwick", ["greedy", "random"], id="yang"),
    pytest.param(
        "usa", "official", ["greedy", "swap:first=random,second=greedy,round=4", "random", "random"], id="usa with a swap"
    ),
    pytest.param("germany", "official", ["random"] * 5, id="germany"),
]


@pytest.fixture
def mine(tmp_path):
    """Agents of the file above by name."""
    path = tmp_path / "agents.py"
    path.write_text(AGENTS)
    return lambda name: f"{path}:{name}"


def seated(texts):
    return [parse_agent(text) for text in texts]


@pytest.mark.parametrize(("name", "preset", "texts"), SETTINGS)
def test_the_games_are_those_of_the_jitted_batch(name, preset, texts):
    board = load_board(name)
    g = compile_game(board, resolve_rules(board, preset, len(texts)))
    games = deals_and_rotations(3, 3, len(texts))
    fast, fast_log = Table(g, seated(texts)).play_logged(*games, 7)
    slow, slow_log = PythonTable(g, board, seated(texts)).play_logged(*games, 7)
    assert (fast[CONTENT] == slow[CONTENT]).all()
    assert fast["lead_changes"].sum() > 0
    told = [field for field in fast_log.dtype.names if field != "ticks"]
    assert (fast_log[told] == slow_log[told]).all()
    assert (slow["ticks"][:, : len(texts)] > 0).all()
    assert (PythonTable(g, board, seated(texts)).play(*games, 7)[CONTENT] == slow[CONTENT]).all()


@pytest.mark.parametrize(("name", "preset", "texts"), SETTINGS)
def test_a_user_can_write_the_random_player_anew(name, preset, texts, mine):
    """Same stream, same moves: the rows are equal, also where it swaps with a jitted agent."""
    board = load_board(name)
    g = compile_game(board, resolve_rules(board, preset, len(texts)))
    games = deals_and_rotations(0, 2, len(texts))
    twins = [text.replace("random", f"({mine('uniform')})" if ":" in text else mine("uniform")) for text in texts]
    table = table_for(board, g, seated(twins))
    assert isinstance(table, PythonTable) and isinstance(table_for(board, g, seated(texts)), Table)
    assert (table.play(*games, 9)[CONTENT] == Table(g, seated(texts)).play(*games, 9)[CONTENT]).all()


def failing(mine, how, at=3, rotation=1, on_error="stop", players=2):
    board = load_board("yang")
    rules = resolve_rules(board, "warwick", players)
    agents = seated([mine(f"Fails:at={at},how={how}"), *["greedy"] * (players - 1)])
    return table_for(board, rules, agents, on_error).play(np.array([4]), np.array([rotation]), 11)


@pytest.mark.parametrize(
    ("how", "at", "text", "move", "message"),
    [
        ("raise", 3, "Fails", 6, "agents.py, line 20: KeyError: 3"),
        ("exit", 3, "Fails:how=exit", 6, "agents.py, line 22: SystemExit"),
        ("raise", 0, "Fails:at=0", 1, "agents.py, line 13: RuntimeError: not today at all"),
        ("none", 1, "Fails:at=1,how=none", 2, "agents.py: illegal move: it returned None, not one of the moves it was given"),
        ("made-up", 2, "Fails:at=2,how=made-up", 4, "agents.py: illegal move: claims "),
    ],
)
def test_a_failure_stops_with_one_line(mine, how, at, text, move, message):
    with pytest.raises(AgentFailure) as caught:
        failing(mine, how, at)
    where = f"agent agents.py:{text} failed at seed 11, deal 4, rotation 1, move {move}: "
    assert str(caught.value).startswith(where + message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("how", "at"), [("raise", 3), ("raise", 0), ("none", 5), ("made-up", 2)])
def test_a_failure_can_forfeit(mine, how, at):
    row = failing(mine, how, at, on_error="forfeit")[0]
    assert (row["forfeit"], row["winner"], list(row["rank"][:2])) == (1, 0, [1, 2])
    assert row["decisions"] == max(0, 2 * at - 1)


def test_the_others_are_ranked_among_themselves():
    """The forfeiter was first or tied: it becomes last, those behind move up, a tie at the top is a draw."""
    for ranks, seat, after, winner in [
        ([1, 2, 3], 0, [3, 1, 2], 1),
        ([2, 1, 3], 0, [3, 1, 2], 1),
        ([1, 2, 2], 0, [3, 1, 1], -1),
        ([1, 1, 3], 1, [1, 3, 2], 0),
        ([3, 1, 1], 0, [3, 1, 1], -1),
    ]:
        row = np.zeros(1, RESULT)[0]
        row["rank"][:3] = ranks
        forfeit(row, seat, 3)
        assert (list(row["rank"][:3]), row["winner"], row["forfeit"]) == (after, winner, seat)


def test_a_record_of_any_rotation_is_the_row(mine, tmp_path):
    """The record of a game ends with the scores of its row, and names who played what."""
    board = load_board("usa")
    rules = resolve_rules(board, "official", 3)
    texts = ["greedy", f"swap:first=({mine('uniform')}),second=greedy,round=3", mine("uniform")]
    for rotation in range(3):
        lines = play_and_record(board, rules, texts, seed=2, deal=5, rotation=rotation)
        write_record(lines, tmp_path / "game.jsonl")
        followed = replay(tmp_path / "game.jsonl")
        row = table_for(board, rules, seated(texts)).play(np.array([5]), np.array([rotation]), 2)[0]
        assert [2 * sheet["score"] for sheet in lines[-1]["scores"]] == list(row["score"][:3])
        assert len(lines) - 2 == row["decisions"] == len(followed.texts)
        shown = ["greedy", "swap:first=(agents.py:uniform),second=greedy,round=3", "agents.py:uniform"]
        assert lines[0]["agents"] == shown and lines[0]["warwick_agents"] == [256, 64, None]
        assert f"player 0 ({shown[rotation]})" in followed.texts[0]


def test_a_forfeited_game_is_recorded_and_replayed(mine, tmp_path, capsys):
    board = load_board("yang")
    rules = resolve_rules(board, "warwick", 2)
    path = tmp_path / "game.jsonl"
    lines = play_and_record(board, rules, [mine("Fails:at=4"), "greedy"], seed=1, on_error="forfeit")
    write_record(lines, path)
    assert (lines[-1]["forfeit"], lines[-1]["winner"]) == (0, 1)
    assert "KeyError: 4" in lines[-1]["reason"]
    assert replay(path).scores == lines[-1]
    assert main([str(path)]) == 0
    assert "Player 0 forfeits: agent agents.py:Fails:at=4 failed" in capsys.readouterr().out
    assert score_table(lines[-1]).endswith("Player 1 wins.")
    table = score_table(score_line(*start_game(load_board("usa"), resolve_rules(load_board("usa"), players=5), 1, 0)))
    assert max(map(len, table.splitlines())) <= 80 and table.startswith("player") and len(table.splitlines()) == 12
    for spoil, message in [
        ({"forfeit": 1}, "forfeit is 1, it must be 0"),
        ({"forfeit": 2}, "forfeit is 2, it must be a player"),
        ({"winner": 0}, "winner is 0, it must be 1"),
        ({"reason": None}, "the reason of the forfeit is missing"),
    ]:
        write_record([*lines[:-1], lines[-1] | spoil], path)
        with pytest.raises(RecordError, match=message):
            replay(path)
    write_record([*lines[:-1], {key: value for key, value in lines[-1].items() if key != "forfeit"}], path)
    with pytest.raises(RecordError, match="final scores, but the game is not over"):
        replay(path)
    assert json.loads(json.dumps(lines)) == lines


def test_no_forfeit_after_the_end(tmp_path):
    board = load_board("mini")
    lines = play_and_record(board, resolve_rules(board, "warwick", 2), ["greedy", "random"], seed=1)
    write_record([*lines[:-1], lines[-1] | {"forfeit": 0, "reason": "?"}], tmp_path / "game.jsonl")
    with pytest.raises(RecordError, match="a forfeit, but the game is over"):
        replay(tmp_path / "game.jsonl")


def test_the_warwick_codes():
    """As in appendix A of the report: heuristics in steps of 1024 or powers of two, searches with their variants in a row."""
    assert len(WARWICK_AGENTS) == len(set(WARWICK_AGENTS.values())) == 21
    for search, start in (("cmcts", 32768), ("ismcts", 262144)):
        variants = ["rosas", "true_rosas", "posas", "true_posas"]
        assert [WARWICK_AGENTS[f"{search}_{variant}"] for variant in variants] == list(range(start, start + 4))
