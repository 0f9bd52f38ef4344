"""Small multiples: one little chart for each problem, one legend to all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from csmd_core.figures.style import label

Place = dict[str, int]
Draw = Callable[[go.Figure, pd.DataFrame, Place], None]

_TITLE, _LEGEND = 62, 80  # pixels between rows, and above the first


@dataclass(frozen=True)
class Axes:
    """What the axes are called, and how high each chart is in pixels."""

    x: str
    y: str
    height: int = 230


def multiples(table: pd.DataFrame, columns: int, draw: Draw, axes: Axes) -> go.Figure:
    """Let ``draw`` draw the rows of each problem in its place."""
    problems = list(dict.fromkeys(table["problem"]))
    columns = max(1, min(columns, len(problems)))
    n_rows = max(1, -(-len(problems) // columns))
    places = [{"row": k // columns + 1, "col": k % columns + 1} for k in range(len(problems))]
    inside = n_rows * axes.height + (n_rows - 1) * _TITLE
    figure = make_subplots(
        n_rows, columns, subplot_titles=[label(name, 48) for name in problems],
        specs=[[_cell(row * columns + col, len(problems)) for col in range(columns)]
               for row in range(n_rows)],
        vertical_spacing=_TITLE / inside, horizontal_spacing=0.11 if columns > 1 else 0,
    )  # fmt: skip
    figure.update_annotations(font_size=13)
    for k, (name, place) in enumerate(zip(problems, places, strict=True)):
        draw(figure, table[table["problem"] == name], place)
        last = k + columns >= len(problems)
        figure.update_xaxes(title_text=axes.x if last else None, **place)
        figure.update_yaxes(title_text=axes.y if place["col"] == 1 else None, **place)
    _lay_out(figure, inside)
    return figure


def _cell(k: int, n: int) -> dict[str, str] | None:
    return {} if k < max(n, 1) else None


def _lay_out(figure: go.Figure, inside: int) -> None:
    figure.update_layout(
        height=inside + _LEGEND + 50,
        margin={"l": 10, "r": 10, "t": _LEGEND, "b": 50},
        hoverlabel={"namelength": -1},
        legend={"orientation": "h", "yref": "container", "y": 0.995, "yanchor": "top", "x": 0},
    )
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    named: set[str] = set()
    for trace in figure.data:
        if trace.showlegend is not False:
            trace.showlegend = trace.name not in named
            named.add(trace.name)
