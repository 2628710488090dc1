"""regret.csv in a run folder: what `analysis.regret` found, a row for each judged game, so that reports need not judge again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.estimate import Estimate, ratio
from experiments.reading import Run
from experiments.refusal import Refusal

FILE = "regret.csv"
GRAVE = 4  # points: a decision that loses more is counted
OVER = f"over_{GRAVE}"
GAME = ["matchup", "deal", "rotation"]
MEASURED = ["decisions", "points_lost", OVER]  # with an alternative; points in all of them; how many lost more than GRAVE
COLUMNS = ["run", "judge_iterations", *GAME, *MEASURED]
SHORT = 16  # letters of a run's identity
LARGEST = 1e12  # no sound number is larger


@dataclass(frozen=True)
class Regret:
    """Judged games: columns GAME and MEASURED; the judge's iterations."""

    iterations: int
    games: pd.DataFrame

    @property
    def decisions(self) -> int:
        """Judged decisions of all games."""
        return int(self.games["decisions"].sum())

    @cached_property
    def _sums(self) -> dict[str, np.ndarray]:
        """Of each matchup, MEASURED by deal: float64[3, deals]. All share the deals, so their estimates can be averaged."""
        numbers, deal = np.unique(self.games["deal"], return_inverse=True)
        found = {}
        for matchup, rows in self.games.groupby("matchup", sort=False).indices.items():
            own = self.games.iloc[rows]
            found[str(matchup)] = np.stack([np.bincount(deal[rows], own[name], len(numbers)) for name in MEASURED])
        return found

    def of(self, matchup: str) -> tuple[Estimate | None, Estimate | None, int]:
        """Points lost per decision, share of grave decisions, and number of decisions; nothing of a matchup not judged."""
        if matchup not in self._sums:
            return None, None, 0
        decisions, points, grave = self._sums[matchup]
        return ratio(points, decisions), ratio(grave, decisions), int(decisions.sum())


def keep_regret(run: Run, regret: Regret) -> Path:
    """Write the file, whole or not at all; an older one is replaced."""
    path, unfinished = run.path / FILE, run.path / f".{FILE}.tmp"
    frame = regret.games.assign(run=run.info["identity"][:SHORT], judge_iterations=regret.iterations)
    try:
        frame[COLUMNS].to_csv(unfinished, index=False)
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    return path


def kept_regret(run: Run) -> Regret | None:
    """What the file says; nothing where there is none. A damaged file, or another run's, is refused in one line."""
    path = run.path / FILE
    if not path.exists():
        return None
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)[COLUMNS]
        frame = frame.astype({name: np.float64 for name in COLUMNS if name not in ("run", "matchup")})  # to the last bit
        problem = _problem(run, frame)
    except (OSError, ValueError, KeyError):
        problem = "it is damaged"
    if problem:
        raise Refusal(f"{path} is left out, {problem}; `python -m analysis.regret {run.path}` writes it anew")
    whole = {name: np.int64 for name in ("deal", "rotation", "decisions", OVER)}
    return Regret(int(frame["judge_iterations"].iloc[0]), frame[[*GAME, *MEASURED]].astype(whole))


def _problem(run: Run, frame: pd.DataFrame) -> str:
    """What is wrong with a file, or nothing."""
    numbers = frame.drop(columns=["run", "matchup"]).to_numpy(np.float64)
    if not len(frame) or not np.isfinite(numbers).all() or (numbers < 0).any() or (numbers > LARGEST).any():
        return "it is damaged"
    if set(frame["run"]) != {run.info["identity"][:SHORT]} or not set(frame["matchup"]) <= {m["id"] for m in run.info["matchups"]}:
        return "it is another run's"
    doubled = frame.duplicated(GAME).any() or frame["judge_iterations"].nunique() > 1 or (frame[OVER] > frame["decisions"]).any()
    return "it is damaged" if doubled else ""
