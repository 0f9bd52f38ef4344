"""The Tests page: the grid of tests, the panels, the fit, and the table of results."""

from __future__ import annotations

import io
import time
from dataclasses import asdict, replace

import pandas as pd
import pytest

from app import bundled, edit, open_page
from csmd_core.bundled import bundled_names, load_bundled
from csmd_core.panels import cascade, subsets
from csmd_core.predictions import Fitting, fit_evidence
from csmd_core.problem import panel_table
from studio import tests_parts, work
from studio.downloads import as_csv, as_excel
from studio.text import plain
from uploads import clinic, results, semicolons

PAGE = "pages/tests.py"
HEART = load_bundled("heart")


def open_heart(**settings):
    return open_page(PAGE, study=bundled("heart"), **settings)


def settings(app):
    return app.session_state["settings"]


def shown(app):
    return {metric.label: metric.value for metric in app.metric}


def errors(app):
    return [box.value.replace("\\", "") for box in app.error]


def named(app, label):
    return next(button for button in app.button if button.label == label)


def words(app):
    return "\n".join(block.value for block in app.markdown)


def results_shown(app):
    """The table of panels: the last table of the page."""
    return app.dataframe[-1].value


@pytest.fixture
def fits(monkeypatch):
    """Count the calls that fit classifiers."""
    calls = []
    for module in (work, tests_parts):
        real = module.fit_scores

        def counted(*args, _real=real, **more):
            calls.append(args)
            return _real(*args, **more)

        monkeypatch.setattr(module, "fit_scores", counted)
    return calls


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_study_shows_the_numbers_of_the_core(name):
    app = open_page(PAGE, study=bundled(name), fitting=asdict(Fitting(folds=3)))
    study = load_bundled(name)
    panels = cascade(study.tests, study.fees)
    table = panel_table(panels, fit_evidence(study, panels, Fitting(folds=3)))
    seen = results_shown(app)
    assert seen["panel"].tolist() in (list(panels.names), list(panels.short_names))
    assert seen["cost"].tolist() == table["cost"].tolist()
    assert (seen["error_rate"] / 100).tolist() == pytest.approx(table["error_rate"].tolist())
    assert (seen["npv"] / 100).tolist() == pytest.approx(table["npv"].tolist())
    assert shown(app)["Panels"] == str(len(study.tests))
    assert not app.error


def test_a_new_price_changes_costs_is_saved_and_never_fits_again(fits):
    app = open_heart(fitting=asdict(Fitting("naive Bayes", 3, seed=1)))
    assert len(fits) == 1
    error = shown(app)["Lowest error rate"]
    edit(app, "tests grid", {5: {"price": 200.9}})
    assert shown(app)["Dearest panel"] == "CA$423.97"
    assert shown(app)["Lowest error rate"] == error
    assert settings(app)["tests"][5]["price"] == 200.9
    edit(app, "fees grid", {1: {"amount": 1.9}})
    assert shown(app)["Dearest panel"] == "CA$323.97"
    app.switch_page("pages/home.py").run()
    app.switch_page(PAGE).run()
    assert shown(app)["Dearest panel"] == "CA$323.97"
    assert len(fits) == 1


def test_fees_are_named_once_a_column_and_that_survives_other_edits():
    app = open_heart()
    edit(app, "tests grid", {1: {"name": "Blood tests", "price": 10.0}})
    assert settings(app)["tests"][1]["fees"] == ["blood draw", "blood draw"]
    app.toggle(key="share fees").set_value(False).run()
    rows, fees = settings(app)["tests"], settings(app)["fees"]
    study = replace(HEART, tests=tuple(work.as_test(row) for row in rows), fees=fees)
    full = cascade(study.tests, study.fees, shared_fees=False)
    assert results_shown(app)["cost"].tolist() == full.costs.tolist()
    edit(app, "tests grid", {1: {"name": "Blood tests", "price": 10.0, "fees": []}})
    assert settings(app)["tests"][1]["fees"] == []


def names(app):
    return [test["name"] for test in settings(app)["tests"]]


def test_a_number_moves_a_test_up_or_down():
    app = open_heart()
    edit(app, "tests grid", {5: {"order": 2}})
    moved = ["History", "Fluoroscopy", "Blood", "Resting ECG", "Exercise ECG", "Thallium scan"]
    assert names(app) == moved
    assert results_shown(app)["panel"].tolist()[:3] == ["History", "+ Fluoroscopy", "+ Blood"]
    edit(app, "tests grid", {0: {"order": 3}})
    assert names(app)[:3] == ["Fluoroscopy", "Blood", "History"]


def test_rows_are_added_deleted_and_wrong_ones_kept_until_mended():
    app = open_heart()
    edit(app, "tests grid", {}, deleted_rows=[5], added_rows=[{"name": "Angiogram"}])
    assert names(app)[-1] == "Angiogram"
    [box] = errors(app)
    assert "Test 'Angiogram' has no columns." in box
    assert "Test 'Angiogram' has no price." in box
    assert not app.metric
    row = {"name": "Angiogram", "price": 500.0, "columns": ["ca"]}
    edit(app, "tests grid", {}, deleted_rows=[5], added_rows=[row, {}])
    assert shown(app)["Dearest panel"] == "CA$723.07"
    assert not app.error


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"price": -3.0}, "has a negative price, -3."),
        ({"price": None}, "has no price."),
        ({"name": ""}, "A test has no name."),
        ({"name": "Blood"}, "Test 'Blood' is listed 2 times."),
        ({"columns": []}, "has no columns."),
        ({"columns": ["chol"]}, "belongs to 2 tests"),
    ],
)
def test_a_wrong_edit_is_explained_and_kept(cells, words):
    app = open_heart()
    edit(app, "tests grid", {0: cells})
    assert words in errors(app)[0]
    [key] = cells
    assert settings(app)["tests"][0][key] == cells[key]
    named(app, "Undo").click().run()
    assert not app.error
    assert settings(app)["tests"] is None


def test_renamed_and_deleted_fees_follow_into_the_tests():
    app = open_heart()
    edit(app, "fees grid", {0: {"name": "venepuncture"}})
    assert settings(app)["tests"][1]["fees"] == ["venepuncture"] * 2
    edit(app, "fees grid", {}, deleted_rows=[0])
    assert settings(app)["tests"][1]["fees"] == []
    assert list(settings(app)["fees"]) == ["thallium scan", "exercise test"]


def test_a_fee_named_in_a_test_waits_for_its_amount():
    app = open_heart()
    edit(app, "tests grid", {5: {"fees": ["theatre"]}})
    assert "Shared fee 'theatre' has no amount." in errors(app)[0]
    edit(app, "fees grid", {3: {"amount": 50.0}})
    assert shown(app)["Dearest panel"] == "CA$373.97"


def test_two_fees_of_one_name_are_both_kept():
    app = open_heart()
    edit(app, "fees grid", {}, added_rows=[{"name": "blood draw", "amount": 5.0}, {"amount": 1.0}])
    fees = settings(app)["fees"]
    assert (fees["blood draw"], fees["blood draw (2)"], fees["unnamed fee"]) == (2.1, 5.0, 1.0)


def test_start_from_another_grouping_and_back_again():
    app = open_heart(mode="subsets", chosen=[["History"]])
    app.selectbox(key="start from").select("paper").run()
    assert settings(app)["study"]["grouping"] == "paper"
    assert shown(app)["Panels"] == "7"
    edit(app, "tests grid", {0: {"price": 1.0}})
    assert app.selectbox(key="start from").value is None
    named(app, "Back to the bundled prices").click().run()
    assert settings(app)["tests"] is None
    for _ in range(3):
        named(app, "Undo").click().run()
    assert settings(app)["study"]["grouping"] == "clinic"
    assert settings(app)["chosen"] == [["History"]]
    assert named(app, "Undo").disabled


def test_joined_tests_add_their_columns_prices_and_fees():
    app = open_heart(mode="subsets", chosen=[["Blood"], ["History", "Resting ECG"]])
    app.multiselect(key="join these").set_value(["Resting ECG", "Blood"])
    app.text_input(key="join name").set_value("Lab and ECG")
    named(app, "Join").click().run()
    joined = settings(app)["tests"][1]
    assert joined == {
        "name": "Lab and ECG", "columns": ["chol", "fbs", "restecg"], "price": 23.77,
        "fees": ["blood draw", "blood draw"],
    }  # fmt: skip
    assert settings(app)["chosen"] == [["Lab and ECG"], ["History", "Lab and ECG"]]
    assert shown(app)["Panels"] == "2"


def test_subsets_all_small_and_chosen():
    app = open_page(PAGE)
    app.segmented_control(key="mode").select("subsets").run()
    assert shown(app)["Panels"] == "7"
    app.segmented_control(key="which subsets").select("few").run()
    assert shown(app)["Panels"] == "6"
    app.number_input(key="at most").set_value(1).run()
    assert shown(app)["Panels"] == "3"
    assert any("= 3 panels" in caption.value for caption in app.caption)
    app.segmented_control(key="which subsets").select("chosen").run()
    assert shown(app)["Panels"] == "3"
    edit(app, "chosen subsets", {2: {"tests": ["Insulin"]}})
    study = load_bundled("diabetes")
    wanted = [["History"], ["History", "Glucose"], ["Insulin"]]
    assert results_shown(app)["panel"].tolist() == list(
        subsets(study.tests, study.fees, chosen=wanted).names
    )
    edit(app, "tests grid", {2: {"name": "Serum insulin"}})
    assert settings(app)["chosen"][2] == ["Serum insulin"]
    edit(app, "chosen subsets", {}, deleted_rows=[0, 1, 2])
    assert "The subsets are empty." in errors(app)[0]


def test_too_many_subsets_are_counted_not_made():
    app = open_page(PAGE, study=bundled("hepatitis", "one test per column"), mode="subsets")
    assert "of 19 tests would be 524,287 panels." in errors(app)[0]
    app.segmented_control(key="which subsets").select("few").run()
    assert not app.error
    assert any("190 panels" in caption.value for caption in app.sidebar.caption)


def test_classifier_folds_and_seed_fit_again_but_the_threshold_does_not(fits):
    app = open_page(PAGE)
    app.number_input(key="fitting seed").set_value(77).run()
    app.selectbox(key="fitting classifier").select("naive Bayes").run()
    app.selectbox(key="fitting folds").select(3).run()
    before, found = len(fits), results_shown(app)["sensitivity"].tolist()
    app.slider(key="fitting threshold").set_value(0.3).run()
    assert len(fits) == before
    study = load_bundled("diabetes")
    panels = cascade(study.tests, study.fees)
    table = panel_table(panels, fit_evidence(study, panels, Fitting("naive Bayes", 3, 0.3, 77)))
    now = results_shown(app)["sensitivity"]
    assert (now / 100).tolist() == pytest.approx(table["sensitivity"].tolist())
    assert now.tolist() != found


def test_in_sample_error_rates_are_called_what_they_are():
    app = open_page(PAGE)
    app.selectbox(key="fitting folds").select(0).run()
    assert "look better than they will be" in app.warning[0].value
    assert shown(app)["Panels"] == "3"


def until(app, ready):
    for _ in range(200):
        if ready():
            return
        time.sleep(0.05)
        app.run()
    raise TimeoutError


def test_a_large_fit_runs_beside_the_page_and_is_kept(fits, monkeypatch):
    monkeypatch.setattr(work, "SMALL", 0.0)
    app = open_heart(fitting=asdict(Fitting("naive Bayes", 5, seed=5)))
    assert not app.metric
    assert "6 panels are to be fitted with naive Bayes: about 1 second" in words(app)
    assert any("Not fitted yet." in caption.value for caption in app.sidebar.caption)
    named(app, "Fit 6 panels").click().run()
    until(app, lambda: "Panels" in shown(app))
    assert settings(app)["fitted"]
    edit(app, "tests grid", {0: {"price": 1.0}})
    assert shown(app)["Cheapest panel"] == "CA$1"
    assert len(fits) == 1


def test_a_large_fit_can_be_stopped(monkeypatch):
    monkeypatch.setattr(work, "SMALL", 0.0)
    real = tests_parts.fit_scores

    def slowly(*args, progress, **more):
        def step(done, total):
            time.sleep(0.05)
            return progress(done, total)

        return real(*args, progress=step, **more)

    monkeypatch.setattr(tests_parts, "fit_scores", slowly)
    app = open_heart(fitting=asdict(Fitting("naive Bayes", 20, seed=6)))
    named(app, "Fit 6 panels").click().run()
    until(app, lambda: app.get("progress"))
    named(app, "Stop").click().run()
    until(app, lambda: app.info)
    assert "Stopped before the end" in app.info[0].value
    assert settings(app)["fitted"] is None
    assert named(app, "Fit 6 panels")


def test_every_chart_is_drawn_when_asked_for():
    app = open_heart()
    assert "errs least" in words(app)
    app.segmented_control(key="tests chart").select("Agreement").run()
    assert "disagree most" in words(app)
    app.segmented_control(key="tests chart").select("ROC curves").run()
    assert "upper left corner" in words(app)
    app.multiselect(key="roc panels").set_value([]).run()
    assert "at least one panel" in app.info[0].value
    app.multiselect(key="roc panels").set_value([0, 5]).run()
    assert not app.info
    assert not app.exception


def bring_results(frame, label):
    app = open_page("pages/data.py")
    app.segmented_control(key="patients from").select("My own patients").run()
    app.file_uploader(key="patients 0").upload("r.csv", semicolons(frame), "text/csv").run()
    named(app, "Use these patients").click().run()
    study = {**settings(app)["study"], "results": True, "label": label}
    study["positive"] = ["1"] if label else []
    tests = [
        {"name": f"test {k}", "columns": [f"test {k}"], "price": float(k), "fees": []}
        for k in (1, 2, 3)
    ]
    app.session_state["settings"] = {**settings(app), "study": study, "tests": tests, "fees": {}}
    app.switch_page(PAGE).run()
    assert not app.exception, app.exception
    return app


def test_results_brought_with_the_truth_are_scored_without_a_classifier(fits):
    frame = results()
    app = bring_results(frame, "truth")
    assert not [box for box in app.selectbox if box.label == "Classifier"]
    wrong = [100 * (frame[f"test {k}"] != frame["truth"]).mean() for k in (1, 2, 3)]
    assert results_shown(app)["error_rate"].tolist() == pytest.approx(wrong)
    assert app.segmented_control(key="tests chart").options == ["Cost and error", "Agreement"]
    assert not fits


def test_results_brought_without_the_truth_show_what_needs_none():
    app = bring_results(results().drop(columns="truth"), None)
    assert shown(app) == {"Panels": "3", "Cheapest panel": "$1", "Dearest panel": "$6"}
    assert "Without labels" in app.info[0].value
    assert list(results_shown(app).columns) == ["panel", "tests", "cost"]


def test_uploaded_patients_begin_from_their_columns_or_their_price_table():
    prices = b"test;price;columns\nHistory;10;age|sex\nGlucose;15;glucose\nLactate;20;lactate\n"
    app = open_page("pages/data.py")
    app.segmented_control(key="patients from").select("My own patients").run()
    app.file_uploader(key="patients 0").upload("c.csv", semicolons(clinic()), "text/csv").run()
    app.file_uploader(key="prices 0").upload("prices.csv", prices, "text/csv").run()
    named(app, "Use these patients").click().run()
    app.switch_page(PAGE).run()
    assert app.selectbox(key="start from").value == "the uploaded price table"
    app.selectbox(key="start from").select("one test per column").run()
    assert "Test 'age' has no price." in errors(app)[0]
    assert [t["price"] for t in settings(app)["tests"] if t["name"] == "Glucose"] == [15.0]
    app.selectbox(key="start from").select("the uploaded price table").run()
    assert names(app) == ["History", "Glucose", "Lactate"]
    assert not app.error


def test_names_are_shown_letter_by_letter():
    evil = "![x](http://a.b) $y$ <b>"
    app = open_heart()
    edit(app, "tests grid", {0: {"name": evil, "price": -1.0}})
    assert plain(evil) in app.error[0].value
    assert "![x](" not in app.error[0].value
    edit(app, "tests grid", {0: {"name": evil, "price": 0.0}})
    assert "![x](" not in words(app)


def test_downloads_hold_the_table_and_run_no_formula():
    table = pd.DataFrame({"panel": ["=1+1", "Blood"], "cost": [1.5, 2.0]})
    back = pd.read_csv(io.BytesIO(as_csv(table)))
    assert back["cost"].tolist() == [1.5, 2.0]
    assert back["panel"].tolist() == ["'=1+1", "Blood"]
    sheet = pd.read_excel(io.BytesIO(as_excel(table)), engine="calamine")
    pd.testing.assert_frame_equal(sheet, back, check_dtype=False)
