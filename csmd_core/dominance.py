"""Weak dominance: can the best panel be learnt without knowing a single diagnosis?

It can when every later (cascade) or dearer (subsets) panel costs more, in units of error, than it
changes the prediction: λ_jC_j − λ_iC_i > P(Y^i ≠ Y^j). The least difference is the margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from csmd_core.problem import TIE, Problem, best_of

_CELLS = 1 << 24  # resamples x patients counted at once


@dataclass(frozen=True)
class Dominance:
    """The verdict for one panel: the best one, or without labels the one disagreement points to.

    margin: least (cost gap − disagreement); None when vacuous or when there is no panel to judge.
    holds: None when there is no panel to judge; True when vacuous.
    table: one row for each panel it is compared with.
    """

    panel: int | None
    margin: float | None
    holds: bool | None
    vacuous: bool
    table: pd.DataFrame


@dataclass(frozen=True)
class MarginInterval:
    """Bootstrap of the margin; a resample whose best panel is the dearest has margin ∞."""

    low: float
    high: float
    probability_holds: float
    probability_vacuous: float
    best_shares: NDArray[np.float64]
    n_resamples: int


def judge(problem: Problem) -> Dominance:
    """Decide weak dominance for the best panel, or, without labels, for the only candidate."""
    panel = problem.best
    if panel is None:
        found = candidates(problem)
        panel = found[0] if len(found) == 1 else None
    if panel is None:
        return Dominance(None, None, None, False, dominance_table(problem, None))
    table = dominance_table(problem, panel)
    if table.empty:
        return Dominance(panel, None, True, True, table)
    margin = float(table["difference"].min())
    return Dominance(panel, margin, margin > TIE, False, table)


def dominance_table(problem: Problem, panel: int | None) -> pd.DataFrame:
    """Set each dearer panel's cost gap (in error and in money) against its disagreement."""
    after = np.array([], int) if panel is None else np.flatnonzero(problem.after(panel))
    panel = panel or 0
    costs, money = problem.scaled_costs, problem.panels.costs
    gap = costs[after] - costs[panel]
    disagreement = problem.evidence.disagreement[panel, after]
    return pd.DataFrame(
        {
            "index": after,
            "panel": [problem.panels.names[j] for j in after],
            "extra_cost": money[after] - money[panel],
            "cost_gap": gap,
            "disagreement": disagreement,
            "difference": gap - disagreement,
            "holds": gap - disagreement > TIE,
        }
    )


def candidates(problem: Problem) -> tuple[int, ...]:
    """Panels no other beats (the set B), from disagreement alone: none, or the one panel.

    When weak dominance holds, the best panel is among them; when there is none, it cannot hold.
    Several are possible only where their costs are equal.
    """
    costs, n = problem.scaled_costs, problem.n_panels
    if problem.panels.mode == "cascade":
        later = np.arange(n)[:, None] < np.arange(n)[None, :]
    else:
        later = costs[:, None] < costs[None, :]
    worth_it = costs[None, :] - costs[:, None] <= problem.evidence.disagreement + TIE
    beaten = (later & worth_it).any(axis=1) | (later & ~worth_it).any(axis=0)
    return tuple(int(i) for i in np.flatnonzero(~beaten))


def strong_dominance(problem: Problem) -> float:
    """Share of labelled patients whom a panel gets right and a later or dearer one gets wrong.

    Zero is strong dominance: disagreement is then the difference of the error rates, and weak
    dominance holds at every λ.
    """
    evidence = problem.evidence
    known = evidence.labelled
    assert evidence.truth is not None
    wrong = evidence.predictions[known] != evidence.truth[known, None]
    in_cascade = problem.panels.mode == "cascade"
    rank = np.arange(problem.n_panels) if in_cascade else problem.scaled_costs
    first_right = np.where(wrong, np.inf, rank).min(axis=1)
    last_wrong = np.where(wrong, rank, -np.inf).max(axis=1)
    return float((last_wrong > first_right).mean())


def bootstrap_margin(
    problem: Problem, *, n_resamples: int = 2000, level: float = 0.95, seed: int = 0
) -> MarginInterval:
    """Resample patients, decide the best panel anew each time, and collect its margin."""
    rng = np.random.default_rng(seed)
    n = problem.evidence.n_patients
    at_once = max(1, _CELLS // n)
    margins, bests = [], []
    for start in range(0, n_resamples, at_once):
        weights = _resample(rng, n, min(at_once, n_resamples - start))
        best = _best_panels(problem, weights)
        bests.append(best)
        margins.append(_margins(problem, weights, best))
    best = np.concatenate(bests)
    margin = _bias_corrected(problem, np.concatenate(margins), best)
    tail = (1 - level) / 2
    low, high = np.quantile(margin, [tail, 1 - tail], method="inverted_cdf")
    return MarginInterval(
        low=float(low),
        high=float(high),
        probability_holds=float((margin > TIE).mean()),
        probability_vacuous=float(np.isinf(margin).mean()),
        best_shares=np.bincount(best, minlength=problem.n_panels) / n_resamples,
        n_resamples=n_resamples,
    )


def _bias_corrected(
    problem: Problem, margins: NDArray[np.float64], best: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Move each best panel's resampled margins up by twice their bias.

    A least difference of several nearly equal ones is estimated too low, and resampling an
    estimate lowers it once more; left alone, a 95% interval would cover some 84%.
    """
    corrected = margins.copy()
    for panel in np.unique(best):
        differences = dominance_table(problem, int(panel))["difference"]
        if len(differences):
            mine = best == panel
            corrected[mine] -= 2 * (margins[mine].mean() - differences.min())
    return corrected


def _resample(rng: np.random.Generator, n: int, n_resamples: int) -> NDArray[np.float32]:
    """How often each of n patients was drawn, n times with replacement: (n_resamples, n)."""
    drawn = rng.integers(0, n, (n_resamples, n))
    drawn += (np.arange(n_resamples) * n)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n)
    return counts.reshape(n_resamples, n).astype(np.float32)


def _best_panels(problem: Problem, weights: NDArray[np.float32]) -> NDArray[np.int64]:
    evidence = problem.evidence
    assert evidence.truth is not None
    known = evidence.labelled
    wrong = (evidence.predictions[known] != evidence.truth[known, None]).astype(np.float32)
    n_known = np.maximum(weights[:, known].sum(axis=1, keepdims=True), 1)
    losses = problem.scaled_costs + weights[:, known] @ wrong / n_known
    return np.array([best_of(row) for row in losses])


def _margins(
    problem: Problem, weights: NDArray[np.float32], best: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Margin of each resample's best panel."""
    predictions, costs = problem.evidence.predictions, problem.scaled_costs
    margins = np.full(len(weights), np.inf)
    for panel in np.unique(best):
        after = np.flatnonzero(problem.after(panel))
        if not len(after):
            continue
        differs = (predictions[:, after] != predictions[:, [panel]]).astype(np.float32)
        mine = best == panel
        disagreement = weights[mine] @ differs / len(predictions)
        margins[mine] = (costs[after] - costs[panel] - disagreement).min(axis=1)
    return margins
