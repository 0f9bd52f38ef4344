"""Scoring: what a run's choices cost and how often they were wrong, over time.

Only here and in the comparators are choices and the truth in one place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from csmd_core.kernel import compiled
from csmd_core.problem import Problem
from csmd_core.simulation import Run
from csmd_core.study import UNKNOWN

MEASURES = ("regret", "money", "misdiagnoses", "best_share")
MONEY = MEASURES.index("money")
MAX_POINTS = 500


def points_of(n_patients: int) -> NDArray[np.int64]:
    """Return at most 500 patients, from the first to the last, at which to take stock."""
    steps = np.linspace(1, n_patients, min(n_patients, MAX_POINTS))
    return np.unique(steps.round().astype(np.int64))


def halfway(points: NDArray[np.int64]) -> int:
    """Return the position of the middle one of the points."""
    return len(points) // 2


def mean_interval(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return mean, low and high of the 95% Student-t interval over the first axis.

    >>> mean, low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> print(f"{mean:.3f} {low:.3f} {high:.3f}")
    2.000 -0.484 4.484
    """
    n, mean = len(values), np.asarray(values.mean(axis=0))
    if n < 2:
        return mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    half = stdtrit(n - 1, 0.975) * values.std(axis=0, ddof=1) / math.sqrt(n)
    return mean, mean - half, mean + half


class Scorer(NamedTuple):
    """What turns choices into scores: loss above the best per panel, money, errors."""

    gaps: NDArray[np.float64]
    costs: NDArray[np.float64]
    predictions: NDArray[np.uint8]
    truth: NDArray[np.int8]
    best: int


def score_run(run: Run, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the MEASURES after each of the points: (points, measures)."""
    scores = np.empty((len(points), len(MEASURES)))
    scorer = _scorer(run.problem)
    _score(scorer, run.choices, run.patients, points, scores)
    if scorer.best < 0:
        scores[:, [0, 2, 3]] = np.nan
    return scores


def _scorer(problem: Problem) -> Scorer:
    truth, best = problem.evidence.truth, problem.best
    gaps = np.zeros(problem.n_panels)
    if truth is None or best is None:
        truth, best = np.full(problem.evidence.n_patients, UNKNOWN, dtype=np.int8), -1
    else:
        gaps = problem.losses - problem.losses[best]
    predictions = np.ascontiguousarray(problem.evidence.predictions)
    return Scorer(gaps, problem.panels.costs, predictions, truth, best)


@compiled
def _score(
    scorer: Scorer,
    choices: NDArray[np.int32],
    patients: NDArray[np.int64],
    points: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> None:
    """Add up regret, money, misdiagnoses and best choices, and note them at the points."""
    gaps, costs, predictions, truth, best = scorer
    regret, money, misdiagnoses, n_best, point = 0.0, 0.0, 0, 0, 0
    for k in range(len(choices)):
        choice, label = choices[k], truth[patients[k]]
        regret += gaps[choice]
        money += costs[choice]
        n_best += choice == best
        if label >= 0 and predictions[patients[k], choice] != label:
            misdiagnoses += 1
        if k + 1 == points[point]:
            scores[point, 0], scores[point, 1] = regret, money
            scores[point, 2], scores[point, 3] = misdiagnoses, n_best / (k + 1)
            point += 1
