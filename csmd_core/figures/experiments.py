"""Figures of experiments: policies over time and at the end, with 95% intervals.

A figure with several problems is cut into small multiples, one a problem, in ``columns`` columns.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from csmd_core.figures.multiples import Axes, Place, multiples
from csmd_core.figures.style import NEUTRAL, OKABE_ITO, base_figure, label
from csmd_core.policies import POLICIES

_AXES = {
    "regret": "Regret", "money": "Money spent", "misdiagnoses": "Misdiagnoses",
    "best_share": "Share of best choices",
}  # fmt: skip
_DASHES = ("solid", "dash", "dot", "dashdot")
_FEW = 4  # policies whose exponents can be written beside their curves


def curves_figure(curves: pd.DataFrame, measure: str = "regret", columns: int = 2) -> go.Figure:
    """Draw the mean of a measure over time with its 95% band, one colour a policy."""
    mine = curves[curves["measure"] == measure]

    def draw(figure: go.Figure, of_problem: pd.DataFrame, place: Place) -> None:
        for policy, curve in of_problem.groupby("policy", sort=False):
            _band(figure, curve, str(policy), place)
            _line(figure, curve, str(policy), place)

    figure = multiples(mine, columns, draw, Axes("Patients", _AXES[measure]))
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(rangemode="tozero")
    if measure == "best_share":
        figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure


def growth_figure(curves: pd.DataFrame, summary: pd.DataFrame, columns: int = 2) -> go.Figure:
    """Draw regret on doubly logarithmic axes: level is levelling off, diagonal is linear growth.

    The dashed lines are the fits over the second half, from `growth.growth_table`.
    """
    mine = curves[curves["measure"] == "regret"]
    fits = summary.set_index(["problem", "policy"])

    def draw(figure: go.Figure, of_problem: pd.DataFrame, place: Place) -> None:
        words = []
        for policy, curve in of_problem.groupby("policy", sort=False):
            fit = fits.loc[(curve["problem"].iloc[0], policy)]
            words.append(f"{label(policy, 30)}: {_in_words(fit)}")
            if (curve["mean"] > 0).any():  # no logarithm of nothing
                _line(figure, curve[curve["mean"] > 0], str(policy), place)
                _fitted_line(figure, curve, float(fit["exponent"]), place)
        if len(words) <= _FEW:
            _note(figure, "<br>".join(words), place)

    figure = multiples(mine, columns, draw, Axes("Patients", "Regret", height=300))
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    return figure


def final_figure(
    summary: pd.DataFrame, measure: str = "regret", title: str = "Regret", columns: int = 2
) -> go.Figure:
    """Draw each policy's mean at the end with its 95% interval."""

    def draw(figure: go.Figure, rows: pd.DataFrame, place: Place) -> None:
        figure.add_scatter(
            x=rows[measure], y=[label(policy, 30) for policy in rows["policy"]], mode="markers",
            marker={"size": 10, "color": [policy_colour(p) for p in rows["policy"]]},
            error_x=_errors(rows, measure), showlegend=False,
            hovertemplate="%{y}<br>%{x:,.4~g}<extra></extra>", **place,
        )  # fmt: skip
        values = rows[[measure, f"{measure}_low", f"{measure}_high"]].to_numpy(float)
        least, most = np.nanmin(values, initial=0), np.nanmax(values, initial=0)
        room = 0.04 * (most - least) or 1.0
        figure.update_xaxes(range=[least - room, most + room], **place)

    n_policies = summary["policy"].nunique()
    figure = multiples(summary, columns, draw, Axes(title, "", height=70 + 30 * n_policies))
    figure.update_yaxes(autorange="reversed")
    return figure


def savings_figure(summary: pd.DataFrame, currency: str = "$", columns: int = 2) -> go.Figure:
    """Set the money a policy saves per patient against the extra misdiagnoses in 1,000 patients,
    both against giving everyone every test."""
    table = summary.copy()
    for end in ("", "_low", "_high"):
        table[f"money_saved{end}"] /= table["n_patients"]
        table[f"extra_misdiagnoses{end}"] *= 1000 / table["n_patients"]

    def draw(figure: go.Figure, rows: pd.DataFrame, place: Place) -> None:
        for k in range(len(rows)):
            _point(figure, rows.iloc[[k]], "money_saved", "extra_misdiagnoses", place)

    saved = f"Money saved per patient ({label(currency)})"
    axes = Axes(saved, "Extra misdiagnoses in 1,000", height=300)
    figure = multiples(table, columns, draw, axes)
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(rangemode="tozero")
    return figure


def margin_regret_figure(summary: pd.DataFrame) -> go.Figure:
    """Set each problem's regret against its margin: the larger the margin, the less to learn.

    Problems whose best panel is the dearest have no margin and are left out.
    """
    known = summary[summary["margin"].notna() & summary["regret"].notna()]
    figure = base_figure(x="Margin", y="Regret after the last patient", height=420)
    for policy, rows in known.groupby("policy", sort=False):
        figure.add_scatter(
            x=rows["margin"], y=rows["regret"], mode="markers", name=label(policy, 30),
            marker={"size": 10, "color": policy_colour(str(policy)), "symbol": _symbol(policy)},
            error_y=_errors(rows, "regret"), customdata=[label(p) for p in rows["problem"]],
            hovertemplate="%{customdata}<br>margin %{x:.3f}<br>regret %{y:,.4~g}",
        )  # fmt: skip
    figure.add_vline(x=0, line={"color": NEUTRAL, "dash": "dot"})
    for text, side in (("fails ◂ ", "right"), (" ▸ holds", "left")):
        figure.add_annotation(x=0, y=1, yref="paper", text=text, showarrow=False, xanchor=side)
    figure.update_yaxes(rangemode="tozero")
    return figure


def policy_colour(name: str) -> str:
    """Give a policy the same colour in every figure; "UCB1 (α = 1)" has that of UCB1."""
    return OKABE_ITO[_rank(name) % len(OKABE_ITO)]


def _rank(name: str) -> int:
    base = name.split(" (", maxsplit=1)[0]
    return list(POLICIES).index(base) if base in POLICIES else sum(map(ord, name))


def _dash(name: str) -> str:
    """Tell policies apart without colour too: learning ones are solid, dashed with a number."""
    if name in POLICIES:
        return "solid" if POLICIES[name].learns else _DASHES[1 + _rank(name) % 3]
    return _DASHES[1 + sum(map(ord, name)) % 3]


def _symbol(name: object) -> str:
    return ("circle", "diamond", "square", "triangle-up")[_rank(str(name)) % 4]


def _line(figure: go.Figure, curve: pd.DataFrame, policy: str, place: Place) -> None:
    figure.add_scatter(
        x=curve["patient"], y=curve["mean"], mode="lines", name=label(policy, 30),
        legendgroup=policy, line={"color": policy_colour(policy), "dash": _dash(policy)},
        hovertemplate="%{y:,.4~g}", **place,
    )  # fmt: skip


def _band(figure: go.Figure, curve: pd.DataFrame, policy: str, place: Place) -> None:
    if curve["low"].isna().all():
        return
    figure.add_scatter(
        x=np.r_[curve["patient"], curve["patient"][::-1]],
        y=np.r_[curve["high"], np.maximum(curve["low"], 0)[::-1]],
        fill="toself", fillcolor=policy_colour(policy), opacity=0.2, line_width=0, mode="lines",
        hoverinfo="skip", showlegend=False, legendgroup=policy, name=label(policy, 30), **place,
    )  # fmt: skip


def _fitted_line(figure: go.Figure, curve: pd.DataFrame, exponent: float, place: Place) -> None:
    end, at_end = float(curve["patient"].iloc[-1]), float(curve["mean"].iloc[-1])
    if not np.isfinite(exponent):
        return
    x = np.array([end / 2, end])
    figure.add_scatter(
        x=x, y=at_end * (x / end) ** exponent, mode="lines", showlegend=False, hoverinfo="skip",
        line={"color": NEUTRAL, "dash": "dash", "width": 3}, **place,
    )  # fmt: skip


def _note(figure: go.Figure, words: str, place: Place) -> None:
    figure.add_annotation(
        x=0.98, y=0.02, xref="x domain", yref="y domain", text=words, showarrow=False,
        align="right", xanchor="right", yanchor="bottom", **place,
    )  # fmt: skip


def _point(figure: go.Figure, row: pd.DataFrame, x: str, y: str, place: Place) -> None:
    policy = str(row["policy"].iloc[0])
    figure.add_scatter(
        x=row[x], y=row[y], mode="markers", name=label(policy, 30), legendgroup=policy,
        marker={"size": 11, "color": policy_colour(policy), "symbol": _symbol(policy)},
        error_x=_errors(row, x), error_y=_errors(row, y),
        hovertemplate="saved %{x:,.2f}<br>extra misdiagnoses %{y:.1f}", **place,
    )  # fmt: skip


def _errors(rows: pd.DataFrame, measure: str) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": rows[f"{measure}_high"] - rows[measure],
        "arrayminus": rows[measure] - rows[f"{measure}_low"],
        "thickness": 1.5,
        "color": NEUTRAL,
    }


def _in_words(fit: pd.Series[float]) -> str:
    if fit["regret"] == 0:
        return "no regret"
    return f"{fit['growth']}, {fit['exponent']:.2f}"
