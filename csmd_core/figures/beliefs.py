"""A figure of what a learning policy believes: each disagreement against its cost gap.

One row a pair of panels. The axis is a square root of the share, so that gaps of a thousandth and
of a half can be read in one picture that never changes its scale.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from csmd_core.comparisons import ALL_PAIRS_UP_TO
from csmd_core.explain import Explanation
from csmd_core.figures.live import Figure, Values, exactly, packed
from csmd_core.figures.style import NEUTRAL, OKABE_ITO, label
from csmd_core.panels import Panels
from csmd_core.simulation import Run

MAX_ROWS = 5
RECENT = 100  # patients whose usual panel is the one that is compared
WORTH_IT, NOT_WORTH_IT = OKABE_ITO[1], OKABE_ITO[0]

_TICKS = (0, 0.01, 0.05, 0.2, 0.4, 0.7, 1)
_GRID = 61  # points of a density


class Pairs(NamedTuple):
    """Pairs of panels, the cheaper or earlier first, as in `explain`: one entry a pair."""

    panel: Values
    rival: Values
    compared: Values
    disagreed: Values
    mean: Values
    estimate: Values
    gap: Values


def pairs_that_matter(run: Run, told: Explanation | None) -> Pairs:
    """Take the panel that patients usually get by now, and the rivals nearest to beating it.

    Where not all pairs are listed, take the panel given to this very patient; nobody yet: none.
    """
    if told is None:
        return Pairs(*np.empty((len(Pairs._fields), 0)))
    t, usual = told.patient, told.choice
    if run.problem.n_panels <= ALL_PAIRS_UP_TO:
        recent = run.choices[max(0, t - RECENT) : t]
        usual = int(np.bincount(recent, minlength=run.problem.n_panels).argmax())
    table = told.pairs.iloc[:, : len(Pairs._fields)].to_numpy(dtype=float)  # in this order
    panel, rival, gap = table[:, 0], table[:, 1], table[:, -1]
    table = table[((panel == usual) | (rival == usual)) & (gap > 0) & (gap < 1)]
    pairs = Pairs(*table.T)
    near = np.abs(pairs.gap - np.nan_to_num(pairs.mean, nan=1.0))
    return Pairs(*table[np.sort(np.argsort(near, kind="stable")[:MAX_ROWS])].T)


def belief_figure(run: Run, pairs: Pairs) -> Figure:
    """Draw the pairs: for Thompson the posterior and the latest draw, else the interval."""
    base = np.arange(len(pairs.gap))[::-1].astype(float)
    draws = run.policy.kind == "thompson"
    worth = pairs.estimate >= pairs.gap
    what = "Draw" if draws else "Upper end"
    traces = [
        _posteriors(pairs, base) if draws else _intervals(pairs, base),
        _gaps(pairs, base),
        _ends(pairs, base, worth, (f"{what}: worth it", WORTH_IT)),
        _ends(pairs, base, ~worth, (f"{what}: not worth it", NOT_WORTH_IT)),
    ]
    return {"data": traces, "layout": _layout(run.problem.panels, pairs, base)}


def _posteriors(pairs: Pairs, base: Values) -> dict[str, Any]:
    """Draw each Beta(1 + disagreed, 1 + agreed) as a hill of height 0.8 on its row."""
    x, y = [], []
    for n, k, row in zip(pairs.compared, pairs.disagreed, base, strict=True):
        grid = _around(1 + k, 1 + n - k)
        top = k / n if n else 0.5
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = np.where(k > 0, k * np.log(grid / top), 0.0)
            rise += np.where(n > k, (n - k) * np.log((1 - grid) / (1 - top)), 0.0)
        x += [grid[:1], grid, grid[-1:], [np.nan]]
        y += [[row], row + 0.8 * np.exp(rise), [row], [np.nan]]
    return {
        "type": "scatter", "mode": "lines", "fill": "toself", "name": "Belief",
        "x": packed(np.sqrt(_joined(x))), "y": packed(_joined(y)), "hoverinfo": "skip",
        "line": {"color": OKABE_ITO[2], "width": 1.5}, "fillcolor": "rgba(0,158,115,0.25)",
    }  # fmt: skip


def _around(a: float, b: float) -> Values:
    """Return shares around the mean of Beta(a, b), five standard deviations to each side."""
    mean = a / (a + b)
    reach = 5 * np.sqrt(mean * (1 - mean) / (a + b + 1))
    return np.linspace(max(0.0, mean - reach), min(1.0, mean + reach), _GRID)


def _intervals(pairs: Pairs, base: Values) -> dict[str, Any]:
    """Draw a bar from the observed share to the upper end."""
    x, y = [], []
    for mean, end, row in zip(pairs.mean, pairs.estimate, base, strict=True):
        x.append([0.0 if np.isnan(mean) else mean, min(float(end), 1.0), np.nan])
        y.append([row + 0.3, row + 0.3, np.nan])
    return {
        "type": "scatter", "mode": "lines+markers", "name": "Possible",
        "x": packed(np.sqrt(_joined(x))), "y": packed(_joined(y)), "hoverinfo": "skip",
        "line": {"color": OKABE_ITO[2], "width": 7}, "marker": {"size": 9},
    }  # fmt: skip


def _gaps(pairs: Pairs, base: Values) -> dict[str, Any]:
    gap = np.sqrt(pairs.gap)
    end = np.full(len(gap), np.nan)
    return {
        "type": "scatter", "mode": "lines", "name": "Cost gap", "hoverinfo": "skip",
        "x": packed(np.column_stack([gap, gap, end]).ravel()),
        "y": packed(np.column_stack([base, base + 0.9, end]).ravel()),
        "line": {"color": NEUTRAL, "width": 4},
    }  # fmt: skip


def _ends(
    pairs: Pairs,
    base: Values,
    which: NDArray[np.bool_],
    name: tuple[str, str],
) -> dict[str, Any]:
    told = [
        f"{pairs.disagreed[k]:,.0f} of {pairs.compared[k]:,.0f} patients differed<br>"
        f"cost gap {pairs.gap[k]:.3g}"
        for k in np.flatnonzero(which)
    ]
    return {
        "type": "scatter", "mode": "markers", "name": name[0],
        "x": packed(np.sqrt(np.minimum(pairs.estimate[which], 1))),
        "y": packed(base[which] + 0.3), "customdata": told,
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"size": 13, "symbol": "diamond", "color": name[1],
                   "line": {"width": 1, "color": "white"}},
    }  # fmt: skip


def _layout(panels: Panels, pairs: Pairs, base: Values) -> dict[str, Any]:
    names = [
        pair_name(panels, int(panel), int(rival))
        for panel, rival in zip(pairs.panel, pairs.rival, strict=True)
    ]
    n_rows = max(1, min(len(panels) - 1, MAX_ROWS))
    return {
        "height": 140 + 50 * n_rows,
        "margin": {"l": 10, "r": 10, "t": 30, "b": 10},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {
            "title": {"text": "Share of diagnoses changed"},
            **exactly(0, 1.01), "tickvals": [float(np.sqrt(tick)) for tick in _TICKS],
            "ticktext": [f"{100 * tick:g}%" for tick in _TICKS], "zeroline": False,
            "automargin": True, "tickangle": 0,
        },
        "yaxis": {
            **exactly(len(base) - n_rows - 0.1, len(base)),
            "tickvals": [float(row) + 0.3 for row in base], "ticktext": names,
            "automargin": True, "showgrid": False, "zeroline": False,
        },
    }  # fmt: skip


def pair_name(panels: Panels, panel: int, rival: int) -> str:
    """Name a pair by what the dearer panel has more, or by both.

    >>> from csmd_core.panels import cascade
    >>> from csmd_core.study import Test
    >>> made = cascade([Test("Blood", ("b",), 1.0), Test("ECG", ("e",), 2.0)])
    >>> pair_name(made, 0, 1)
    'Blood<br>+ ECG'
    """
    if not panels.contains[rival, panel]:
        return f"{label(panels.names[panel], 24)}<br>or {label(panels.names[rival], 24)}"
    held = panels.tests_of(panel)
    more = [test.name for test in panels.tests_of(rival) if test not in held]
    first = held[-1].name if panels.mode == "cascade" else panels.names[panel]
    return f"{label(first, 24)}<br>+ {label(' + '.join(more), 24)}"


def _joined(parts: list[Any]) -> Values:
    return np.concatenate([np.asarray(part, dtype=float) for part in parts] or [np.empty(0)])
