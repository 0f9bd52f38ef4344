"""λ windows: for every λ > 0 the best panel and whether weak dominance holds, with exact ends.

For one λ the losses λC_i + γ_i are lines in λ, so the best panel is their lower envelope, and
dominance holds for panel i above the largest disagreement_ij / (C_j − C_i). There is no grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from csmd_core.panels import Panels
from csmd_core.problem import TIE, Evidence

USUAL_LAM = 0.001  # avoiding one misdiagnosis is worth 1,000


@dataclass(frozen=True)
class Window:
    """low < λ ≤ high: the best panel there, and whether weak dominance holds for it.

    vacuous: nothing is dearer than the best panel, so that there is nothing to dominate.
    """

    low: float
    high: float
    best: int
    holds: bool
    vacuous: bool = False

    def __contains__(self, lam: float) -> bool:
        return self.low < lam <= self.high


def best_windows(panels: Panels, evidence: Evidence) -> list[Window]:
    """Cut λ > 0 into windows of one best panel each, from small λ (dear panels) to large."""
    envelope, ends = _lower_envelope(panels.costs, evidence.ordered_as(panels).error_rates)
    lows = [*ends[1:], 0.0]
    pieces = [
        Window(low, high, panel, holds=False, vacuous=not len(_after(panels, panel)))
        for panel, low, high in zip(envelope, lows, ends, strict=True)
    ]
    return pieces[::-1]


def dominance_windows(panels: Panels, evidence: Evidence) -> list[Window]:
    """Cut the windows of the best panels further, where weak dominance begins to hold."""
    evidence = evidence.ordered_as(panels)
    cut: list[Window] = []
    for piece in best_windows(panels, evidence):
        begins = dominance_begins(panels, evidence, piece.best)
        if begins > piece.low:
            end = min(begins, piece.high)
            cut.append(Window(piece.low, end, piece.best, holds=False, vacuous=piece.vacuous))
        if begins < piece.high:
            start = max(begins, piece.low)
            cut.append(Window(start, piece.high, piece.best, holds=True, vacuous=piece.vacuous))
    return cut


def dominance_begins(panels: Panels, evidence: Evidence, panel: int) -> float:
    """The λ above which weak dominance holds for this panel; ∞ if never, 0 if always."""
    after = _after(panels, panel)
    if not len(after):
        return 0.0
    gaps = panels.costs[after] - panels.costs[panel]
    if np.any(gaps <= 0):
        return float("inf")
    return float((evidence.ordered_as(panels).disagreement[panel, after] / gaps).max())


def candidate_windows(panels: Panels, evidence: Evidence) -> list[Window]:
    """Cut λ > 0 by disagreement alone, with no labels: where it points to a panel, and to which.

    Where weak dominance holds, the panel it points to is the best; between the windows dominance
    cannot hold. Windows overlap only where costs are equal.
    """
    evidence = evidence.ordered_as(panels)
    found = []
    for panel in range(len(panels)):
        low = dominance_begins(panels, evidence, panel)
        high = _worth_it_up_to(panels, evidence, panel)
        if low < high:
            vacuous = not len(_after(panels, panel))
            found.append(Window(low, high, panel, holds=True, vacuous=vacuous))
    return sorted(found, key=lambda window: (window.low, window.best))


def window_at(windows: list[Window], lam: float) -> Window:
    """Find the window that λ lies in."""
    return next(window for window in windows if lam in window)


def nearest_holding(windows: list[Window], lam: float, best: int | None = None) -> float | None:
    """Find the λ nearest by ratio at which dominance holds, with this best panel or with any.

    A window does not hold its lower end, so from below the answer lies a millionth above it.
    """
    reachable = [_enter(w, lam) for w in windows if w.holds and best in {None, w.best}]
    return min(reachable, key=lambda x: abs(np.log(x / lam)), default=None)


def suggested_lam(windows: list[Window]) -> float:
    """Pick a λ to begin with: 0.001, unless prices make that choice trivial.

    Then the middle of the widest window in which dominance holds and tells something; a window
    without an end is taken to reach 30 times as far as the last one with an end.
    """
    usual = window_at(windows, USUAL_LAM)
    if usual.high < np.inf and not usual.vacuous:
        return USUAL_LAM
    inner_ends = [w.high for w in windows[:-1]] or [1.0]

    def ends(window: Window) -> tuple[float, float]:
        return window.low or inner_ends[0] / 30, min(window.high, inner_ends[-1] * 30)

    def width(window: Window) -> float:
        low, high = ends(window)
        return high / low

    telling = [w for w in windows if w.holds and not w.vacuous] or windows
    bounded = [w for w in telling if w.low > 0 and w.high < np.inf] or telling
    low, high = ends(max(bounded, key=width))
    return float(f"{np.sqrt(low * high):.3g}")


def _enter(window: Window, lam: float) -> float:
    if lam in window:
        return lam
    if lam > window.high:
        return window.high
    just_above = window.low * (1 + 1e-6)
    return just_above if just_above <= window.high else (window.low + window.high) / 2


def _after(panels: Panels, panel: int) -> NDArray[np.intp]:
    if panels.mode == "cascade":
        return np.arange(panel + 1, len(panels))
    return np.flatnonzero(panels.costs > panels.costs[panel])


def _worth_it_up_to(panels: Panels, evidence: Evidence, panel: int) -> float:
    """The λ up to which this panel changes more than it costs against every cheaper one."""
    costs = panels.costs
    before = np.arange(panel) if panels.mode == "cascade" else np.flatnonzero(costs < costs[panel])
    gaps = costs[panel] - costs[before]
    dearer = gaps > 0
    shares = evidence.disagreement[panel, before[dearer]] / gaps[dearer]
    return float(shares.min(initial=np.inf))


def _lower_envelope(
    costs: NDArray[np.float64], error_rates: NDArray[np.float64]
) -> tuple[list[int], list[float]]:
    """Walk the envelope of λ·cost + error rate from λ = ∞ down: panels, and where each one ends.

    Ties go to the last panel, so a panel is best up to its end and including it.
    """
    panel = int(np.lexsort((-np.arange(len(costs)), error_rates, costs))[0])
    envelope, ends = [panel], [float("inf")]
    while True:
        better = np.flatnonzero(error_rates < error_rates[panel] - TIE)
        if not len(better):
            return envelope, ends
        crossing = (error_rates[panel] - error_rates[better]) / (costs[better] - costs[panel])
        highest = crossing.max()
        panel = int(better[np.flatnonzero(crossing >= highest * (1 - TIE))[-1]])
        envelope.append(panel)
        ends.append(float(highest))
