"""The Workspaces page: list, rename, duplicate, export, import, delete, keep nothing."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from app import bundled, open_page
from studio.session import DEFAULTS, UPLOAD
from studio.store import Store, blob_ref
from uploads import clinic, semicolons

PAGE = "pages/workspaces.py"


def saved(name="My work", **settings):
    """A workspace on this server's disc."""
    return Store.open().create(name, {**DEFAULTS, **settings})


def opened(id):
    """Come by the link, then go to the page."""
    app = open_page(PAGE, link=id)
    assert app.session_state["workspace"].id == id
    return app


def words(app):
    return " ".join(e.value.replace("\\", "") for e in (*app.markdown, *app.caption, *app.success))


def test_an_empty_start_says_that_there_is_nothing_to_save():
    app = open_page(PAGE)
    assert "Nothing to save yet" in app.info[0].value
    assert "Asking the browser" in words(app)
    assert not app.code


def test_the_link_is_there_to_copy():
    found = saved()
    app = opened(found.id)
    assert app.code[0].value.endswith(f"/?w={found.id}")
    assert len(found.id) >= 24


def test_rename_in_place():
    found = saved()
    app = opened(found.id)
    app.text_input(key="workspace name").set_value("Heart <b>2026</b>").run()
    assert Store.open().load(found.id).name == "Heart <b>2026</b>"
    assert app.text_input(key="workspace name").value == "Heart <b>2026</b>"
    app.text_input(key="workspace name").set_value("   ").run()
    assert "has no name" in app.error[0].value
    assert Store.open().load(found.id).name == "Heart <b>2026</b>"


def test_a_copy_is_opened_and_the_original_stays():
    found = saved(study=bundled("heart"))
    app = opened(found.id)
    app.button(key="duplicate present").click().run()
    copy = app.session_state["workspace"]
    assert copy.id != found.id
    assert (copy.name, copy.settings) == ("My work (copy)", found.settings)
    assert Store.open().load(found.id) == found
    assert app.query_params["w"] == copy.id


def test_deleted_for_good_and_back_at_a_fresh_start():
    found = saved(study=bundled("heart"))
    app = opened(found.id)
    app.button(key="delete present").click().run()
    assert Store.open().load(found.id) is None
    assert app.session_state["settings"]["study"]["name"] == "diabetes"
    assert "w" not in app.query_params
    assert "Deleted for good" in words(app)


def test_export_and_import_give_the_same_work():
    data = semicolons(clinic())
    study = {**UPLOAD, "file": "c.csv", "patients": blob_ref(data)}
    store = Store.open()
    found = store.create("With patients", {**DEFAULTS, "study": study}, [data])
    app = open_page(PAGE)
    app.file_uploader(key="import 0").upload("w.zip", store.export_file(found.id)).run()
    taken = app.session_state["workspace"]
    assert taken.id != found.id
    assert (taken.name, taken.settings) == (found.name, found.settings)
    assert store.get_blob(taken.id, blob_ref(data)) == data


@pytest.mark.parametrize(
    "settings",
    [{"study": 5}, {"study": {"source": "bundled", "name": "nobody", "grouping": "clinic"}},
     {"study": {"source": "upload", "file": "c.csv"}}, {"mode": 3}, {"fitting": []}],
)  # fmt: skip
def test_an_imported_file_is_not_trusted(settings):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        head = {"format": "csmd-workspace", "version": 1, "name": "x", "settings": settings}
        archive.writestr("workspace.json", json.dumps(head))
    app = open_page(PAGE)
    app.file_uploader(key="import 0").upload("w.zip", file.getvalue()).run()
    assert "does not understand" in app.error[0].value
    assert "workspace" not in app.session_state


def test_a_file_that_is_no_workspace():
    app = open_page(PAGE)
    app.file_uploader(key="import 0").upload("w.zip", b"junk").run()
    assert "damaged or is not a workspace" in app.error[0].value.replace("\\", "")


def test_keep_nothing_moves_the_work_into_memory_and_back():
    found = saved(study=bundled("heart"))
    app = opened(found.id)
    assert "saved on this server" in words(app)
    app.toggle(key="workspaces private").set_value(True).run()
    moved = app.session_state["workspace"]
    assert Store.open().load(found.id) is None, "nothing stays on disc"
    assert Store.open().load(moved.id) is None
    assert moved.settings["study"]["name"] == "heart"
    assert "gone when the server restarts" in words(app)
    assert "in memory only" in words(app)
    app.toggle(key="workspaces private").set_value(False).run()
    back = app.session_state["workspace"]
    assert Store.open().load(back.id).settings["study"]["name"] == "heart"


def test_keep_nothing_before_anything_was_made():
    app = open_page(PAGE)
    app.toggle(key="workspaces private").set_value(True).run()
    id = app.session_state["workspace"].id
    assert Store.open().load(id) is None
    again = open_page(PAGE, link=id)
    assert again.toggle(key="workspaces private").value is True


def test_a_new_start_leaves_the_former_work():
    found = saved(study=bundled("heart"))
    app = opened(found.id)
    next(b for b in app.button if b.label == "Start a new workspace").click().run()
    assert "workspace" not in app.session_state
    assert Store.open().load(found.id) == found


def test_a_link_that_leads_nowhere_says_so():
    app = open_page(link="no-such-workspace")
    assert "not on this server" in app.warning[0].value
