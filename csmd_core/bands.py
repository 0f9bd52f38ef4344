"""Bands: where most repeats of a run lie, to set a single run against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from csmd_core.experiment import run_seed
from csmd_core.policies import Policy
from csmd_core.problem import Problem
from csmd_core.scoring import MEASURES, points_of, score_run
from csmd_core.simulation import Order, simulate

WORK = 150_000_000  # patients × panels × repeats: some seconds
Edges = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Band:
    """For each measure, between which two values 90% of repeats lie at each of the points."""

    points: NDArray[np.int64]
    edges: Mapping[str, Edges]
    n_repeats: int


def repeat_band(
    problem: Problem,
    policy: Policy,
    n_patients: int,
    order: Order = "replacement",
    n_repeats: int = 50,
) -> Band:
    """Play the policy many times with other seeds; fewer times where there are many panels."""
    n_repeats = min(n_repeats, max(5, WORK // (n_patients * problem.n_panels)))
    points = points_of(n_patients)
    scores = np.stack(
        [
            score_run(simulate(problem, policy, n_patients, run_seed(0, "band", k), order), points)
            for k in range(n_repeats)
        ]
    )
    low, high = np.quantile(scores, [0.05, 0.95], axis=0)
    points = np.concatenate([[0], points])
    edges = {
        measure: (np.append(0.0, low[:, m]), np.append(0.0, high[:, m]))
        for m, measure in enumerate(MEASURES)
        if np.isfinite(low[:, m]).all()
    }
    return Band(points, edges, n_repeats)
