"""What to change so that weak dominance holds: one price, one fee, or panels left out.

For λ see `windows.nearest_holding`. Costs and losses are lines in a price: the best panel changes
where two cross, and each comparison forbids it one interval. What no comparison forbids is left.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from csmd_core.budget import PriceItem, price_items
from csmd_core.dominance import dominance_table, judge
from csmd_core.problem import TIE, Problem, best_of
from csmd_core.what_if import Change, at_prices


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
    """Try the amounts beside the ends of what no comparison forbids, the nearest first."""
    cent = min(0.01, 10.0 ** np.floor(np.log10(max(problem.panels.costs.max(), 1e-9))) / 1000)
    amounts = set[float]()
    for panel, low, high in _best_pieces(problem, item):
        for start, end in _allowed(problem, item, panel, (low, high)):
            first = np.floor((item.price + start) / cent)
            last = np.ceil((item.price + end) / cent) if end < np.inf else np.inf
            near = [first, first + 1, first + 2, last - 2, last - 1, last]
            amounts |= {round(x * cent, 10) for x in near if 0 <= x < np.inf}
    for amount in sorted(amounts, key=lambda x: (abs(x - item.price), x)):
        verdict = judge(at_prices(problem, _change(item, amount)))
        if verdict.holds and not verdict.vacuous:
            return float(amount)
    return None


def _best_pieces(problem: Problem, item: PriceItem) -> Iterator[tuple[int, float, float]]:
    """Walk the changes of the price upwards: which panel is best, from where to where."""
    slope, start = problem.lam * item.times_paid, -item.price
    panel = best_of(problem.losses + slope * start)
    while True:
        flatter = np.flatnonzero(slope < slope[panel])
        if not len(flatter):
            yield panel, start, np.inf
            return
        lead = problem.losses[flatter] - problem.losses[panel]
        cross = np.maximum(lead / (slope[panel] - slope[flatter]), start)
        end = float(cross.min())
        yield panel, start, end
        tied = flatter[cross <= end + TIE]
        panel, start = int(tied[np.lexsort((-tied, slope[tied]))[0]]), end


def _allowed(
    problem: Problem, item: PriceItem, panel: int, piece: tuple[float, float]
) -> Iterator[tuple[float, float]]:
    """Cut out of the piece where another panel costs more, but no more than it changes."""
    slope = problem.lam * item.times_paid
    steep = slope - slope[panel]
    gap = problem.scaled_costs - problem.scaled_costs[panel]
    worth, in_cascade = problem.evidence.disagreement[panel], problem.panels.mode == "cascade"
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([-gap / steep, (worth - gap) / steep])
    always = (gap <= worth + TIE) & ((gap > TIE) | in_cascade)
    low = np.where(steep == 0, np.where(always, -np.inf, np.inf), ends.min(axis=0))
    high = np.where(steep == 0, np.where(always, np.inf, -np.inf), ends.max(axis=0))
    if in_cascade:  # a later panel that costs less is in the way too
        low, high = np.where(steep > 0, -np.inf, low), np.where(steep < 0, np.inf, high)
    others = np.arange(problem.n_panels) > panel if in_cascade else np.arange(len(gap)) != panel
    yield from _gaps(low[others], high[others], piece)


def _gaps(
    low: NDArray[np.float64], high: NDArray[np.float64], piece: tuple[float, float]
) -> Iterator[tuple[float, float]]:
    """What is left of a piece when these intervals are taken away."""
    order = np.argsort(low, kind="stable")
    reached = piece[0]
    for start, end in zip(low[order], high[order], strict=True):
        if start > end:
            continue
        if start > reached:
            yield reached, min(float(start), piece[1])
        reached = max(reached, float(end))
        if reached >= piece[1]:
            return
    yield reached, piece[1]
