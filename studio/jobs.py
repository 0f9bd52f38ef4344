"""Long work beside the page: started once for its content, watched, stopped.

A job belongs to the server, not to a page: a reload or a page switch finds it again by its key.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st
from cachetools import LRUCache

from csmd_core.faults import BadInput, Fault

Progress = Callable[[int, int], bool]  # (done, total); False asks to stop

_LOCK = threading.Lock()


@dataclass
class Job:
    """Work in a thread of its own: how far it is, and how it ended."""

    began: float = field(default_factory=time.monotonic)
    done: int = 0
    total: int = 0
    stopping: bool = False
    running: bool = True
    faults: tuple[Fault, ...] = ()

    def progress(self, done: int, total: int) -> bool:
        """Note how far the work is; say whether to go on."""
        self.done, self.total = done, total
        return not self.stopping

    def stop(self) -> None:
        self.stopping = True

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 0.0

    @property
    def seconds_left(self) -> int | None:
        """A guess from the pace so far; None before the first step."""
        if not self.done:
            return None
        spent = time.monotonic() - self.began
        return math.ceil(spent / self.done * (self.total - self.done))


def find(key: str) -> Job | None:
    """The job of this key, running or ended."""
    with _LOCK:
        found: Job | None = _jobs().get(key)
    return found


def start(key: str, work: Callable[[Progress], None], kind: str = "fit") -> Job:
    """Start the work unless it runs already; this session's other job of its kind is stopped."""
    mine = st.session_state.get(f"{kind} job")
    if mine not in (None, key) and (other := find(mine)) is not None:
        other.stop()
    st.session_state[f"{kind} job"] = key
    found = find(key)
    if found is not None and found.running and not found.stopping:
        return found
    job = Job()
    with _LOCK:
        _jobs()[key] = job
    threading.Thread(target=_run, args=(job, work), daemon=True).start()
    return job


def forget(key: str) -> None:
    """Let go of a job whose end has been seen to."""
    with _LOCK:
        _jobs().pop(key, None)


def _run(job: Job, work: Callable[[Progress], None]) -> None:
    try:
        work(job.progress)
    except BadInput as bad:
        job.faults = bad.faults
    except Exception as trouble:
        if not job.stopping:  # else it ended because it was asked to
            logging.getLogger(__name__).exception("A job failed")
            what = f"ended with an error ({type(trouble).__name__})."
            job.faults = (Fault("The work", what, "Try again, or another setting."),)
    finally:
        job.running = False


@st.cache_resource(show_spinner=False)
def _jobs() -> LRUCache[str, Job]:
    return LRUCache(256)
