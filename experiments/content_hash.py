"""Hashes of content alone: of configurations, and of result rows whatever files, batches or machines they came from.

A run's hash is SHA-256 over its content columns in schema order; each enters by its name, its type and a SHA-256 over its values,
rows sorted by (matchup, deal, rotation). A column's values enter matchup by matchup: validity (one byte a row), then numbers
little-endian (zero where null), or texts as length and UTF-8. Measured times are left out, Parquet bytes never enter.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def canonical(data: Any) -> str:
    """JSON with sorted keys and nothing to spare: equal data, equal text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(data: Any) -> str:
    """SHA-256 of plain data."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def column_bytes(column: pa.ChunkedArray | pa.Array) -> bytes:
    """A column's validity and values, the same for equal columns however they are chunked or encoded."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # no chunk at all
        array = pa.array([], column.type)
    if pa.types.is_dictionary(array.type):
        array = array.cast(pa.string())
    valid = np.asarray(pc.is_valid(array)).astype(np.uint8).tobytes()
    if pa.types.is_string(array.type):
        texts = [(text or "").encode() for text in array.to_pylist()]
        return valid + b"".join(len(text).to_bytes(8, "little") + text for text in texts)
    values = pc.fill_null(array, pa.scalar(0, array.type)) if array.null_count else array
    numbers = np.asarray(values)
    return valid + numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()


class ContentHash:
    """Takes tables in the order of their rows' keys, and tells the hash of all of them."""

    def __init__(self, schema: pa.Schema, measurements: Iterable[str] = ()):
        left_out = set(measurements)
        self._columns = {field.name: (str(field.type), hashlib.sha256()) for field in schema if field.name not in left_out}

    @property
    def columns(self) -> list[str]:
        """The columns that enter."""
        return list(self._columns)

    def update(self, table: pa.Table) -> None:
        """Add the sorted rows of the next matchup."""
        for name, (_, running) in self._columns.items():
            running.update(column_bytes(table.column(name)))

    def hexdigest(self) -> str:
        """The hash of what was added so far."""
        whole = hashlib.sha256()
        for name, (kind, running) in self._columns.items():
            whole.update(f"{name}:{kind}:{running.hexdigest()}\n".encode())
        return whole.hexdigest()
