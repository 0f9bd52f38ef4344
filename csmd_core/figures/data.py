"""Figures of a study's table: its label, and any of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from csmd_core.columns import label_values, split_by_class
from csmd_core.figures.style import NEUTRAL, base_figure, label
from csmd_core.study import Study
from csmd_core.tabular import as_text

COLOURS = {"disease": "#D55E00", "no disease": "#0072B2", "not known": NEUTRAL,
           "all patients": "#0072B2"}  # fmt: skip
N_BINS, N_VALUES = 30, 20


def label_figure(study: Study) -> go.Figure:
    """Draw how many patients have each value of the label, coloured by what it means."""
    table = label_values(study)
    figure = base_figure(x=label(study.label), y="Patients", height=300)
    order = [label(value, 30) for value in table["value"]]
    for meaning in dict.fromkeys(table["meaning"]):
        rows = table[table["meaning"] == meaning]
        figure.add_bar(
            x=[label(value, 30) for value in rows["value"]], y=rows["patients"], name=meaning,
            marker={"color": COLOURS[meaning]}, texttemplate="%{y:,}",
            hovertemplate="%{x}: %{y:,} patients<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=order)
    return figure


def column_figure(study: Study, column: str) -> go.Figure:
    """Draw how a column is spread, apart for patients with and without the disease."""
    parts = split_by_class(study, column)
    figure = base_figure(x=label(column), y="Patients", height=300)
    figure.update_layout(barmode="stack", bargap=0.05)
    if study.kinds.get(column) == "category":
        _add_categories(figure, parts)
    else:
        _add_numbers(figure, parts)
    return figure


def _add_numbers(figure: go.Figure, parts: dict[str, pd.Series[Any]]) -> None:
    """Add a histogram that is counted here: the browser gets 30 bars, not every patient."""
    numbers = {words: _finite(part) for words, part in parts.items()}
    every = np.concatenate([np.empty(0), *numbers.values()])
    if not len(every):
        return
    edges = np.histogram_bin_edges(every, bins=_n_bins(every))
    for words, values in numbers.items():
        counts, _ = np.histogram(values, edges)
        figure.add_bar(
            x=(edges[:-1] + edges[1:]) / 2, y=counts, width=np.diff(edges), name=words,
            marker={"color": COLOURS[words]},
            hovertemplate="about %{x:.4g}: %{y:,} patients<extra></extra>",
        )  # fmt: skip


def _n_bins(values: np.ndarray[Any, Any]) -> int:
    few = len(np.unique(values[:5000]))
    return min(N_BINS, max(few, 1))


def _finite(part: pd.Series[Any]) -> np.ndarray[Any, Any]:
    values = pd.to_numeric(part, errors="coerce").to_numpy(dtype=float)
    return np.asarray(values[np.isfinite(values)])


def _add_categories(figure: go.Figure, parts: dict[str, pd.Series[Any]]) -> None:
    counts = {words: part.map(as_text).value_counts() for words, part in parts.items()}
    total = pd.DataFrame(counts).fillna(0).sum(axis=1).sort_values(ascending=False)
    shown = list(total.index[:N_VALUES])
    for words, count in counts.items():
        figure.add_bar(
            x=[label(value, 30) for value in shown], y=[int(count.get(v, 0)) for v in shown],
            name=words, marker={"color": COLOURS[words]},
            hovertemplate="%{x}: %{y:,} patients<extra></extra>",
        )  # fmt: skip
    more = len(total) - len(shown)
    if more > 0:
        figure.update_xaxes(title=f"{figure.layout.xaxis.title.text} ({more:,} rarer not shown)")
    figure.update_xaxes(type="category")
