"""The parts of the Workspaces page: the present one, a list of others, import and export."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st

from csmd_core.faults import BadInput
from studio import known, session
from studio.store import Store, Summary
from studio.text import plain, show_faults


def told() -> None:
    """Say once what the last click did, or why it could not."""
    done = st.session_state.pop("workspaces told", None)
    if isinstance(done, BadInput):
        show_faults(done.faults)
    elif done is not None:
        st.success(plain(done), icon=":material/check:")


def _tell(action: Callable[[], str]) -> None:
    try:
        st.session_state["workspaces told"] = action()
    except BadInput as bad:
        st.session_state["workspaces told"] = bad


def present(held: Summary) -> None:
    """Show the present workspace: its name, its link, and what can be done with it."""
    st.session_state["workspace name"] = held.name
    st.text_input("Name", key="workspace name", max_chars=120, on_change=_rename, args=(held.id,))
    st.caption("Its link. Whoever has it can open and change this workspace; nobody can guess it.")
    st.code(link(held.id), language=None, wrap_lines=True)
    with st.container(horizontal=True):
        _actions(held, session.store(), "present")


def link(id: str) -> str:
    """Write the address that opens a workspace, under whatever path prefix the app runs."""
    parts = urlsplit(st.context.url or "")
    base = re.sub(r"/workspaces/?$", "", parts.path).rstrip("/")
    place = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    return f"{place}{base}/?{session.LINK}={id}"


def another() -> None:
    """Begin a fresh workspace, or take one from an exported file."""
    st.button("Start a new workspace", icon=":material/add:", on_click=_start_new)
    turn = st.session_state.setdefault("import turn", 0)
    key = f"import {turn}"
    st.file_uploader(
        "Import an exported workspace (.zip)", "zip", key=key, on_change=_import, args=(key,)
    )


def listed(ids: list[str] | None, held: Summary | None) -> None:
    """List the workspaces that this browser has opened and that are still here."""
    if ids is None:
        st.caption("Asking the browser … If nothing appears, it keeps no memory for this page.")
        ids = []
    wanted = list(dict.fromkeys([*([held.id] if held else []), *ids]))
    stores = (session.disc_store(), session.memory_store())
    rows = [(found, store) for store in stores for found in store.summaries(wanted)]
    for found, store in sorted(rows, key=lambda row: row[0].updated, reverse=True):
        _row(found, store, is_held=held is not None and found.id == held.id)
    if not rows:
        st.caption("None yet.")
    st.caption("This list is kept by your browser. On another computer, use the link.")


def _row(found: Summary, store: Store, *, is_held: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        where = "in memory only" if store is session.memory_store() else "saved"
        changed = f"{found.updated:%d %B %Y, %H:%M} UTC"
        st.markdown(f"**{plain(found.name)}**  \n{where}, changed {changed}", width="stretch")
        if is_held:
            st.badge("open", icon=":material/check:")
        else:
            st.button("Open", key=f"open {found.id}", on_click=_open, args=(found.id,))
            _actions(found, store, found.id)


def _actions(found: Summary, store: Store, key: str) -> None:
    st.button(
        "Duplicate", icon=":material/content_copy:", key=f"duplicate {key}",
        on_click=_duplicate, args=(found.id, store),
    )  # fmt: skip
    st.download_button(
        "Export", lambda: store.export_file(found.id), f"{_file_name(found.name)}.zip",
        "application/zip", key=f"export {key}", icon=":material/download:", on_click="ignore",
    )  # fmt: skip
    with st.popover("Delete", icon=":material/delete:"):
        st.markdown(
            f"Delete **{plain(found.name)}** with its patients, tests and prices? "
            "Nothing of it stays on this server, and its link leads nowhere. "
            "This cannot be undone."
        )
        st.button(
            "Delete for good", type="primary", key=f"delete {key}",
            on_click=_delete, args=(found.id, store),
        )  # fmt: skip


def _file_name(name: str) -> str:
    return re.sub(r"[^\w .-]+", "_", name).strip(" .")[:80] or "workspace"


def _rename(id: str) -> None:
    name = st.session_state["workspace name"]

    def rename() -> str:
        session.store().rename(id, name)
        return "Renamed."

    _tell(rename)


def _duplicate(id: str, store: Store) -> None:
    def duplicate() -> str:
        copy = store.duplicate(id)
        session.go_to(copy.id)
        return f"This is the copy, {copy.name}. The original is in the list below."

    _tell(duplicate)


def _delete(id: str, store: Store) -> None:
    def delete() -> str:
        store.delete(id)
        known.forget(id)
        held = session.workspace()
        if held is not None and held.id == id:
            session.leave()
        return "Deleted for good."

    _tell(delete)


def _open(id: str) -> None:
    session.go_to(id)


def _start_new() -> None:
    session.leave()
    st.session_state["workspaces told"] = "This is a fresh start; your former work is listed below."


def _import(key: str) -> None:
    given = st.session_state[key]
    if given is None:
        return

    def import_it() -> str:
        found = session.import_file(given.getvalue())
        return f"Imported {found.name}."

    st.session_state["import turn"] += 1
    _tell(import_it)
