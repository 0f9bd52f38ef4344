"""A slider over a run: follows what is shown, and says where the user lets it go."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st

_HTML = "<div class='csmd-scrub'><input type='range' min='0' step='1'><output></output></div>"
_CSS = """
.csmd-scrub { display: flex; align-items: center; gap: 1rem; }
.csmd-scrub input { flex: 1; min-width: 0; accent-color: var(--st-primary-color); }
.csmd-scrub output { font-variant-numeric: tabular-nums; white-space: nowrap; }
"""


def scrub(at: int, most: int, on_move: Callable[[int], None], *, key: str, label: str) -> None:
    """Show the slider at its place; letting it go elsewhere calls ``on_move``."""

    def moved() -> None:
        to = (st.session_state.get(key) or {}).get("to")
        if isinstance(to, int | float):
            on_move(int(to))

    component = st.components.v2.component(
        "csmd_scrub", html=_HTML, css=_CSS, js=_script(), isolate_styles=False
    )
    component(key=key, data={"at": at, "most": most, "label": label}, on_to_change=moved)


@cache
def _script() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
