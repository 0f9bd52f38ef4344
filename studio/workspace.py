"""A workspace: everything one user made, as one value and as one file to take away.

Settings are one JSON-able dict. What is too large for it, such as the uploaded patients, is a blob:
bytes that the settings name by their content, as ``blob_ref(data)``, wherever they like.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from csmd_core.faults import BadInput, Fault

Settings = dict[str, Any]

FORMAT = "csmd-workspace"
VERSION = 1
MAX_SETTINGS = 16 << 20  # bytes, once unpacked
MAX_BYTES = 512 << 20  # bytes of all blobs together, once unpacked

_REF = re.compile(r'"(sha256:[0-9a-f]{64})"')
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, LookupError, RuntimeError)


@dataclass(frozen=True)
class Summary:
    """What a list of workspaces shows; times are UTC."""

    id: str
    name: str
    note: str
    revision: int
    created: datetime
    updated: datetime


@dataclass(frozen=True)
class Workspace(Summary):
    """A workspace as it was at one revision."""

    settings: Settings


class Contents(NamedTuple):
    """What a workspace file holds: no id and no times, so equal work gives equal bytes."""

    name: str
    note: str
    settings: Settings
    blobs: Mapping[str, bytes]


def blob_ref(data: bytes) -> str:
    """Name these bytes by what they are.

    >>> blob_ref(b"")[:20]
    'sha256:e3b0c44298fc1'
    """
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def refs_in(settings_json: str) -> set[str]:
    """Find the blobs that these settings name: as a value or a key, at any depth.

    >>> text = json.dumps({"runs": [{"counts": blob_ref(b"")}], "note": 'no "sha256:0"'})
    >>> refs_in(text) == {blob_ref(b"")}
    True
    """
    return set(_REF.findall(settings_json))


def pack(contents: Contents) -> bytes:
    """Write one .zip: workspace.json, and each blob under its hash."""
    head = {"format": FORMAT, "version": VERSION, "name": contents.name, "note": contents.note}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        _add(archive, "workspace.json", json.dumps(head | {"settings": contents.settings}).encode())
        for ref, data in sorted(contents.blobs.items()):
            _add(archive, _blob_path(ref), data)
    return file.getvalue()


def unpack(data: bytes) -> Contents:
    """Read a workspace file, trusting nothing in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            [text] = _read(archive, ["workspace.json"], MAX_SETTINGS)
            head = _checked_head(json.loads(text))
            refs = sorted(refs_in(json.dumps(head["settings"])))
            parts = _read(archive, [_blob_path(ref) for ref in refs], MAX_BYTES)
    except BadInput:
        raise
    except (*_UNREADABLE, ValueError) as error:
        raise _bad_file("is damaged or is not a workspace of this app.") from error
    blobs = dict(zip(refs, parts, strict=True))
    if any(blob_ref(part) != ref for ref, part in blobs.items()):
        raise _bad_file("was changed after it was exported: a part does not match its checksum.")
    return Contents(str(head.get("name", "")), str(head.get("note", "")), head["settings"], blobs)


def _checked_head(head: object) -> dict[str, Any]:
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise _bad_file("is not a workspace of this app.")
    if head.get("version") != VERSION:
        raise _bad_file("was written by another version of this app that this one cannot read.")
    if not isinstance(head.get("settings"), dict):
        raise _bad_file("has no settings in it.")
    return head


def _add(archive: zipfile.ZipFile, path: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)  # dated 1980: no clock


def _read(archive: zipfile.ZipFile, paths: list[str], limit: int) -> list[bytes]:
    """Unpack these parts; a part never yields more than the size checked here."""
    parts = [archive.getinfo(path) for path in paths]
    if any(part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for part in parts):
        raise _bad_file("is packed in a way this app never does.")
    if sum(part.file_size for part in parts) > limit:
        raise _bad_file(f"holds more than {limit >> 20} MB once unpacked.")
    return [archive.read(part) for part in parts]


def _blob_path(ref: str) -> str:
    return f"blobs/{ref.removeprefix('sha256:')}"


def _bad_file(what: str) -> BadInput:
    return BadInput(
        Fault("The workspace file", what, "Export the workspace again and choose that .zip file.")
    )
