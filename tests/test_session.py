"""One workspace in two tabs: nobody's work is overwritten unseen."""

from __future__ import annotations

import pytest

from app import bundled, open_page
from studio.session import DEFAULTS, UPLOAD
from studio.store import Store, blob_ref
from uploads import clinic, semicolons

PAGE = "pages/data.py"


@pytest.fixture
def work():
    return Store.open().create("Shared", {**DEFAULTS, "study": bundled("heart")})


@pytest.fixture
def uploaded():
    data = semicolons(clinic())
    study = {**UPLOAD, "file": "c.csv", "patients": blob_ref(data), "label": "diagnosis",
             "positive": ["Yes"], "priced": True}  # fmt: skip
    tests = [{"name": "age", "columns": ["age"], "price": 1.0, "fees": []}]
    return Store.open().create(
        "Upload", {**DEFAULTS, "study": study, "tests": tests, "fees": {}}, [data]
    )


def choose(app, grouping):
    return app.selectbox(key="grouping").select(grouping).run()


def click(app, label):
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def grouping_of(app):
    return app.session_state["settings"]["study"]["grouping"]


def saved_grouping(work):
    return Store.open().load(work.id).settings["study"]["grouping"]


def two_tabs(work):
    return open_page(PAGE, link=work.id), open_page(PAGE, link=work.id)


def test_a_tab_that_only_looks_sees_what_the_other_saved(work):
    one, two = two_tabs(work)
    choose(one, "paper")
    two.run()
    assert grouping_of(two) == "paper"
    assert not two.warning
    choose(two, "one test per column")
    assert saved_grouping(work) == "one test per column", "and goes on without a conflict"


@pytest.mark.parametrize(
    ("button", "kept"), [("Keep mine", "one test per column"), ("Use the other version", "paper")]
)
def test_a_change_made_in_ignorance_is_held_until_the_user_decides(work, button, kept):
    one, two = two_tabs(work)
    choose(one, "paper")
    choose(two, "one test per column")
    assert "changed in another tab" in two.warning[0].value
    assert "not saved yet" in two.warning[0].value
    assert saved_grouping(work) == "paper", "not overwritten"
    assert grouping_of(two) == "one test per column", "not lost"
    click(two, button)
    assert not two.warning
    assert saved_grouping(work) == grouping_of(two) == kept
    one.run()
    assert grouping_of(one) == kept


def test_a_workspace_deleted_in_the_other_tab(work):
    one, two = two_tabs(work)
    Store.open().delete(work.id)
    choose(two, "paper")
    assert "deleted in another tab" in two.warning[0].value
    click(two, "Keep mine")
    again = two.session_state["workspace"]
    assert again.id != work.id
    assert again.settings["study"]["grouping"] == "paper"
    choose(one, "paper")
    click(one, "Use the other version")
    assert "workspace" not in one.session_state


def test_patients_uploaded_during_a_conflict_are_kept_with_mine(work):
    one, two = two_tabs(work)
    choose(one, "paper")
    two.segmented_control(key="patients from").select("My own patients").run()
    Store.open().save(work.id, 2, {**DEFAULTS, "study": bundled("diabetes")})
    data = semicolons(clinic())
    two.file_uploader(key="patients 0").upload("c.csv", data)
    two.run()
    Store.open().save(work.id, 3, {**DEFAULTS, "study": bundled("diabetes", "paper")})
    click(two, "Use these patients")
    click(two, "Keep mine")
    now = Store.open().load(work.id)
    assert now.settings["study"]["file"] == "c.csv"
    assert Store.open().get_blob(work.id, blob_ref(data)) == data


def test_patients_that_the_other_tab_dropped_cannot_be_kept_and_it_says_so(uploaded):
    one, two = two_tabs(uploaded)
    Store.open().save(uploaded.id, 1, {**DEFAULTS, "study": bundled("heart")})
    two.selectbox(key="currency").select("€").run()
    click(two, "Keep mine")
    assert "name data that is not there" in two.error[0].value
    click(two, "Use the other version")
    assert two.session_state["settings"]["study"]["name"] == "heart"
    assert not two.warning
    one.run()
    assert not one.exception


def test_the_first_change_creates_the_workspace_and_a_page_switch_keeps_the_link():
    app = open_page(PAGE)
    assert "w" not in app.query_params
    app.button(key="use heart").click().run()
    id = app.session_state["workspace"].id
    assert app.query_params["w"] == id
    app.switch_page("pages/home.py").run()
    assert app.query_params["w"] == id
    assert app.session_state["settings"]["study"]["name"] == "heart"
