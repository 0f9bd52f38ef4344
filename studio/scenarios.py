"""What-if prices as settings keep them: the present one, and those that were named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from csmd_core.panels import Panels
from csmd_core.what_if import Change, fits
from studio import session, work
from studio.grid import grid

MOST = 20  # scenarios kept


def present(made: Panels) -> Change:
    """The what-if that is being tried; nothing where it speaks of another study's tests."""
    kept = session.get("what_if")
    change = from_row(kept) if kept else Change()
    return change if fits(made, change) else Change()


def kept_changes() -> list[Change]:
    return [from_row(row) for row in session.get("scenarios") if isinstance(row, dict)]


def from_row(row: dict[str, Any]) -> Change:
    """Read a what-if as settings keep it; of settings from a file only what can be used."""
    prices, fees = (
        {str(name): float(x) for name, x in dict(row.get(part) or {}).items() if _is_price(x)}
        for part in ("prices", "fees")
    )
    share = row.get("change_all")
    share = float(share) if isinstance(share, int | float) and -1 <= share <= 10 else 0.0
    return Change(str(row.get("name", "?"))[:60], prices, fees, share)


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < float("inf")


def as_row(change: Change) -> dict[str, Any]:
    """Write a what-if as settings keep it."""
    return {"name": change.name, "prices": dict(change.prices), "fees": dict(change.fees),
            "change_all": change.change_all}  # fmt: skip


def price_grid(made: Panels, currency: str) -> None:
    """Let every price and fee be changed without touching the study."""
    looks = {
        "name": st.column_config.TextColumn("Test or fee", disabled=True, width=150),
        "today": st.column_config.NumberColumn(
            f"Today ({currency})", disabled=True, format="%.2f", width=90
        ),
        "what_if": st.column_config.NumberColumn(
            f"What if ({currency})", format="%.2f", min_value=0.0, step=0.01, width=95
        ),
    }
    rows = len(made.tests) + len(made.fees)
    grid(
        "what-if prices", _frame, _save, column_config=looks, height=38 + 35 * min(rows, 10),
        alt="Prices today and in the what-if, to be edited",
    )  # fmt: skip


def change_all_input() -> None:
    """Let all prices and fees rise or fall by one share."""
    st.session_state["what-if all"] = round(100 * present(work.panels()).change_all, 6)
    st.number_input(
        "Then change all by (%)", -100.0, 1000.0, step=5.0, format="%.6g", key="what-if all",
        on_change=_set_all, help="−20 makes every price and fee a fifth cheaper.",
    )  # fmt: skip


def reset() -> None:
    session.change(what_if=None)


def keep_present() -> None:
    """Keep the present what-if under the name typed; the same name replaces."""
    name = " ".join(str(st.session_state.get("scenario name", "")).split())[:60]
    if not name:
        st.session_state["scenario trouble"] = "Give the scenario a name first."
        return
    others = [row for row in session.get("scenarios") if row["name"] != name]
    if len(others) >= MOST:
        st.session_state["scenario trouble"] = f"{MOST} scenarios are kept: delete one first."
        return
    row = as_row(present(work.panels())) | {"name": name}
    session.change(scenarios=[*others, row])
    st.session_state["scenario name"] = ""


def use_chosen() -> None:
    """Take up the chosen scenario's prices as the present what-if."""
    name = st.session_state.get("scenario chosen")
    found = next((row for row in session.get("scenarios") if row["name"] == name), None)
    if found is not None:
        session.change(what_if=found)


def delete_chosen() -> None:
    name = st.session_state.get("scenario chosen")
    session.change(scenarios=[row for row in session.get("scenarios") if row["name"] != name])


def _frame() -> pd.DataFrame:
    made = work.panels()
    change = present(made)
    rows = [(t.name, t.price, change.prices.get(t.name, t.price)) for t in made.tests]
    rows += [(f"{n} (fee)", fee, change.fees.get(n, fee)) for n, fee in made.fees.items()]
    return pd.DataFrame(rows, columns=["name", "today", "what_if"])


def _save(frame: pd.DataFrame) -> None:
    """Keep only what differs from today; an emptied cell means today's price."""
    made = work.panels()
    typed = pd.to_numeric(frame["what_if"]).to_numpy(float)
    today = frame["today"].to_numpy(float)
    differs = np.isfinite(typed) & (typed >= 0) & (typed != today)
    names = [*(t.name for t in made.tests), *made.fees]
    n = len(made.tests)
    new = {i: float(typed[i]) for i in np.flatnonzero(differs)}
    change = Change(
        "What if",
        {names[i]: price for i, price in new.items() if i < n},
        {names[i]: price for i, price in new.items() if i >= n},
        present(made).change_all,
    )
    session.change(what_if=as_row(change))


def _set_all() -> None:
    share = st.session_state["what-if all"]
    if share is None:
        return
    now = as_row(present(work.panels()))
    session.change(what_if=now | {"name": "What if", "change_all": round(share / 100, 8)})
