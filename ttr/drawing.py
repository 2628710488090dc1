"""Pictures of a map: every route as its row of car spaces, every colour also as a letter, claimed routes with their cars."""

import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Polygon, Rectangle
from matplotlib.patheffects import withStroke

from ttr.board import GREY, Board
from ttr.colour_marks import PLAYERS, colour_marks

PAPER, LAND = "#ffffff", "#fbf8ef"
BENDS = (0.0, 0.05, -0.05, 0.1, -0.1, 0.16, -0.16, 0.23, -0.23, 0.31, -0.31)
INCHES = 12.5  # the longer side of a picture


@dataclass(frozen=True)
class Scale:
    """Sizes in the map's own units; `points` is how many typographic points one unit is in the picture."""

    space: float  # the longest a car space gets
    width: float  # of a space
    step: float  # between the middle lines of parallel routes
    dot: float  # radius of a city
    points: float = 1.0


def _scale(board: Board) -> Scale:
    """Spaces as large as the crowded part of the map allows."""
    place = _places(board)
    pitches = [math.dist(place[route.a], place[route.b]) / route.length for route in board.routes]
    pitch = float(np.percentile(pitches, 25))
    extent = float(np.ptp(place, axis=0).max()) or 1.0
    space = min(1.15 * pitch, extent / 9)
    width = min(0.29 * space, extent / 45)
    return Scale(space=space, width=width, step=1.2 * width, dot=0.62 * width)


def _places(board: Board) -> np.ndarray:
    return np.array([(city.x, city.y) for city in board.cities], dtype=float)


def _curve(start: np.ndarray, end: np.ndarray, bend: float, samples: int = 41) -> np.ndarray:
    """Points of an arc from start to end whose middle lies `bend` times the distance aside."""
    t = np.linspace(0, 1, samples)[:, None]
    along = end - start
    control = (start + end) / 2 + 2 * bend * np.array([-along[1], along[0]])
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end


def _arc_length(points: np.ndarray) -> float:
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


def _choose_bends(board: Board, scale: Scale) -> list[float]:
    """How far each group of parallel routes bows aside, so that it keeps clear of cities and of other routes."""
    place = _places(board)
    first, count = {}, {}
    for route in board.routes:
        first.setdefault(route.group, route)
        count[route.group] = count.get(route.group, 0) + 1
    half = np.array([count[group] * scale.step / 2 for group in range(len(first))])

    def inner(group: int, bend: float) -> np.ndarray:
        return _curve(place[first[group].a], place[first[group].b], bend, 21)[3:-3:2]

    def cost(group: int, bend: float) -> float:
        route, points = first[group], inner(group, bend)
        total = (300.0 if route.length > 2 else 1500.0) * bend**2
        gap = np.linalg.norm(points[:, None] - place[None], axis=2).min(axis=0)
        gap[[route.a, route.b]] = np.inf
        room = half[group] + 1.6 * scale.dot + 0.3 * scale.width
        total += 60 * (np.clip(room - gap, 0, None) ** 2).sum() / scale.width**2
        arc = _arc_length(_curve(place[route.a], place[route.b], bend)) - 2 * scale.dot
        total += 25 * max(0.0, 0.8 - arc / (route.length * scale.space)) ** 2
        gap = np.linalg.norm(points[None, :, None] - lines[:, None], axis=3)
        gap[group] = np.inf
        room = (half[group] + half + 0.1 * scale.width)[:, None, None]
        return total + (np.clip(room - gap, 0, None) ** 2).sum() / scale.width**2

    bends = [0.0] * len(first)
    lines = np.array([inner(group, 0.0) for group in range(len(first))])
    for _ in range(3):
        for group in sorted(first, key=lambda group: -first[group].length):
            bends[group] = min(BENDS, key=lambda bend: cost(group, bend))
            lines[group] = inner(group, bends[group])
    return bends


def _clearances(lines: list[np.ndarray], half: np.ndarray, lengths: list[int], scale: Scale) -> list[list[float]]:
    """How far from its two cities each group's spaces begin, so that routes meeting at a sharp angle keep apart."""
    clear = []
    for group, line in enumerate(lines):
        walked = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
        least = 1.1 * scale.dot
        most = max(least, (walked[-1] - 0.66 * scale.space * lengths[group]) / 2)
        ends = []
        for points in (line, line[::-1]):
            need = least
            for other, rest in enumerate(lines):
                meets = min(np.linalg.norm(rest[0] - points[0]), np.linalg.norm(rest[-1] - points[0])) < 1e-6
                if other != group and meets:
                    gap = np.linalg.norm(points[:, None] - rest[None], axis=2).min(axis=1)
                    touching = np.nonzero(gap[:30] < 0.9 * (half[group] + half[other]))[0]
                    need = max(need, walked[touching[-1]] if len(touching) else 0.0)
            ends.append(float(min(need, most, 4.5 * scale.width)))
        clear.append(ends)
    return clear


def _spaces(line: np.ndarray, aside: float, length: int, clear: list[float], scale: Scale) -> np.ndarray:
    """The corners of a route's car spaces, (length, 4, 2), on the line shifted `aside` to its left."""
    tangent = np.gradient(line, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    line = line + aside * np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    walked = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    room = walked[-1] - sum(clear)
    pitch = min(room / length, scale.space)
    start = clear[0] + (room - pitch * length) / 2
    corners = []
    for number in range(length):
        cuts = start + pitch * (number + np.array([0.05, 0.95]))
        back, front = np.stack([np.interp(cuts, walked, line[:, axis]) for axis in (0, 1)], axis=1)
        across = np.array([-(front - back)[1], (front - back)[0]])
        across *= scale.width / 2 / np.linalg.norm(across)
        corners.append([back - across, front - across, front + across, back + across])
    return np.array(corners)


def route_spaces(board: Board, scale: Scale) -> list[np.ndarray]:
    """The car spaces of every route; parallel routes lie side by side."""
    place, bends = _places(board), _choose_bends(board, scale)
    members: dict[int, list[int]] = {}
    for number, route in enumerate(board.routes):
        members.setdefault(route.group, []).append(number)
    leads = [board.routes[members[group][0]] for group in range(len(members))]
    lines = [_curve(place[lead.a], place[lead.b], bends[lead.group]) for lead in leads]
    half = np.array([len(members[group]) * scale.step / 2 for group in range(len(members))])
    clear = _clearances(lines, half, [lead.length for lead in leads], scale)
    spaces = []
    for number, route in enumerate(board.routes):
        group = members[route.group]
        aside = (group.index(number) - (len(group) - 1) / 2) * scale.step
        spaces.append(_spaces(lines[route.group], aside, route.length, clear[route.group], scale))
    return spaces


def _place_names(board: Board, scale: Scale, spaces: list[np.ndarray], size: float) -> list[tuple[float, float]]:
    """The middle of each city's name, beside its dot where the fewest spaces and other names are covered."""
    place = _places(board)
    grid = np.concatenate(spaces)
    weights = np.array([(u, v) for u in (0.05, 0.3, 0.5, 0.7, 0.95) for v in (0.1, 0.5, 0.9)])
    obstacles = np.concatenate([grid[:, 0] + u * (grid[:, 1] - grid[:, 0]) + v * (grid[:, 3] - grid[:, 0]) for u, v in weights])
    height = 0.95 * size / scale.points
    half = np.array([(0.29 * len(city.name) * size / scale.points, height / 2) for city in board.cities])
    middles = [None] * len(place)
    angles = np.radians([0, 180, 270, 90, 315, 225, 45, 135, 337, 203, 23, 157])

    def cost(city: int, middle: np.ndarray, distance: float) -> float:
        covered = (np.abs(obstacles - middle) < half[city]).all(axis=1).sum()
        dots = (np.abs(place - middle) < half[city] + scale.dot).all(axis=1).sum()
        names = 0.0
        for other, taken in enumerate(middles):
            if taken is not None and other != city:
                shared = np.clip(half[city] + half[other] - np.abs(taken - middle), 0, None)
                names += shared.prod() / height**2
        return covered + 12 * dots + 15 * names + 1.5 * distance

    for _ in range(3):
        for city in sorted(range(len(place)), key=lambda city: -len(board.cities[city].name)):
            best = math.inf
            for distance in (0, 1, 2, 3):
                for angle in angles:
                    way = np.array([math.cos(angle), math.sin(angle)])
                    reach = scale.dot * 1.3 + (0.15 + 0.45 * distance) * height
                    edge = min(half[city][axis] / max(abs(way[axis]), 1e-9) for axis in (0, 1))
                    middle = place[city] + way * (reach + edge)
                    price = cost(city, middle, distance)
                    if price < best - 1e-9:
                        best, middles[city] = price, middle
    return [tuple(middle) for middle in middles]


def draw_board(board: Board, ax: Axes | None = None, owners: dict[int, int] | None = None) -> Axes:
    """Draws a map on `ax` (a new one if None) and returns it; `owners` maps claimed routes to their players.

    Every space is a patch with the gid "slot", every car on it one with the gid "car".
    """
    owners = owners or {}
    scale, place = _scale(board), _places(board)
    if ax is None:
        ax = Figure(figsize=_figure_size(board), dpi=160, facecolor=PAPER).add_axes((0.0, 0.07, 1.0, 0.88))
    margin = _margin(board)
    low, high = place.min(axis=0) - margin, place.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]), xticks=[], yticks=[], facecolor=LAND)
    ax.set_aspect("equal")
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.apply_aspect()
    pixels = ax.transData.transform([(1, 0), (0, 0)])
    points = abs(pixels[0, 0] - pixels[1, 0]) * 72 / ax.figure.dpi
    scale = Scale(scale.space, scale.width, scale.step, scale.dot, points)

    spaces = route_spaces(board, scale)
    _draw_ways(ax, board, spaces)
    marks = colour_marks(board.colours)
    for number, route in enumerate(board.routes):
        _draw_route(ax, spaces[number], marks[-1 if route.colour == GREY else route.colour], owners.get(number), scale)
    _draw_cities(ax, board, scale, spaces)
    _draw_legend(ax, board, marks, sorted(set(owners.values())))
    return ax


def _draw_ways(ax: Axes, board: Board, spaces: list[np.ndarray]):
    """A thin line from city to city, seen where the spaces do not reach the cities."""
    place = _places(board)
    for route, corners in zip(board.routes, spaces):
        middle = corners.mean(axis=1)
        ends = place[[route.a, route.b]]
        if np.linalg.norm(ends[0] - middle[0]) > np.linalg.norm(ends[1] - middle[0]):
            ends = ends[::-1]
        line = np.concatenate([ends[:1], middle, ends[1:]])
        ax.plot(line[:, 0], line[:, 1], color="#b9b2a0", linewidth=0.9, zorder=1)


def _draw_route(ax: Axes, spaces: np.ndarray, mark: tuple, owner: int | None, scale: Scale):
    """The spaces of a route with the letter of its colour, or with its player's cars and number."""
    _, fill, letter, ink = mark
    size = min(0.72 * scale.width * scale.points, 13)
    for corners in spaces:
        middle = corners.mean(axis=0)
        slot = Polygon(corners, closed=True, facecolor=fill, edgecolor="#333333", linewidth=0.6, zorder=2, gid="slot")
        ax.add_patch(slot)
        angle = math.degrees(math.atan2(*(corners[1] - corners[0])[::-1]))
        angle = -((angle + 90) % 180 - 90)  # y points downwards; never upside down
        if owner is not None:
            shrunk = middle + (corners - middle) * np.array([0.86])
            across = corners[3] - corners[0]
            shrunk = shrunk + 0.1 * across * np.array([1, 1, -1, -1])[:, None]
            colour = PLAYERS[owner % len(PLAYERS)]
            car = Polygon(shrunk, closed=True, facecolor=colour, edgecolor="white", linewidth=0.7, zorder=3, gid="car")
            ax.add_patch(car)
            letter, ink = str(owner), "white"
        if letter:
            ax.text(*middle, letter, fontsize=size, color=ink, rotation=angle, weight="bold", ha="center",
                    va="center_baseline", zorder=4)  # fmt: skip


def _draw_cities(ax: Axes, board: Board, scale: Scale, spaces: list[np.ndarray]):
    """Dots with names; a city that ends a path is a square with a slanted name."""
    size = min(max(0.85 * scale.width * scale.points, 8.5), 13)
    names = _place_names(board, scale, spaces, size)
    halo = [withStroke(linewidth=2.6, foreground=PAPER)]
    for number, (city, middle) in enumerate(zip(board.cities, names)):
        ends = number in board.terminals
        look = {"facecolor": "#f6d7b0", "edgecolor": "#222222", "linewidth": 1.1, "zorder": 5}
        radius = scale.dot
        if ends:
            ax.add_patch(Rectangle((city.x - radius, city.y - radius), 2 * radius, 2 * radius, **look))
        else:
            ax.add_patch(Circle((city.x, city.y), radius, **look))
        ax.text(*middle, city.name, fontsize=size, ha="center", va="center", zorder=6, path_effects=halo,
                style="italic" if ends else "normal")  # fmt: skip


def _draw_legend(ax: Axes, board: Board, marks: list[tuple], players: list[int]):
    used = {route.colour for route in board.routes}
    handles = []
    for number, (name, fill, letter, _) in enumerate(marks):
        grey = number == len(board.colours)
        if not grey or GREY in used:
            label = "grey: any one colour" if grey else f"{letter}  {name}"
            handles.append(Patch(facecolor=fill, edgecolor="#333333", linewidth=0.6, label=label))
    for player in players:
        colour = PLAYERS[player % len(PLAYERS)]
        handles.append(Patch(facecolor=colour, edgecolor="white", label=f"{player}  player {player}"))
    if board.terminals:
        handles.append(Patch(facecolor="#f6d7b0", edgecolor="#222222", label="square: ends a path"))
    wide = ax.figure.get_size_inches()[0]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.005), frameon=False, fontsize=9,
              ncols=max(2, min(len(handles), int(wide / 1.25))), handlelength=1.6, columnspacing=1.4)  # fmt: skip


def _figure_size(board: Board) -> tuple[float, float]:
    extent = np.ptp(_places(board), axis=0) + 2 * _margin(board)
    extent = extent * INCHES / extent.max()
    return float(max(extent[0], 5.5)), float(max(extent[1], 1.5) / 0.88)


def _margin(board: Board) -> np.ndarray:
    """Room around the cities, sideways for names and above and below for a line of text and a bowed route."""
    return np.ptp(_places(board), axis=0).max() * np.array([0.14, 0.05])


def save_board(board: Board, path: str | Path, owners: dict[int, int] | None = None, title: str | None = None) -> Path:
    """Writes the picture of a map as PNG, PDF or SVG, by the ending of `path`."""
    path = Path(path)
    with matplotlib.rc_context({"text.parse_math": False}):  # a dollar in a name is a dollar
        ax = draw_board(board, owners=owners)
        ax.set_title(title or board.title, fontsize=13, pad=4)
        ax.figure.savefig(path, bbox_inches="tight", pad_inches=0.08)
    return path
