"""The run on the Live page: which policies play which patients, and which patient is shown.

All patients are played ahead at once, which takes milliseconds; what moves is a cursor. So a step
back is as easy as a step on, and what is shown at patient t is what `simulate` gives at t.
"""

from __future__ import annotations

import gc
import math
import threading
import time
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from csmd_core.bands import Band, repeat_band
from csmd_core.bundled import load_bundled
from csmd_core.panels import cascade
from csmd_core.policies import LEARNING, Policy
from csmd_core.predictions import fit_evidence
from csmd_core.problem import Problem
from csmd_core.simulation import Run, run_table, simulate
from csmd_core.situations import STUDY, situation
from csmd_core.study import Study
from studio import decision, session, work
from studio.shelf import kept, key_of

USUAL: dict[str, Any] = {
    "policies": [[policy.kind, policy.parameter] for policy in LEARNING.values()],
    "watched": "Thompson",  # the policy whose patients and beliefs are shown
    "seed": 1,
    "order": "replacement",
    "n": 10_000,  # patients played ahead
    "cursor": 0,  # patients shown
    "speed": 30,  # patients a second
    "measure": "regret",
    "band": False,
    "teaching": False,
    "situation": None,
    "guess": False,
    "tally": [0, 0],  # right guesses, guesses
}
SPEEDS = (1, 2, 5, 10, 30, 100, 300, 1000, 3000)
LENGTHS = (200, 1_000, 10_000, 100_000)
MAX_POLICIES = 10

TURN = threading.Lock()  # one session draws at a time: more threads only hinder one another

_TICKS = ((8, 0.1), (14, 0.15), (24, 0.2), (math.inf, 0.5))  # seconds, for up to so many others
_GONE = 3.0  # seconds after which somebody who does not tick is taken to have stopped
_playing: dict[str, float] = {}  # when each session that plays ticked last
_SAVE = 2.0  # seconds of playing after which the cursor is saved
_CLEAN = 20.0  # seconds after which memory is tidied, for all sessions together
_last_clean = time.monotonic()


@dataclass(frozen=True)
class Live:
    """What is played: the study, the problem, one run a policy, and the run that is watched."""

    study: Study
    problem: Problem
    runs: tuple[Run, ...]
    watched: Run
    bands: dict[Policy, Band]


def setting(name: str) -> Any:
    """What is chosen on this page; the usual, where it is nothing or of another kind."""
    usual = USUAL[name]
    found = session.get("live").get(name, usual)
    return found if usual is None or isinstance(found, type(usual)) else usual


def change(**changes: Any) -> None:
    """Set what is chosen on this page, and save it."""
    session.change(live={**session.get("live"), **changes})


def prepare(study: Study, problem: Problem) -> Live | None:
    """Play all policies ahead; None where no policy is chosen."""
    policies = [Policy(kind, parameter) for kind, parameter in setting("policies")]
    policies = [p for p in policies if problem.evidence.has_truth or not p.needs_labels]
    if not policies:
        return None
    with st.spinner("Playing ahead …"):
        runs = _runs(problem, policies)
        bands = {p: _band(problem, p) for p in policies} if setting("band") else {}
    watched = next((r for r in runs if r.policy.name == setting("watched")), runs[0])
    return Live(study, problem, runs, watched, bands)


def source() -> tuple[Study, Problem]:
    """The user's study and λ, or a prepared situation."""
    name = setting("situation") if setting("teaching") else None
    if name is None:
        return work.usable_study(), decision.problem()
    study = load_bundled(STUDY)
    panels = cascade(study.tests, study.fees)
    known = kept(lambda: fit_evidence(study, panels), "situations")
    return study, kept(lambda: situation(name, panels, known), "situation", name)


def _runs(problem: Problem, policies: list[Policy]) -> tuple[Run, ...]:
    """Take this session's runs, and play those that are new: a change of prices makes all new."""
    held: dict[str, Run] = st.session_state.get("live runs", {})
    n, seed, order = setting("n"), setting("seed"), setting("order")
    of = _problem_key(problem)
    keys = {key_of(of, p.kind, p.parameter, n, seed, order): p for p in policies}
    runs = {
        key: held.get(key) or simulate(problem, policy, n, seed, order)
        for key, policy in keys.items()
    }
    st.session_state["live runs"] = runs
    return tuple(runs.values())


def _band(problem: Problem, policy: Policy) -> Band:
    n, order = setting("n"), setting("order")
    key = ("band", _problem_key(problem), policy.kind, policy.parameter, n, order)
    return kept(lambda: repeat_band(problem, policy, n, order), *key)


def _problem_key(problem: Problem) -> str:
    return key_of(problem.evidence.fingerprint, problem.panels.mode, problem.panels.names,
                  problem.panels.costs.tolist(), problem.scaled_costs.tolist())  # fmt: skip


def cursor() -> int:
    """How many patients are shown."""
    return min(int(setting("cursor")), int(setting("n")))


def move(t: int) -> None:
    """Show the run up to patient t."""
    st.session_state["live owed"] = 0.0
    change(cursor=min(max(t, 0), setting("n")))


def playing() -> bool:
    return bool(st.session_state.get("live playing"))


def play() -> None:
    """Go on from here; from the end, begin anew."""
    if cursor() >= setting("n"):
        move(0)
    st.session_state.update({"live playing": True, "live owed": 0.0, "live ticked": clock(),
                             "live saved": clock()})  # fmt: skip


def pause() -> None:
    """Stop where the screen is, and save."""
    st.session_state["live playing"] = False
    _playing.pop(_session(), None)
    session.save()


def tick() -> bool:
    """Move on by the time gone by; say whether that was the end."""
    state, now = st.session_state, clock()
    due = state["live owed"] + min(now - state["live ticked"], 1.0) * setting("speed")
    state["live ticked"], state["live owed"] = now, due % 1
    t = min(cursor() + int(due), setting("n"))
    session.note(live={**session.get("live"), "cursor": t})
    if now - state["live saved"] > _SAVE:
        state["live saved"] = now
        session.save()
    _playing[_session()] = now
    _clean(now)
    return bool(t >= setting("n"))


def tick_length() -> float:
    """Seconds between ticks: 0.1, and longer when many play at once, so that pauses stay prompt."""
    now, me = clock(), _session()
    n_others = sum(now - at < _GONE and who != me for who, at in [*_playing.items()])
    return next(seconds for most, seconds in _TICKS if n_others < most)


def _session() -> str:
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def clock() -> float:
    return time.monotonic()


def table(live: Live, t: int) -> pd.DataFrame:
    """One row a patient, up to patient t: what each policy gave, and how it turned out."""
    shared = ["patient", "study_row"]
    parts = [run_table(run).head(t) for run in live.runs]
    named = [
        part.drop(columns=shared).add_suffix(f" ({run.policy.name})")
        for part, run in zip(parts, live.runs, strict=True)
    ]
    return pd.concat([parts[0][shared], *named], axis=1)


def _clean(now: float) -> None:
    """Collect garbage now and then, since the server does not after each tick (see config.toml)."""
    global _last_clean  # noqa: PLW0603
    if now - _last_clean > _CLEAN:
        _last_clean = now
        for who in [who for who, at in [*_playing.items()] if now - at > _GONE]:
            _playing.pop(who, None)
        gc.collect()
