"""The Paper page's Table I: printed beside measured, and why they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from csmd_core.differences import contradiction, differences, differences_of
from csmd_core.paper import PRINTED, paper_panels
from csmd_core.report import flat_table
from csmd_core.reproduce import Settings, paper_table
from studio.downloads import downloads
from studio.shelf import kept
from studio.text import plain


def measured_table(settings: Settings) -> pd.DataFrame:
    """Decide Table I once for its settings."""
    with st.spinner("Fitting the paper's panels …", show_time=True):
        return kept(lambda: paper_table(settings), "table one", settings.pricing, settings.seed)


def show_table(settings: Settings) -> None:
    """Show the ten instances and the panels behind them, each with downloads."""
    table = measured_table(settings)
    st.dataframe(
        instances(table), hide_index=True, key="paper instances", column_config=_INSTANCES,
        height="content", alt="Table I: ten instances, printed and measured",
    )  # fmt: skip
    st.markdown(_read(table))
    st.dataframe(
        panel_rows(table), hide_index=True, key="paper panels", column_config=_PANELS,
        height="content", alt="Costs and error rates of the panels, printed and measured",
    )  # fmt: skip
    downloads(flat_table(table), "table-1")


def instances(table: pd.DataFrame) -> pd.DataFrame:
    """One row a case, in words."""
    return pd.DataFrame([_instance(row) for row in table.to_dict("records")])


def _instance(row: Mapping[Any, Any]) -> dict[str, object]:
    told = differences_of(row["study"], row["case"])
    return {
        "case": f"{row['study'].capitalize()} {row['case']}",
        "lam": ", ".join(f"{lam:.5f}".rstrip("0") for lam in row["lam"]),
        "best_printed": row["best_printed"],
        "best": row["best"],
        "holds_printed": _verdict(row["holds_printed"], vacuous=False),
        "holds": _verdict(row["holds"], row["vacuous"]),
        "margin": _margin(row["margin"], row["margin_low"], row["margin_high"]),
        "probability_holds": row["probability_holds"],
        "differs": ", ".join(difference.quantity for difference in told),
    }


def panel_rows(table: pd.DataFrame) -> pd.DataFrame:
    """One row a panel: cost and error rate, printed and measured."""
    rows = []
    for study in PRINTED:
        row = table[table["study"] == study].iloc[0]
        names = paper_panels(study).names
        for k, name in enumerate(names):
            rows.append(
                {
                    "panel": f"{study.capitalize()} {k + 1}",
                    "cost_printed": row["cost_printed"][k],
                    "cost": row["cost"][k],
                    "error_rate_printed": row["error_rate_printed"][k],
                    "error_rate": row["error_rate"][k],
                    "tests": name,
                }
            )
    return pd.DataFrame(rows)


def show_differences() -> None:
    """Explain every difference, and the contradiction with its arithmetic."""
    found = contradiction()
    st.markdown("**Printed cases 2 and 5 of diabetes contradict each other.**")
    st.markdown(plain(found.sentence))
    st.markdown(
        f"- Case 2 holds only if panels 2 and 3 disagree on less than "
        f"{plain(found.holds_arithmetic)}\n"
        f"- Case 5 fails only if panels 2 and 3 disagree on at least "
        f"{plain(found.fails_arithmetic)}\n"
        f"- Measured: they disagree on {plain(f'{found.measured:.4f}')}"
    )
    st.markdown("**Every difference, and why**")
    for told in differences():
        cases = "all cases" if len(told.cases) > 1 else f"case {told.cases[0]}"
        st.markdown(
            f"- **{plain(told.study.capitalize())}, {cases}, {told.quantity}**: printed "
            f"{plain(told.printed)}; measured {plain(told.measured)}. {plain(told.why)}"
        )


def _read(table: pd.DataFrame) -> str:
    """Count agreements in one sentence."""
    best = int((table["best"] == table["best_printed"]).sum())
    verdicts = int((table["holds"] == table["holds_printed"]).sum())
    return (
        f"The best panel is the printed one in **{best} of {len(table)}** cases, and so is the "
        f"verdict on weak dominance in **{verdicts} of {len(table)}**; what differs is explained "
        "below."
    )


def _verdict(holds: bool, vacuous: bool) -> str:
    if vacuous:
        return "nothing to check"
    return "holds" if holds else "fails"


def _margin(margin: float | None, low: float, high: float) -> str:
    """Write the margin with its interval; a margin that is missing is vacuous."""
    if margin is None or math.isnan(margin):
        return "none: the best panel is the dearest"
    return f"{margin:+.3f} ({low:+.3f} to {'∞' if math.isinf(high) else f'{high:+.3f}'})"


_column = st.column_config
_INSTANCES = {
    "case": _column.TextColumn("Case", pinned=True, width=82),
    "lam": _column.TextColumn("λ of panels 1, 2, 3", width=142),
    "best_printed": _column.NumberColumn("Best, printed", width=88),
    "best": _column.NumberColumn("measured", width=70),
    "holds_printed": _column.TextColumn("Dominance, printed", width=130),
    "holds": _column.TextColumn("measured", width=110),
    "margin": _column.TextColumn(
        "Margin (95% interval)", width=180, help="Above 0, weak dominance holds."
    ),
    "probability_holds": _column.NumberColumn(
        "Chance to hold", format="percent", width=105, help="Over resampled patients."
    ),
    "differs": _column.TextColumn("Differs in", width=220),
}
_PANELS = {
    "panel": _column.TextColumn("Panel", pinned=True, width=90),
    "cost_printed": _column.NumberColumn("Cost, printed", format="%.2f", width=100),
    "cost": _column.NumberColumn("measured", format="%.2f", width=85),
    "error_rate_printed": _column.NumberColumn("Error rate, printed", format="%.4f", width=130),
    "error_rate": _column.NumberColumn("measured", format="%.4f", width=85),
    "tests": _column.TextColumn("Tests"),
}
