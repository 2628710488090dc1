"""python -m ttr.maps: list, check and draw, with one line and exit code 2 for what cannot be done."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ttr.board import BOARDS, Board, load_board, map_names
from ttr.drawing import colour_marks, draw_board, save_board
from ttr.maps import main

PROJECT = Path(__file__).parents[1]
SIGNATURES = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


def run(*arguments, folder=PROJECT):
    command = [sys.executable, "-m", "ttr.maps", *arguments]
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment)


def patches(ax, gid):
    return [patch for patch in ax.patches if patch.get_gid() == gid]


def test_list_shows_every_map(capsys):
    assert main(["list"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["map", "cities", "routes", "tickets", "cars", "cards", "variants"]
    assert [line.split()[0] for line in lines] == map_names()
    usa = next(line for line in lines if line.startswith("usa "))
    assert usa.split() == ["usa", "36", "100", "30", "45", "110", "length3"]


@pytest.mark.parametrize("name", ["usa", "germany", "new_york:doubles", str(BOARDS / "yang")])
def test_check_says_ok(name, capsys):
    assert main(["check", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ok: ") and out.count("\n") == 1


def test_check_of_a_good_map_sums_it_up(capsys):
    main(["check", "usa"])
    expected = "36 cities, 100 routes (78 connections), 30 tickets, 45 cars, 110 cards; variants length3"
    assert capsys.readouterr().out.strip() == f"ok: Ticket to Ride, USA (2004): {expected}"


def test_check_of_a_bad_map_is_one_line_and_exit_code_2(tmp_path, capsys):
    folder = Path(shutil.copytree(BOARDS / "mini", tmp_path / "mine"))
    routes = (folder / "routes.csv").read_text().replace("white", "whit")
    (folder / "routes.csv").write_text(routes)
    assert main(["check", str(folder)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    reason = "unknown colour 'whit' (did you mean white?); the map has black, white, red and grey"
    assert shown.err == f"mine/routes.csv, row 3: {reason}\n"


def test_check_looks_at_the_variants_too(tmp_path, capsys):
    folder = Path(shutil.copytree(BOARDS / "mini", tmp_path / "mine"))
    with open(folder / "map.yaml", "a") as out:
        out.write("variants:\n  crowded:\n    cars: 70\n")
    rows = (folder / "map.yaml").read_text().splitlines()
    assert main(["check", str(folder)]) == 2
    assert capsys.readouterr().err == f"mine/map.yaml, row {len(rows)}: cars is 70, allowed are 1 to 60\n"


def test_the_command_itself():
    good = run("check", "mini")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("ok: ")
    bad = run("check", "minni")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert re.fullmatch(r"unknown map 'minni' \(did you mean mini\?\); the maps are .*\n", bad.stderr)
    shown = run("--help")
    assert shown.returncode == 0 and "check" in shown.stdout
    assert run().returncode == 2
    assert run("draw", "mini", "--size", "3").returncode == 2


def test_draw_writes_name_png_where_it_is_called(tmp_path):
    done = run("draw", "new_york:doubles", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "new_york_doubles.png\n")
    assert (tmp_path / "new_york_doubles.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("ending", SIGNATURES)
def test_draw_in_every_format(ending, tmp_path, capsys):
    path = tmp_path / f"picture{ending}"
    assert main(["draw", "mini", "-o", str(path)]) == 0
    assert capsys.readouterr().out.strip() == str(path)
    assert path.read_bytes().startswith(SIGNATURES[ending])


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["draw", "atlantis"], "unknown map 'atlantis'; the maps are"),
        (["draw", "mini:large"], "unknown variant 'large'; it has none"),
        (
            ["draw", "mini", "-o", "picture.bmp"],
            "cannot draw 'picture.bmp': the name must end in .png, .pdf, .svg",
        ),
        (
            ["draw", "mini", "-o", "no/such/folder/picture.png"],
            "cannot write no/such/folder/picture.png: No such file",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(arguments, reason, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert reason in err and err.count("\n") == 1


@pytest.mark.parametrize("name", [*map_names(), "new_york:doubles", "usa:length3"])
def test_every_space_of_every_route_is_drawn(name):
    board = load_board(name)
    slots = patches(draw_board(board), "slot")
    assert len(slots) == sum(route.length for route in board.routes)
    for slot in slots:
        assert slot.get_path().get_extents().size.min() > 0


def test_claimed_routes_carry_their_players_cars(tmp_path):
    board = load_board("yang")
    owners = {0: 0, 3: 1, 5: 0}
    ax = draw_board(board, owners=owners)
    assert len(patches(ax, "slot")) == 31
    assert len(patches(ax, "car")) == sum(board.routes[route].length for route in owners)
    shown = [text.get_text() for text in ax.texts]
    assert shown.count("0") == board.routes[0].length + board.routes[5].length
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [label for label in legend if "player" in label] == ["0  player 0", "1  player 1"]
    path = save_board(board, tmp_path / "claimed.png", owners=owners, title="After three claims")
    assert path.stat().st_size > 10_000


def test_a_name_with_dollars_is_drawn_as_it_stands(tmp_path):
    board = load_board("mini")
    named = replace(board, title="A $_$ map", cities=(replace(board.cities[0], name="$_$"), *board.cities[1:]))
    assert save_board(named, tmp_path / "dollars.png").stat().st_size > 10_000


def test_a_closed_pipe_and_ctrl_c_end_a_command_without_a_traceback():
    raised = "import sys; sys.argv = ['-m']; import ttr; raise {}"
    here = {"cwd": PROJECT, "env": os.environ | {"PYTHONPATH": str(PROJECT)}, "capture_output": True, "text": True}
    for error, told in (("KeyboardInterrupt", "interrupted\n"), ("BrokenPipeError", "")):
        shown = subprocess.run([sys.executable, "-c", raised.format(error)], **here)
        assert shown.returncode != 0 and shown.stderr == told
    shown = subprocess.run(f"{sys.executable} -m ttr.maps list | head -1", shell=True, **here)
    assert shown.stdout.startswith("map") and shown.stderr == ""


def test_every_name_stands_on_the_picture():
    board = load_board("europe")
    shown = {text.get_text() for text in draw_board(board).texts}
    assert {city.name for city in board.cities} <= shown


def test_every_colour_has_a_letter_of_its_own():
    colours = ("black", "blue", "brown", "beige", "bronze", "red", "rose", "teal")
    marks = colour_marks(colours)
    assert [mark[0] for mark in marks] == [*colours, "grey"]
    letters = [mark[2] for mark in marks[:-1]]
    assert all(letters) and len(set(letters)) == len(letters)
    assert len({mark[1] for mark in marks}) == len(marks)


def test_a_map_on_given_axes():
    from matplotlib.figure import Figure

    board: Board = load_board("mini")
    ax = Figure().add_subplot()
    assert draw_board(board, ax) is ax
