"""Made-up games with known truths: rows like a run's, drawn from given strengths."""

import numpy as np
import pandas as pd
import pyarrow as pa

from analysis.sums import Seating, Sums, add_up


def rows_of(seating: Seating, deals: int, win: float, draw: float, seed: int, luck: float = 0.0, first: int = 0) -> pd.DataFrame:
    """Two-player games: entry 0 wins with chance `win`, draws with `draw`; `luck` is the share of deals whose cards decide.

    On a lucky deal whoever moves first has the cards and wins both games' first seat, so that the twins are opposite.
    """
    rng = np.random.default_rng(seed)
    frames = []
    fate = np.random.default_rng(99).random(first + deals)[first:] < luck  # the deal's own, the same for every matchup
    for rotation in range(len(set(seating.agents)) if seating.players == 2 else seating.players):
        u = rng.random(deals)
        entry = np.where(u < win, 0, np.where(u < win + draw, -1, 1))
        position = np.where(entry < 0, -1, (entry - rotation) % 2)
        position = np.where(fate, 0, position)
        margin = rng.integers(1, 20, deals)
        low = rng.integers(0, 30, deals)
        frame = pd.DataFrame(dict(matchup=seating.id, deal=np.arange(first, first + deals), rotation=rotation, forfeit=None))
        frame["winner"] = pd.array(np.where(position < 0, None, position), dtype="Int8")
        for s in range(2):
            frame[f"agent_{s}"] = seating.agents[(s + rotation) % 2]
            frame[f"score_{s}"] = (low + np.where(position == s, margin, 0)).astype(np.float32)
            frame[f"routes_{s}"] = rng.integers(1, 8, deals)
        frame["turns"] = rng.integers(20, 40, deals)
        frame["lead_changes"] = rng.integers(0, 6, deals)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def batch_of(frame: pd.DataFrame) -> pa.RecordBatch:
    """Rows as an Arrow batch, null where null is meant."""
    frame = frame.assign(forfeit=pd.array([None] * len(frame), dtype="Int8"))
    return pa.Table.from_pandas(frame.convert_dtypes(), preserve_index=False).combine_chunks().to_batches()[0]


def sums_of(*tables: tuple[Seating, pd.DataFrame], statistics: tuple[str, ...] = (), deals: int | None = None) -> Sums:
    """The sums of several matchups' rows."""
    most = max(int(frame["deal"].max()) + 1 for _, frame in tables) if deals is None else deals
    return add_up((batch_of(frame) for _, frame in tables), [seating for seating, _ in tables], most, statistics)
