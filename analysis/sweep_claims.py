"""What the study says of its sweeps in prose only, checked against measured curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from analysis import published
from analysis.estimate import Estimate, average
from analysis.sweep import Point, split_agent

AGREES, DISAGREES, OPEN = "agrees", "disagrees", "open"
UNSTATED = "five of the ten opponents were used and not named; iterations differ with the scale of the run"


class Checked(NamedTuple):
    """A claim with what was measured."""

    id: str
    where: str
    claim: str
    own_tables: str  # what the study's own tables say of it
    measured: str
    verdict: str
    cause: str


Line = list[Point]


def lines_of(points: Sequence[Point], field: str) -> dict[str, Line]:
    """Curves over one field by the agent's name, in order of the value."""
    found: dict[str, Line] = {}
    for point in points:
        if point.field.rpartition(".")[2] == field:
            found.setdefault(split_agent(point.line)[0], []).append(point)
    return {name: sorted(line, key=lambda p: p.value) for name, line in found.items()}


def check_claims(points: Sequence[Point]) -> list[Checked]:
    """Every sweep claim that has measured curves; the others are not listed."""
    cp, threshold, momentum = (lines_of(points, field) for field in ("cp", "posas_threshold", "momentum"))
    results: list[tuple[str, str, str]] = []
    results += _best_cp(cp) + _spread(cp) + _stronger(cp) + _full_strength_score(cp)
    results += _falls(threshold) + _nearest_even(threshold) + _true_posas(threshold)
    results += _momentum_harms(momentum) + _momentum_helps(momentum)
    claims = published.load_text("claims").set_index("id")
    return [
        Checked(
            number,
            claims.loc[number, "where"],
            claims.loc[number, "claim"],
            claims.loc[number, "status_against_tables"],
            told,
            verdict,
            UNSTATED if verdict == DISAGREES else "",
        )
        for number, told, verdict in sorted(results, key=lambda row: int(row[0][1:]))
    ]


def percent(estimate: Estimate, signed: bool = False) -> str:
    """A rate or a difference of rates with its interval, in percent."""
    low, high = estimate.interval() if signed else estimate.rate_interval()
    sign = "+" if signed else ""
    return f"{100 * estimate.value:{sign}.1f} % [{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"


def _sign(estimate: Estimate, wanted: float) -> str:
    """Agrees or disagrees where the interval excludes zero, else open."""
    low, high = estimate.interval()
    if low > 0 or high < 0:
        return AGREES if estimate.value * wanted > 0 else DISAGREES
    return OPEN


def _best_cp(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W2, W3: the best exploration constant; agrees while nothing is significantly better than the named one."""
    found = []
    for number, name, value in (("W2", "cmcts", 3.0), ("W3", "ismcts", 4.0)):
        line = lines.get(name, [])
        named = next((p for p in line if p.value == value), None)
        if named is None:
            continue
        best = max(line, key=lambda p: p.win.value)
        gap = best.win - named.win
        told = f"best at Cp = {best.value:g}, {percent(best.win)}; at {value:g} {percent(named.win)}, gap {percent(gap, True)}"
        agrees = best is named or gap.interval().low <= 0
        found.append((number, told, AGREES if agrees else DISAGREES))
    return found


def _spread(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W4: how much the exploration constant matters, about 2 points for CMCTS and 4 for ISMCTS."""
    told, verdicts = [], []
    for name, claimed in (("cmcts", 0.02), ("ismcts", 0.04)):
        line = lines.get(name, [])
        if len(line) > 1:
            gap = max(line, key=lambda p: p.win.value).win - min(line, key=lambda p: p.win.value).win
            told.append(f"{name} {percent(gap, True)}")
            low, high = gap.interval()
            verdicts.append(low - 0.01 <= claimed <= high + 0.01)
    return [("W4", "spread: " + ", ".join(told), AGREES if all(verdicts) else DISAGREES)] if told else []


def _stronger(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W5: CMCTS above ISMCTS, over all exploration constants together."""
    if not {"cmcts", "ismcts"} <= lines.keys():
        return []
    gap = _mean(lines["cmcts"]) - _mean(lines["ismcts"])
    return [("W5", f"CMCTS less ISMCTS {percent(gap, True)}", _sign(gap, 1))]


def _full_strength_score(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W10: full-strength agents score about 15."""
    told, good = [], []
    for name in ("cmcts", "ismcts"):
        if name in lines:
            score = _mean(lines[name], "score")
            low, high = score.interval()
            told.append(f"{name} {score.value:.1f} [{low:.1f}, {high:.1f}]")
            good.append(low - 2 <= 15 <= high + 2)
    return [("W10", "mean score: " + ", ".join(told), AGREES if all(good) else DISAGREES)] if told else []


def _mean(line: Line, name: str = "win") -> Estimate:
    return average([getattr(point, name) for point in line])


def _falls(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W7: the win rate falls as the threshold grows, for both agents."""
    told, verdicts = [], []
    for name in ("cmcts_posas", "ismcts_posas"):
        line = lines.get(name, [])
        if len(line) > 1:
            change = line[-1].win - line[0].win
            told.append(f"{name} from {line[0].value:g} to {line[-1].value:g}: {percent(change, True)}")
            verdicts.append(_sign(change, -1))
    return [("W7", "; ".join(told), _together(verdicts))] if told else []


def _nearest_even(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W8: the smallest threshold is nearest to an even game."""
    told, verdicts = [], []
    for name in ("cmcts_posas", "ismcts_posas"):
        line = lines.get(name, [])
        if len(line) > 1:
            best = min(line, key=lambda p: abs(p.win.value - 0.5))
            least = line[0]
            gap = abs(least.win - 0.5) - abs(best.win - 0.5)
            told.append(f"{name} nearest to 50 % at {best.value:g} ({percent(best.win)}), at {least.value:g} {percent(least.win)}")
            verdicts.append(AGREES if best is least else DISAGREES if gap.interval().low > 0 else OPEN)
    return [("W8", "; ".join(told), _together(verdicts))] if told else []


def _true_posas(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W9: the rule inside the tree costs about 20 points even at a small threshold."""
    told, verdicts = [], []
    for kind in ("cmcts", "ismcts"):
        plain, true = lines.get(f"{kind}_posas", []), lines.get(f"{kind}_true_posas", [])
        if plain and true and plain[0].value == true[0].value:
            change = true[0].win - plain[0].win
            low, high = change.interval()
            told.append(f"{kind} at {plain[0].value:g}: {percent(change, True)}")
            verdicts.append(AGREES if low - 0.05 <= -0.2 <= high + 0.05 else DISAGREES)
    return [("W9", "; ".join(told), _together(verdicts))] if told else []


def _away(line: Line) -> tuple[str, str]:
    """Whether momentum moves a curve away from 50 %."""
    change = abs(line[-1].win - 0.5) - abs(line[0].win - 0.5)
    told = f"m = {line[0].value:g}: {percent(line[0].win)}, m = {line[-1].value:g}: {percent(line[-1].win)}"
    return told, _sign(change, 1)


def _momentum_harms(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W11, W12: momentum moves CMCTS, and both POSAS agents, away from an even game."""
    found = []
    for number, names in (("W11", ("cmcts_rosas",)), ("W12", ("cmcts_posas", "ismcts_posas"))):
        seen = [(name, *_away(lines[name])) for name in names if len(lines.get(name, [])) > 1]
        if seen:
            told = "; ".join(f"{name} {text}" for name, text, _ in seen)
            found.append((number, told, _together([verdict for _, _, verdict in seen])))
    return found


def _momentum_helps(lines: dict[str, Line]) -> list[tuple[str, str, str]]:
    """W13: ISMCTS ROSAS rises from 40 to 50 %."""
    line = lines.get("ismcts_rosas", [])
    if len(line) < 2:
        return []
    change = line[-1].win - line[0].win
    told, _ = _away(line)
    return [("W13", f"{told}, change {percent(change, True)}", _sign(change, 1))]


def _together(verdicts: Sequence[str]) -> str:
    if any(v == DISAGREES for v in verdicts):
        return DISAGREES
    return AGREES if all(v == AGREES for v in verdicts) else OPEN
