"""Nothing a user made is lost, nothing deleted stays, and two tabs never overwrite each other."""

from __future__ import annotations

import io
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from csmd_core.faults import BadInput
from studio import workspace as files
from studio.store import Conflict, Store, StoreUnavailable, blob_ref

ROOT = Path(__file__).resolve().parents[1]
PATIENTS = b"PAR1 pretend patients PAR1"
REF = blob_ref(PATIENTS)


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = Store.in_memory() if request.param == "memory" else open_in(tmp_path)
    yield opened
    opened.close()


def open_in(folder: Path, query: str = "") -> Store:
    return Store.open(f"sqlite:///{folder}/workspaces.db{query}")


def start_python(code: str, *args: object, **env: str) -> subprocess.Popen[str]:
    """Start a server process of its own, with whatever it prints to read."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=env.get("CSMD_DATA", ROOT),
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **env},
    )


# One workspace


def test_create_and_load(store: Store) -> None:
    made = store.create("Heart", {"patients": REF, "lam": 0.001}, [PATIENTS], note="for Tuesday")
    assert store.load(made.id) == made
    assert (made.name, made.note, made.revision) == ("Heart", "for Tuesday", 1)
    assert made.settings == {"patients": REF, "lam": 0.001}
    assert made.created == made.updated
    assert made.created.utcoffset() is not None
    assert store.get_blob(made.id, REF) == PATIENTS


def test_ids_cannot_be_guessed(store: Store) -> None:
    ids = {store.create("same", {}).id for _ in range(100)}
    assert len(ids) == 100
    assert all(len(id) >= 22 for id in ids)


@pytest.mark.parametrize("id", ["", "nobody", "\ud800", "a\0b", "'; DROP TABLE blobs; --", "é" * 9])
def test_a_wrong_link_finds_nothing(store: Store, id: str) -> None:
    assert store.load(id) is None
    assert store.summaries([id]) == []
    store.delete(id)
    with pytest.raises(Conflict) as conflict:
        store.save(id, 1, {})
    assert conflict.value.current is None
    for use in (store.export_file, store.duplicate, lambda i: store.get_blob(i, REF)):
        with pytest.raises(BadInput, match="Reload the page"):
            use(id)
    with pytest.raises(BadInput):
        store.rename(id, "x")


def test_save_gives_the_next_revision(store: Store) -> None:
    made = store.create("Heart", {"lam": 1})
    assert store.save(made.id, 1, {"lam": 2}) == 2
    assert store.save(made.id, 2, {"lam": 3}) == 3
    now = store.load(made.id)
    assert now is not None
    assert (now.revision, now.settings, now.created) == (3, {"lam": 3}, made.created)
    assert now.updated > made.updated


def test_two_tabs_do_not_overwrite_each_other(store: Store) -> None:
    made = store.create("Heart", {"by": "start"})
    store.save(made.id, 1, {"by": "tab 1"})
    with pytest.raises(Conflict, match="changed in another tab") as conflict:
        store.save(made.id, 1, {"by": "tab 2", "patients": REF}, [PATIENTS])
    assert conflict.value.current == store.load(made.id)
    assert conflict.value.current is not None
    assert conflict.value.current.settings == {"by": "tab 1"}
    with pytest.raises(BadInput):
        store.get_blob(made.id, REF)


def test_save_after_delete_says_so(store: Store) -> None:
    made = store.create("Heart", {})
    store.delete(made.id)
    with pytest.raises(Conflict, match="deleted in another tab"):
        store.save(made.id, 1, {})


def test_rename_keeps_the_revision_so_an_open_tab_goes_on(store: Store) -> None:
    made = store.create("Heart", {}, note="old")
    store.rename(made.id, "  Heart\n\u202e2 \x00 ")
    assert store.save(made.id, 1, {"lam": 1}) == 2
    now = store.load(made.id)
    assert now is not None
    assert (now.name, now.note) == ("Heart 2", "old")
    store.rename(made.id, "x" * 1000, note="new")
    [summary] = store.summaries([made.id])
    assert (summary.name, summary.note) == ("x" * 120, "new")
    with pytest.raises(BadInput, match="has no name"):
        store.rename(made.id, " \ud800 ")


def test_duplicate_stands_alone(store: Store) -> None:
    made = store.create("Heart", {"patients": REF}, [PATIENTS], note="n")
    copy = store.duplicate(made.id)
    assert (copy.name, copy.note, copy.revision) == ("Heart (copy)", "n", 1)
    assert copy.id != made.id
    store.delete(made.id)
    assert store.get_blob(copy.id, REF) == PATIENTS
    assert store.duplicate(copy.id, "Other").name == "Other"


def test_summaries_hold_only_the_ids_asked_for(store: Store) -> None:
    first, second, _ = (store.create(name, {}) for name in ("a", "b", "somebody else's"))
    store.save(first.id, 1, {"lam": 1})
    found = store.summaries([second.id, "unknown", first.id])
    assert [summary.name for summary in found] == ["a", "b"]
    assert store.summaries([]) == []


# Blobs


def test_a_blob_lives_as_long_as_the_settings_name_it(store: Store) -> None:
    made = store.create("Heart", {"runs": {REF: [1]}}, [PATIENTS])
    store.save(made.id, 1, {"runs": [{"deep": [REF]}]})
    assert store.get_blob(made.id, REF) == PATIENTS
    store.save(made.id, 2, {"runs": []})
    with pytest.raises(BadInput):
        store.get_blob(made.id, REF)


def test_settings_and_blobs_are_saved_together_or_not_at_all(store: Store) -> None:
    made = store.create("Heart", {"lam": 1})
    with pytest.raises(BadInput, match="data that is not there"):
        store.save(made.id, 1, {"patients": REF, "run": blob_ref(b"never given")}, [PATIENTS])
    assert store.load(made.id) == made
    with pytest.raises(BadInput):
        store.create("Heart", {"patients": REF})


def test_one_workspace_cannot_read_or_claim_the_blob_of_another(store: Store) -> None:
    store.create("Mine", {"patients": REF}, [PATIENTS])
    other = store.create("Other", {})
    with pytest.raises(BadInput):
        store.get_blob(other.id, REF)
    with pytest.raises(BadInput):
        store.save(other.id, 1, {"patients": REF})


# Deleting for good


@pytest.mark.parametrize("how", ["delete", "replace"])
def test_deleted_patients_leave_no_bytes_behind(tmp_path: Path, how: str) -> None:
    marker = b"Jane-Doe-1954-03-02"
    patients = marker * 20_000
    store = open_in(tmp_path)
    keep = store.create("Keep", {"patients": REF}, [PATIENTS])
    settings = {"patients": blob_ref(patients), "positive": [marker.decode()]}
    made = store.create(marker.decode(), settings, [patients])
    assert holds(tmp_path, marker)
    if how == "delete":
        store.delete(made.id)
    else:
        store.rename(made.id, "x")
        store.save(made.id, 1, {})
    assert not holds(tmp_path, marker)
    store.close()
    assert not holds(tmp_path, marker)
    assert open_in(tmp_path).get_blob(keep.id, REF) == PATIENTS


def holds(folder: Path, marker: bytes) -> bool:
    return any(marker in file.read_bytes() for file in folder.rglob("*") if file.is_file())


IN_MEMORY = """
import resource
from studio.store import Store, blob_ref
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # from here on no file can take one byte
try:
    open("probe", "w").write("x" * 100_000)
except OSError:
    import os; os.remove("probe")
    print("guarded")
store = Store.in_memory()
data = bytes(range(256)) * 80_000
made = store.create("Heart", {"patients": blob_ref(data)}, [data])
copy = store.duplicate(made.id)
store.save(copy.id, 1, {})
again = store.import_file(store.export_file(made.id))
store.delete(made.id)
print(store.get_blob(again.id, blob_ref(data)) == data, len(store.summaries([made.id, copy.id])))
"""


def test_in_memory_writes_no_file(tmp_path: Path) -> None:
    child = start_python(IN_MEMORY, CSMD_DATA=str(tmp_path), TMPDIR=str(tmp_path))
    printed, _ = child.communicate(timeout=60)
    assert printed.split() == ["guarded", "True", "1"]
    assert list(tmp_path.iterdir()) == []


# Export and import


@cache
def shared_store() -> Store:
    return Store.in_memory()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@example_settings(deadline=None)
@given(st.dictionaries(st.text(), json_values), st.lists(st.binary(), max_size=3), st.text())
def test_export_and_import_give_the_same_workspace(
    settings: dict[str, Any], blobs: list[bytes], note: str
) -> None:
    store = shared_store()
    settings = {**settings, "blobs": [blob_ref(blob) for blob in blobs]}
    made = store.create("Heart", settings, blobs, note)
    file = store.export_file(made.id)
    again = store.import_file(file)
    assert again.id != made.id
    assert (again.name, again.note, again.settings) == (made.name, made.note, settings)
    assert [store.get_blob(again.id, blob_ref(blob)) for blob in blobs] == blobs
    assert store.export_file(again.id) == file


def test_a_price_not_yet_filled_in_is_kept(store: Store) -> None:
    made = store.create("Heart", {"price": math.nan})
    assert math.isnan(store.import_file(store.export_file(made.id)).settings["price"])


def workspace_zip(
    head: object, parts: dict[str, bytes] | None = None, method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        text = head if isinstance(head, str) else json.dumps(head)
        archive.writestr("workspace.json", text)
        for path, data in (parts or {}).items():
            archive.writestr(path, data)
    return file.getvalue()


def head(**changes: object) -> dict[str, object]:
    return {"format": "csmd-workspace", "version": 1, "name": "a", "settings": {}, **changes}


BLOB_PATH = f"blobs/{REF.removeprefix('sha256:')}"
BAD_FILES = {
    "empty": (b"", "damaged"),
    "not a zip": (b"age;sex\n63;1\n", "damaged"),
    "truncated": (workspace_zip(head(settings={"a": "b" * 9999}))[:-40], "damaged"),
    "a zip of something else": (b"PK\x05\x06" + bytes(18), "damaged"),
    "not JSON": (workspace_zip("{"), "damaged"),
    "JSON that nests for ever": (workspace_zip("[" * 200_000), "damaged"),
    "a number of endless digits": (workspace_zip("9" * 10_000), "damaged"),
    "a list": (workspace_zip([1]), "not a workspace"),
    "another format": (workspace_zip(head(format="other")), "not a workspace"),
    "a later version": (workspace_zip(head(version=2)), "another version"),
    "no settings": (workspace_zip(head(settings=None)), "no settings"),
    "a missing blob": (workspace_zip(head(settings={"patients": REF})), "damaged"),
    "a changed blob": (
        workspace_zip(head(settings={"patients": REF}), {BLOB_PATH: b"other"}),
        "checksum",
    ),
    "a settings bomb": (workspace_zip(head(note="x" * (20 << 20))), "more than 16 MB"),
    "odd packing": (workspace_zip(head(), method=zipfile.ZIP_LZMA), "never does"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused_with_a_sentence(store: Store, case: str) -> None:
    data, sentence = BAD_FILES[case]
    with pytest.raises(BadInput, match=sentence) as refused:
        store.import_file(data)
    assert "Export the workspace again" in str(refused.value)


def test_a_bomb_is_refused_before_it_is_unpacked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros = bytes(3 << 20)
    made = store.create("Heart", {"patients": blob_ref(zeros)}, [zeros])
    file = store.export_file(made.id)
    assert len(file) < 10_000
    monkeypatch.setattr(files, "MAX_BYTES", 2 << 20)
    with pytest.raises(BadInput, match="more than 2 MB once unpacked"):
        store.import_file(file)


def test_a_part_cannot_be_larger_than_it_says(store: Store) -> None:
    zeros = bytes(3 << 20)
    file = store.export_file(store.create("Heart", {"patients": blob_ref(zeros)}, [zeros]).id)
    lying = file.replace((3 << 20).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    assert lying != file
    with pytest.raises(BadInput, match="damaged"):
        store.import_file(lying)


@example_settings(deadline=None)
@given(st.data())
def test_a_damaged_file_is_refused_or_read_right(data: st.DataObject) -> None:
    whole = files.pack(files.Contents("Heart", "", {"patients": REF}, {REF: PATIENTS}))
    broken = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = files.unpack(bytes(broken))
    except BadInput:
        return
    assert read == files.unpack(whole)


def test_an_imported_name_is_made_fit_to_show(store: Store) -> None:
    assert store.import_file(workspace_zip(head(name="\x00 \n"))).name == "Imported workspace"
    assert store.import_file(workspace_zip(head(name=["x"], note=None))).name == "['x']"


# Several at once


def add_one(store: Store, id: str, n_times: int) -> None:
    """Count up in the settings, starting over whenever somebody else was faster."""
    done = 0
    while done < n_times:
        now = store.load(id)
        assert now is not None
        counted = now.settings["n"] + 1
        data = str(counted).encode()
        try:
            store.save(id, now.revision, {"n": counted, "blob": blob_ref(data)}, [data])
            done += 1
        except Conflict:
            continue


def assert_counted(store: Store, id: str, n: int) -> None:
    now = store.load(id)
    assert now is not None
    assert (now.settings["n"], now.revision) == (n, n + 1)
    assert store.get_blob(id, now.settings["blob"]) == str(n).encode()


def test_threads_saving_at_once_lose_nothing(store: Store) -> None:
    made = store.create("Heart", {"n": 0})
    threads = [threading.Thread(target=add_one, args=(store, made.id, 25)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_counted(store, made.id, 100)


ADD_ONE = "import sys; sys.path.insert(0, 'tests'); import test_store as t; t.add_from_arguments()"


def add_from_arguments() -> None:
    add_one(Store.open(), sys.argv[1], int(sys.argv[2]))


def test_processes_saving_at_once_lose_nothing(tmp_path: Path) -> None:
    store = open_in(tmp_path)
    made = store.create("Heart", {"n": 0})
    url = f"sqlite:///{tmp_path}/workspaces.db"
    children = [start_python(ADD_ONE, made.id, 40, CSMD_DATABASE_URL=url) for _ in range(2)]
    assert [child.wait(60) for child in children] == [0, 0]
    assert_counted(store, made.id, 80)


OPEN = """
from studio.store import Store
print("ready", flush=True); input()
print(Store.open().create("Heart", {}).id)
"""


def test_processes_that_start_at_once_share_one_new_database(tmp_path: Path) -> None:
    folder = str(tmp_path)
    children = [start_python(OPEN, CSMD_DATA=folder, PYTHONWARNINGS="error") for _ in range(6)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    ids = [child.communicate(timeout=60)[0].strip() for child in children]
    assert len(open_in(tmp_path).summaries(ids)) == 6


def test_threads_that_start_at_once_share_one_new_database(tmp_path: Path) -> None:
    ids: list[str] = []
    threads = [
        threading.Thread(target=lambda: ids.append(open_in(tmp_path).create("a", {}).id))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(open_in(tmp_path).summaries(ids)) == 8


# Killed


WRITE_FOR_EVER = """
import os, random, sys
from studio.store import Store, blob_ref
print("ready", flush=True)
store = Store.open()
id, rng = sys.argv[1], random.Random(int(sys.argv[2]))
revision = store.load(id).revision
while True:
    data = rng.randbytes(rng.randrange(300_000))
    settings = {"revision": revision + 1, "blob": blob_ref(data), "size": len(data)}
    revision = store.save(id, revision, settings, [data])
    os.write(1, f"{revision}\\n".encode())
"""


def test_a_workspace_is_whole_after_its_server_is_killed_at_any_moment(tmp_path: Path) -> None:
    store = open_in(tmp_path)
    settings = {"revision": 1, "blob": blob_ref(b""), "size": 0}
    id = store.create("Heart", settings, [b""]).id
    store.close()
    acknowledged = 1
    for kill in range(20):
        told = write_until_killed(tmp_path, id, kill)
        acknowledged = told[-1] if told else acknowledged
        assert_whole(tmp_path, id, acknowledged)
    assert acknowledged > 10


def write_until_killed(folder: Path, id: str, seed: int) -> list[int]:
    """Kill a writer while it opens the store or, every other time, while it saves."""
    child = start_python(WRITE_FOR_EVER, id, seed, CSMD_DATA=str(folder))
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    told = [child.stdout.readline()] if seed % 2 else []
    time.sleep(random.Random(seed).uniform(0, 0.2))
    child.kill()
    told += child.stdout.readlines()
    child.communicate(timeout=30)
    return [int(revision) for revision in told]


def assert_whole(folder: Path, id: str, acknowledged: int) -> None:
    store = open_in(folder)
    now = store.load(id)
    assert now is not None
    assert acknowledged <= now.revision == now.settings["revision"]
    data = store.get_blob(id, now.settings["blob"])
    assert (blob_ref(data), len(data)) == (now.settings["blob"], now.settings["size"])
    with store.database.transaction() as tx:
        assert tx.execute(sa.text("PRAGMA integrity_check")).scalar_one() == "ok"
        assert tx.execute(sa.text("SELECT count(*) FROM blobs")).scalar_one() == 1
    store.close()


# Trouble


def test_a_busy_database_gives_a_sentence_and_works_afterwards(tmp_path: Path) -> None:
    store = open_in(tmp_path, "?timeout=0.1")
    made = store.create("Heart", {})
    other = sqlite3.connect(tmp_path / "workspaces.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.load(made.id) == made
    with pytest.raises(StoreUnavailable, match="busy, so this was not done"):
        store.save(made.id, 1, {"lam": 1})
    other.execute("ROLLBACK")
    other.close()
    assert store.save(made.id, 1, {"lam": 1}) == 2


def test_a_full_disk_gives_a_sentence_and_keeps_what_was(tmp_path: Path) -> None:
    store = open_in(tmp_path)
    made = store.create("Heart", {"lam": 1})
    store.close()
    limit = lambda connection, _: connection.execute("PRAGMA max_page_count=20")  # noqa: E731
    sa.event.listen(store.database.engine, "connect", limit)
    large = bytes(1 << 20)
    with pytest.raises(StoreUnavailable, match="disk is full"):
        store.save(made.id, 1, {"patients": blob_ref(large)}, [large])
    assert store.load(made.id) == made
    assert store.save(made.id, 1, {"lam": 2}) == 2


def test_a_read_only_database_gives_a_sentence(tmp_path: Path) -> None:
    made = open_in(tmp_path).create("Heart", {})
    store = open_in(tmp_path)
    store.close()
    forbid = lambda connection, _: connection.execute("PRAGMA query_only=ON")  # noqa: E731
    sa.event.listen(store.database.engine, "connect", forbid)
    with pytest.raises(StoreUnavailable, match="may only be read"):
        store.save(made.id, 1, {})
    assert store.load(made.id) == made


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "martian://host/db",
        "postgresql+nodriver://host/db",
        "sqlite:////dev/null/none/workspaces.db",
        "sqlite:///file:none.db?mode=ro&uri=true",
        "sqlite:///x.db?timeout=soon",
    ],
)
def test_an_address_that_does_not_work_gives_a_sentence(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        Store.open(url)


def test_a_file_that_is_no_database_gives_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "workspaces.db").write_bytes(b"not a database at all" * 1000)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        open_in(tmp_path)


def test_a_data_folder_that_cannot_be_made_gives_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("CSMD_DATABASE_URL", raising=False)
    monkeypatch.setenv("CSMD_DATA", str(tmp_path / "file" / "folder"))
    with pytest.raises(StoreUnavailable):
        Store.open()


def test_the_data_folder_is_for_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CSMD_DATABASE_URL", raising=False)
    monkeypatch.setenv("CSMD_DATA", str(tmp_path / "with space?#%" / "data"))
    made = Store.open().create("Heart", {})
    assert Store.open().load(made.id) == made
    folder = tmp_path / "with space?#%" / "data"
    assert folder.stat().st_mode & 0o077 == 0
    assert {file.name.split("-")[0] for file in folder.iterdir()} == {"workspaces.db"}


def test_a_later_schema_is_left_alone(tmp_path: Path) -> None:
    open_in(tmp_path).close()
    with sqlite3.connect(tmp_path / "workspaces.db") as database:
        database.execute("UPDATE schema_version SET version = 2")
    with pytest.raises(StoreUnavailable, match="format 2, this app reads 1"):
        open_in(tmp_path)


def test_no_patient_shows_in_what_the_database_reports(tmp_path: Path) -> None:
    store = open_in(tmp_path)
    with pytest.raises(StoreUnavailable) as refused, store.database.transaction() as tx:
        tx.execute(sa.text("SELECT * FROM nowhere WHERE name = :name"), {"name": "Jane Doe"})
    assert "Jane Doe" not in f"{refused.value} {refused.value.__cause__}"


def test_the_store_needs_no_streamlit() -> None:
    code = "import sys, studio.store; print('streamlit' in sys.modules)"
    assert start_python(code).communicate(timeout=60)[0] == "False\n"
