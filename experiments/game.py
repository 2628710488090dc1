"""The door through which a game comes in: an adapter module with a fixed set of functions, named in conf/game/NAME.yaml.

An adapter offers plain functions over plain data, and experiments know nothing else of a game:

    resolve_setup(map, rules, players) -> setup   complete in itself, JSON-able, with `labels` for people
    setup_content(setup)                          what the games depend on; the matchup's identity is made from it
    resolve_agent(spec, defaults, changes) -> {"text": ..., "identity": ...}
    play_batch(setup, seats, seed, deals, rotations, datasets, on_error) -> {dataset: pyarrow.Table}
    warm_up(identities), record_game(setup, seats, seed, deal, rotation), tell_record(record), engine_identity()
    SCHEMAS, MEASUREMENTS (columns that are no content), FAILURES (exceptions whose message is one clear line)
"""

import importlib
from types import ModuleType

import pyarrow as pa

from experiments.refusal import Refusal

KEYS = ("matchup", "deal", "rotation")  # what names a game, in the order rows are sorted by


def load_game(adapter: str) -> ModuleType:
    """The adapter module of a game."""
    try:
        return importlib.import_module(adapter)
    except ModuleNotFoundError as error:
        if error.name and adapter.startswith(error.name):
            raise Refusal(f"game: there is no adapter module '{adapter}'; conf/game/ names those there are") from None
        raise


def row_schema(game: ModuleType, dataset: str) -> pa.Schema:
    """The columns of a dataset as stored: the adapter's, after the matchup."""
    return pa.schema([("matchup", pa.string()), *game.SCHEMAS[dataset]])


def sort_keys(schema: pa.Schema) -> list[tuple[str, str]]:
    """The order of rows: by matchup, deal, rotation, and number where there are several rows to a game."""
    keys = [*KEYS, "number"] if "number" in schema.names else list(KEYS)
    return [(key, "ascending") for key in keys]
