"""A bounded shelf of costly results, named by their content and shared by all sessions."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import streamlit as st
from cachetools import LRUCache

T = TypeVar("T")
SHELF_BYTES = 2 << 30


class Shelf:
    """The most recently used results, as many as fit into so many bytes."""

    def __init__(self, n_bytes: int) -> None:
        self._kept: LRUCache[str, Any] = LRUCache(n_bytes, getsizeof=size_of)
        self._lock = threading.Lock()

    def get(self, key: str) -> Any:
        with self._lock:
            return self._kept.get(key)

    def put(self, key: str, value: T) -> T:
        with self._lock, suppress(ValueError):  # larger than the shelf: used, not kept
            self._kept[key] = value
        return value


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    return Shelf(SHELF_BYTES)


def size_of(value: object) -> int:
    """Estimate a result's bytes: its arrays and tables count, the rest hardly does.

    >>> size_of({"scores": np.zeros(1000)})
    9024
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage(index=False).sum())
    if isinstance(value, dict):
        return 1024 + sum(map(size_of, value.values()))
    if isinstance(value, list | tuple):
        return 64 + 64 * len(value)
    return 1024 + sum(map(size_of, vars(value).values())) if is_dataclass(value) else 64


def key_of(*parts: object) -> str:
    """Name content by its hash."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def kept(make: Callable[[], T], *parts: object) -> T:
    """Take the result that these parts name from the shelf, or make it."""
    key = key_of(*parts)
    found: T | None = shelf().get(key)
    return shelf().put(key, make()) if found is None else found
