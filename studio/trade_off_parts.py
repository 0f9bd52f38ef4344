"""What the Trade-off page shows below its charts: a year's patients, what-ifs, sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from csmd_core.budget import Cohort, break_even, cohort
from csmd_core.figures.lam import Strip, windows_figure
from csmd_core.figures.trade_off import tornado_figure
from csmd_core.problem import Problem
from csmd_core.what_if import at_prices, best_window, compare, tornado
from csmd_core.windows import Window
from studio import decision, scenarios, session
from studio.chart import chart
from studio.downloads import downloads
from studio.text import count, lam_text, money, percent, plain, signed

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


def year(asked: Problem, currency: str) -> None:
    """Scale the best panel to a year's patients, against everyone getting everything."""
    assert asked.best is not None
    found = cohort(asked, asked.best, _n_patients())
    full = cohort(asked, asked.n_panels - 1, _n_patients())
    with st.container(horizontal=True):
        st.metric("Cost a year", money(found.cost, currency), border=True)
        st.metric("Misdiagnoses a year", f"{found.misdiagnoses:,.0f}", border=True)
        st.metric("Saved against every test", money(found.money_saved, currency), border=True)
        st.metric("Extra misdiagnoses", signed(found.extra_misdiagnoses), border=True)
    st.markdown(plain(_year_sentence(found, full, currency)))


def _year_sentence(found: Cohort, full: Cohort, currency: str) -> str:
    low, high = found.misdiagnoses_interval
    sentence = (
        f"For {count(found.n_patients, 'patient')} a year the best panel costs "
        f"{money(found.cost, currency)} and is wrong for about {found.misdiagnoses:,.0f} of them "
        f"(95% interval {low:,.0f} to {high:,.0f}). "
    )
    if found.money_saved == 0:
        return sentence + "It is the dearest panel: nothing is saved and nothing is lost."
    low, high = found.extra_interval
    return sentence + (
        f"Giving everyone every test would cost {money(full.cost, currency)}: the best panel saves "
        f"{money(found.money_saved, currency)}, for {signed(found.extra_misdiagnoses)} "
        f"misdiagnoses (95% interval {signed(low)} to {signed(high)})."
    )


def cohort_input() -> None:
    """Ask for the number of patients a year."""
    st.session_state["cohort"] = _n_patients()
    st.number_input(
        "Patients a year", 1, 100_000_000, step=1000, key="cohort",
        on_change=lambda: session.change(cohort=int(st.session_state["cohort"] or 1)),
    )  # fmt: skip


def _n_patients() -> int:
    return int(session.get("cohort"))


def what_if(asked: Problem, windows: list[Window], currency: str) -> None:
    """Change prices, and see today and the what-if side by side."""
    change = scenarios.present(asked.panels)
    left, right = st.columns([2, 3], gap="large")
    with left:
        scenarios.price_grid(asked.panels, currency)
        scenarios.change_all_input()
        st.button("Back to today's prices", on_click=scenarios.reset, disabled=change.is_none)
    table = compare(asked, [change], _n_patients())
    with right:
        _side_by_side(table, currency)
    after = at_prices(asked, change)
    if asked.one_lam is not None:
        then = decision.windows(after.panels, after.evidence)
        strips = [Strip("Today", asked.panels, windows), Strip("What if", after.panels, then)]
        chart(
            windows_figure(strips, asked.one_lam, currency), key="what-if windows",
            alt="Best panel for each λ, today and in the what-if",
        )  # fmt: skip
    st.markdown(plain(_what_if_sentence(table, currency)))


def _side_by_side(table: pd.DataFrame, currency: str) -> None:
    shown = readable(table, currency).set_index("scenario").T
    shown.index = pd.Index([_MEASURES[name] for name in shown.index], name=" ")
    shown.columns = pd.Index(["Today", "What if"][: shown.shape[1]])
    st.dataframe(shown, height=38 + 35 * len(shown), alt="Today and the what-if, side by side")


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
    table = compare(asked, kept, _n_patients())
    shown = readable(table, currency).rename(columns=_MEASURES | {"scenario": "Scenario"})
    st.dataframe(shown, hide_index=True, alt="Scenarios compared")
    if len(table) - 1 < len(kept):
        st.caption("Scenarios that name tests or fees of another study are left out.")
    downloads(table, "scenarios")
    if kept:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox("Scenario", [c.name for c in kept], key="scenario chosen",
                         format_func=plain)  # fmt: skip
            st.button("Try its prices", on_click=scenarios.use_chosen)
            st.button("Delete it", on_click=scenarios.delete_chosen)


def sensitivity(asked: Problem, currency: str) -> None:
    """Say until which price the best panel stays, and which price matters most."""
    left, right = st.columns(2, gap="large")
    rows = break_even(asked)
    with left:
        st.markdown("\n".join(f"- {plain(line)}" for line in break_even_sentences(rows, currency)))
    with right:
        share = 0.2
        swings = tornado(asked, share)
        chart(
            tornado_figure(swings, asked.one_lam, currency), key="tornado",
            alt="How the best choice's loss moves with each price",
        )  # fmt: skip
        first = swings.iloc[0]
        st.caption(
            plain(
                f"Each price alone, {share:.0%} down and up. {first['name']} matters most. "
                "The change counts money and misdiagnoses together."
            )
        )
    downloads(rows, "break-even prices")


def break_even_sentences(rows: pd.DataFrame, currency: str) -> list[str]:
    """Write one sentence for each test and fee."""
    return [_break_even(row, currency) for row in rows.to_dict("records")]


def _break_even(row: dict[Any, Any], currency: str) -> str:
    price, low, high = row["price"], row["low"], row["high"]
    what = (
        f"{row['name']} ({'fee, ' if row['kind'] == 'fee' else ''}today {money(price, currency)})"
    )
    if row["in_best"]:
        if np.isinf(high):
            return f"{what} is part of the best panel at any price above {money(low, currency)}."
        return (
            f"{what} stays in the best panel until its price passes {money(high, currency)}; "
            f"then {row['dearer_best']} is best."
        )
    if low <= 0:
        return f"{what} stays out of the best panel even if it were free."
    return f"{what} would enter below {money(low, currency)}: then {row['cheaper_best']} is best."


def window_sentence(asked: Problem, windows: list[Window], currency: str) -> str:
    """Read the λ chart to the user."""
    assert asked.best is not None
    name, window = asked.panels.names[asked.best], best_window(asked)
    if window is None:
        return f"With a λ for each panel, {name} has the least loss."
    dearest, cheapest = (1 / x if 0 < x < np.inf else None for x in (window.low, window.high))
    ends = [
        f"more than {money(cheapest, currency)}" if cheapest else "",
        f"less than {money(dearest, currency)}" if dearest else "",
    ]
    while_worth = " and ".join(end for end in ends if end) or "anything"
    holding = [w for w in windows if w.best == window.best and w.holds and not w.vacuous]
    learn = (
        f" Weak dominance holds for it from λ = {lam_text(holding[0].low)}"
        + (f" to {lam_text(holding[-1].high)}." if np.isfinite(holding[-1].high) else " on.")
        if holding
        else " Weak dominance holds for it at no λ."
    )
    if window.vacuous:
        learn = " No panel is dearer, so weak dominance has nothing to check."
    return f"{name} is best while avoiding one misdiagnosis is worth {while_worth}.{learn}"
