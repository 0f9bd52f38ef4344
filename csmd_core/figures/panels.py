"""Figures of panels: what they cost, how often they err, how often they disagree."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from csmd_core.budget import frontier
from csmd_core.figures.style import NEUTRAL, base_figure, label, panel_colours
from csmd_core.panels import Panels
from csmd_core.problem import Evidence, panel_table


def cost_error_figure(
    panels: Panels, evidence: Evidence, best: int | None = None, currency: str = "$"
) -> go.Figure:
    """Draw each panel by cost and error rate with its 95% interval; join those best for some λ."""
    table = panel_table(panels, evidence)
    table["best_for_some"] = frontier(panels, evidence)["best_for_some"]
    figure = base_figure(x=f"Cost per patient ({label(currency)})", y="Error rate")
    joined = table[table["best_for_some"]]
    figure.add_scatter(
        x=joined["cost"], y=joined["error_rate"], mode="lines", name="Best for some λ",
        line={"color": NEUTRAL, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=table["cost"],
        y=table["error_rate"],
        mode="markers",
        showlegend=False,
        text=[label(name) for name in table["panel"]],
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
        hovertemplate="%{text}<br>cost %{x:,.2f}<br>error rate %{y:.1%}<extra></extra>",
    )
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


def disagreement_figure(panels: Panels, evidence: Evidence) -> go.Figure:
    """Draw how often each two panels disagree, as a heat map."""
    names = [label(name, 40) for name in panels.names]
    shown = evidence.ordered_as(panels).disagreement
    figure = base_figure(x="", y="", height=min(900, 240 + 22 * len(panels)))
    small = len(panels) <= 12
    ticks = {"tickvals": list(range(len(panels))), "ticktext": names, "showticklabels": small}
    figure.add_heatmap(
        z=shown, zmin=0, colorscale="Cividis", colorbar={"tickformat": ".0%"},
        customdata=[[f"{a}<br>{b}" for a in names] for b in names],
        hovertemplate="%{customdata}<br>disagree on %{z:.1%}<extra></extra>",
        texttemplate="%{z:.0%}" if small else None,
    )  # fmt: skip
    figure.update_xaxes(ticks, tickangle=-35)
    figure.update_yaxes(ticks, autorange="reversed")
    return figure
