"""Charts that stay mounted: a changed figure moves in place, and a point on it can be picked."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go
import streamlit as st

from studio.shelf import kept

_HERE = Path(__file__)
_SERVED = _HERE.parent.parent / "static"  # Streamlit serves this folder; nothing in it is kept


def chart(
    figure: go.Figure | dict[str, Any],
    *,
    key: str,
    alt: str,
    on_pick: Callable[[float], None] | None = None,
    shapes: list[dict[str, Any]] | None = None,
) -> None:
    """Show a figure, or Plotly's JSON of one; a click or drag on it calls ``on_pick`` with x.

    ``shapes`` are put on the figure: where only they change, nothing else is drawn anew.
    """

    def picked() -> None:
        x = (st.session_state.get(key) or {}).get("x")
        if on_pick is not None and isinstance(x, int | float):
            on_pick(float(x))

    component = st.components.v2.component("csmd_chart", js=_script(), isolate_styles=False)
    told = {
        "figure": json.dumps(figure) if isinstance(figure, dict) else _json(figure),
        "shapes": shapes or [],
        "alt": alt,
        "pick": on_pick is not None,
        "plotly": _plotly_file(),
    }
    component(key=key, data=told, on_x_change=picked)


def drawn(make: Callable[[], go.Figure], *parts: object) -> dict[str, Any]:
    """Draw a figure once for what it depends on, and keep Plotly's JSON of it."""
    found: dict[str, Any] = kept(lambda: json.loads(_json(make())), "figure", *parts)
    return found


def _json(figure: go.Figure) -> str:
    return str(figure.update_layout(template=None).to_json())


@cache
def _script() -> str:
    return _HERE.with_suffix(".js").read_text(encoding="utf-8")


@cache
def _plotly_file() -> str:
    """Put the installed Plotly's own script where the browser can load it, once a version."""
    served = _SERVED / f"plotly-{plotly.__version__}.min.js"
    if not served.exists():
        _SERVED.mkdir(exist_ok=True)
        part = served.with_suffix(f".{threading.get_ident()}.part")  # each its own, if many begin
        shutil.copyfile(Path(plotly.__file__).parent / "package_data" / "plotly.min.js", part)
        part.replace(served)
    return served.name
