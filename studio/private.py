"""The switch "keep nothing on this server", and what it means."""

from __future__ import annotations

import streamlit as st

from studio import session

_ON = (
    "Your work and your patients are held in this server's memory only, never written to its disc. "
    "They are gone when the server restarts; until then the link opens them. Export the workspace "
    "to a file to keep it."
)
_OFF = (
    "Your work and your patients are saved on this server as you go, in its own store and nowhere "
    "else, until you delete the workspace. Only who has the link can open it."
)


def private_switch(key: str) -> None:
    """Let the user choose whether the server writes anything down."""
    private = bool(st.session_state["private"])
    st.session_state[key] = private
    st.toggle("Keep nothing on this server", key=key, on_change=_switch, args=(key,))
    st.caption(_ON if private else _OFF)


def _switch(key: str) -> None:
    session.keep_nothing(bool(st.session_state[key]))
