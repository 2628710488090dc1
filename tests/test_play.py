"""python -m ttr.play with a scripted person: whole games, wrong entries, hidden hands, records that replay."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.test_invariants import as_words, cards_of, members
from ttr.actions import apply_code
from ttr.board import load_board
from ttr.human_seat import HumanSeat, without_twins
from ttr.moves import describe, legal_moves
from ttr.play import Play, main, public_text
from ttr.replay import replay
from ttr.rules import resolve_rules
from ttr.state import OVER

PROJECT = Path(__file__).parents[1]
LAST_NUMBER = re.compile(r"(?:Your move|Payment) \(1-(\d+)")


class Person(io.StringIO):
    """Standard input of a person who reads the prompt and types one of the numbers on offer."""

    def __init__(self, shown, choose):
        super().__init__()
        self.shown, self.choose = shown, choose

    def readline(self, size=-1):
        prompts = LAST_NUMBER.findall(self.shown().rsplit("\n", 1)[-1])
        return f"{self.choose(int(prompts[-1]))}\n" if prompts else "\n"


def play_game(agents, map_name, choose, monkeypatch, seed=1, width=80):
    """A whole game with scripted people; the play and the text it printed."""
    board = load_board(map_name)
    rules = resolve_rules(board, "warwick" if map_name == "yang" else "official", len(agents))
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False)
    monkeypatch.setattr(sys, "stdin", Person(out.getvalue, choose))
    play = Play(board, rules, agents, seed, console)
    play.say_final(play.run())
    return play, out.getvalue()


def random_choice(seed):
    random = np.random.default_rng(seed)
    return lambda n: random.integers(n) + 1


def run(*arguments, typed="", folder=PROJECT):
    command = [sys.executable, "-m", "ttr.play", *arguments]
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, input=typed, check=False, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.parametrize(
    ("agents", "map_name"),
    [(["human", "greedy"], "yang"), (["greedy", "human", "random", "greedy"], "usa"), (["human", "human", "random"], "germany")],
)
def test_a_person_can_play_to_the_end(agents, map_name, monkeypatch, tmp_path):
    play, text = play_game(agents, map_name, random_choice(3), monkeypatch)
    assert play.state["phase"] == OVER
    assert "THE LAST TURNS" in text
    assert "wins." in text or "You win." in text or "draw" in text
    assert max(len(line) for line in text.splitlines()) <= 80
    path = tmp_path / "game.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in play.lines))
    followed = replay(path)
    assert followed.scores == json.loads(json.dumps(play.lines[-1]))
    pad = text.split("The game is over")[1]
    for label, field in (("routes", "routes"), ("score", "score"), ("rank", "rank")):
        printed = re.search(rf"^ *{label} +(\S.*?) *$", pad, re.MULTILINE)
        assert printed and printed[1].split() == [str(sheet[field]) for sheet in play.lines[-1]["scores"]]


def test_every_screen_offers_exactly_the_legal_moves(monkeypatch):
    """The numbers of a menu stand for all legal moves, claims that differ only in which grey twin they take counted once."""
    menus = []
    plain = HumanSeat._menu
    monkeypatch.setattr(HumanSeat, "_menu", lambda *a: menus.append((a[2], plain(*a))) or menus[-1][1])
    play_game(["human", "random"], "usa", random_choice(4), monkeypatch)
    together = 0
    for moves, (numbered, _) in menus:
        listed = [move.code for entry in numbered for move in entry]
        assert sorted(listed) == sorted(move.code for move in moves)
        for entry in numbered:
            assert len({(move.kind, move.route) for move in entry}) == 1
            together += len(entry) > 1
    assert together  # some menus were so long that payments were asked for apart


def test_twins_are_offered_once_and_nothing_else_is_lost():
    board = load_board("usa")
    play = Play(board, resolve_rules(board, "official", 4), ["random"] * 4, 3, Console(file=io.StringIO()))
    hidden = 0
    while play.state["phase"] != OVER:
        moves = legal_moves(play.game, board, play.state)
        kept = without_twins(board, moves)
        for move in moves:
            if move in kept:
                continue
            twins = [k for k in kept if (k.kind, k.colour, k.locomotives) == (move.kind, move.colour, move.locomotives)]
            mine = board.routes[move.route]
            assert any((board.routes[k.route].group, board.routes[k.route].colour) == (mine.group, mine.colour) for k in twins)
            hidden += 1
        apply_code(play.game, play.state, play.seats[int(play.state["player"])].decide(play.state))
    assert hidden


def test_nothing_hidden_is_told(monkeypatch):
    """The others' tickets and blind cards are in no screen: what is shown does not change when they do."""
    board = load_board("yang")
    rules = resolve_rules(board, "warwick")
    for seed in range(20):
        texts = []
        for swapped in (False, True):
            out = io.StringIO()
            console = Console(file=out, width=80, highlight=False, markup=False)
            play = Play(board, rules, ["greedy", "human"], seed, console)
            monkeypatch.setattr(sys, "stdin", Person(out.getvalue, lambda n: 1))
            for _ in range(2):
                p = int(play.state["player"])
                play._do(p, play.seats[p].decide(play.state))
            if swapped:
                swap_what_the_person_cannot_see(play)
            play.seats[1]._show(play._last_view(1))
            texts.append(out.getvalue())
        assert texts[0] == texts[1]


def swap_what_the_person_cannot_see(play):
    """Exchange one unknown card of player 0's hand with another one of the deck, and one of its tickets with the ticket deck's."""
    state = play.state
    hand, deck = cards_of(state["hand"][0]), cards_of(state["deck"])
    mine = next(c for c in range(9) if hand[c])
    other = next(c for c in range(9) if deck[c] and c != mine)
    for field, gains, loses in (("hand", other, mine), ("deck", mine, other)):
        place = state[field] if field == "deck" else state[field][0]
        value = int(place) + (1 << (7 * gains)) - (1 << (7 * loses))
        if field == "deck":
            state["deck"] = value
        else:
            state["hand"][0] = value
    held = members(state["held"][0])
    top = (int(state["head"]) + int(state["waiting"]) - 1) % play.game.tickets
    new = int(state["queue"][top])
    state["queue"][top] = held[0]
    state["held"][0] = as_words([*held[1:], new])


def test_which_tickets_are_kept_is_not_public():
    board = load_board("yang")
    play = Play(board, resolve_rules(board, "warwick"), ["greedy", "random"], 1, Console(file=io.StringIO()))
    keep = next(move for move in legal_moves(play.game, board, play.state) if len(move.tickets) == 2)
    assert public_text(board, keep) == "keeps 2 tickets"
    names = [board.cities[board.tickets[t].a].name for t in keep.tickets]
    assert all(name in describe(board, keep) for name in names)


def test_own_blind_cards_are_told_and_no_others(monkeypatch):
    play, text = play_game(["human", "greedy"], "yang", lambda n: n if n < 5 else min(n, 12), monkeypatch)
    told = [own for p, _, own in play.log if "from the deck" in own]
    assert told and all(own.endswith(")") for own in told)
    for line in text.splitlines():
        if line.startswith("  1 greedy: ") and "deck" in line:
            assert line.endswith("from the deck")


def test_hands_are_hidden_between_people(monkeypatch):
    _, text = play_game(["human", "human"], "yang", random_choice(5), monkeypatch)
    screens = re.split(r"Player (\d), it is your turn\. Press Enter", text.split("The game is over")[0])
    for player, screen in zip(screens[1::2], screens[2::2]):
        assert set(re.findall(r"Round \d+: player (\d)", screen)) == {player}
    assert len(screens) > 10


@pytest.mark.parametrize("name", ["yang", "usa", "germany"])
def test_the_last_views_agree_with_the_scores(name):
    """Tickets shown as completed are those that the engine counts; points and counts are the score sheet's."""
    board = load_board(name)
    for seed in range(15):
        play = Play(board, resolve_rules(board, "official", 2), ["greedy", "random"], seed, Console(file=io.StringIO()))
        for p, sheet in enumerate(play.run()["scores"]):
            view = play._last_view(p)
            assert sum(t.completed for t in view.tickets) == sheet["completed"]
            assert len(view.tickets) == sheet["tickets"] == view.players[p].tickets
            assert view.players[p].points == sheet["routes"]
            assert view.cars == sheet["cars_left"]
            assert sum(view.hand.values()) == sheet["cards_left"] == view.players[p].cards
            assert len([r for r in view.routes if r.owner == p]) == sheet["routes_claimed"]


def test_a_users_own_agent_plays(monkeypatch, tmp_path):
    mine = f"{PROJECT / 'examples' / 'my_agents.py'}:Planner"
    play, text = play_game(["human", mine], "yang", random_choice(6), monkeypatch)
    assert play.state["phase"] == OVER and "Planner" in text


def test_a_failing_agent_is_one_line(tmp_path, capsys):
    (tmp_path / "bad.py").write_text("def bad(view, moves, random):\n    return moves[10_000]\n")
    assert main(["greedy", f"{tmp_path / 'bad.py'}:bad", "--seed", "1"]) == 2
    err = capsys.readouterr().err
    assert "bad.py" in err and "IndexError" in err and err.count("\n") == 1


def test_wrong_entries_are_explained_and_asked_again():
    shown = run("--seed", "3", typed="0\nabc\n99\n?\nb\nt\n\n1\nq\n")
    assert shown.returncode == 1 and shown.stderr == ""
    assert "'abc' is no action: type a number from 1 to 4, or b, t, ? or q." in shown.stdout
    assert shown.stdout.count("is no action") == 3
    assert "stands for any colour" in shown.stdout
    assert "You have left the game. The game was not finished." in shown.stdout
    assert "\x1b" not in shown.stdout


def test_the_end_of_input_is_no_error_but_no_game(tmp_path):
    shown = run("--seed", "3", "--record", "game.jsonl", typed="1\n", folder=tmp_path)
    assert shown.returncode == 1 and shown.stderr == ""
    assert "The input has ended. The game was not finished.\ngame.jsonl was not written" in shown.stdout
    assert not (tmp_path / "game.jsonl").exists()


def test_control_c_ends_the_game_politely():
    """At a real terminal, with the interrupt sent as the terminal sends it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ttr.play", "--seed", "3"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=PROJECT,
        start_new_session=True,
    )
    os.close(slave)
    seen = b""
    while b"Your move" not in seen:
        seen += os.read(master, 4096)
    process.send_signal(2)
    try:
        while chunk := os.read(master, 4096):
            seen += chunk
    except OSError:  # the terminal is closed with the last process on it
        pass
    os.close(master)
    assert process.wait(timeout=20) == 1
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", seen).decode()
    assert "Interrupted. The game was not finished." in text and "Traceback" not in text
    assert b"\x1b[" in seen  # colours at a terminal


def test_watching_agents_and_replaying(tmp_path, capsys):
    path = tmp_path / "game.jsonl"
    assert main(["random", "greedy", "--seed", "5", "--record", str(path), "cars=6"]) == 0
    out = capsys.readouterr().out
    assert f"python -m ttr.replay {path} --draw board.png" in out
    assert replay(path).game.cars == 6
    assert main(["random", "greedy", "--seed", "5", "--record", str(path)]) == 2
    assert "this file exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["human", "greeedy"], "unknown agent 'greeedy' (did you mean greedy?)"),
        (["--map", "yank"], "unknown map 'yank' (did you mean yang?)"),
        (["--rules", "warwik"], "no rules are called 'warwik' (did you mean warwick?)"),
        (["human", "greedy", "carz=3"], "rules have no field 'carz' (did you mean cars?)"),
        (["human"], "players=1: it must be a whole number from 2 to 5"),
        (["human", "greedy", "players=3"], "players=3, but 2 players are named"),
        (["--seed", "-1"], "--seed -1: it must be a whole number from 0 on"),
        (["--record", "nowhere/game.jsonl"], "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_played_is_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert message in shown.err and shown.err.count("\n") == 1 and shown.out == ""
