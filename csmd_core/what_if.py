"""What if prices were others: the same predictions at other prices, beside today's.

Nothing is fitted again and the study keeps its prices. λ stays as it is, panel by panel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from csmd_core.budget import PriceItem, cohort, price_items, reprice
from csmd_core.dominance import judge
from csmd_core.panels import Panels
from csmd_core.problem import Problem, best_of, make_problem
from csmd_core.windows import Window, best_windows, window_at


@dataclass(frozen=True)
class Change:
    """A named what-if: new prices by test, new fees by name, then all changed by a share."""

    name: str = "What if"
    prices: Mapping[str, float] = field(default_factory=dict)
    fees: Mapping[str, float] = field(default_factory=dict)
    change_all: float = 0.0

    @property
    def is_none(self) -> bool:
        return not (self.prices or self.fees or self.change_all)


def at_prices(problem: Problem, change: Change) -> Problem:
    """Put the problem at the changed prices; subsets are sorted anew and take their λ along."""
    panels = reprice(problem.panels, change.prices, change.fees, change.change_all)
    lam = dict(zip(problem.panels.masks, problem.lam, strict=True))
    return make_problem(panels, problem.evidence, [lam[mask] for mask in panels.masks])


def best_window(problem: Problem) -> Window | None:
    """The λ window in which the best panel stays best; None with a λ for each panel."""
    if problem.one_lam is None or problem.best is None:
        return None
    return window_at(best_windows(problem.panels, problem.evidence), problem.one_lam)


def compare(problem: Problem, changes: Iterable[Change], n_patients: int) -> pd.DataFrame:
    """Set today and each change side by side: best panel, λ window, dominance, a year's patients.

    A change that names tests this study does not have is left out.
    """
    known = [c for c in changes if fits(problem.panels, c)]
    rows = [_row(problem, "Today", n_patients)]
    rows += [_row(at_prices(problem, c), c.name, n_patients) for c in known]
    return pd.DataFrame(rows)


def fits(panels: Panels, change: Change) -> bool:
    """Whether the change names only tests and fees that these panels have."""
    return {test.name for test in panels.tests} >= set(change.prices) and set(panels.fees) >= set(
        change.fees
    )


def _row(problem: Problem, name: str, n_patients: int) -> dict[str, object]:
    best = problem.best
    assert best is not None
    year, window, verdict = cohort(problem, best, n_patients), best_window(problem), judge(problem)
    return {
        "scenario": name,
        "best_panel": problem.panels.names[best],
        "cost": float(problem.panels.costs[best]),
        "error_rate": float(problem.evidence.error_rates[best]),
        "lam_low": window.low if window else np.nan,
        "lam_high": window.high if window else np.nan,
        "dominance_holds": verdict.holds,
        "vacuous": verdict.vacuous,
        "margin": verdict.margin,
        "year_cost": year.cost,
        "misdiagnoses": year.misdiagnoses,
        "misdiagnoses_low": year.misdiagnoses_interval[0],
        "misdiagnoses_high": year.misdiagnoses_interval[1],
        "money_saved": year.money_saved,
        "extra_misdiagnoses": year.extra_misdiagnoses,
        "extra_low": year.extra_interval[0],
        "extra_high": year.extra_interval[1],
    }


def tornado(problem: Problem, share: float = 0.2) -> pd.DataFrame:
    """For each price and fee, up and down by a share: how the least loss moves, and who is best.

    Most sensitive first. ``change_low`` and ``change_high`` are changes of the loss.
    """
    rows = [_swing(problem, item, share) for item in price_items(problem.panels)]
    table = pd.DataFrame(rows)
    reach = table[["change_low", "change_high"]].abs().max(axis=1)
    return table.loc[reach.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)


def _swing(problem: Problem, item: PriceItem, share: float) -> dict[str, object]:
    least = problem.losses.min()
    row: dict[str, object] = {"kind": item.kind, "name": item.name, "price": item.price}
    for end, step in (("low", -share), ("high", share)):
        losses = problem.losses + problem.lam * item.times_paid * item.price * step
        row[f"change_{end}"] = float(losses.min() - least)
        row[f"best_{end}"] = problem.panels.names[best_of(losses)]
    return row
