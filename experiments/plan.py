"""From a configuration to the list of matchups: who plays whom, at which setups. Kinds differ only in how they are filled in.

`tables`                 the seatings as given
`agents` x `opponents`   every agent against every opponent (with more than two players the opponent takes all other seats)
`agents` alone           every pairing, self-play too; with more players every choice of so many agents
Each of them at every point of the grid.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any

from experiments.content_hash import digest
from experiments.game import load_game
from experiments.grid import flat_grid, part_of, points
from experiments.matchup import Matchup, make_matchup, refuse_clock
from experiments.refusal import Refusal

SCHEMA_VERSION = 1
MAX_SEED = 2**63


@dataclass(frozen=True)
class Spec:
    """An experiment as configured, as plain data."""

    kind: str
    game: str  # the adapter's module
    map: Any
    rules: Any
    players: int
    agents: Sequence[Any]
    opponents: Sequence[Any]
    tables: Sequence[Sequence[Any]]
    self_play: bool
    seating: str  # rotations: the circle as given; all: every circular order
    grid: Mapping[str, Any]
    defaults: Mapping[str, Any]  # for fields that agents leave open: iterations
    deals: int
    seed: int
    name: str | None = None  # of a study


@dataclass(frozen=True)
class Plan:
    """The matchups of an experiment, each once; its identity is its kind, its matchups and its seed."""

    spec: Spec
    matchups: Sequence[Matchup]
    grid: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """SHA-256 of kind, sorted matchups and seed."""
        return digest({"kind": self.spec.kind, "matchups": sorted(m.id for m in self.matchups), "seed": self.spec.seed})

    @property
    def folder_name(self) -> str:
        """KIND-IDENTITY12."""
        return f"{self.spec.kind}-{self.identity[:12]}"

    @property
    def games(self) -> int:
        """All games of the plan."""
        return self.spec.deals * sum(matchup.rotations for matchup in self.matchups)


def make_plan(spec: Spec) -> Plan:
    """All matchups of an experiment; refuses what cannot be played, in one line."""
    _check_numbers(spec)
    game = load_game(spec.game)
    grid = flat_grid(spec.grid)
    for players in grid.get("players", []):
        _check_number("players", players, 2, 5)
    found: dict[str, Matchup] = {}
    setups: dict[str, Any] = {}
    try:
        for point in points(grid):
            for seats, roles, texts in _seatings(spec, game, point):
                matchup = make_matchup(game, _setup(spec, game, point, len(texts), setups), seats, point, roles)
                if matchup.id in found:
                    found[matchup.id].labels.setdefault("also", []).append(matchup.labels)  # type: ignore[attr-defined]
                else:
                    found[matchup.id] = matchup
    except ValueError as error:  # the adapter's own refusals
        raise Refusal(" ".join(str(error).split())) from None
    if not found:
        raise Refusal("there is nothing to play: name agents=[...], and opponents=[...] or tables=[[...]]")
    return Plan(spec, list(found.values()), grid)


def _check_numbers(spec: Spec) -> None:
    for name, low, high in (("deals", 1, 2**40), ("seed", 0, MAX_SEED - 1), ("players", 2, 5)):
        _check_number(name, getattr(spec, name), low, high)
    if spec.seating not in ("rotations", "all"):
        raise Refusal(f"seating={spec.seating}: it must be rotations or all")


def _check_number(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Refusal(f"{name}={value}: it must be a whole number from {low} to {high}")


def _setup(spec: Spec, game: Any, point: Mapping[str, Any], players: int, known: dict[str, Any]) -> Any:
    """The setup at a point, resolved once; equal setups are one object."""
    board, rules = spec.map, spec.rules
    changes = part_of(point, "map")
    if "" in changes:
        board = str(changes.pop(""))
    if changes:
        board = ({"name": board} if isinstance(board, str) else dict(board)) | changes
    changed = part_of(point, "rules")
    if changed:
        rules = ({"preset": rules} if isinstance(rules, str) else dict(rules)) | changed
    try:
        key = digest([board, rules, players])
    except ValueError:  # infinity, or no number at all
        raise Refusal(f"map {board}, rules {rules}: every number must be finite") from None
    if key not in known:
        known[key] = game.resolve_setup(board, rules, players)
    return known[key]


def _seatings(spec: Spec, game: Any, point: Mapping[str, Any]) -> Iterator[tuple[list[Any], list[str], list[Any]]]:
    """Seats, their roles, and what was asked for, of every table at a grid point."""
    players = point.get("players", spec.players)

    def resolved(wanted: Any, owner: str) -> Any:
        seat = game.resolve_agent(wanted, spec.defaults, part_of(point, owner))
        clock = refuse_clock(seat)
        if clock:
            raise Refusal(f"{clock}: results would depend on the machine; experiments take iterations=N only")
        return seat

    for asked in _tables(spec, players):
        owners = [owner for owner, _ in asked]
        seats = [resolved(wanted, owner) for owner, wanted in asked]
        roles = owners if "opponent" in owners else []
        for order in _circular_orders(len(seats), spec.seating):
            yield [seats[i] for i in order], [roles[i] for i in order] if roles else [], [wanted for _, wanted in asked]


def _tables(spec: Spec, players: int) -> Iterator[list[tuple[str, Any]]]:
    """Who sits together, before agents are resolved: (role, agent) of each seat."""
    if spec.tables:
        for table in spec.tables:
            if not isinstance(table, (list, tuple)) or not 2 <= len(table) <= 5:
                raise Refusal(f"tables: {table} must be a list of two to five agents")
            yield [("agent", wanted) for wanted in table]
    elif spec.opponents:
        for wanted in spec.agents:
            for opponent in spec.opponents:
                yield [("agent", wanted), *[("opponent", opponent)] * (players - 1)]
    elif players == 2:
        choose = combinations_with_replacement if spec.self_play else combinations
        for pair in choose(spec.agents, 2):
            yield [("agent", wanted) for wanted in pair]
    else:
        if len(spec.agents) < players and not spec.self_play:
            raise Refusal(f"{players} players need at least {players} agents, there are {len(spec.agents)}; or self_play=true")
        for group in (combinations_with_replacement if spec.self_play else combinations)(spec.agents, players):
            yield [("agent", wanted) for wanted in group]


def _circular_orders(n: int, seating: str) -> Iterator[list[int]]:
    """The circle as given, or every circular order (the first seat stays)."""
    if seating == "rotations":
        yield list(range(n))
    else:
        for rest in permutations(range(1, n)):
            yield [0, *rest]
