"""The Data page: bundled studies, own files, what the columns mean, faults beside their mending."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from app import bundled, edit, open_page
from csmd_core.bundled import bundled_names, groupings, load_bundled
from csmd_core.columns import column_table, label_values, reading, revealing
from csmd_core.faults import Fault
from csmd_core.figures.data import column_figure, label_figure
from csmd_core.study import Study, Test
from csmd_core.templates import templates
from studio.data_faults import place_of
from uploads import PRICES_WITH_TWO_FAULTS, clinic, results, semicolons, workbook

PAGE = "pages/data.py"
CSV = semicolons(clinic())


def settings(app):
    return app.session_state["settings"]


def errors(app):
    return [box.value.replace("\\", "") for box in app.error]


def warnings(app):
    return [box.value.replace("\\", "") for box in app.warning]


def offer(patients=CSV, name="clinic.csv", prices=None):
    """Open the page and choose files, without using them yet."""
    app = open_page(PAGE)
    app.segmented_control(key="patients from").select("My own patients").run()
    app.file_uploader(key="patients 0").upload(name, patients, "text/csv").run()
    if prices is not None:
        app.file_uploader(key="prices 0").upload("prices.csv", prices, "text/csv").run()
    return app


def upload(*files, **more):
    app = offer(*files, **more)
    named(app, "Use these patients").click().run()
    assert not app.exception
    return app


def named(app, label):
    return next(button for button in app.button if button.label == label)


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_study(name):
    app = open_page(PAGE, study=bundled(name))
    study = load_bundled(name)
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Patients"] == f"{study.n_patients:,}"
    assert shown["Disease"].startswith(f"{int((study.truth == 1).sum()):,} (")
    assert ("zeros" in [toggle.key for toggle in app.toggle]) == bool(study.zero_missing)
    if study.zero_missing:
        app.toggle(key="zeros").set_value(False).run()
        assert settings(app)["study"]["zero_missing"] is False
    column = study.tests[0].columns[-1]
    next(box for box in app.selectbox if box.label == "Column to look at").select(column).run()
    assert not app.exception


def test_each_way_of_joining_columns_into_tests():
    app = open_page(PAGE, study=bundled("heart"))
    for grouping in groupings("heart")[1:]:
        app.selectbox(key="grouping").select(grouping).run()
        assert not app.exception
        n_tests = len(load_bundled("heart", grouping).tests)
        assert f"303 patients, {n_tests} tests" in [c.value for c in app.sidebar.caption]


def test_choosing_a_bundled_study_takes_one_click_and_is_saved():
    app = open_page(PAGE)
    app.button(key="use heart").click().run()
    assert settings(app)["study"] == bundled("heart")
    assert app.button(key="use heart").disabled
    assert app.session_state["workspace"].settings["study"]["name"] == "heart"
    assert "Weak dominance" in app.sidebar.markdown[-1].value


def test_another_study_never_takes_own_work_away_unasked():
    own = [{"name": "A", "columns": ["Glucose"], "price": 5.0, "fees": []}]
    app = open_page(PAGE, tests=own, fees={})
    app.button(key="use heart").click().run()
    assert settings(app)["tests"] == own, "asked first"
    named(app, "Start a new workspace").click().run()
    assert (settings(app)["study"]["name"], settings(app)["tests"]) == ("heart", None)

    app = open_page(PAGE, tests=own, fees={}, lam=0.5)
    app.selectbox(key="grouping").select("paper").run()
    assert settings(app)["study"]["grouping"] == "clinic"
    named(app, "Replace").click().run()
    assert settings(app)["study"]["grouping"] == "paper"
    assert (settings(app)["tests"], settings(app)["lam"]) == (None, None)


def test_the_same_patients_again_change_nothing_and_ask_nothing():
    app = upload()
    app.file_uploader(key="patients 1").upload("clinic.csv", CSV, "text/csv").run()
    before = settings(app)
    named(app, "Use these patients").click().run()
    assert settings(app) == before
    assert "offer" not in app.session_state
    app.multiselect(key="positive").set_value(["No"]).run()
    app.file_uploader(key="patients 2").upload("clinic.csv", CSV, "text/csv").run()
    named(app, "Use these patients").click().run()
    assert "offer" in app.session_state, "what the user said of them would be lost"


def test_a_file_from_a_clinic_is_read_guessed_and_used():
    app = offer()
    assert "120 patients" in app.success[0].value.replace("\\", "")
    assert "decimal comma" in app.success[0].value
    assert settings(app)["study"]["source"] == "bundled", "not before the user says so"
    named(app, "Use these patients").click().run()
    study = settings(app)["study"]
    assert (study["label"], study["positive"]) == ("diagnosis", ["Yes"])
    assert [test["price"] for test in settings(app)["tests"]] == [None] * 5
    assert errors(app) == [
        "5 tests have no price yet: 'patient_id', 'age', 'sex', 'glucose', 'lactate'. "
        "Give each a price of 0 or more."
    ]
    assert app.multiselect(key="positive").value == ["Yes"]


def test_every_fault_of_a_price_file_is_shown_and_the_rest_kept():
    app = upload(prices=PRICES_WITH_TWO_FAULTS)
    assert errors(app) == [
        "Test 'Glucose' has the price 'fifteen', which is not a number. "
        "Write a number of 0 or more, such as 12.50.",
        "Test 'Lactate' has no price. Give it a price of 0 or more.",
    ]
    assert [test["price"] for test in settings(app)["tests"]] == [10.0, None, None]
    assert settings(app)["fees"] == {"blood draw": 2.1}
    edit(app, "own prices", {1: {"price": 15.0}, 2: {"price": 20.0}})
    assert errors(app) == []
    assert [test["price"] for test in settings(app)["tests"]] == [10.0, 15.0, 20.0]
    assert "Weak dominance" in app.sidebar.markdown[-1].value


def test_what_a_price_table_left_unclear_stays_until_it_is_checked():
    two_amounts = PRICES_WITH_TWO_FAULTS.replace(b"blood draw;2,10\n", b"blood draw;3,00\n", 1)
    app = upload(prices=two_amounts)
    said = "Shared fee 'blood draw' has two amounts, 3.00 and 2.10. Give it the same everywhere."
    assert said in warnings(app)
    named(app, "I have checked these").click().run()
    assert said not in warnings(app)


def test_one_workbook_with_patients_and_tests():
    tests = pd.DataFrame({"test": ["age", "Sugar"], "price": [1, 9.5], "columns": ["", "glucose"]})
    app = upload(workbook(clinic(), tests), "study.xlsx")
    assert [test["name"] for test in settings(app)["tests"]] == ["age", "Sugar"]
    assert not errors(app)


def test_the_templates_can_be_uploaded_as_they_are():
    app = upload(templates()["study.xlsx"], "study.xlsx")
    assert len(errors(app)) == 3, "three patients are too few, and nothing else is wrong"
    assert all("Label 'diagnosis'" in error for error in errors(app))


@pytest.mark.parametrize(
    ("name", "data"),
    [("empty.csv", b""), ("x.xlsx", b"PK\x03\x04 broken"), ("x.sav", b"$FL2 spss"),
     ("x.parquet", b"PAR1junk"), ("photo.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50)],
)  # fmt: skip
def test_a_file_that_cannot_be_read_says_so_and_changes_nothing(name, data):
    app = offer(data, name)
    assert errors(app)
    assert "Nothing was changed" in " ".join(caption.value for caption in app.caption)
    assert not any(button.label == "Use these patients" for button in app.button)
    assert settings(app)["study"]["name"] == "diabetes"


def test_an_unreadable_price_file_keeps_the_patients_waiting():
    app = offer(prices=b"")
    assert errors(app)
    assert settings(app)["study"]["source"] == "bundled"


def test_prices_of_another_table_begin_one_test_a_column():
    app = upload(prices=b"drug,dose\naspirin,3\n")
    assert len(settings(app)["tests"]) == 5
    assert "The price table has no column called 'test'." in " ".join(warnings(app))


def test_label_and_positive_values_are_the_users_to_choose():
    app = upload()
    app.selectbox(key="label").select("sex").run()
    assert settings(app)["study"]["label"] == "sex"
    assert settings(app)["study"]["positive"] == []
    assert any("has no positive value" in error for error in errors(app))
    names = [test["name"] for test in settings(app)["tests"]]
    assert "sex" not in names, "the label is no test"
    assert "diagnosis" in names, "the former label is one now"
    app.multiselect(key="positive").select("female").run()
    assert settings(app)["study"]["positive"] == ["female"]
    app.selectbox(key="label").select("(no label)").run()
    assert any("no classifier can learn" in error for error in errors(app))
    app.selectbox(key="decimal").select(".").run()
    assert settings(app)["study"]["decimal"] == "."
    assert not app.exception


def test_an_identifying_column_is_left_out_with_one_click():
    app = upload()
    assert any("'patient_id' looks like a record number" in said for said in warnings(app))
    app.button(key="leave out patient_id").click().run()
    assert settings(app)["study"]["left_out"] == ["patient_id"]
    assert "patient_id" not in [test["name"] for test in settings(app)["tests"]]
    assert not warnings(app)
    edit(app, "columns", {0: {"use": True}})
    assert settings(app)["study"]["left_out"] == []
    assert "patient_id" in [test["name"] for test in settings(app)["tests"]]


def test_column_types_are_guessed_shown_and_changed():
    app = upload()
    shown = app.session_state["columns held"]["base"].set_index("column")
    assert shown["kind"].to_dict() == {
        "patient_id": "number", "age": "number", "sex": "category", "glucose": "number",
        "lactate": "number",
    }  # fmt: skip
    edit(app, "columns", {1: {"kind": "category"}, 3: {"zero": True}})
    assert settings(app)["study"]["kinds"] == {"age": "category"}
    assert settings(app)["study"]["zero_missing"] == ["glucose"]


def test_results_with_and_without_truth():
    frame = results()
    app = upload(frame.to_csv(index=False).encode(), "results.csv")
    edit(app, "own prices", {k: {"price": float(k + 1)} for k in range(3)})
    app.toggle(key="results").set_value(True).run()
    app.selectbox(key="rule").select("any positive test").run()
    assert settings(app)["study"]["rule"] == "any positive test"
    assert not errors(app)
    assert "Weak dominance" in app.sidebar.markdown[-1].value
    app.selectbox(key="label").select("(no label)").run()
    assert any("error rates cannot be measured" in said for said in warnings(app))
    edit(app, "own prices", {3: {"price": 4.0}})  # the former label is a test now
    assert not errors(app)
    assert "unknown without labels" in app.sidebar.markdown[-1].value


def test_columns_that_are_no_results_are_named_with_their_row():
    app = upload()
    app.toggle(key="results").set_value(True).run()
    said = [error for error in errors(app) if "where a test result, 0 or 1, is expected" in error]
    assert len(said) == 5
    assert "Column 'age', row 2 (and 119 more), says" in " ".join(said)


def test_prices_can_be_read_from_a_file_later_and_the_currency_chosen():
    app = upload()
    app.selectbox(key="currency").select("€").run()
    app.file_uploader(key="table 0").upload("p.csv", b"test,price\nage,3\n", "text/csv").run()
    named(app, "Use these prices instead of the present ones").click().run()
    assert settings(app)["study"]["currency"] == "€"
    assert [(t["name"], t["price"]) for t in settings(app)["tests"]] == [("age", 3.0)]
    assert not errors(app)
    app.file_uploader(key="table 1").upload("p.csv", b"", "text/csv").run()
    assert len(errors(app)) == 1
    assert not app.exception


def test_strange_names_stay_letters():
    names = {
        "age": "![](http://x/y.png)",
        "sex": "$a$",
        "glucose": "<b>x</b>",
        "lactate": ":red[x]",
    }
    app = upload(semicolons(clinic().rename(columns=names)), "![](http://x/z.png).csv")
    shown = [e.value for kind in (app.markdown, app.caption, app.error, app.warning) for e in kind]
    shown += [title.value for title in app.header]
    for text in shown:
        assert "![" not in text
        assert "$a$" not in text
        assert "<b>x" not in text.replace("\\<", "")
        assert ":red[" not in text


def test_each_fault_has_one_place():
    for where, what, place in (
        ("Label 'x'", "has only one value", "label"),
        ("The study", "has no label, so", "label"),
        ("Column 'x'", "belongs to 2 tests: a, b.", "prices"),
        ("The study", "has no tests.", "prices"),
        ("Shared fee 'x'", "has no amount.", "prices"),
        ("Column 'x', row 3,", "says 'y' where a number is expected.", "columns"),
        ("The patient table", "is empty.", "columns"),
    ):
        assert place_of(Fault(where, what, "")) == place


def small_study() -> Study:
    frame = pd.DataFrame(
        {"a": [1.0, 2.0, np.nan, 4.0], "b": ["x", "y", "x", None], "d": [1, 0, 1, None]}
    )
    kinds = {"a": "number", "b": "category"}
    return Study("s", frame, (), label="d", positive=(1,), kinds=kinds)


def test_columns_are_described_by_hand_counted_numbers():
    table = column_table(small_study()).set_index("column")
    assert table.loc["a"].tolist() == ["number", 0.25, 3, "1, 2, 4"]
    assert table.loc["b"].tolist() == ["category", 0.25, 2, "x, y"]
    values = label_values(small_study()).set_index("value")
    assert values["patients"].to_dict() == {"1": 2, "0": 1, "(empty)": 1}
    assert values["meaning"].to_dict() == {
        "1": "disease",
        "0": "no disease",
        "(empty)": "not known",
    }
    assert reading(small_study(), "a") == (
        "Median: 1 among patients with the disease, 2 among patients without, 4 among the "
        "undiagnosed. Missing for 1 of 4 patients."
    )
    assert reading(small_study(), "b").startswith("Most frequent: 'x' (100%) among patients with")


def test_figures_count_every_patient_once():
    study = load_bundled("heart")
    for column in study.columns_of(study.tests):
        drawn = sum(int(np.sum(bars.y)) for bars in column_figure(study, column).data)
        assert drawn == study.features([column])[column].notna().sum()
    assert sum(int(np.sum(bars.y)) for bars in label_figure(study).data) == study.n_patients


def test_tests_follow_the_columns_that_are_left():
    tests = (Test("A", ("a", "b"), 1.0), Test("B", ("c",), 2.0))
    assert [t.columns for t in revealing(tests, ["a"])] == [("a",)]
    begun = revealing(tests, ["a", "c", "z"], one_each=True)
    assert [t.name for t in begun] == ["A", "B", "z"]
    assert np.isnan(begun[-1].price)
