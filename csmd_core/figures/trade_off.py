"""Figures of the trade-off: losses over λ, cost against error, price sensitivity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from csmd_core.budget import frontier
from csmd_core.figures.lam import LAM_TITLE, Shape, dot, in_legend, lam_axis, lam_line
from csmd_core.figures.style import (
    FAILS,
    HOLDS,
    NEUTRAL,
    base_figure,
    label,
    name_rows,
    panel_colours,
    panel_label,
)
from csmd_core.panels import Panels
from csmd_core.problem import Evidence, Problem
from csmd_core.windows import Window

MOST_LINES = 40  # panels that are never best: the nearest are drawn, faded
MOST_POINTS = 250
MOST_NAMES = 8
_DASHES = ("solid", "dot", "dash", "longdash")  # tell apart panels of the same colour
_LIGHT = "rgba(0,158,115,0.16)"
_GREY = "rgba(136,136,136,0.14)"
_FADED = "rgba(136,136,136,0.35)"


def loss_figure(
    panels: Panels,
    evidence: Evidence,
    windows: Sequence[Window],
    frame: tuple[float, float],
    currency: str = "$",
) -> go.Figure:
    """Draw every panel's loss over λ: the best one thick, where dominance holds shaded."""
    low, high = frame
    ends = [w.high for w in windows if np.isfinite(w.high)]
    grid = np.unique([*np.geomspace(low, high, 60), *ends])
    losses = grid[:, None] * panels.costs + evidence.error_rates
    best = {w.best for w in windows}
    figure = base_figure(x=LAM_TITLE, y="Loss", height=400 + 22 * min(len(best), MOST_NAMES))
    _faded_lines(figure, grid, losses, best)
    _best_lines(figure, panels, windows, grid, losses)
    _shade(figure, windows, low, high)
    in_legend(figure, "λ now", {"symbol": "circle", "size": 10, "color": FAILS})
    figure.update_yaxes(_loss_axis(losses.min(axis=1)))
    figure.update_xaxes(lam_axis(low, high, currency))
    return figure


def loss_now(problem: Problem) -> list[Shape]:
    """Mark the present λ on the losses: all that moves with it."""
    lam = problem.one_lam
    assert lam is not None
    return [lam_line(lam), dot(lam, float(problem.losses.min()), 6, {"fillcolor": FAILS})]


def _loss_axis(least: NDArray[np.float64]) -> dict[str, object]:
    """Frame the least losses on a log axis, so that small and large λ can both be read."""
    bottom, top = max(float(least.min()), 1e-4) * 0.8, max(float(least.max()), 1e-3) * 1.3
    decades = 10.0 ** np.arange(np.floor(np.log10(bottom)), np.ceil(np.log10(top)) + 1)
    ticks = np.outer(decades, [1, 2, 3, 5]).ravel()
    ticks = ticks[(ticks >= bottom) & (ticks <= top)]
    return {
        "type": "log", "range": [float(np.log10(bottom)), float(np.log10(top))],
        "tickvals": ticks, "ticktext": [f"{100 * x:.3g}%" for x in ticks],
    }  # fmt: skip


def _faded_lines(
    figure: go.Figure, grid: NDArray[np.float64], losses: NDArray[np.float64], best: set[int]
) -> None:
    """Draw panels that are never best as one faded trace: those that come nearest."""
    others = np.array([i for i in range(losses.shape[1]) if i not in best], dtype=int)
    if not len(others):
        return
    distance = (losses[:, others] - losses.min(axis=1)[:, None]).min(axis=0)
    drawn = others[np.argsort(distance, kind="stable")[:MOST_LINES]]
    every = grid[::3]
    xs = np.tile(np.append(every, np.nan), len(drawn))
    ys = np.vstack([losses[::3, drawn], np.full(len(drawn), np.nan)]).T.ravel()
    shown = "Never best" if len(drawn) == len(others) else f"Never best (nearest {len(drawn)})"
    figure.add_scatter(
        x=xs, y=ys, mode="lines", name=shown, line={"color": _FADED, "width": 1}, hoverinfo="skip",
    )  # fmt: skip


def _best_lines(
    figure: go.Figure,
    panels: Panels,
    windows: Sequence[Window],
    grid: NDArray[np.float64],
    losses: NDArray[np.float64],
) -> None:
    """Draw each panel that is best somewhere: thin everywhere, thick where it is best."""
    colours, drawn = panel_colours(panels), list[str]()
    for panel in dict.fromkeys(w.best for w in windows):
        mine = [w for w in windows if w.best == panel]
        inside = (grid >= mine[0].low * (1 - 1e-9)) & (grid <= mine[-1].high)
        name, line = panel_label(panels, panel), losses[:, panel]
        dash = _DASHES[drawn.count(colours[panel]) % len(_DASHES)]
        drawn.append(colours[panel])
        looks = {"color": colours[panel], "dash": dash}
        hover = f"{name}<br>λ %{{x:.4g}}<br>loss %{{y:.2%}}<extra></extra>"
        figure.add_scatter(
            x=grid, y=line, mode="lines", line=looks | {"width": 1}, opacity=0.6,
            showlegend=False, legendgroup=str(panel), hovertemplate=hover,
        )  # fmt: skip
        figure.add_scatter(
            x=grid[inside], y=line[inside], mode="lines", line=looks | {"width": 5}, name=name,
            legendgroup=str(panel), hovertemplate=hover, showlegend=len(drawn) <= MOST_NAMES,
        )  # fmt: skip


def _shade(figure: go.Figure, windows: Sequence[Window], low: float, high: float) -> None:
    for kind, colour, words in (
        (False, _LIGHT, "Weak dominance holds"),
        (True, _GREY, "Nothing dearer to compare"),
    ):
        mine = [w for w in windows if w.holds and w.vacuous is kind]
        for w in mine:
            figure.add_shape(
                type="rect", yref="paper", y0=0, y1=1, x0=max(w.low, low), x1=min(w.high, high),
                fillcolor=colour, line_width=0, layer="below",
            )  # fmt: skip
        if mine:
            in_legend(figure, words, {"symbol": "square", "size": 13, "color": colour})


def loss_bars_figure(problem: Problem, most: int = 12) -> go.Figure:
    """Stack each panel's scaled cost and error rate, for a λ of its own each: least loss first."""
    order = np.argsort(problem.losses, kind="stable")[:most]
    names = [panel_label(problem.panels, int(i)) for i in order]
    figure = base_figure(x="Loss", y="", height=150 + 48 * len(order))
    for name, values, colour in (
        ("Error rate", problem.evidence.error_rates, "#0072B2"),
        ("λ × cost", problem.scaled_costs, "#E69F00"),
    ):
        figure.add_bar(
            x=values[order], y=list(range(len(order))), orientation="h", name=name,
            marker_color=colour, hovertemplate=f"{name} %{{x:.4f}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.5)
    name_rows(figure, names)
    return figure


def frontier_figure(panels: Panels, evidence: Evidence, currency: str = "$") -> go.Figure:
    """Draw panels by cost and error rate: those best for some λ joined, the others faded."""
    table = frontier(panels, evidence)
    figure = base_figure(x=f"Cost per patient ({label(currency)})", y="Error rate", height=420)
    table["colour"] = panel_colours(panels)
    joined = table[table["best_for_some"]].sort_values("cost")
    near = table[~table["best_for_some"]].nsmallest(MOST_POINTS, "error_rate")
    _points(figure, near, "Never best", {"size": 7, "color": NEUTRAL, "opacity": 0.4})
    figure.add_scatter(
        x=joined["cost"], y=joined["error_rate"], mode="lines", showlegend=False,
        line={"color": NEUTRAL, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    _points(figure, joined, "Best for some λ", {"size": 12, "color": joined["colour"]})
    ring = {"symbol": "circle-open", "size": 13, "line": {"width": 3}, "color": FAILS}
    in_legend(figure, "Best now", ring)
    in_legend(
        figure, "Budget line at this λ", {"symbol": "line-ew-open", "size": 13, "color": FAILS}
    )
    highest = max(joined["error_rate"].max(), near["error_rate"].max() if len(near) else 0)
    figure.update_yaxes(tickformat=".0%", range=[0, 1.12 * float(highest) or 1.0])
    figure.update_xaxes(range=[0, 1.08 * float(table["cost"].max()) or 1.0])
    return figure


def frontier_now(problem: Problem) -> list[Shape]:
    """Ring the best panel, and draw its cost and the budget line.

    On that line money and errors weigh as much as in the best panel; no panel lies below it.
    """
    assert problem.best is not None
    cost, rate = problem.panels.costs[problem.best], problem.evidence.error_rates[problem.best]
    ring = dot(float(cost), float(rate), 11, {})
    if problem.one_lam is None:
        return [ring]
    loss, end = float(problem.losses.min()), 1.08 * float(problem.panels.costs.max())
    x = min(end, loss / problem.one_lam)
    line = {
        "type": "line", "x0": 0, "y0": loss, "x1": x, "y1": loss - problem.one_lam * x,
        "line": {"color": FAILS, "width": 1.5},
    }  # fmt: skip
    at_most = lam_line(float(cost)) | {"name": "at most"}
    return [ring, line, at_most]


def _points(figure: go.Figure, rows: pd.DataFrame, name: str, looks: dict[str, object]) -> None:
    if len(rows):
        figure.add_scatter(
            x=rows["cost"], y=rows["error_rate"], mode="markers", name=name, marker=looks,
            text=[label(panel) for panel in rows["panel"]],
            hovertemplate="%{text}<br>cost %{x:,.2f}<br>error rate %{y:.1%}<extra></extra>",
        )  # fmt: skip


def tornado_figure(table: pd.DataFrame, lam: float | None, currency: str = "$") -> go.Figure:
    """Draw how far the best panel's loss moves when each price falls or rises."""
    rows = table.head(12)
    unit = lam or 1.0
    title = f"Change per patient ({label(currency)})" if lam else "Change of the loss"
    figure = base_figure(x=title, y="", height=140 + 48 * len(rows))
    places = list(range(len(rows)))
    for end, name, colour in (("low", "Price falls", HOLDS), ("high", "Price rises", FAILS)):
        figure.add_bar(
            x=rows[f"change_{end}"] / unit, y=places, orientation="h", name=name,
            marker_color=colour, text=None, customdata=[label(b) for b in rows[f"best_{end}"]],
            hovertemplate="%{x:+.4g}<br>best panel: %{customdata}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="overlay", bargap=0.5)
    left = float(rows[["change_low", "change_high"]].min().min()) / unit
    name_rows(figure, [label(name, 40) for name in rows["name"]], at=left)
    return figure
