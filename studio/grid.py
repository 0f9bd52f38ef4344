"""Tables to edit: every edit goes into the settings, and none is lost by a rerun.

The editor must keep the frame it began with while the user types, so that frame is held here and
replaced only when the content changed elsewhere: on another page, in another tab, by a button.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from studio.shelf import key_of


def grid(
    key: str,
    content: Callable[[], pd.DataFrame],
    save: Callable[[pd.DataFrame], bool | None],
    **looks: Any,
) -> None:
    """Show ``content()`` to be edited; each edit calls ``save`` with the table as it then is.

    ``save`` returns True where the rows must be shown anew, because it put them in another order.
    """
    state, held_key = st.session_state, f"{key} held"
    now, dress, held = content(), str(looks), state.get(held_key)
    if held is None or held["widget"] not in state or held["seen"] != _sign(now, dress):
        turn = 1 if held is None else held["turn"] + 1
        held = {"turn": turn, "widget": f"{key} {turn}", "base": now, "seen": _sign(now, dress)}
        state[held_key] = held

    def on_change() -> None:
        anew = save(apply_edits(held["base"], state[held["widget"]]))
        held["seen"] = "" if anew else _sign(content(), dress)

    if looks.get("num_rows", "fixed") == "fixed":
        held["base"] = now  # such an editor stays when values change, and drops edits they contain
    st.data_editor(held["base"], key=held["widget"], on_change=on_change, hide_index=True, **looks)


def apply_edits(base: pd.DataFrame, edits: dict[str, Any]) -> pd.DataFrame:
    """Return the base table with what the editor reports: cells, new rows, deleted rows."""
    rows = base.to_dict("records")
    for position, cells in edits.get("edited_rows", {}).items():
        rows[int(position)].update(cells)
    gone = set(edits.get("deleted_rows", []))
    kept = [row for position, row in enumerate(rows) if position not in gone]
    return pd.DataFrame(kept + edits.get("added_rows", []), columns=base.columns)


def _sign(frame: pd.DataFrame, dress: str) -> str:
    return key_of(frame.to_dict("list"), dress)  # new looks make a new editor, without its edits
