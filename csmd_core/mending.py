"""What to change so that weak dominance holds: one price, one fee, or panels left out.

For λ see `windows.nearest_holding`. Verdicts change only where two lines in the price cross, so
the prices beside those crossings are all that need be tried.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from csmd_core.budget import PriceItem, price_items
from csmd_core.dominance import dominance_table, judge
from csmd_core.problem import TIE, Problem, best_of
from csmd_core.what_if import Change, at_prices

_AT_ONCE = 32  # prices judged together


def panels_in_the_way(problem: Problem) -> list[int]:
    """List the dearer panels that cost no more than they change: without them, and only without
    all of them, dominance holds for the same best panel."""
    table = dominance_table(problem, problem.best)
    return [int(i) for i in table.loc[~table["holds"], "index"]]


def mending_prices(problem: Problem) -> pd.DataFrame:
    """For each price and fee, all else fixed: the nearest amount at which dominance holds.

    Amounts are whole cents (finer for tiny prices); ``new_price`` is missing where none does it.
    A verdict with nothing to compare does not count. ``best_panel`` is the best one there.
    """
    rows = []
    for item in price_items(problem.panels):
        amount = _nearest(problem, item)
        after = problem if amount is None else at_prices(problem, _change(item, amount))
        assert after.best is not None
        rows.append(
            {
                "kind": item.kind,
                "name": item.name,
                "price": item.price,
                "new_price": np.nan if amount is None else amount,
                "best_panel": None if amount is None else after.panels.names[after.best],
            }
        )
    return pd.DataFrame(rows)


def _change(item: PriceItem, amount: float) -> Change:
    prices, fees = ({item.name: amount}, {}) if item.kind == "test" else ({}, {item.name: amount})
    return Change(prices=prices, fees=fees)


def _nearest(problem: Problem, item: PriceItem) -> float | None:
    cent = min(0.01, 10.0 ** np.floor(np.log10(max(problem.panels.costs.max(), 1e-9))) / 1000)
    turns = np.unique(np.round((item.price + _turns(problem, item)) / cent))
    beside = np.unique(np.concatenate([turns - 1, turns, turns + 1]))
    amounts = np.round(beside[beside >= 0] * cent, 10)
    amounts = amounts[np.argsort(np.abs(amounts - item.price), kind="stable")]
    for start in range(0, len(amounts), _AT_ONCE):
        block = amounts[start : start + _AT_ONCE]
        for amount in block[_holds(problem, item, block - item.price)]:
            verdict = judge(at_prices(problem, _change(item, float(amount))))
            if verdict.holds and not verdict.vacuous:
                return float(amount)
    return None


def _turns(problem: Problem, item: PriceItem) -> NDArray[np.float64]:
    """Changes of the price at which the best panel, or a comparison with it, may turn."""
    slope = problem.lam * item.times_paid
    lowest = [
        int(group[best_of(problem.losses[group])])
        for group in (np.flatnonzero(slope == s) for s in np.unique(slope))
    ]
    losses, costs, gaps = problem.losses, problem.scaled_costs, problem.evidence.disagreement
    turns = [_crossings(losses[lowest] - losses[i], slope[lowest] - slope[i]) for i in lowest]
    for i in lowest:
        gap = costs - costs[i]
        turns.append(_crossings(gap - gaps[i], slope - slope[i]))
        turns.append(_crossings(gap, slope - slope[i]))
    return np.concatenate(turns)


def _crossings(value: NDArray[np.float64], slope: NDArray[np.float64]) -> NDArray[np.float64]:
    moves = slope != 0
    return np.asarray(-value[moves] / slope[moves])


def _holds(problem: Problem, item: PriceItem, steps: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Judge many changes of one price at once, without sorting the panels anew."""
    moved = steps[:, None] * (problem.lam * item.times_paid)[None, :]
    costs = problem.scaled_costs + moved
    best = np.array([best_of(row) for row in problem.losses + moved])
    gap = costs - costs[np.arange(len(steps)), best][:, None]
    in_cascade = problem.panels.mode == "cascade"
    after = np.arange(problem.n_panels) > best[:, None] if in_cascade else gap > TIE
    worth_it = gap - problem.evidence.disagreement[best] <= TIE
    return np.asarray(after.any(axis=1) & ~(after & worth_it).any(axis=1))
