"""The fields of every agent, by module: what conf/agent/NAME.yaml must say and a command line may change.

No defaults here: values live in the configuration. A field is a whole number, a number, true/false, or one of several words.
`__post_init__` refuses what is out of range (ValueError). The order of the fields is their order in `me.params`.
"""

from dataclasses import dataclass, fields
from typing import Literal

Keep = Literal["fewest", "random", "all"]


def field_index(schema: type, name: str) -> int:
    """Place of a field in `me.params`."""
    return [field.name for field in fields(schema)].index(name)


def _at_least(agent: object, least: float, *names: str) -> None:
    for name in names:
        if getattr(agent, name) < least:
            raise ValueError(f"{name} is {getattr(agent, name):g}, it must be at least {least:g}")


def _share(agent: object, *names: str) -> None:
    for name in names:
        if not 0 <= getattr(agent, name) <= 1:
            raise ValueError(f"{name} is {getattr(agent, name):g}, it must be from 0 to 1")


@dataclass(frozen=True)
class Tickets:
    """How an agent chooses among the tickets it is shown: every agent's first fields."""

    first_tickets: Keep
    later_tickets: Keep


@dataclass(frozen=True)
class Random(Tickets):
    draws_tickets: bool


@dataclass(frozen=True)
class Base(Tickets):
    colour_cost: float
    grey_cost: float
    points_discount: float
    locomotive_cost: float
    tickets_above: int

    def __post_init__(self) -> None:
        _at_least(self, 0, "colour_cost", "grey_cost", "points_discount", "locomotive_cost", "tickets_above")


@dataclass(frozen=True)
class Randomized(Base):
    random_share: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _share(self, "random_share")


@dataclass(frozen=True)
class RandomBase(Randomized):
    draws_tickets: bool


@dataclass(frozen=True)
class Hoarder(Base):
    share: float
    first_turn_tickets: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        _share(self, "share")


@dataclass(frozen=True)
class Pile(Base):
    draws_tickets: bool
    without_path: Literal["draw", "claim"]


@dataclass(frozen=True)
class CheatingSearch:
    """A Monte Carlo tree search on the true state."""

    iterations: int
    forward_model_calls: int
    seconds: float
    cp: float
    dda: Literal["none", "rosas", "posas", "true_rosas", "true_posas"]
    posas_threshold: float
    momentum: float
    target: float
    final_choice: Literal["best_mean", "most_visits"]

    def __post_init__(self) -> None:
        """One budget, and exploration that is not negative."""
        budgets = {"iterations": self.iterations, "forward_model_calls": self.forward_model_calls, "seconds": self.seconds}
        if any(value < 0 for value in budgets.values()) or sum(value > 0 for value in budgets.values()) != 1:
            given = ", ".join(f"{name}={value:g}" for name, value in budgets.items())
            raise ValueError(f"exactly one of iterations, forward_model_calls and seconds must be above 0, not {given}")
        if self.iterations > 2_000_000:
            raise ValueError(f"iterations is {self.iterations}, it must be at most 2000000")
        _at_least(self, 0, "cp", "posas_threshold")


@dataclass(frozen=True)
class InformationSetSearch(CheatingSearch):
    """A Monte Carlo tree search over determinizations."""

    exploration: Literal["parent", "availability"]
    tickets: Literal["returned_known", "plain"]


@dataclass(frozen=True)
class CheatingControl(CheatingSearch):
    """A search that steers to the target, plans with its own steering, and models its opponents."""

    dda: Literal["control"]  # type: ignore[assignment]  # one value more, and the only one
    coin: bool
    estimate: bool
    randomness: float

    def __post_init__(self) -> None:
        """A target that a game can have, and a probability."""
        super().__post_init__()
        _target_and_randomness(self)


@dataclass(frozen=True)
class InformationSetControl(InformationSetSearch):
    """The same over determinizations."""

    dda: Literal["control"]  # type: ignore[assignment]  # one value more, and the only one
    tickets: Literal["returned_known", "plain", "believed"]  # type: ignore[assignment]  # one value more
    coin: bool
    estimate: bool
    randomness: float

    def __post_init__(self) -> None:
        """A target that a game can have, and a probability."""
        super().__post_init__()
        _target_and_randomness(self)


def _target_and_randomness(agent: CheatingControl | InformationSetControl) -> None:
    if abs(agent.target) > 200:  # sums of payoffs stay within 32 bits
        raise ValueError(f"target is {agent.target:g}, it must be from -200 to 200")
    _share(agent, "randomness")


PARAMS: dict[str, type] = {
    "random": Random,
    "greedy": Tickets,
    "base": Base,
    "random_smart": Randomized,
    "random_base": RandomBase,
    "villain": Base,
    "hoarder": Hoarder,
    "pile": Pile,
    "cmcts": CheatingSearch,
    "ismcts": InformationSetSearch,
    "cmcts_control": CheatingControl,
    "ismcts_control": InformationSetControl,
}
MODELS = {"cmcts_control": "base", "ismcts_control": "base"}  # modules that take other players for an agent: which one
