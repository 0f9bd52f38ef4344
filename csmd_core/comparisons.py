"""What a policy knew of each pair of panels when it chose for a patient, as numbers to show.

The kernel never computes an estimate: it only decides whether a cost gap is at most that. These
are the same estimates, found afterwards.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betaincinv, rel_entr

from csmd_core.engine import draw, scaled_costs, threshold
from csmd_core.policies import Policy
from csmd_core.problem import TIE
from csmd_core.simulation import Run

Counts = NDArray[np.int64]
Values = NDArray[np.float64]

ALL_PAIRS_UP_TO = 16  # panels; beyond, only the pairs with the chosen panel are listed
COLUMNS = ["panel", "rival", "compared", "disagreed", "mean", "estimate", "gap", "winner"]


def pair_counts(run: Run, t: int, panels: NDArray[np.int64]) -> tuple[Counts, Counts]:
    """Count, over the patients before t, how often each of these panels was seen together with
    every panel, and how often they disagreed: (len(panels), n_panels) each."""
    shown = run.problem.panels.contains[run.choices[: t - 1]]
    said = run.problem.evidence.predictions[run.patients[: t - 1]]
    yes = (shown & (said == 1)).astype(np.float32)
    no = (shown & (said == 0)).astype(np.float32)
    disagreed = yes[:, panels].T @ no + no[:, panels].T @ yes
    compared = disagreed + yes[:, panels].T @ yes + no[:, panels].T @ no
    return compared.round().astype(np.int64), disagreed.round().astype(np.int64)


def counts_with(run: Run, t: int, panel: int) -> tuple[Counts, Counts]:
    """Count the same for one panel, and quickly where there are thousands: (n_panels,) each."""
    n = run.problem.n_panels
    compared, disagreed = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    choices, rows = run.choices[: t - 1], run.patients[: t - 1]
    for choice in np.unique(choices):
        seen = run.problem.panels.contains[choice]
        if seen[panel]:
            said = run.problem.evidence.predictions[rows[choices == choice]]
            compared[seen] += len(said)
            disagreed[seen] += (said[:, seen] != said[:, [panel]]).sum(axis=0)
    return compared, disagreed


def estimates(run: Run, t: int, pairs: Counts, compared: Counts, disagreed: Counts) -> Values:
    """Return the policy's estimate at patient t for each pair (i < j): Thompson's draw, an index.

    pairs: (n_pairs, 2); compared, disagreed: (n_pairs,).
    """
    if run.policy.kind == "thompson":
        n = run.problem.n_panels
        drawn = np.array([draw(run.key, t, int(i), int(j), n) for i, j in pairs])
        return np.asarray(betaincinv(1 + disagreed, 1 + compared - disagreed, drawn))
    if run.policy.kind == "ucb1":
        return ucb1_index(run.policy, t, compared, disagreed)
    return kl_ucb_index(run.policy, t, compared, disagreed)


def ucb1_index(policy: Policy, t: int, compared: Counts, disagreed: Counts) -> Values:
    """Return p̂ + √(α·log t / N), without bound before the first comparison."""
    n = np.maximum(compared, 1)
    index = disagreed / n + np.sqrt(threshold(policy, t) / n)
    return np.where(compared == 0, np.inf, index)


def kl_ucb_index(policy: Policy, t: int, compared: Counts, disagreed: Counts) -> Values:
    """Return the largest q with N·d(p̂, q) ≤ log t + a·log log t; 1 before any comparison."""
    n = np.maximum(compared, 1)
    p = disagreed / n
    low, high = p.copy(), np.ones_like(p)
    for _ in range(60):
        middle = (low + high) / 2
        divergence = rel_entr(p, middle) + rel_entr(1 - p, 1 - middle)
        inside = n * divergence <= threshold(policy, t)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(compared == 0, 1.0, low)


def pair_table(run: Run, t: int, choice: int) -> pd.DataFrame:
    """List what the policy knew of each pair before patient t, and who won."""
    pairs = _pairs(run, t, choice)
    if not len(pairs):
        return pd.DataFrame(columns=COLUMNS)
    if run.problem.n_panels <= ALL_PAIRS_UP_TO:
        tables = pair_counts(run, t, np.arange(run.problem.n_panels))
        compared, disagreed = (table[pairs[:, 0], pairs[:, 1]] for table in tables)
    else:
        others = pairs.sum(axis=1) - choice
        compared, disagreed = (counts[others] for counts in counts_with(run, t, choice))
    costs = scaled_costs(run.problem)
    if run.policy.kind == "thompson":
        mean = (1 + disagreed) / (2 + compared)
    else:
        mean = np.where(compared > 0, disagreed / np.maximum(compared, 1), np.nan)
    guess = estimates(run, t, np.sort(pairs, axis=1), compared, disagreed)
    gap = costs[pairs[:, 1]] - costs[pairs[:, 0]]
    winner = np.where(gap <= guess + TIE, pairs[:, 1], pairs[:, 0])
    undecided = (gap == 0) & (run.problem.panels.mode == "subsets")
    return pd.DataFrame(
        {
            "panel": pairs[:, 0], "rival": pairs[:, 1], "compared": compared,
            "disagreed": disagreed, "mean": mean, "estimate": guess, "gap": gap,
            "winner": pd.Series(winner, dtype="Int64").mask(pd.Series(undecided)),
        }
    )  # fmt: skip


def _pairs(run: Run, t: int, choice: int) -> NDArray[np.int64]:
    """Choose the pairs to list, cheaper or earlier panel first: (n_pairs, 2)."""
    n = run.problem.n_panels
    if not run.policy.learns or (t == 1 and run.policy.kind != "thompson"):
        return np.empty((0, 2), dtype=np.int64)
    if n <= ALL_PAIRS_UP_TO:
        pairs = np.argwhere(np.triu(np.ones((n, n), dtype=bool), 1))
    else:
        others = np.delete(np.arange(n), choice)
        pairs = np.sort(np.column_stack([others, np.full(n - 1, choice)]), axis=1)
    if run.problem.panels.mode == "subsets":
        costs = scaled_costs(run.problem)
        turned = costs[pairs[:, 0]] > costs[pairs[:, 1]]
        pairs[turned] = pairs[turned][:, ::-1]
    return pairs
