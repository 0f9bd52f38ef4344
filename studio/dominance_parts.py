"""What the Weak dominance page shows: the verdict, why, where, and what would change it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from csmd_core.dominance import Dominance, MarginInterval, strong_dominance
from csmd_core.figures.dominance import (
    MOST_BARS,
    closest_disagreement_figure,
    gap_figure,
    margin_figure,
)
from csmd_core.figures.lam import Strip, lam_range, windows_figure
from csmd_core.problem import Problem
from csmd_core.verdict import in_words
from csmd_core.windows import Window, candidate_windows, nearest_holding
from studio import decision
from studio.chart import chart
from studio.downloads import downloads
from studio.lam_control import pick_lam, set_lam
from studio.shelf import kept
from studio.text import lam_meaning, lam_text, percent, plain

_BOXES = {
    "holds": (st.success, ":material/check_circle:"),
    "fails": (st.error, ":material/cancel:"),
    "borderline": (st.warning, ":material/balance:"),
    "vacuous": (st.info, ":material/info:"),
    "no labels": (st.info, ":material/visibility_off:"),
}


def verdict(asked: Problem, found: Dominance) -> None:
    """Say it in one sentence; then the margin on its number line and the probability."""
    interval = decision.margin_interval(asked) if asked.evidence.has_truth else None
    told = in_words(asked, found, interval)
    box, icon = _BOXES[told.kind]
    box(plain(told.sentence), icon=icon)
    st.markdown(plain(told.because))
    if found.margin is None or interval is None:
        return
    with st.container(horizontal=True):
        st.metric("Margin", _number(found.margin), border=True)
        st.metric("95% interval", _span(interval), border=True)
        st.metric("Probability that it holds", _chance(interval), border=True)
    chart(
        margin_figure(found.margin, interval), key="margin",
        alt="The margin of weak dominance on a number line, with its interval",
    )  # fmt: skip
    same = float(interval.best_shares[found.panel or 0])
    st.caption(
        f"Patients drawn anew {interval.n_resamples:,} times; the same panel is best in "
        f"{percent(same, 0)} of the draws."
    )


def _number(margin: float) -> str:
    return f"{margin:+.4f}".replace("-", "−")


def _span(interval: MarginInterval) -> str:
    ends = [_number(x) if np.isfinite(x) else "no limit" for x in (interval.low, interval.high)]
    return f"{ends[0]} to {ends[1]}"


def _chance(interval: MarginInterval) -> str:
    chance = interval.probability_holds
    if 0 < chance < 0.01 or 0.99 < chance < 1:
        return "under 1%" if chance < 0.5 else "over 99%"
    return percent(chance, 0)


def why(asked: Problem, found: Dominance) -> None:
    """Set every dearer panel's cost gap against what it changes."""
    assert found.panel is not None
    rows, best = found.table, asked.panels.names[found.panel]
    chart(
        gap_figure(asked.panels, rows), key="gaps",
        alt="For each dearer panel, what its extra cost weighs against the diagnoses it changes",
    )  # fmt: skip
    n_bad = int((~rows["holds"]).sum())
    shown = f" The {MOST_BARS} tightest are shown." if len(rows) > MOST_BARS else ""
    if len(rows) == 1:
        what = f"The one panel after {best} costs {'less' if n_bad else 'more'} than it changes."
    elif n_bad == len(rows):
        what = f"All {n_bad:,} panels after {best} cost less than they change."
    elif n_bad:
        what = f"{n_bad:,} of {len(rows):,} panels after {best} (✗) cost less than they change."
    else:
        what = f"All {len(rows):,} panels after {best} cost more than they change."
    st.markdown(plain(what + shown))
    with st.expander("The numbers"):
        st.dataframe(
            rows.drop(columns="index").sort_values("difference"), hide_index=True,
            column_config=_looks(), height=38 + 35 * min(len(rows), 10),
            alt="Each dearer panel's cost gap and disagreement",
        )  # fmt: skip
        downloads(rows.drop(columns="index"), "weak dominance")
    with st.expander("How often panels disagree"):
        chart(
            closest_disagreement_figure(asked, found.panel, rows), key="disagreement",
            alt="How often each two panels give different diagnoses",
        )  # fmt: skip


def _looks() -> dict[str, Any]:
    shares = {"cost_gap": "Cost gap", "disagreement": "Changes", "difference": "Difference"}
    return {
        "panel": st.column_config.TextColumn("Panel", width="large"),
        "extra_cost": st.column_config.NumberColumn("Extra cost", format="%.2f"),
        **{k: st.column_config.NumberColumn(v, format="%.4f") for k, v in shares.items()},
        "holds": st.column_config.CheckboxColumn("Holds"),
    }


def where(asked: Problem, currency: str) -> None:
    """Show for which λ it holds, and go to the nearest."""
    windows = decision.windows(asked.panels, asked.evidence)
    chart(
        windows_figure(
            [Strip("Best panel", asked.panels, windows)], asked.one_lam, currency, _frame(asked)
        ),
        key="windows", on_pick=pick_lam,
        alt="The best panel for each λ, and where weak dominance holds",
    )  # fmt: skip
    st.caption("Solid: weak dominance holds. Hatched: it fails. Click to set λ.")
    lam = asked.one_lam
    if lam is None:
        st.markdown("These windows are for one λ for all panels; each panel has its own now.")
        lam = float(np.exp(np.log(asked.lam).mean()))
    goals = {
        "same": nearest_holding(windows, lam, asked.best),
        "any": nearest_holding(windows, lam),
    }
    _go_to(goals, lam, currency)
    with st.expander("All windows"):
        _windows_table(asked, windows)


def _frame(asked: Problem) -> tuple[float, float]:
    """One frame for all λ windows of the page."""
    windows = _candidates(asked)
    if asked.evidence.has_truth:
        windows = [*windows, *decision.windows(asked.panels, asked.evidence)]
    return lam_range(windows, asked.one_lam)


def _candidates(asked: Problem) -> list[Window]:
    panels, evidence = asked.panels, asked.evidence
    return kept(
        lambda: candidate_windows(panels, evidence),
        "candidates", evidence.fingerprint, panels.mode, panels.costs.tolist(),
    )  # fmt: skip


def _go_to(goals: dict[str, float | None], lam: float, currency: str) -> None:
    """Offer the nearest λ at which it holds; nothing to offer where it holds now."""
    if goals["any"] == lam:
        return
    if goals["same"] == goals["any"]:
        del goals["same"]
    words = {"same": "same best panel", "any": "any best panel"}
    st.markdown("Go to the nearest λ where it holds:")
    with st.container(horizontal=True):
        for kind, goal in goals.items():
            if goal is None:
                st.markdown(f"with the {words[kind]} it holds nowhere.")
                continue
            st.button(
                f"{words[kind].capitalize()}: λ = {lam_text(goal)}", key=f"go {kind}",
                help=plain(lam_meaning(goal, currency)), on_click=set_lam, args=(goal,),
                icon=":material/my_location:",
            )  # fmt: skip


def _windows_table(asked: Problem, windows: list[Window]) -> None:
    rows = pd.DataFrame(
        {
            "lam_low": [w.low for w in windows],
            "lam_high": [w.high for w in windows],
            "best_panel": [asked.panels.names[w.best] for w in windows],
            "weak_dominance": [
                "nothing to check" if w.vacuous else "holds" if w.holds else "fails"
                for w in windows
            ],
        }
    )
    number = st.column_config.NumberColumn
    st.dataframe(
        rows, hide_index=True, alt="The λ windows",
        column_config={
            "lam_low": number("λ above", format="%.4g"), "lam_high": number("up to", format="%.4g"),
            "best_panel": "Best panel", "weak_dominance": "Weak dominance",
        },
    )  # fmt: skip
    downloads(rows, "lambda windows")


def without_labels(asked: Problem, currency: str) -> None:
    """Show which panel disagreement alone points to, for each λ: no diagnosis is used."""
    windows = _candidates(asked)
    if not windows:
        st.markdown("Disagreement points to no panel at any λ, so weak dominance cannot hold.")
        return
    chart(
        windows_figure(
            [Strip("Points to", asked.panels, windows)], asked.one_lam, currency, _frame(asked)
        ),
        key="candidates", on_pick=pick_lam,
        alt="The panel that disagreement alone points to, for each λ",
    )  # fmt: skip
    st.markdown(
        "This uses no diagnosis at all. Where a panel is drawn, it is the only one that can be "
        "best if weak dominance holds; in the gaps weak dominance cannot hold."
    )


def strong(asked: Problem) -> None:
    """Say how far the study is from strong dominance."""
    share = strong_dominance(asked)
    if share == 0:
        text = (
            "It holds: whenever a panel is right, every dearer one is right too. Weak dominance "
            "then holds at every λ."
        )
    else:
        text = (
            f"It fails for {percent(share)} of the patients whose diagnosis is known: a panel is "
            "right about them and a dearer one wrong. Weak dominance asks for less."
        )
    st.markdown(plain(text))
