"""Figures of weak dominance: the margin on a number line, and why it is what it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from csmd_core.dominance import MarginInterval
from csmd_core.figures.panels import disagreement_figure
from csmd_core.figures.style import FAILS, HOLDS, NEUTRAL, base_figure, name_rows, panel_label
from csmd_core.panels import Panels
from csmd_core.problem import Problem

MOST_BARS = 12
MOST_CELLS = 24  # panels of a heat map that can still be read


def margin_figure(margin: float, interval: MarginInterval | None) -> go.Figure:
    """Draw the margin and its interval on a number line: right of nothing it holds."""
    low, high = (margin, margin) if interval is None else (interval.low, interval.high)
    known = [x for x in (margin, low, high, 0.0) if np.isfinite(x)]
    room = max(max(known) - min(known), 0.01) * 0.25
    left, right = min(known) - room, max(known) + room
    figure = base_figure(x="Margin", y="", height=150)
    for start, end, colour in ((left, 0.0, FAILS), (0.0, right, HOLDS)):
        figure.add_shape(
            type="rect", x0=start, x1=end, y0=-1, y1=1, fillcolor=colour, opacity=0.12,
            line_width=0, layer="below",
        )  # fmt: skip
    for x, words, side in ((0.0, "← fails ", "right"), (0.0, " holds →", "left")):
        figure.add_annotation(x=x, y=0.75, text=words, showarrow=False, xanchor=side)
    colour = HOLDS if margin > 0 else FAILS
    figure.add_scatter(
        x=[max(min(low, right), left), min(high, right)], y=[0, 0], mode="lines",
        line={"width": 7, "color": colour}, opacity=0.5, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    figure.add_scatter(
        x=[margin], y=[0], mode="markers", showlegend=False,
        marker={"size": 16, "color": colour, "symbol": "diamond"},
        hovertemplate="margin %{x:.4f}<extra></extra>",
    )  # fmt: skip
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 2})
    figure.update_xaxes(range=[left, right], zeroline=False)
    figure.update_yaxes(range=[-1, 1.2], visible=False)
    return figure


def gap_figure(panels: Panels, table: pd.DataFrame) -> go.Figure:
    """Set each dearer panel's cost gap against its disagreement: the tightest first."""
    rows = table.nsmallest(MOST_BARS, "difference").reset_index(drop=True)
    places = list(range(len(rows)))
    names = [
        ("" if holds else "✗ ") + panel_label(panels, int(i))
        for i, holds in zip(rows["index"], rows["holds"], strict=True)
    ]
    figure = base_figure(x="Share of patients", y="", height=150 + 58 * len(rows))
    figure.add_bar(
        x=rows["cost_gap"], y=places, orientation="h", name="What its extra cost weighs",
        marker_color="#0072B2", hovertemplate="cost gap %{x:.2%}<extra></extra>",
    )  # fmt: skip
    figure.add_bar(
        x=rows["disagreement"], y=places, orientation="h", name="Diagnoses it changes",
        marker_color=np.where(rows["holds"], HOLDS, FAILS).tolist(),
        hovertemplate="changes %{x:.2%}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.45)
    figure.update_xaxes(tickformat=".0%" if rows["cost_gap"].max() > 0.05 else ".1%")
    name_rows(figure, names)
    return figure


def closest_disagreement_figure(problem: Problem, panel: int, table: pd.DataFrame) -> go.Figure:
    """Draw the heat map of the panel and those it is compared with, the tightest ones."""
    chosen = list(range(problem.n_panels))
    if problem.n_panels > MOST_CELLS:
        tightest = table.nsmallest(MOST_BARS - 1, "difference")["index"]
        chosen = sorted({panel, *(int(i) for i in tightest)})
    figure = disagreement_figure(problem.panels, problem.evidence, chosen)
    figure.update_xaxes(title="Same panels, same order")
    figure.update_yaxes(ticktext=[panel_label(problem.panels, i, 20) for i in chosen])
    return figure
