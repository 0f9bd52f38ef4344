"""What comes out: text or JSON, CSV files, a line of progress, an interrupt that keeps results."""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd


def plain(value: Any) -> Any:
    """Turn a result into what JSON can say; what is not finite (∞, missing) becomes null.

    >>> plain({"high": float("inf"), "best": np.int64(2), "names": ("a", "b")})
    {'high': None, 'best': 2, 'names': ['a', 'b']}
    """
    if isinstance(value, pd.DataFrame):
        return [plain(row) for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_json(value: Any) -> None:
    print(json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False))


def readable(x: float) -> str:
    """Write a number to four figures, but never as 1e+04.

    >>> readable(16110.2), readable(0.000134712)
    ('16,110', '0.0001347')
    """
    return f"{x:,.0f}" if 1000 <= abs(x) < math.inf else f"{x:.4g}"


def print_table(table: pd.DataFrame) -> None:
    """Print aligned columns."""
    shown = table.rename(columns=lambda name: str(name).replace("_", " "))
    print(shown.to_string(index=False, float_format=readable, na_rep="–"))


def make_folder(path: str | None) -> None:
    """Make the folder before the work, so that nobody waits to learn that it cannot be made."""
    if path:
        Path(path).mkdir(parents=True, exist_ok=True)


def write_tables(folder: Path, tables: dict[str, pd.DataFrame]) -> None:
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


class Line:
    """A line of progress on a terminal, and whether an interrupt asked to stop."""

    def __init__(self, what: str) -> None:
        self.what, self.stopped = what, False
        self._began, self._shown = time.monotonic(), 0.0
        self._live = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> bool:
        now = time.monotonic()
        if self._live and (done == total or now - self._shown > 0.2):
            self._shown = now
            left = (now - self._began) * (total - done) / done if done else math.nan
            more = f", {left:.0f} s left" if math.isfinite(left) and done < total else ""
            self._write(f"{self.what}: {done:,} of {total:,}{more}")
        return not self.stopped

    def clear(self) -> None:
        if self._live:
            self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


@contextmanager
def progress_line(what: str) -> Iterator[Line]:
    """Show progress; the first Ctrl-C asks the work to stop, the second ends it at once."""
    line = Line(what)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if line.stopped:
            raise KeyboardInterrupt
        line.stopped = True

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield line
    finally:
        signal.signal(signal.SIGINT, before)
        line.clear()
