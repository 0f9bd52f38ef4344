"""Four views of one λ: a slider, a number, what a misdiagnosis is worth, money per patient.

The setting is the only truth: every run writes all four widgets from it, and a widget's callback
does nothing but set it. λ may also be one for each panel, in a table.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from csmd_core.budget import lam_for_budget
from csmd_core.faults import BadInput
from csmd_core.figures.lam import lam_range
from csmd_core.problem import Problem
from studio import decision, session, work
from studio.grid import grid
from studio.text import lam_meaning, lam_text, plain, show_faults

LOWEST, HIGHEST = 1e-12, 1e6
_ONE, _EACH = "One λ for all panels", "One for each panel"
_STEPS = 20  # of the slider, for each factor of ten


def lam_control(asked: Problem) -> None:
    """Let the user choose λ in any of its views; ``asked`` holds the present one."""
    lam = None if _is_each(asked) else asked.one_lam
    st.session_state["lam kind"] = _EACH if lam is None else _ONE
    st.segmented_control(
        "λ", [_ONE, _EACH], key="lam kind", on_change=_change_kind, label_visibility="collapsed",
    )  # fmt: skip
    if lam is None:
        _table(asked)
    else:
        _views(asked, lam)
    bad = st.session_state.pop("lam fault", None)
    if bad is not None:
        show_faults(bad.faults)


def _is_each(asked: Problem) -> bool:
    """Whether λ is kept for each panel, be they all the same."""
    kept = session.get("lam")
    return isinstance(kept, list) and len(kept) == asked.n_panels


def set_lam(lam: float) -> None:
    """Set one λ for all panels, within what the product can show."""
    session.change(lam=min(max(float(lam), LOWEST), HIGHEST))


def pick_lam(lam: float) -> None:
    """Set the λ that was pointed at in a chart: no finer than a pointer can be."""
    set_lam(float(f"{lam:.3g}"))


def slider_options(asked: Problem, lam: float) -> list[float]:
    """List round values over all that matters, and λ itself wherever it lies."""
    if asked.evidence.has_truth:
        low, high = lam_range(decision.windows(asked.panels, asked.evidence))
    else:
        middle = 0.3 / max(float(np.ptp(asked.panels.costs)), 1e-6)
        low, high = middle / 300, middle * 300
    first, last = np.floor(np.log10(low)), np.ceil(np.log10(high))
    steps = np.logspace(first, last, int((last - first) * _STEPS) + 1)
    rounded = {lam_text(lam): lam}
    for step in steps:
        rounded.setdefault(f"{step:.3g}", float(f"{step:.3g}"))
    return sorted(rounded.values())


def _views(asked: Problem, lam: float) -> None:
    currency = plain(work.study().currency)
    state, best = st.session_state, asked.best
    state["lam slider"], state["lam number"], state["lam worth"] = lam, lam, 1 / lam
    slider, number, worth, budget = st.columns([3, 2, 2, 2], vertical_alignment="bottom")
    slider.select_slider(
        "λ: accuracy first ← → savings first", slider_options(asked, lam), key="lam slider",
        format_func=lam_text, on_change=_set_from, args=("slider",),
    )  # fmt: skip
    number.number_input(
        "λ", LOWEST, HIGHEST, key="lam number", step=0.0001, format="%.6g",
        on_change=_set_from, args=("number",),
    )  # fmt: skip
    worth.number_input(
        f"Avoiding one misdiagnosis is worth ({currency})", 1 / HIGHEST, 1 / LOWEST,
        key="lam worth", step=100.0, format="%.8g", on_change=_set_from, args=("worth",),
    )  # fmt: skip
    if best is not None:
        state["lam budget"] = float(asked.panels.costs[best])
        budget.number_input(
            f"At most, per patient ({currency})", 0.0, key="lam budget", step=1.0, format="%.2f",
            on_change=_set_from, args=("budget",),
            help="The dearest panel within this amount that is best for some λ.",
        )  # fmt: skip


def _set_from(view: str) -> None:
    value = st.session_state[f"lam {view}"]
    if value is None:
        return
    if view == "budget":
        _set_budget(float(value))
    else:
        set_lam(1 / value if view == "worth" else value)


def _set_budget(money: float) -> None:
    asked = decision.problem()
    assert asked.one_lam is not None
    half_a_cent = 0.005  # a cost is shown in whole cents
    try:
        set_lam(lam_for_budget(asked.panels, asked.evidence, money + half_a_cent, asked.one_lam))
    except BadInput as bad:
        st.session_state["lam fault"] = bad


def _change_kind() -> None:
    asked, kind = decision.problem(), st.session_state["lam kind"]
    if kind == _EACH:
        session.change(lam=asked.lam.tolist())
    elif kind == _ONE:
        best = asked.best if asked.best is not None else 0
        set_lam(float(asked.lam[best]))


def _table(asked: Problem) -> None:
    """Let λ be typed for each panel, as the paper sets it."""
    currency = work.study().currency
    st.caption(
        "With a λ of its own, each panel's cost is weighed by itself, as in the paper's Table I. "
        "Type into the λ column."
    )
    looks = {
        "panel": st.column_config.TextColumn("Panel", disabled=True, width=170),
        "cost": st.column_config.NumberColumn(
            f"Cost ({currency})", disabled=True, format="%.2f", width=80
        ),
        "lam": st.column_config.NumberColumn(
            "λ", min_value=LOWEST, max_value=HIGHEST, required=True, format="%.6g", step=1e-12
        ),
    }
    rows = min(len(asked.panels), 8)
    grid(
        "lam table", _lam_frame, _save_lam, column_config=looks, height=38 + 35 * rows,
        alt="λ for each panel, to be edited",
    )  # fmt: skip
    least, most = float(asked.lam.min()), float(asked.lam.max())
    if least < most:
        st.caption(
            plain(f"From λ = {lam_text(least)} ({lam_meaning(least, currency)}) ")
            + plain(f"to {lam_text(most)} ({lam_meaning(most, currency)}).")
        )


def _lam_frame() -> pd.DataFrame:
    asked = decision.problem()
    return pd.DataFrame({"panel": asked.panels.names, "cost": asked.panels.costs, "lam": asked.lam})


def _save_lam(frame: pd.DataFrame) -> None:
    """Keep what can be used: a cell emptied, or not above 0, leaves its λ as it was."""
    typed, before = pd.to_numeric(frame["lam"]).to_numpy(float), decision.problem().lam
    usable = np.isfinite(typed) & (typed >= LOWEST) & (typed <= HIGHEST)
    session.change(lam=np.where(usable, typed, before).tolist())
