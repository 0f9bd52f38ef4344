"""What the Trade-off page shows: its two charts, a year's patients, which price matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from csmd_core.budget import Cohort, break_even, cohort
from csmd_core.figures.lam import lam_range
from csmd_core.figures.trade_off import (
    frontier_figure,
    frontier_now,
    loss_bars_figure,
    loss_figure,
    loss_now,
    tornado_figure,
)
from csmd_core.problem import Problem
from csmd_core.what_if import best_window, tornado
from csmd_core.windows import Window
from studio import session
from studio.chart import chart, drawn
from studio.downloads import downloads
from studio.lam_control import pick_lam
from studio.text import count, lam_text, money, plain, signed


def losses(asked: Problem, windows: list[Window], currency: str) -> None:
    """Draw the losses over λ, where a click or drag sets λ; or side by side, with a λ for each."""
    if asked.one_lam is None:
        figure = loss_bars_figure(asked)
        chart(figure, key="losses", alt="Loss of each panel: its error rate and its scaled cost")
        return
    frame = lam_range(windows, asked.one_lam)
    lines = drawn(
        lambda: loss_figure(asked.panels, asked.evidence, windows, frame, currency),
        "losses", *_content(asked, currency), frame,
    )  # fmt: skip
    chart(
        lines, key="losses over lam", on_pick=pick_lam, shapes=loss_now(asked),
        alt="Loss of the panels over λ; click or drag to set λ",
    )  # fmt: skip


def cost_and_error(asked: Problem, currency: str) -> None:
    """Draw the cost–error frontier with the best panel and the budget line."""
    points = drawn(
        lambda: frontier_figure(asked.panels, asked.evidence, currency),
        "frontier", *_content(asked, currency),
    )  # fmt: skip
    chart(
        points, key="frontier", shapes=frontier_now(asked),
        alt="Panels by cost per patient and error rate, with the budget line",
    )  # fmt: skip


def _content(asked: Problem, currency: str) -> tuple[object, ...]:
    panels = asked.panels
    return (asked.evidence.fingerprint, panels.mode, panels.names, panels.costs.tolist(), currency)


def year(asked: Problem, currency: str) -> None:
    """Scale the best panel to a year's patients, against everyone getting everything."""
    cohort_input()
    assert asked.best is not None
    found = cohort(asked, asked.best, n_patients())
    full = cohort(asked, asked.n_panels - 1, n_patients())
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
    st.session_state["cohort"] = n_patients()
    st.number_input(
        "Patients a year", 1, 100_000_000, step=1000, key="cohort",
        on_change=lambda: session.change(cohort=int(st.session_state["cohort"] or 1)),
    )  # fmt: skip


def n_patients() -> int:
    return int(session.get("cohort"))


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
        below = f" Below {money(low, currency)}, {row['cheaper_best']} is best." if low > 0 else ""
        if np.isinf(high):
            return f"{what} stays in the best panel, whatever more it costs.{below}"
        return (
            f"{what} stays in the best panel until its price passes {money(high, currency)}; "
            f"then {row['dearer_best']} is best.{below}"
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
