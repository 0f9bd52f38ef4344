"""What the Trade-off page shows of other prices: today beside the what-if, scenarios compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from csmd_core.figures.lam import Strip, windows_figure
from csmd_core.problem import Problem
from csmd_core.what_if import at_prices, compare
from studio import decision, scenarios
from studio.chart import chart
from studio.downloads import downloads
from studio.text import lam_text, money, percent, plain, signed
from studio.trade_off_parts import cohort_input, n_patients

_MEASURES = {
    "best_panel": "Best panel",
    "cost": "Cost per patient",
    "error_rate": "Error rate",
    "window": "Stays best for λ",
    "dominance": "Weak dominance",
    "year_cost": "Cost a year",
    "misdiagnoses": "Misdiagnoses a year",
    "money_saved": "Saved against every test",
    "extra_misdiagnoses": "Extra misdiagnoses",
}


def what_if(asked: Problem, currency: str) -> None:
    """Change prices, and see today and the what-if side by side."""
    cohort_input()
    change = scenarios.present(asked.panels)
    left, right = st.columns(2, gap="medium")
    with left:
        scenarios.price_grid(asked.panels, currency)
        scenarios.change_all_input()
        st.button("Back to today's prices", on_click=scenarios.reset, disabled=change.is_none)
    table = compare(asked, [change], n_patients())
    with right:
        _side_by_side(table, currency)
    after = at_prices(asked, change)
    if asked.one_lam is not None:
        windows = decision.windows(asked.panels, asked.evidence)
        then = decision.windows(after.panels, after.evidence)
        strips = [Strip("Today", asked.panels, windows), Strip("What if", after.panels, then)]
        chart(
            windows_figure(strips, asked.one_lam, currency), key="what-if windows",
            alt="Best panel for each λ, today and in the what-if",
        )  # fmt: skip
    st.markdown(plain(_what_if_sentence(table, currency)))


def _side_by_side(table: pd.DataFrame, currency: str) -> None:
    shown = readable(table, currency).drop(columns="scenario").map(plain).T
    shown.index = pd.Index([_MEASURES[name] for name in shown.index])
    shown.columns = pd.Index(["Today", "What if"])
    st.table(shown)  # it wraps: no name is cut off


def _what_if_sentence(table: pd.DataFrame, currency: str) -> str:
    today, then = table.iloc[0], table.iloc[1]
    spent = float(then["year_cost"] - today["year_cost"])
    wrong = float(then["misdiagnoses"] - today["misdiagnoses"])
    if then["best_panel"] == today["best_panel"]:
        start = f"{then['best_panel']} stays the best panel"
    else:
        start = f"The best panel changes from {today['best_panel']} to {then['best_panel']}"
    if abs(spent) < 0.5 and abs(wrong) < 0.5:
        return f"{start}, and a year's patients cost the same."
    word = "more" if spent > 0 else "less"
    return f"{start}: {money(abs(spent), currency)} {word} a year, {signed(wrong)} misdiagnoses."


def readable(table: pd.DataFrame, currency: str) -> pd.DataFrame:
    """Write the comparison in words and money, one row a scenario."""
    return pd.DataFrame(
        {
            "scenario": table["scenario"],
            "best_panel": table["best_panel"],
            "cost": [money(x, currency) for x in table["cost"]],
            "error_rate": [percent(x) for x in table["error_rate"]],
            "window": [
                "" if np.isnan(a) else f"{lam_text(a)} to {'∞' if np.isinf(b) else lam_text(b)}"
                for a, b in zip(table["lam_low"], table["lam_high"], strict=True)
            ],
            "dominance": [
                "nothing to check" if v else ("holds" if h else "fails")
                for v, h in zip(table["vacuous"], table["dominance_holds"], strict=True)
            ],
            "year_cost": [money(x, currency) for x in table["year_cost"]],
            "misdiagnoses": _with_interval(table, "misdiagnoses", "misdiagnoses", "{:,.0f}".format),
            "money_saved": [money(x, currency) for x in table["money_saved"]],
            "extra_misdiagnoses": _with_interval(table, "extra_misdiagnoses", "extra", signed),
        }
    )


def _with_interval(
    table: pd.DataFrame, value: str, ends: str, write: Callable[[float], str]
) -> list[str]:
    columns = (table[value], table[f"{ends}_low"], table[f"{ends}_high"])
    return [
        f"{write(x)} ({write(low)} to {write(high)})" for x, low, high in zip(*columns, strict=True)
    ]


def kept_scenarios(asked: Problem, currency: str) -> None:
    """Name the present what-if, and compare all that were kept."""
    trouble = st.session_state.pop("scenario trouble", None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Name of the present what-if", key="scenario name", max_chars=60)
        st.button("Keep it", on_click=scenarios.keep_present, icon=":material/bookmark_add:")
    if trouble:
        st.warning(plain(trouble))
    kept = scenarios.kept_changes()
    table = compare(asked, kept, n_patients())
    shown = readable(table, currency).rename(columns=_MEASURES | {"scenario": "Scenario"})
    looks = {"Best panel": st.column_config.TextColumn(width="medium")}
    st.dataframe(shown, hide_index=True, column_config=looks, alt="Scenarios compared")
    if len(table) - 1 < len(kept):
        st.caption("Scenarios that name tests or fees of another study are left out.")
    downloads(table, "scenarios")
    if kept:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox("Scenario", [c.name for c in kept], key="scenario chosen")
            st.button("Try its prices", on_click=scenarios.use_chosen)
            st.button("Delete it", on_click=scenarios.delete_chosen)
