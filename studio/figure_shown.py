"""A figure with its downloads: HTML from here, PNG or SVG from the chart's own toolbar."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from csmd_core.report import html_page


def show_figure(figure: go.Figure, *, key: str, alt: str, name: str) -> None:
    """Show a figure that can be taken away under a file name."""
    kind = str(st.session_state.get(f"{key} picture") or "PNG").lower()
    picture = {"format": kind, "filename": name, "scale": 2 if kind == "png" else 1}
    st.plotly_chart(
        figure, key=key, alt=alt,
        config={"toImageButtonOptions": picture, "displaylogo": False},
    )  # fmt: skip
    with st.popover("Take the chart away", icon=":material/download:", type="tertiary"):
        st.download_button(
            "Interactive page (HTML)", lambda: html_page(name, [figure]).encode(), f"{name}.html",
            "text/html", key=f"{key} html", on_click="ignore", icon=":material/download:",
        )  # fmt: skip
        st.segmented_control(
            "The camera in the chart's toolbar saves", ["PNG", "SVG"], default="PNG",
            key=f"{key} picture", required=True,
        )  # fmt: skip
