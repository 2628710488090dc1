"""A matchup: agents sat down in a circle at one setup. All experiment kinds are lists of matchups.

(A, B) and (B, A) are one matchup, because every deal is played in every distinct rotation of the seats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.content_hash import canonical, digest

ID_LENGTH = 16


@dataclass(frozen=True)
class Matchup:
    """`seats` are agents as {"text", "identity"}, in their least rotation; `labels` are for people and analysis only."""

    id: str
    game: str  # the adapter's module
    setup: Mapping[str, Any] = field(hash=False)
    seats: tuple[Mapping[str, Any], ...] = field(hash=False)
    labels: Mapping[str, Any] = field(hash=False, default_factory=dict)

    @property
    def rotations(self) -> int:
        """How many rotations differ: the period of the circle."""
        return period([canonical(seat["identity"]) for seat in self.seats])

    @property
    def title(self) -> str:
        """The agents, for a person."""
        return " - ".join(seat["text"] for seat in self.seats)

    def data(self) -> dict[str, Any]:
        """What a worker needs to play it."""
        return {"id": self.id, "game": self.game, "setup": self.setup, "seats": list(self.seats), "rotations": self.rotations}


def period(keys: Sequence[str]) -> int:
    """The smallest rotation that leaves a circle as it is."""
    n = len(keys)
    return next(r for r in range(1, n + 1) if n % r == 0 and all(keys[i] == keys[(i + r) % n] for i in range(n)))


def least_rotation(keys: Sequence[str]) -> int:
    """Where to start so that the circle reads as early as possible."""
    n = len(keys)
    return min(range(n), key=lambda r: [keys[(r + i) % n] for i in range(n)])


def make_matchup(
    game: Any, setup: Mapping[str, Any], seats: Sequence[Mapping[str, Any]], sweep: Mapping[str, Any], roles: Sequence[str]
) -> Matchup:
    """The matchup of these agents in this circular order; `roles` names each seat ("agent" or "opponent"), or is empty."""
    start = least_rotation([canonical(seat["identity"]) for seat in seats])
    order = [(start + i) % len(seats) for i in range(len(seats))]
    turned = tuple({"text": seats[i]["text"], "identity": seats[i]["identity"]} for i in order)
    identity = digest(
        {
            "game": game.__name__,
            "setup": digest(game.setup_content(setup)),
            "seats": [seat["identity"] for seat in turned],
        }
    )
    role: dict[str, Any] | None = None
    if roles:
        found = [roles[i] for i in order]
        opponents = [e for e, name in enumerate(found) if name == "opponent"]
        role = {"agent": found.index("agent"), "opponent": opponents[0] if opponents else None, "opponents": opponents}
    labels = {
        "agents": [seat["text"] for seat in turned],
        "map": setup["labels"]["map"],
        "rules": setup["labels"]["rules"],
        "players": len(turned),
        "sweep": dict(sweep),
        "role": role,
    }
    return Matchup(identity[:ID_LENGTH], game.__name__, setup, turned, labels)


def refuse_clock(seat: Mapping[str, Any]) -> str | None:
    """An agent whose play depends on a clock gives other rows on another machine; the field that says so."""
    identity = seat["identity"]
    for part in (identity, identity.get("first"), identity.get("second")):
        if isinstance(part, Mapping) and part.get("seconds"):
            return f"agent '{seat['text']}' has a budget of {part['seconds']} seconds"
    return None
