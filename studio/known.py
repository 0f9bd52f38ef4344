"""Which workspaces this browser has opened: the browser keeps their ids, not the server."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from studio import session


@cache
def _script() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def remember() -> None:
    """Let the browser remember the present workspace, and forget those deleted here."""
    held = session.workspace()
    if held is not None or _forgotten():
        _mount(ask=False)


def ids() -> list[str] | None:
    """Ask the browser for the workspaces it knows; None until it has answered."""
    answer = _mount(ask=True).get("ids")
    if answer is None:
        return None
    return [id for id in answer if isinstance(id, str) and id not in _forgotten()][:200]


def forget(id: str) -> None:
    """Have the browser forget a workspace."""
    st.session_state["forgotten"] = [*_forgotten(), id]


def _forgotten() -> list[str]:
    found: list[str] = st.session_state.get("forgotten", [])
    return found


def _mount(*, ask: bool) -> Any:
    held = session.workspace()
    told = {"remember": [held.id] if held else [], "forget": _forgotten(), "ask": ask}
    component = st.components.v2.component("known_workspaces", js=_script())
    return component(data=told, key="known, asked" if ask else "known", on_ids_change=_nothing)


def _nothing() -> None:
    """Streamlit wants a callback before a component's value is handed on."""
