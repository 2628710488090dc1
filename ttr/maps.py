"""The maps from the command line: list them, check one, draw one.

python -m ttr.maps list
python -m ttr.maps check my_map
python -m ttr.maps draw usa -o usa.pdf
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ttr.board import Board, MapError, load_board, map_names, variant_names

FORMATS = (".png", ".pdf", ".svg")


def cards_in_all(board: Board) -> int:
    """The train cards of a map: its colours and its locomotives."""
    return board.box.cards_per_colour * len(board.colours) + board.box.locomotives


def table_of_maps() -> str:
    """One line for every map of the project."""
    rows: list[tuple[str, ...]] = [("map", "cities", "routes", "tickets", "cars", "cards", "variants")]
    for name in map_names():
        board = load_board(name)
        counts = (
            len(board.cities),
            len(board.routes),
            len(board.tickets),
            board.box.cars,
            cards_in_all(board),
        )
        rows.append((name, *map(str, counts), ", ".join(variant_names(name)) or "-"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        middle = [text.rjust(width) for text, width in zip(row[1:-1], widths[1:-1])]
        lines.append("  ".join([row[0].ljust(widths[0]), *middle, row[-1]]))
    return "\n".join(lines)


def check_map(name: str) -> str:
    """Loads a map and all its variants; one line about it, or a MapError."""
    board = load_board(name)
    connections = len({route.group for route in board.routes})
    variants = [] if _names_variant(name) else variant_names(name)
    for variant in variants:
        load_board(f"{name}:{variant}")
    checked = f"; variants {', '.join(variants)}" if variants else ""
    return (
        f"ok: {board.title}: {len(board.cities)} cities, {len(board.routes)} routes ({connections} connections), "
        f"{len(board.tickets)} tickets, {board.box.cars} cars, {cards_in_all(board)} cards{checked}"
    )


def _names_variant(name: str) -> bool:
    return ":" in name and name not in map_names() and not Path(name).is_dir()


def draw_map(name: str, output: str | None) -> Path:
    """Draws a map into a file, NAME.png if none is given."""
    board = load_board(name)
    path = Path(output or Path(name).name.replace(":", "_") + ".png")
    if path.suffix.lower() not in FORMATS:
        raise MapError(f"cannot draw {path.name!r}: the name must end in {', '.join(FORMATS)}")
    from ttr.drawing import save_board  # matplotlib is slow to import and only needed here

    return save_board(board, path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ttr.maps", description="The maps: list them, check one, draw one.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="{list,check,draw}")
    commands.add_parser("list", help="all maps of the project with their sizes and variants")
    check = commands.add_parser("check", help="say whether a map can be played, and if not, why")
    check.add_argument("path", metavar="PATH", help="a map's folder (my_map) or a map of the project (usa)")
    draw = commands.add_parser("draw", help="draw a map")
    draw.add_argument("name", metavar="NAME", help="a map (usa), a variant (new_york:doubles) or a map's folder")
    draw.add_argument("-o", "--output", metavar="FILE", help="file to write: .png, .pdf or .svg (default: NAME.png)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; 0 if it worked, 2 with one line on stderr if not."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "list":
            print(table_of_maps())
        elif arguments.command == "check":
            print(check_map(arguments.path))
        else:
            print(draw_map(arguments.name, arguments.output))
    except MapError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # nobody reads the output
    except OSError as error:
        print(f"cannot write {error.filename or 'the file'}: {error.strerror or error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
