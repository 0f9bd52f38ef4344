"""Prepared situations for teaching: one study, one best panel, and weak dominance that holds
clearly, barely, or fails. Only λ differs, that is, what avoiding one misdiagnosis is worth."""

from __future__ import annotations

import numpy as np

from csmd_core.panels import Panels
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.windows import dominance_windows

STUDY = "diabetes"  # bundled; in its cascade the policies learn within some hundred patients
SITUATIONS = {
    "holds clearly": "Weak dominance holds clearly",
    "holds barely": "It barely holds",
    "fails": "It fails",
}


def situation(name: str, panels: Panels, evidence: Evidence) -> Problem:
    """Choose λ so that the cheapest panel is best and weak dominance is as the name says.

    Dominance holds for that panel from some λ on, and below that it fails for a while.
    """
    fails, holds = dominance_windows(panels, evidence)[-2:]
    lam = {
        "holds clearly": 1.8 * holds.low,
        "holds barely": 1.1 * holds.low,
        "fails": float(np.sqrt(fails.low * fails.high)),
    }[name]
    return make_problem(panels, evidence, lam)
