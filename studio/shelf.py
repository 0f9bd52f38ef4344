"""A bounded shelf of costly results, named by their content and shared by all sessions."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st
from cachetools import LRUCache

T = TypeVar("T")


class Shelf:
    """The most recently used results."""

    def __init__(self, size: int) -> None:
        self._kept: LRUCache[str, Any] = LRUCache(size)
        self._lock = threading.Lock()

    def get(self, key: str) -> Any:
        with self._lock:
            return self._kept.get(key)

    def put(self, key: str, value: T) -> T:
        with self._lock:
            self._kept[key] = value
        return value


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    return Shelf(128)


def key_of(*parts: object) -> str:
    """Name content by its hash."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def kept(make: Callable[[], T], *parts: object) -> T:
    """Take the result that these parts name from the shelf, or make it."""
    key = key_of(*parts)
    found: T | None = shelf().get(key)
    return shelf().put(key, make()) if found is None else found
