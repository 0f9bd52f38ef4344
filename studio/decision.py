"""Today's problem: λ, the best panel, weak dominance, the λ windows."""

from __future__ import annotations

import numpy as np

from csmd_core.dominance import Dominance, MarginInterval, bootstrap_margin, judge
from csmd_core.panels import Panels
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.windows import Window, dominance_windows, suggested_lam
from studio import session, work
from studio.shelf import kept


def problem() -> Problem:
    """Put the chosen λ to the evidence: instant once the evidence is there."""
    made, known = work.panels(), work.evidence()
    return make_problem(made, known, lam_for(made, known))


def lam_for(made: Panels, known: Evidence) -> float | list[float]:
    """The chosen λ; where none is chosen, or its panels are gone, one that suits the study."""
    lam = session.get("lam")
    if isinstance(lam, list) and len(lam) == len(made) and all(map(_usable, lam)):
        return lam
    if _usable(lam):
        return float(lam)
    if known.has_truth:
        return suggested_lam(windows(made, known))
    spread = np.ptp(made.costs)
    return float(f"{0.3 / spread if spread else 1:.3g}")


def _usable(lam: object) -> bool:
    """Whether a λ from the settings, which may come from a file, can be worked with."""
    return isinstance(lam, int | float) and 0 < lam < float("inf")


def windows(made: Panels, known: Evidence) -> list[Window]:
    """The λ windows of these panels at today's prices."""
    return kept(
        lambda: dominance_windows(made, known),
        "windows", known.fingerprint, made.mode, made.costs.tolist(),
    )  # fmt: skip


def verdict(asked: Problem) -> Dominance:
    return judge(asked)


def margin_interval(asked: Problem) -> MarginInterval:
    """The bootstrap of the margin, kept by content."""
    return kept(
        lambda: bootstrap_margin(asked),
        "margin", asked.evidence.fingerprint, asked.panels.mode, asked.scaled_costs.tolist(),
    )  # fmt: skip
