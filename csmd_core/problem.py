"""The problem: what each panel gets wrong, how often two panels disagree, and which one is best.

`Evidence` depends on predictions alone and is computed once; `Problem` adds prices and λ and is
instant, so that a λ slider can recompute it at every move.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from csmd_core.faults import BadInput, Fault
from csmd_core.panels import Panels
from csmd_core.study import UNKNOWN

TIE = 1e-12  # two losses, or a gap and a disagreement, this close are equal
_ROWS = 1 << 20  # rows per float32 product: counts stay exact below 2^24


@dataclass(frozen=True)
class Evidence:
    """Predictions of panels for patients, and the truth where it is known.

    predictions: (n_patients, n_panels) of 0 and 1, column i for the panel with ``masks[i]``.
    truth: (n_patients,) of 1, 0 and -1 (unknown), or None.
    """

    masks: tuple[int, ...]
    predictions: NDArray[np.uint8]
    truth: NDArray[np.int8] | None = None

    @property
    def n_patients(self) -> int:
        return len(self.predictions)

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which patients can be scored."""
        if self.truth is None:
            return np.zeros(self.n_patients, dtype=bool)
        return np.asarray(self.truth != UNKNOWN)

    @property
    def n_labelled(self) -> int:
        return int(self.labelled.sum())

    @property
    def has_truth(self) -> bool:
        return self.n_labelled > 0

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """True positives, false positives, false negatives, true negatives: (4, n_panels)."""
        if self.truth is None:
            raise _no_labels()
        says_ill = self.predictions[self.labelled]
        is_ill = self.truth[self.labelled] == 1
        tp = says_ill[is_ill].sum(axis=0, dtype=np.int64)
        fp = says_ill[~is_ill].sum(axis=0, dtype=np.int64)
        n_ill = int(is_ill.sum())
        return np.stack([tp, fp, n_ill - tp, len(is_ill) - n_ill - fp])

    @cached_property
    def error_rates(self) -> NDArray[np.float64]:
        """γ_i = P(prediction ≠ truth), over the labelled patients."""
        if not self.has_truth:
            raise _no_labels()
        _, fp, fn, _ = self.confusion
        return np.asarray((fp + fn) / self.n_labelled)

    @cached_property
    def disagreement(self) -> NDArray[np.float64]:
        """P(Y^i ≠ Y^j) over all patients, labelled or not: (n_panels, n_panels)."""
        both = np.zeros((len(self.masks), len(self.masks)))
        for start in range(0, self.n_patients, _ROWS):
            block = self.predictions[start : start + _ROWS].astype(np.float32)
            both += block.T @ block
        ones = np.diag(both)
        return (ones[:, None] + ones[None, :] - 2 * both) / self.n_patients

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the predictions and the truth."""
        digest = hashlib.sha256(repr((self.masks, self.predictions.shape)).encode())
        digest.update(self.predictions.tobytes())
        digest.update(b"" if self.truth is None else self.truth.tobytes())
        return digest.hexdigest()

    def ordered_as(self, panels: Panels) -> Evidence:
        """Take the columns of these panels in their order; the costly part is carried over."""
        if panels.masks == self.masks:
            return self
        column = {mask: i for i, mask in enumerate(self.masks)}
        order = np.array([column[mask] for mask in panels.masks])
        taken = Evidence(panels.masks, self.predictions[:, order], self.truth)
        taken.__dict__["disagreement"] = self.disagreement[np.ix_(order, order)]
        return taken


@dataclass(frozen=True)
class Problem:
    """Panels with evidence, and λ for each panel: the question of which panel is best."""

    panels: Panels
    evidence: Evidence
    lam: NDArray[np.float64]

    @property
    def n_panels(self) -> int:
        return len(self.panels)

    @cached_property
    def scaled_costs(self) -> NDArray[np.float64]:
        """λ_i C_i: money turned into error."""
        return self.lam * self.panels.costs

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """λ_i C_i + γ_i."""
        return self.scaled_costs + self.evidence.error_rates

    @cached_property
    def best(self) -> int | None:
        """The panel of least loss, on a tie the dearest (eq. 1); None without labels."""
        return best_of(self.losses) if self.evidence.has_truth else None

    @property
    def one_lam(self) -> float | None:
        """λ where it is the same for all panels, else None."""
        return float(self.lam[0]) if np.all(self.lam == self.lam[0]) else None

    def after(self, panel: int) -> NDArray[np.bool_]:
        """Which panels weak dominance compares this one with: later ones, or dearer ones."""
        if self.panels.mode == "cascade":
            return np.arange(self.n_panels) > panel
        return np.asarray(self.scaled_costs > self.scaled_costs[panel])


def make_problem(panels: Panels, evidence: Evidence, lam: float | ArrayLike) -> Problem:
    """Put prices and λ (one number, or one per panel) to the evidence."""
    return Problem(panels, evidence.ordered_as(panels), _check_lam(lam, panels))


def best_of(losses: NDArray[np.float64]) -> int:
    """Index of the least loss; among equal ones the last.

    >>> best_of(np.array([0.3, 0.2, 0.2, 0.4]))
    2
    """
    return int(np.flatnonzero(losses <= losses.min() + TIE)[-1])


def panel_table(panels: Panels, evidence: Evidence) -> pd.DataFrame:
    """One row a panel: cost, and with labels the error rate with its 95% Wilson interval,
    sensitivity, specificity, PPV and NPV (missing where nobody is in the denominator)."""
    table = pd.DataFrame(
        {"panel": panels.names, "tests": panels.membership.sum(axis=1), "cost": panels.costs}
    )
    if not evidence.has_truth:
        return table
    evidence = evidence.ordered_as(panels)
    tp, fp, fn, tn = evidence.confusion.astype(float)
    table["error_rate"] = evidence.error_rates
    table["error_low"], table["error_high"] = wilson(fp + fn, evidence.n_labelled)
    ratios = {
        "sensitivity": (tp, tp + fn), "specificity": (tn, tn + fp),
        "ppv": (tp, tp + fp), "npv": (tn, tn + fn),
    }  # fmt: skip
    for name, (part, whole) in ratios.items():
        table[name] = np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
    return table


def wilson(
    successes: ArrayLike, n: int, z: float = 1.959963984540054
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson score interval of a proportion.

    >>> low, high = wilson(10, 100)
    >>> print(f"{float(low):.4f} {float(high):.4f}")
    0.0552 0.1744
    """
    p = np.asarray(successes, dtype=float) / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _check_lam(lam: float | ArrayLike, panels: Panels) -> NDArray[np.float64]:
    values = np.atleast_1d(np.asarray(lam, dtype=float))
    if values.shape not in {(1,), (len(panels),)}:
        raise BadInput(
            Fault(
                "λ", f"has {values.size} values for {len(panels)} panels.",
                "Give one number, or one for each panel.",
            )
        )  # fmt: skip
    if not np.all(np.isfinite(values) & (values > 0)):
        raise BadInput(
            Fault("λ", "must be a number above 0.", "Try 0.001: an error is worth 1,000.")
        )
    return np.broadcast_to(values, (len(panels),)).copy()


def _no_labels() -> BadInput:
    return BadInput(
        Fault(
            "The study",
            "has no labels, so error rates cannot be measured.",
            "Name a label column, or use what needs no labels.",
        )
    )
