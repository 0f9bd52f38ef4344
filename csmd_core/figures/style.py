"""What all figures share: an accessible palette, one colour a panel, escaped names."""

from __future__ import annotations

import html

import plotly.graph_objects as go

from csmd_core.panels import Panels

OKABE_ITO = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#B3A400", "#7F7F7F",
)  # fmt: skip
HOLDS, FAILS, NEUTRAL = "#009E73", "#D55E00", "#888888"


def label(text: object, width: int = 60) -> str:
    """Escape a user's name for Plotly, which reads tags in every text, and cut it to length.

    >>> label("<b>Blood & urine</b>")
    '&lt;b&gt;Blood &amp; urine&lt;/b&gt;'
    """
    words = str(text)
    return html.escape(words if len(words) <= width else words[: width - 1] + "…", quote=False)


def panel_colours(panels: Panels) -> list[str]:
    """Give each panel its colour, by its tests alone, so that new prices leave it as it is."""
    rank = {mask: k for k, mask in enumerate(sorted(panels.masks))}
    return [OKABE_ITO[rank[mask] % len(OKABE_ITO)] for mask in panels.masks]


def base_figure(*, x: str, y: str, height: int = 380) -> go.Figure:
    """Begin a figure: axis titles, a legend above, room for long names, no clutter."""
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hoverlabel={"namelength": -1},
        xaxis={"title": x, "automargin": True},
        yaxis={"title": y, "automargin": True},
    )
    return figure
