"""Figures of panels: what they cost, how often they err and disagree, how they rank patients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from csmd_core.budget import frontier
from csmd_core.figures.style import NEUTRAL, base_figure, label, panel_colours
from csmd_core.panels import Panels
from csmd_core.predictions import Scores
from csmd_core.problem import Evidence, panel_table
from csmd_core.study import UNKNOWN

_FEW = 8  # panels that are named in the chart, not only when pointed at
_DASHES = ("solid", "dash", "dot", "dashdot")


def cost_error_figure(
    panels: Panels, evidence: Evidence, best: int | None = None, currency: str = "$"
) -> go.Figure:
    """Draw each panel by cost and error rate with its 95% interval; join those best for some λ."""
    table = panel_table(panels, evidence)
    table["best_for_some"] = frontier(panels, evidence)["best_for_some"]
    figure = base_figure(x=f"Cost per patient ({label(currency)})", y="Error rate")
    joined = table[table["best_for_some"]].sort_values("cost")
    figure.add_scatter(
        x=joined["cost"], y=joined["error_rate"], mode="lines", name="Best for some λ",
        line={"color": NEUTRAL, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_trace(_points(panels, table))
    if best is not None:
        row = table.iloc[best]
        figure.add_scatter(
            x=[row["cost"]], y=[row["error_rate"]], mode="markers", name="Best panel now",
            marker={"symbol": "circle-open", "size": 22, "line": {"width": 3}, "color": "#D55E00"},
            hoverinfo="skip",
        )  # fmt: skip
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    figure.update_xaxes(rangemode="tozero")
    return figure


def _points(panels: Panels, table: pd.DataFrame) -> go.Scatter | go.Scattergl:
    """Draw the panels; a few with intervals and names, thousands on the graphics card."""
    few = panels.mode == "cascade" and len(panels) <= _FEW
    right_end = table["cost"] > 0.8 * table["cost"].max()
    kind = go.Scatter if len(panels) <= 500 else go.Scattergl
    return kind(
        x=table["cost"],
        y=table["error_rate"],
        mode="markers+text" if few else "markers",
        showlegend=False,
        text=_names_with_room(panels, table) if few else None,
        textposition=np.where(right_end, "top left", "top right").tolist(),
        customdata=[label(name) for name in table["panel"]],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": table["error_high"] - table["error_rate"],
            "arrayminus": table["error_rate"] - table["error_low"],
            "thickness": 1,
            "color": "rgba(136,136,136,0.35)",
            "visible": len(panels) <= 16,
        },
        marker={
            "color": panel_colours(panels),
            "size": np.where(table["best_for_some"], 13, 8),
            "opacity": np.where(table["best_for_some"], 1.0, 0.4),
        },
        hovertemplate="%{customdata}<br>cost %{x:,.2f}<br>error rate %{y:.1%}<extra></extra>",
    )


def _names_with_room(panels: Panels, table: pd.DataFrame) -> list[str]:
    """Name panels that stand apart, those best for some λ first; the others when pointed at."""
    apart = 0.15 * float(table["cost"].max() - table["cost"].min())
    named: list[int] = []
    for i in np.argsort(~table["best_for_some"].to_numpy(), kind="stable"):
        if all(abs(table["cost"][i] - table["cost"][j]) > apart for j in named):
            named.append(int(i))
    return [label(name, 24) if i in named else "" for i, name in enumerate(panels.short_names)]


def disagreement_figure(
    panels: Panels, evidence: Evidence, shown: Sequence[int] | None = None
) -> go.Figure:
    """Draw how often each two panels disagree, as a heat map; ``shown`` picks panels."""
    picked = list(range(len(panels))) if shown is None else list(shown)
    names = [label(panels.short_names[i], 28) for i in picked]
    values = evidence.ordered_as(panels).disagreement[np.ix_(picked, picked)]
    same = "The same panels, in the same order"
    figure = base_figure(x=same, y="", height=int(min(720, 260 + 34 * len(picked))))
    small = len(picked) <= 12
    figure.add_heatmap(
        z=values, zmin=0, colorscale="Cividis", reversescale=True,
        colorbar={"tickformat": ".0%", "thickness": 14},
        hovertemplate="%{x}<br>%{y}<br>disagree on %{z:.1%}<extra></extra>",
        texttemplate="%{z:.0%}" if small else None,
    )  # fmt: skip
    ticks = {"tickvals": list(range(len(picked))), "ticktext": names, "showgrid": False}
    figure.update_xaxes(ticks, showticklabels=False)
    figure.update_yaxes(ticks, showticklabels=small, autorange="reversed")
    return figure


def roc_figure(panels: Panels, scores: Scores, shown: Sequence[int], threshold: float) -> go.Figure:
    """Draw the ROC curves of some panels, with the point that the threshold picks on each."""
    figure = base_figure(
        x="Healthy patients called ill (1 − specificity)", y="Ill patients found (sensitivity)",
        height=420 + 22 * len(shown),
    )  # fmt: skip
    chance = {"color": NEUTRAL, "dash": "dot"}
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", showlegend=False, line=chance,
                       hoverinfo="skip")  # fmt: skip
    assert scores.truth is not None
    known = scores.truth != UNKNOWN
    ill, column = scores.truth[known] == 1, {mask: i for i, mask in enumerate(scores.masks)}
    colours = panel_colours(panels)
    drawn: list[str] = []
    for i in shown:
        values = scores.values[known, column[panels.masks[i]]]
        dash = _DASHES[drawn.count(colours[i]) % len(_DASHES)]
        drawn.append(colours[i])
        style = {"line": {"color": colours[i], "dash": dash}, "legendgroup": str(i)}
        _add_roc(figure, label(panels.names[i], 60), (ill, values), style)
        called = values >= threshold
        figure.add_scatter(
            x=[called[~ill].mean()], y=[called[ill].mean()], mode="markers", showlegend=False,
            legendgroup=str(i), marker={"color": colours[i], "size": 11},
            hovertemplate=f"at {threshold:.0%}: %{{x:.1%}}, %{{y:.1%}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(legend={"orientation": "v", "y": -0.18, "yanchor": "top", "x": 0})
    figure.update_xaxes(range=[-0.01, 1.01], tickformat=".0%")
    figure.update_yaxes(range=[-0.01, 1.02], tickformat=".0%")
    return figure


def _add_roc(
    figure: go.Figure,
    name: str,
    known: tuple[NDArray[np.bool_], NDArray[np.float32]],
    style: dict[str, Any],
) -> None:
    """Add one panel's curve; its area under the curve stands in the legend."""
    ill, values = known
    fpr, tpr, _ = roc_curve(ill, values, drop_intermediate=True)
    area = roc_auc_score(ill, values)
    figure.add_scatter(
        x=fpr, y=tpr, mode="lines", name=f"{name}: AUC {area:.2f}", hoverinfo="skip", **style
    )
