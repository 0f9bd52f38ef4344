"""Budgets: money and λ, the cost–error frontier, cohorts, other prices, break-even prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from csmd_core.faults import BadInput, Fault
from csmd_core.panels import Panels
from csmd_core.problem import TIE, Evidence, Problem, wilson
from csmd_core.windows import Window, best_windows

_Z95 = 1.959963984540054


def frontier(panels: Panels, evidence: Evidence) -> pd.DataFrame:
    """One row a panel: is it undominated (nothing cheaper is better), for which λ is it best."""
    error_rates = evidence.ordered_as(panels).error_rates
    window = {w.best: w for w in best_windows(panels, evidence)}
    return pd.DataFrame(
        {
            "panel": panels.names,
            "cost": panels.costs,
            "error_rate": error_rates,
            "undominated": _undominated(panels.costs, error_rates),
            "best_for_some": [i in window for i in range(len(panels))],
            "lam_low": [window[i].low if i in window else np.nan for i in range(len(panels))],
            "lam_high": [window[i].high if i in window else np.nan for i in range(len(panels))],
        }
    )


def budget_window(panels: Panels, evidence: Evidence, money: float) -> Window:
    """Turn "at most this much per patient" into the λ window of the dearest panel within it."""
    affordable = [w for w in best_windows(panels, evidence) if panels.costs[w.best] <= money]
    if not affordable:
        raise BadInput(
            Fault(
                f"A budget of {money:,.2f} per patient",
                "pays for no panel.",
                f"The cheapest costs {panels.costs.min():,.2f}.",
            )
        )
    return affordable[0]


def lam_for_budget(panels: Panels, evidence: Evidence, money: float, lam: float) -> float:
    """Choose a λ in the budget's window: today's where it lies there, else the window's middle."""
    window = budget_window(panels, evidence, money)
    if lam in window:
        return lam
    if window.low == 0:
        middle = window.high / 3
    else:
        middle = float(np.sqrt(window.low * min(window.high, 9 * window.low)))
    rounded = float(f"{middle:.3g}")
    return rounded if rounded in window else middle


@dataclass(frozen=True)
class Cohort:
    """What one panel means for a year's patients, against giving everyone every test.

    Intervals are 95%: Wilson for the misdiagnoses, Agresti–Min (paired) for the extra ones.
    """

    n_patients: int
    cost: float
    misdiagnoses: float
    misdiagnoses_interval: tuple[float, float]
    money_saved: float
    extra_misdiagnoses: float
    extra_interval: tuple[float, float]


def cohort(problem: Problem, panel: int, n_patients: int) -> Cohort:
    """Scale one panel to a cohort and compare it with the dearest panel."""
    evidence, costs = problem.evidence, problem.panels.costs
    full = problem.n_panels - 1
    low, high = wilson(evidence.error_rates[panel] * evidence.n_labelled, evidence.n_labelled)
    extra, extra_low, extra_high = paired_difference(evidence, panel, full)
    return Cohort(
        n_patients=n_patients,
        cost=float(costs[panel] * n_patients),
        misdiagnoses=float(evidence.error_rates[panel] * n_patients),
        misdiagnoses_interval=(float(low) * n_patients, float(high) * n_patients),
        money_saved=float((costs[full] - costs[panel]) * n_patients),
        extra_misdiagnoses=extra * n_patients,
        extra_interval=(extra_low * n_patients, extra_high * n_patients),
    )


def paired_difference(evidence: Evidence, a: int, b: int) -> tuple[float, float, float]:
    """Error rate of panel a minus that of b on the same patients, with its 95% interval."""
    if a == b:
        return 0.0, 0.0, 0.0
    assert evidence.truth is not None
    wrong = evidence.predictions[:, [a, b]] != evidence.truth[:, None]
    wrong = wrong[evidence.labelled]
    n = len(wrong)
    only_a = float((wrong[:, 0] & ~wrong[:, 1]).sum())
    only_b = float((~wrong[:, 0] & wrong[:, 1]).sum())
    b1, b2, m = only_a + 0.5, only_b + 0.5, n + 2
    centre = (b1 - b2) / m
    half = _Z95 * np.sqrt(b1 + b2 - (b1 - b2) ** 2 / m) / m
    return (only_a - only_b) / n, float(max(centre - half, -1.0)), float(min(centre + half, 1.0))


def reprice(
    panels: Panels,
    prices: Mapping[str, float] | None = None,
    fees: Mapping[str, float] | None = None,
    change_all: float = 0.0,
) -> Panels:
    """Ask "what if": new prices by test, new fees by name, then all changed by a share (−0.2).

    The study keeps its prices; predictions stay valid, so that nothing is fitted again.
    """
    unknown = [*(set(prices or {}) - {t.name for t in panels.tests})]
    unknown += [*(set(fees or {}) - set(panels.fees))]
    amounts = [*(prices or {}).values(), *(fees or {}).values(), 1 + change_all]
    if unknown:
        raise BadInput(
            Fault("The what-if", f"names {', '.join(unknown)}.", "There is no such test or fee.")
        )
    if not all(np.isfinite(x) and x >= 0 for x in amounts):
        raise BadInput(Fault("A price", "must be a number of 0 or more.", "Correct the what-if."))
    factor = 1 + change_all
    tests = [replace(t, price=(prices or {}).get(t.name, t.price) * factor) for t in panels.tests]
    new_fees = {name: (fees or {}).get(name, fee) * factor for name, fee in panels.fees.items()}
    return panels.repriced(tests, new_fees)


def break_even(problem: Problem) -> pd.DataFrame:
    """For each test and shared fee: between which prices, all else fixed, the best panel stays.

    ``cheaper_best`` and ``dearer_best`` are the panels that follow below ``low`` and above
    ``high``; missing where no price of 0 or more changes the choice.
    """
    return pd.DataFrame([_stays(problem, item) for item in price_items(problem.panels)])


@dataclass(frozen=True)
class PriceItem:
    """One amount a user can change: a test's price or a fee, and how often each panel pays it."""

    kind: str
    name: str
    price: float
    times_paid: NDArray[np.float64]


def price_items(panels: Panels) -> list[PriceItem]:
    """List every price and fee with how often each panel pays it: costs are linear in each."""
    items = [
        PriceItem("test", test.name, test.price, panels.membership[:, k].astype(float))
        for k, test in enumerate(panels.tests)
    ]
    for fee, amount in panels.fees.items():
        times = panels.membership @ np.array([float(t.fees.count(fee)) for t in panels.tests])
        paid = np.minimum(times, 1) if panels.shared_fees else times
        items.append(PriceItem("fee", fee, amount, paid))
    return items


def _stays(problem: Problem, item: PriceItem) -> dict[str, object]:
    """Solve losses[best] + slope·x ≤ losses[j] + slope_j·x for the change of price x."""
    price, times_paid = item.price, item.times_paid
    best = problem.best
    assert best is not None
    lead = problem.losses - problem.losses[best]
    slope = problem.lam * times_paid
    slope = slope - slope[best]
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = -lead / slope
    above = np.where(slope < 0, turn, np.inf)
    below = np.where(slope > 0, turn, -np.inf)
    up, down = int(above.argmin()), int(below.argmax())
    low = price + float(below[down])
    can_rise, can_fall = np.isfinite(above[up]), low > 1e-9
    return {
        "kind": item.kind,
        "name": item.name,
        "price": price,
        "in_best": bool(times_paid[best] > 0),
        "low": low if can_fall else 0.0,
        "high": price + float(above[up]),
        "cheaper_best": problem.panels.names[_follower(below, down, slope)] if can_fall else None,
        "dearer_best": problem.panels.names[_follower(above, up, slope)] if can_rise else None,
    }


def _follower(turn: NDArray[np.float64], first: int, slope: NDArray[np.float64]) -> int:
    """Of the panels that turn best at the same price, the one that leads just beyond it."""
    tied = np.flatnonzero(np.abs(turn - turn[first]) <= TIE * max(1.0, abs(turn[first])))
    steepest = np.abs(slope[tied])
    return int(tied[np.flatnonzero(steepest >= steepest.max() - TIE)[-1]])


def _undominated(costs: NDArray[np.float64], error_rates: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Keep a panel unless another costs no more and errs no more, and one of the two less."""
    order = np.lexsort((error_rates, costs))
    keep = np.zeros(len(costs), dtype=bool)
    least_before = np.inf
    for _, group in pd.Series(order).groupby(costs[order], sort=False):
        rates = error_rates[group]
        if rates.min() < least_before:
            keep[group[rates == rates.min()]] = True
            least_before = rates.min()
    return keep
