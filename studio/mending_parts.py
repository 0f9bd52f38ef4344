"""What would make weak dominance hold: another price, or panels left out."""

from __future__ import annotations

from typing import Any

import streamlit as st

from csmd_core.mending import mending_prices, panels_in_the_way
from csmd_core.problem import Problem
from csmd_core.what_if import Change
from studio import scenarios, session
from studio.shelf import kept
from studio.text import count, money, plain

_NAMED = 4


def what_to_change(asked: Problem, currency: str) -> None:
    """List each single price that would do, and the panels that stand in the way."""
    if st.session_state.pop("price tried", False):
        st.session_state["part"] = "What if prices change"
        st.switch_page("pages/trade_off.py")
    _prices(asked, currency)
    _left_out(asked)


def _prices(asked: Problem, currency: str) -> None:
    panels = asked.panels
    rows = kept(
        lambda: mending_prices(asked),
        "mending", asked.evidence.fingerprint, panels.mode, panels.costs.tolist(),
        panels.names, asked.lam.tolist(),
    )  # fmt: skip
    found = rows.dropna(subset="new_price").to_dict("records")
    found.sort(key=lambda row: abs(row["new_price"] - row["price"]) / max(row["price"], 1.0))
    if not found:
        st.markdown("No single price would make it hold.")
    for row in found[:6]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(_price_sentence(row, currency)))
            st.button(
                "Try this price", key=f"try {row['kind']} {row['name']}",
                on_click=_try, args=(row,),
            )  # fmt: skip
    if len(found) < len(rows) and found:
        rest = len(rows) - len(found)
        st.caption(f"{count(rest, 'other price')} would not make it hold, whatever the amount.")


def _price_sentence(row: dict[Any, Any], currency: str) -> str:
    rise = row["new_price"] > row["price"]
    what = f"{row['name']}{' (fee)' if row['kind'] == 'fee' else ''}"
    return (
        f"{what} at {money(row['new_price'], currency)} or a little {'more' if rise else 'less'} "
        f"(today {money(row['price'], currency)}): it holds for {row['best_panel']}."
    )


def _try(row: dict[Any, Any]) -> None:
    """Take the price up as the present what-if, and have the page go where it is shown."""
    new = {row["name"]: float(row["new_price"])}
    change = Change(prices=new) if row["kind"] == "test" else Change(fees=new)
    session.change(what_if=scenarios.as_row(change))
    st.session_state["price tried"] = True


def _left_out(asked: Problem) -> None:
    found = panels_in_the_way(asked)
    names = [asked.panels.names[i] for i in found[:_NAMED]]
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    if asked.panels.mode == "cascade":
        st.markdown(
            plain(
                f"Or never stop at {'; '.join(names)}{more}: with "
                f"{'it' if len(found) == 1 else 'them'} left out, it holds."
            )
        )
        return
    st.markdown(plain(f"Or leave out {'; '.join(names)}{more}: without {_them(found)} it holds."))
    kept_panels = [i for i in range(asked.n_panels) if i not in set(found)]
    chosen = [[test.name for test in asked.panels.tests_of(i)] for i in kept_panels]
    st.button(
        f"Leave {_them(found)} out", key="leave out", icon=":material/filter_alt:",
        on_click=lambda: session.change(chosen=chosen, lam=_lam_of(asked, kept_panels)),
        help="The Tests page brings them back.",
    )  # fmt: skip


def _lam_of(asked: Problem, panels: list[int]) -> float | list[float]:
    return asked.one_lam if asked.one_lam is not None else asked.lam[panels].tolist()


def _them(found: list[int]) -> str:
    return "it" if len(found) == 1 else f"these {len(found):,}"
