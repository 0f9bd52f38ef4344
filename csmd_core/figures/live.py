"""Figures of a run as it is played: what it cost so far, and what the policy believes.

A figure here is Plotly's own JSON, a plain dict: it is made many times a second, and checking each
property, as `go.Figure` does, would take longer than all the rest.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from csmd_core.bands import Band
from csmd_core.figures.style import NEUTRAL, OKABE_ITO, label, panel_colours
from csmd_core.policies import Kind, Policy
from csmd_core.simulation import Run

Figure = dict[str, Any]
Values = NDArray[np.float64]

MEASURES = {  # by name: the axis title, the numbers' format
    "regret": ("Regret", ",.2f"),
    "money": ("Money spent", ",.2f"),
    "misdiagnoses": ("Misdiagnoses", ",d"),
}
MAX_POINTS = 400  # a line; between half as many and all of them are drawn
MAX_SHARES = 7  # panels with a colour of their own; the others are drawn together

_KINDS: tuple[Kind, ...] = (
    "thompson", "kl-ucb", "ucb1", "follow", "random", "best", "cheapest", "full",
)  # fmt: skip
_DASHES = ("solid", "dash", "dot", "dashdot")


def progress_figure(
    runs: Sequence[Run], t: int, measure: str, bands: Mapping[Policy, Band] | None = None
) -> Figure:
    """Draw a measure of each run up to patient t, with the band of its repeats behind it."""
    at = points_up_to(t)
    end = nice_end(max(t, 10))
    traces = [_band(run.policy, found, end, measure) for run in runs if bands
              if (found := bands.get(run.policy)) is not None]  # fmt: skip
    heads = []
    for run, dash in zip(runs, _dashes(runs), strict=True):
        values = so_far(run, measure, at)
        heads.append(values[-1])
        traces.append(_line(run.policy, at, values, (measure, dash)))
    traces.append(_heads(runs, t, heads))
    tops = [*heads, *(_top(band, end, measure) for band in (bands or {}).values())]
    layout = _layout("Patients seen", MEASURES[measure][0])
    layout["xaxis"] |= exactly(0, end)
    layout["yaxis"] |= exactly(0, nice_end(1.02 * max(tops, default=0.0)))
    return {"data": traces, "layout": layout}


def so_far(run: Run, measure: str, at: NDArray[np.int64]) -> Values:
    """Return regret, money or misdiagnoses after each of these patients (0: before the first)."""
    if measure == "money":
        total = run.money
    elif measure == "regret":
        assert run.regret is not None
        total = run.regret
    else:
        total = _errors(run)
    return np.where(at > 0, total[np.maximum(at, 1) - 1], 0.0) if len(total) else np.zeros(len(at))


def share_figure(run: Run, t: int) -> Figure:
    """Draw which share of the patients so far got each panel, one upon the other."""
    at = points_up_to(t)[1:]
    panels = run.problem.panels
    given = np.bincount(run.choices, minlength=len(panels))
    often = np.argsort(-given, kind="stable")[: min(MAX_SHARES, np.count_nonzero(given))]
    chosen = np.sort(often)
    colours, traces = panel_colours(panels), []
    left = np.ones(len(at))
    for panel in chosen:
        share = np.cumsum(run.choices[:t] == panel)[at - 1] / np.maximum(at, 1)
        left = left - share
        traces.append(_area(panels.names[panel], at, share, colours[panel]))
    if np.count_nonzero(given) > MAX_SHARES:
        traces.append(_area("Other panels", at, np.maximum(left, 0), NEUTRAL))
    layout = _layout("Patients seen", "Share of patients so far")
    layout["xaxis"] |= exactly(0, nice_end(max(t, 10)))
    layout["yaxis"] |= exactly(0, 1) | {"tickformat": ".0%"}
    return {"data": traces, "layout": layout}


def points_up_to(t: int) -> NDArray[np.int64]:
    """Return the patients at which lines are drawn: 0, every 2^k-th, and t itself.

    The points stay the same while t grows, so that a line grows and never wobbles.
    """
    stride = 1
    while t > stride * (MAX_POINTS - 2):
        stride *= 2
    return np.append(np.arange(0, t, stride), t).astype(np.int64)


def nice_end(value: float) -> float:
    """Round up to 1, 1.5, 2, 3, 5 or 7 times a power of ten: an axis that seldom moves.

    >>> nice_end(10), nice_end(101), nice_end(0)
    (10.0, 150.0, 1.0)
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7, 10) if value <= step * power * 1.0001)


def exactly(low: float, high: float) -> dict[str, Any]:
    """Set an axis's ends so that a user's zoom is kept when they change, as `range` would not."""
    return {"autorangeoptions": {"minallowed": low, "maxallowed": high}}


def policy_colour(policy: Policy) -> str:
    """Give a policy its colour, by its rule alone."""
    return OKABE_ITO[_KINDS.index(policy.kind) % len(OKABE_ITO)]


def packed(values: NDArray[Any]) -> dict[str, str]:
    """Write numbers as Plotly's typed array: many times quicker than as decimals."""
    kind = "i4" if values.dtype.kind == "i" else "f8"
    data = np.ascontiguousarray(values, dtype="<" + kind)
    return {"dtype": kind, "bdata": base64.b64encode(data.tobytes()).decode()}


def _errors(run: Run) -> Values:
    """Count misdiagnoses after each patient, once a run."""
    found: Values | None = run.__dict__.get("errors so far")
    if found is None:
        assert run.wrong is not None
        found = run.__dict__["errors so far"] = np.cumsum(np.nan_to_num(run.wrong))
    return found


def _dashes(runs: Sequence[Run]) -> list[str]:
    """Tell runs of one colour apart: the second dashed, the third dotted."""
    kinds = [run.policy.kind for run in runs]
    return [_DASHES[kinds[:k].count(kind) % len(_DASHES)] for k, kind in enumerate(kinds)]


def _line(
    policy: Policy, at: NDArray[np.int64], values: Values, how: tuple[str, str]
) -> dict[str, Any]:
    measure, dash = how
    number = f"%{{y:{MEASURES[measure][1]}}}"
    return {
        "type": "scatter", "mode": "lines", "name": label(policy.name),
        "x": packed(at), "y": packed(values),
        "line": {"color": policy_colour(policy), "width": 2.5, "dash": dash},
        "hovertemplate": f"patient %{{x:,d}}: {number}",
    }  # fmt: skip


def _heads(runs: Sequence[Run], t: int, values: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "hoverinfo": "skip",
        "x": [t] * len(runs), "y": [float(value) for value in values], "cliponaxis": False,
        "marker": {"size": 9, "color": [policy_colour(run.policy) for run in runs]},
    }  # fmt: skip


def _band(policy: Policy, band: Band, end: float, measure: str) -> dict[str, Any]:
    """Draw where 90% of repeats lie, as one closed outline."""
    near = band.points <= end
    x = band.points[near]
    low, high = (edge[near] for edge in band.edges[measure])
    return {
        "type": "scatter", "mode": "lines", "fill": "toself", "hoverinfo": "skip",
        "name": label(f"{policy.name}, 90% of {band.n_repeats} repeats"), "showlegend": False,
        "x": packed(np.concatenate([x, x[::-1]])), "y": packed(np.concatenate([low, high[::-1]])),
        "line": {"width": 0}, "fillcolor": _faint(policy_colour(policy)),
    }  # fmt: skip


def _top(band: Band, end: float, measure: str) -> float:
    return float(band.edges[measure][1][band.points <= end].max(initial=0.0))


def _area(name: str, at: NDArray[np.int64], share: Values, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "stackgroup": "all", "showlegend": True,
        "name": label(name, 36),
        "x": packed(at), "y": packed(share), "line": {"width": 0.5, "color": colour},
        "hovertemplate": "%{y:.1%}",
    }  # fmt: skip


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def _layout(x: str, y: str, height: int = 320) -> dict[str, Any]:
    return {
        "height": height,
        "uirevision": y,  # zoom and legend stay until the chart shows something else
        "margin": {"l": 10, "r": 10, "t": 30, "b": 10},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hoverlabel": {"namelength": -1},
        "xaxis": {"title": {"text": x}, "automargin": True},
        "yaxis": {"title": {"text": y}, "automargin": True},
    }
