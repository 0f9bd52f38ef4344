"""The λ axis that figures share: its frame, its money, its marker, and λ windows as strips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from csmd_core.figures.style import FAILS, base_figure, label, panel_colours, panel_label
from csmd_core.panels import Panels
from csmd_core.windows import Window

NOW = "now"  # the shape that marks the current λ; it may be dragged
Shape = dict[str, Any]  # in Plotly's own JSON
LAM_TITLE = "λ, and what avoiding one error is worth"


def lam_range(windows: Sequence[Window], lam: float | None = None) -> tuple[float, float]:
    """Frame all ends of the windows, and λ, with room on both sides."""
    ends = [w.high for w in windows if np.isfinite(w.high)]
    seen = [*ends, *([lam] if lam else [])] or [1e-3]
    return min(seen) / 4, max(seen) * 4


def lam_axis(low: float, high: float, currency: str) -> dict[str, object]:
    """Write under each λ what avoiding one misdiagnosis is then worth."""
    first, last = int(np.ceil(np.log10(low))), int(np.floor(np.log10(high)))
    every = max(1, -(-(last - first + 1) // 7))
    ticks = [10.0**k for k in range(first, last + 1, every)]
    texts = [f"{x:g}<br>{label(currency)}{_short(1 / x)}" for x in ticks]
    span = [float(np.log10(low)), float(np.log10(high))]
    return {"type": "log", "range": span, "tickvals": ticks, "ticktext": texts, "tickangle": 0}


def _short(amount: float) -> str:
    """Write a round amount in little room: 500, 10k, 2M, 0.1."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if amount >= unit * 0.9999:
            return f"{amount / unit:.4g}{letter}"
    return f"{amount:.4g}"


def lam_line(lam: float) -> Shape:
    """The shape that marks the current λ."""
    return {
        "type": "line", "name": NOW, "x0": lam, "x1": lam, "yref": "paper", "y0": 0, "y1": 1,
        "line": {"color": FAILS, "width": 2, "dash": "dot"},
    }  # fmt: skip


def dot(x: float, y: float, radius: int, looks: dict[str, Any]) -> Shape:
    """A circle of so many pixels around a point: it moves without the figure being drawn anew."""
    return {
        "type": "circle", "xsizemode": "pixel", "ysizemode": "pixel", "xanchor": x, "yanchor": y,
        "x0": -radius, "x1": radius, "y0": -radius, "y1": radius,
        "line": {"color": FAILS, "width": 3}, **looks,
    }  # fmt: skip


def in_legend(figure: go.Figure, words: str, marker: dict[str, Any]) -> None:
    """Explain a shape in the legend, where Plotly lists only traces."""
    figure.add_scatter(
        x=[None], y=[None], mode="markers", name=words, marker=marker, hoverinfo="skip"
    )


@dataclass(frozen=True)
class Strip:
    """One row of λ windows: its name, the panels the windows speak of, the windows."""

    name: str
    panels: Panels
    windows: Sequence[Window]


def windows_figure(
    strips: Sequence[Strip],
    lam: float | None,
    currency: str = "$",
    frame: tuple[float, float] | None = None,
) -> go.Figure:
    """Draw λ windows as strips: coloured by best panel, solid where dominance holds."""
    low, high = frame or lam_range([w for strip in strips for w in strip.windows], lam)
    figure = base_figure(x=LAM_TITLE, y="", height=190 + 60 * len(strips))
    named: set[int] = set()
    for row, strip in enumerate(strips):
        colours = panel_colours(strip.panels)
        for w in strip.windows:
            if w.high > low and w.low < high:
                _piece(figure, (row, strip, w), (low, high), colours[w.best], named)
    if lam is not None:
        figure.add_shape(lam_line(lam))
    figure.update_layout(barmode="overlay", bargap=0.25)
    figure.update_xaxes(lam_axis(low, high, currency))
    figure.update_yaxes(
        tickvals=list(range(len(strips))), ticktext=[label(s.name, 24) for s in strips],
        range=[len(strips) - 0.5, -0.5], showticklabels=len(strips) > 1,
    )  # fmt: skip
    return figure


def _piece(
    figure: go.Figure,
    what: tuple[int, Strip, Window],
    frame: tuple[float, float],
    colour: str,
    named: set[int],
) -> None:
    row, strip, w = what
    start, end = max(w.low, frame[0]), min(w.high, frame[1])
    mask = strip.panels.masks[w.best]
    if w.vacuous:
        state = "nothing dearer to compare"
    else:
        state = "weak dominance holds" if w.holds else "weak dominance fails"
    name = panel_label(strip.panels, w.best)
    figure.add_bar(
        base=[start], x=[end - start], y=[row], orientation="h", name=name,
        legendgroup=str(mask), showlegend=mask not in named,
        marker={
            "color": colour, "opacity": 1.0 if w.holds else 0.5,
            "line": {"width": 1, "color": "white"},
            "pattern": {
                "shape": "" if w.holds else "/", "fillmode": "overlay", "fgcolor": "white",
                "size": 7, "solidity": 0.25,
            },
        },
        hovertemplate=f"{name}<br>{state}<br>λ {w.low:.4g} to {w.high:.4g}<extra></extra>",
    )  # fmt: skip
    named.add(mask)
