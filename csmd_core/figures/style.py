"""What all figures share: an accessible palette, one colour a panel, escaped names."""

from __future__ import annotations

import html
from collections.abc import Sequence

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


def panel_label(panels: Panels, panel: int, width: int = 40) -> str:
    """Name a panel in little room: every test keeps its beginning, so that names stay apart."""
    names = [test.name for test in panels.tests_of(panel)]
    n_fit = max((width + 3) // 9, 2)
    if len(names) > n_fit:
        names = [*names[: n_fit - 1], f"{len(names) - n_fit + 1} more"]
    room, short = width - 3 * (len(names) - 1), dict[int, str]()
    by_length = sorted(range(len(names)), key=lambda k: len(names[k]))
    for left, k in zip(range(len(names), 0, -1), by_length, strict=True):
        share = max(room // left, 7)
        short[k] = names[k] if len(names[k]) <= share else names[k][: share - 1].rstrip() + "…"
        room -= len(short[k])
    return " + ".join(html.escape(short[k], quote=False) for k in range(len(names)))


def name_rows(figure: go.Figure, names: Sequence[str], at: float = 0.0) -> None:
    """Write each row's name above its bars: beside them it would leave narrow screens no room."""
    places = list(range(len(names)))
    figure.add_scatter(
        x=[at] * len(names), y=[k - 0.42 for k in places], mode="text", text=list(names),
        textposition="middle right", showlegend=False, hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=places, showticklabels=False, range=[len(names) - 0.4, -0.7], zeroline=False
    )


def panel_colours(panels: Panels) -> list[str]:
    """Give each panel its colour, by its tests alone, so that new prices leave it as it is.

    After eight panels the same colours come again darker, then lighter.
    """
    rank = {mask: k for k, mask in enumerate(sorted(panels.masks))}
    n = len(OKABE_ITO)
    return [_shade(OKABE_ITO[rank[m] % n], rank[m] // n % 3) for m in panels.masks]


def _shade(colour: str, turn: int) -> str:
    """Mix a colour with black (turn 1) or white (turn 2)."""
    if turn == 0:
        return colour
    towards, share = (0, 0.4) if turn == 1 else (255, 0.45)
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (towards - part) * share):02X}" for part in parts)


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
