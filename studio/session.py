"""One visitor's workspace: loaded by its link, saved at every change, never overwritten unseen."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from csmd_core.bundled import about, bundled_names, groupings
from csmd_core.faults import BadInput, Fault
from studio.store import Conflict, Settings, Store, Workspace
from studio.workspace import unpack

LINK = "w"  # the query parameter that holds a workspace's id
_OWN = ("workspace", "settings", "conflict", "unsaved blobs", "cannot keep")

DEFAULTS: Settings = {
    "study": {"source": "bundled", "name": "diabetes", "grouping": "clinic", "zero_missing": True},
    "tests": None,  # None: as the bundled study groups and prices them
    "fees": None,
    "shared_fees": True,
    "mode": "cascade",
    "at_most": None,
    "chosen": None,
    "fitting": {"classifier": "logistic regression", "folds": 10, "threshold": 0.5, "seed": 0},
    "fitted": None,  # the key of what was last fitted on request
    "lam": None,  # None: one that suits the study; a number; or a list, one a panel
    "cohort": 10_000,
    "what_if": None,  # prices, fees and a change of all, as `what_if.as_row` writes them
    "scenarios": [],  # named what-ifs that were kept
    "experiment": {},  # what is chosen on the Experiments page, where it is not the usual
    "experiments": [],  # kept results, as `results.keep` writes them
    "paper": {},  # what is chosen on the Paper page, where it is not as in the paper
    "live": {},  # what is chosen on the Live page, where it is not `live_run.USUAL`
}

UPLOAD: Settings = {  # the setting "study" where the user brought the patients
    "source": "upload",
    "file": "",
    "patients": "",  # the blob that holds the file
    "label": None,
    "positive": [],
    "kinds": {},  # where they differ from the guess
    "left_out": [],
    "zero_missing": [],
    "currency": "$",
    "results": False,  # columns are test results already
    "rule": "the last test decides",
    "decimal": None,
    "priced": False,  # False: one test a column, prices to be filled in
    "as_uploaded": None,  # the tests and fees of the price table, to go back to
    "price_faults": [],  # what the price table left unclear
}


@dataclass(frozen=True)
class _Saved:
    """What this session saved last, noted in the same breath.

    Streamlit may end a run at any look into the session's state, so also right after saving; and
    the run that takes its place begins before the old one has ended. Neither is another tab.
    """

    revisions: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@st.cache_resource(show_spinner=False)
def disc_store() -> Store:
    return Store.open()


@st.cache_resource(show_spinner=False)
def memory_store() -> Store:
    return Store.in_memory()


def begin() -> None:
    """Take up the workspace that the link names, or start with a bundled study."""
    state = st.session_state
    wanted, held = st.query_params.get(LINK), workspace()
    if wanted and (held is None or held.id != wanted):
        _open(wanted)
    elif held is not None:
        _look_for_other_tabs(held)
    state.setdefault("settings", copy.deepcopy(DEFAULTS))
    state.setdefault("private", False)
    keep_link()


def keep_link() -> None:
    """Write the workspace's id into the address, which a page switch clears."""
    held = workspace()
    if held is not None and st.query_params.get(LINK) != held.id:
        st.query_params[LINK] = held.id


def workspace() -> Workspace | None:
    held: Workspace | None = st.session_state.get("workspace")
    return held


def store() -> Store:
    return memory_store() if st.session_state.get("private") else disc_store()


def get(name: str) -> Any:
    """Read one setting. Change it with `change`, not in place."""
    return st.session_state["settings"][name]


def change(new_blobs: Iterable[bytes] = (), **changes: Any) -> None:
    """Set settings and save the workspace; the first change creates it."""
    state = st.session_state
    settings = {**state["settings"], **changes}
    if settings == state["settings"] and not new_blobs:
        return
    state["settings"] = settings
    save(new_blobs)


def note(**changes: Any) -> None:
    """Set settings without saving, for what changes many times a second; `save` must follow."""
    st.session_state["settings"] = {**st.session_state["settings"], **changes}


def save(new_blobs: Iterable[bytes] = ()) -> None:
    """Write the settings; what another tab saved in between is kept until the user decides."""
    held, settings = workspace(), st.session_state["settings"]
    if held is None:
        take_up(store().create(_title(settings), settings, new_blobs))
        return
    saved: _Saved = st.session_state.setdefault("saved", _Saved())
    place = store()
    try:
        with saved.lock:
            revision = max(held.revision, saved.revisions.get(held.id, 0))
            saved.revisions[held.id] = place.save(held.id, revision, settings, new_blobs)
    except Conflict as conflict:
        st.session_state["conflict"] = conflict
        unsaved = st.session_state.setdefault("unsaved blobs", [])
        unsaved.extend(data for data in new_blobs if data not in unsaved)
        return
    take_up(store().load(held.id) or held)


def start(new_blobs: Iterable[bytes] = (), **settings: Any) -> None:
    """Begin another workspace with these settings; the present one stays where it is."""
    for key in _OWN:
        st.session_state.pop(key, None)
    st.session_state["settings"] = {**copy.deepcopy(DEFAULTS), **settings}
    save(new_blobs)


def take_up(found: Workspace) -> None:
    """Make this the session's workspace."""
    st.session_state["workspace"] = found
    st.session_state["settings"] = {**copy.deepcopy(DEFAULTS), **found.settings}
    _settled()
    keep_link()  # now: the next run opens what the address says


def leave() -> None:
    """Go back to a fresh start, without a workspace."""
    for key in _OWN:
        st.session_state.pop(key, None)
    st.query_params.pop(LINK, None)


def go_to(id: str) -> None:
    """Open another workspace of this server at the next run."""
    leave()
    st.query_params[LINK] = id


def import_file(data: bytes) -> Workspace:
    """Make a workspace of an exported file, and take it up."""
    if not _sound(unpack(data).settings):
        raise BadInput(
            Fault(
                "The workspace file", "holds settings that this app does not understand.",
                "Export the workspace again and choose that .zip file.",
            )
        )  # fmt: skip
    found = store().import_file(data)
    take_up(found)
    return found


def _sound(settings: Settings) -> bool:
    """Whether settings have the shape that pages rely on: the file may come from anywhere."""
    if not _alike({**DEFAULTS, **settings}, DEFAULTS):
        return False
    study: Settings = {**DEFAULTS, **settings}["study"]
    if study.get("source") == "upload":
        return _alike(study, UPLOAD)
    known = study.get("source") == "bundled" and study.get("name") in bundled_names()
    return known and study.get("grouping") in groupings(study["name"])


def _alike(told: Settings, example: Settings) -> bool:
    kinds = {name: type(value) for name, value in example.items() if value is not None}
    return all(isinstance(told.get(name), kind) for name, kind in kinds.items())


def keep_mine() -> None:
    """Settle a conflict: save this tab's settings over the other's, or beside where they went."""
    conflict, held = _conflict(), workspace()
    if conflict is None:
        return  # a second click
    st.session_state["workspace"] = conflict.current
    try:
        save(st.session_state.get("unsaved blobs", ()))
    except BadInput as bad:  # the other tab dropped the patients that this one works on
        st.session_state["workspace"] = held
        st.session_state["cannot keep"] = bad


def use_theirs() -> None:
    """Settle a conflict: take what the other tab saved."""
    conflict = _conflict()
    if conflict is not None and conflict.current is not None:
        take_up(conflict.current)
    elif conflict is not None:
        leave()


def _conflict() -> Conflict | None:
    found: Conflict | None = st.session_state.get("conflict")
    return found


def _settled() -> None:
    for key in ("conflict", "unsaved blobs", "cannot keep"):
        st.session_state.pop(key, None)


def keep_nothing(private: bool) -> None:
    """Move the workspace between the disc and this server's memory; its link changes."""
    held, source = workspace(), store()
    if held is None:
        st.session_state["private"] = private
        save()  # so that the link remembers the wish
        return
    moved = (memory_store() if private else disc_store()).import_file(source.export_file(held.id))
    source.delete(held.id)
    st.session_state["private"] = private
    take_up(moved)


def _open(wanted: str) -> None:
    for private in (False, True):
        found = (memory_store() if private else disc_store()).load(wanted)
        if found is not None:
            st.session_state["private"] = private
            take_up(found)
            return
    leave()
    st.session_state["not_found"] = True


def _look_for_other_tabs(held: Workspace) -> None:
    """Adopt what another tab saved since, as long as nothing of this tab's is unsaved."""
    now = store().load(held.id)
    if now is None or "conflict" in st.session_state:
        return
    if now.revision > held.revision:
        take_up(now)
    else:
        st.session_state["workspace"] = now  # its name may be new


def _title(settings: Settings) -> str:
    study = settings["study"]
    return about(study["name"]).title if study["source"] == "bundled" else str(study["file"])
