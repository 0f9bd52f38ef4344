"""Where workspaces are kept: in a database, or only in memory, so that nothing a user made is lost.

A workspace's id is a secret: its link is the key, and nothing lists what others have. A blob lives
exactly as long as the settings of its workspace name it (`workspace.blob_ref`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from csmd_core.faults import BadInput, Fault
from studio import workspace as files
from studio.database import MAX_NAME, MAX_NOTE, Database, StoreUnavailable, blobs, workspaces
from studio.workspace import Contents, Settings, Summary, Workspace, blob_ref, refs_in

__all__ = ["Conflict", "Settings", "Store", "StoreUnavailable", "Summary", "Workspace", "blob_ref"]

_SUMMARY = [workspaces.c[field.name] for field in fields(Summary)]


class Conflict(RuntimeError):
    """Somebody else saved in between: ``current`` is theirs, or None where they deleted it."""

    def __init__(self, current: Workspace | None) -> None:
        self.current = current
        done = "changed" if current else "deleted"
        super().__init__(f"This workspace was {done} in another tab or by somebody with its link.")


class Store:
    """Keep workspaces; every change is whole or not at all."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, url: str | None = None) -> Store:
        """Open the database at the URL: by default CSMD_DATABASE_URL, else SQLite in CSMD_DATA."""
        return cls(Database.open(url))

    @classmethod
    def in_memory(cls) -> Store:
        """Keep nothing on this server: all is gone when the process ends."""
        return cls.open("sqlite://")

    def create(
        self, name: str, settings: Settings, new_blobs: Iterable[bytes] = (), note: str = ""
    ) -> Workspace:
        """Start a workspace at revision 1, under a new id that cannot be guessed."""
        id, text, now = secrets.token_urlsafe(18), json.dumps(settings), _now()
        row = {
            "id": id, "name": _name(name), "note": _line(note, MAX_NOTE),
            "revision": 1, "created": now, "updated": now, "settings": text,
        }  # fmt: skip
        with self.database.transaction(write=True) as tx:
            tx.execute(sa.insert(workspaces).values(row))
            _set_blobs(tx, id, text, new_blobs)
        return _workspace(row)

    def load(self, id: str) -> Workspace | None:
        """Read a workspace; None where this store has none of this id."""
        with self.database.transaction() as tx:
            return _find(tx, id)

    def save(
        self, id: str, revision: int, settings: Settings, new_blobs: Iterable[bytes] = ()
    ) -> int:
        """Replace the settings read at ``revision``, and return the new revision.

        ``new_blobs`` are those the settings did not name before; those they no longer name go.
        """
        text = json.dumps(settings)
        values = {"revision": revision + 1, "settings": text, "updated": _now()}
        unchanged = (workspaces.c.id == _key(id)) & (workspaces.c.revision == revision)
        with self.database.transaction(write=True) as tx:
            if not tx.execute(sa.update(workspaces).where(unchanged).values(values)).rowcount:
                raise Conflict(_find(tx, id))
            n_dropped = _set_blobs(tx, id, text, new_blobs)
        if n_dropped:
            self.database.scrub()
        return revision + 1

    def rename(self, id: str, name: str, note: str | None = None) -> None:
        """Give another name, and a note where given: no new revision, so open tabs go on."""
        values = {"name": _name(name), "updated": _now()}
        if note is not None:
            values["note"] = _line(note, MAX_NOTE)
        with self.database.transaction(write=True) as tx:
            change = sa.update(workspaces).where(workspaces.c.id == _key(id)).values(values)
            if not tx.execute(change).rowcount:
                raise _gone()

    def duplicate(self, id: str, name: str | None = None) -> Workspace:
        """Copy a workspace with its blobs to a new id."""
        contents = self._contents(id)
        return self._create_from(contents._replace(name=name or f"{contents.name[:110]} (copy)"))

    def delete(self, id: str) -> None:
        """Delete a workspace for good; nothing of it stays in the database's files."""
        with self.database.transaction(write=True) as tx:
            tx.execute(sa.delete(blobs).where(blobs.c.workspace == _key(id)))
            tx.execute(sa.delete(workspaces).where(workspaces.c.id == _key(id)))
        self.database.scrub()

    def summaries(self, ids: Iterable[str]) -> list[Summary]:
        """List those of these workspaces that exist, the last changed first."""
        mine = workspaces.c.id.in_([_key(id) for id in ids])
        query = sa.select(*_SUMMARY).where(mine).order_by(workspaces.c.updated.desc())
        with self.database.transaction() as tx:
            rows = tx.execute(query).mappings().all()
        return [Summary(**_with_times(row)) for row in rows]

    def get_blob(self, id: str, ref: str) -> bytes:
        """Read the bytes that this workspace's settings name."""
        mine = (blobs.c.workspace == _key(id)) & (blobs.c.ref == _key(ref))
        with self.database.transaction() as tx:
            data = tx.execute(sa.select(blobs.c.data).where(mine)).scalar_one_or_none()
        if data is None:
            raise _gone()
        return bytes(data)

    def export_file(self, id: str) -> bytes:
        """Write the workspace, blobs included, as one .zip."""
        return files.pack(self._contents(id))

    def import_file(self, data: bytes) -> Workspace:
        """Make a new workspace of an exported file."""
        return self._create_from(files.unpack(data))

    def close(self) -> None:
        """Let go of all connections."""
        self.database.engine.dispose()

    def _create_from(self, contents: Contents) -> Workspace:
        name = _line(contents.name, MAX_NAME) or "Imported workspace"
        return self.create(name, contents.settings, contents.blobs.values(), contents.note)

    def _contents(self, id: str) -> Contents:
        query = sa.select(blobs.c.ref, blobs.c.data).where(blobs.c.workspace == _key(id))
        with self.database.transaction() as tx:
            found = _find(tx, id, lock=True)
            if found is None:
                raise _gone()
            held = {ref: bytes(data) for ref, data in tx.execute(query)}
        return Contents(found.name, found.note, found.settings, held)


def _find(tx: sa.Connection, id: str, *, lock: bool = False) -> Workspace | None:
    query = sa.select(workspaces).where(workspaces.c.id == _key(id))
    row = tx.execute(query.with_for_update() if lock else query).mappings().one_or_none()
    return None if row is None else _workspace(row)


def _set_blobs(tx: sa.Connection, id: str, settings_json: str, new_blobs: Iterable[bytes]) -> int:
    """Keep exactly the blobs these settings name, and return how many went."""
    wanted, given = refs_in(settings_json), {blob_ref(data): data for data in new_blobs}
    mine = blobs.c.workspace == id
    held = set(tx.execute(sa.select(blobs.c.ref).where(mine)).scalars())
    if wanted - held - given.keys():
        raise BadInput(
            Fault("The settings", "name data that is not there.", "Upload the patients again.")
        )
    for ref in wanted - held:
        tx.execute(sa.insert(blobs).values(workspace=id, ref=ref, data=given[ref]))
    for ref in held - wanted:
        tx.execute(sa.delete(blobs).where(mine & (blobs.c.ref == ref)))
    return len(held - wanted)


def _workspace(row: Any) -> Workspace:
    return Workspace(**(_with_times(row) | {"settings": json.loads(row["settings"])}))


def _with_times(row: Any) -> dict[str, Any]:
    return dict(row) | {at: datetime.fromisoformat(row[at]) for at in ("created", "updated")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _key(text: str) -> str:
    """Make any text from a link safe to ask for: no id has such characters, so none is found."""
    return text if text.isascii() and text.isprintable() else ""


def _line(text: str, most: int) -> str:
    """Keep what can be shown: one line of printable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:most]


def _name(name: str) -> str:
    clean = _line(name, MAX_NAME)
    if not clean:
        raise BadInput(Fault("The workspace", "has no name.", "Give it a name of a word or more."))
    return clean


def _gone() -> BadInput:
    return BadInput(
        Fault(
            "This workspace",
            "or a part of it is not here any more: it was changed or deleted elsewhere.",
            "Reload the page.",
        )
    )
