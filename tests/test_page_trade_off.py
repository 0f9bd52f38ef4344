"""The Trade-off page: four views of one λ, what-ifs, scenarios, a year's patients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from app import edit, open_page
from csmd_core.budget import break_even, budget_window, cohort
from csmd_core.bundled import bundled_names
from csmd_core.what_if import Change, at_prices, compare
from csmd_core.windows import best_windows, dominance_windows, window_at
from decided import core_problem, open_study, without_labels
from studio.scenarios import MOST
from studio.text import money, percent
from studio.trade_off_parts import break_even_sentences, window_sentence
from studio.what_if_parts import readable

PAGE = "pages/trade_off.py"


def settings(app):
    return app.session_state["settings"]


def said(app):
    return " ".join(m.value for m in app.main.markdown).replace("\\", "")


def part(app, name):
    app.session_state["part"] = name
    app.run()
    assert not app.exception
    return app


def press(app, label):
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception


@pytest.fixture(scope="module")
def heart():
    return open_study(PAGE, mode="subsets", lam=0.0004), core_problem("heart", "subsets", 0.0004)


CASES = [*((name, "cascade") for name in bundled_names()), ("heart", "subsets")]


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_every_bundled_study_shows_the_cores_numbers(name, mode):
    app, problem = open_study(PAGE, name, mode, lam=0.0008), core_problem(name, mode, 0.0008)
    best = problem.best
    year = cohort(problem, best, 10_000)
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Cost per patient"] == money(problem.panels.costs[best], "CA$")
    assert shown["Error rate"] == percent(problem.evidence.error_rates[best])
    assert shown["Cost a year"] == money(year.cost, "CA$")
    assert shown["Misdiagnoses a year"] == f"{year.misdiagnoses:,.0f}"
    assert f"95% interval {year.misdiagnoses_interval[0]:,.0f} to" in said(app)
    assert problem.panels.names[best] in said(app)


def test_what_is_not_fitted_yet_is_said_with_a_link():
    app = open_study(PAGE, "thyroid", "subsets")
    assert "for 31 panels are not fitted yet" in app.error[0].value.replace("\\", "")


def in_step(app, problem):
    """Every widget shows the one λ of the settings."""
    lam = settings(app)["lam"]
    window = window_at(best_windows(problem.panels, problem.evidence), lam)
    assert app.select_slider(key="lam slider").value == lam
    assert app.number_input(key="lam number").value == lam
    assert app.number_input(key="lam worth").value == 1 / lam
    assert app.number_input(key="lam budget").value == problem.panels.costs[window.best]
    return lam


lams = st.floats(-9, 2).map(lambda x: float(f"{10**x:.6g}"))
moves = st.one_of(
    st.tuples(st.just("number"), lams),
    st.tuples(st.just("worth"), lams.map(lambda x: float(f"{1 / x:.6g}"))),
    st.tuples(st.just("slider"), st.floats(0, 1)),
    st.tuples(st.just("budget"), st.floats(4, 700).map(lambda x: round(x, 2))),
)


@effort(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(move=moves)
def test_the_four_views_stay_in_step_whichever_is_changed(heart, move):
    app, problem = heart
    (view, value), before = move, settings(app)["lam"]
    if view == "slider":
        options = app.select_slider(key="lam slider").options
        value = float(options[int(value * (len(options) - 1))])
        app.select_slider(key="lam slider").set_value(value).run()
    else:
        app.number_input(key=f"lam {view}").set_value(value).run()
    assert not app.exception
    now = in_step(app, problem)
    if view == "budget":
        window = budget_window(problem.panels, problem.evidence, value + 0.005)
        assert now in window
        assert now == before or before not in window
    elif view == "slider":
        assert now == pytest.approx(value, rel=1e-3)  # the slider says four digits of a typed λ
    else:
        assert now == (1 / value if view == "worth" else value)


def test_a_chosen_lambda_is_kept_when_its_panel_is_what_the_budget_pays_for(heart):
    app, _ = heart
    app.number_input(key="lam number").set_value(0.0004).run()
    cost = app.number_input(key="lam budget").value
    app.number_input(key="lam budget").set_value(cost + 0.5).run()
    assert settings(app)["lam"] == 0.0004
    assert app.number_input(key="lam budget").value == cost


def test_a_budget_that_pays_for_nothing_is_told(heart):
    app, _ = heart
    before = settings(app)["lam"]
    app.number_input(key="lam budget").set_value(0.5).run()
    assert "A budget of 0.51 per patient pays for no panel" in app.error[0].value.replace("\\", "")
    assert settings(app)["lam"] == before


def test_the_slider_offers_every_lambda_that_matters():
    problem = core_problem("heart", "subsets", 0.0123456)
    ends = [w.high for w in best_windows(problem.panels, problem.evidence)[:-1]]

    app = open_study(PAGE, mode="subsets", lam=0.0123456)
    options = [float(text) for text in app.select_slider(key="lam slider").options]
    assert options == sorted(options)
    assert options[0] < min(ends)
    assert options[-1] > max(ends)
    assert 0.01235 in options
    assert len(set(options)) == len(options)


def test_a_lambda_for_each_panel():
    app = open_study(PAGE, "diabetes", lam=0.001)
    app.segmented_control(key="lam kind").set_value("One for each panel").run()
    assert settings(app)["lam"] == [0.001] * 3
    edit(app, "lam table", {0: {"lam": 0.01}, 1: {"lam": 0.002}, 2: {"lam": 0.0055}})
    assert settings(app)["lam"] == [0.01, 0.002, 0.0055]
    problem = core_problem("diabetes", "cascade", [0.01, 0.002, 0.0055])
    assert f"With a λ for each panel, {problem.panels.names[problem.best]}" in said(app)
    edit(app, "lam table", {1: {"lam": None}, 2: {"lam": -3.0}})  # neither can be used
    assert settings(app)["lam"][1:] == [0.002, 0.0055]
    app.segmented_control(key="lam kind").set_value("One λ for all panels").run()
    assert settings(app)["lam"] == problem.lam[problem.best]
    in_step(app, problem)


def test_the_sentence_under_the_chart_reads_it():
    problem = core_problem("diabetes", "cascade", 0.001)
    app = open_study(PAGE, "diabetes", lam=0.001)
    told = window_sentence(problem, dominance_windows(problem.panels, problem.evidence), "CA$")
    assert told in said(app)
    assert told.startswith("History + Glucose is best while avoiding one misdiagnosis is worth")


def test_what_if_prices_leave_the_study_alone():
    app = part(open_study(PAGE, "diabetes", lam=0.001), "What if prices change")
    before = settings(app)["tests"]
    edit(app, "what-if prices", {1: {"what_if": 170.0}})
    app.number_input(key="what-if all").set_value(-20.0).run()
    change = Change("What if", {"Glucose": 170.0}, {}, -0.2)
    assert settings(app)["what_if"] == {
        "name": "What if", "prices": {"Glucose": 170.0}, "fees": {}, "change_all": -0.2,
    }  # fmt: skip
    assert settings(app)["tests"] == before
    problem = core_problem("diabetes", "cascade", 0.001)
    table = compare(problem, [change], 10_000)
    shown = app.table[0].value.map(lambda cell: str(cell).replace("\\", ""))
    assert shown["Today"].tolist() == list(readable(table, "CA$").iloc[0])[1:]
    assert shown["What if"].tolist() == list(readable(table, "CA$").iloc[1])[1:]
    after = at_prices(problem, change)
    assert after.best != problem.best
    assert f"to {after.panels.names[after.best]}:" in said(app)
    press(app, "Back to today's prices")
    assert settings(app)["what_if"] is None
    assert "stays the best panel, and a year's patients cost the same" in said(app)


def test_a_what_if_typed_wrong_falls_back_to_today():
    app = part(open_study(PAGE, "heart", lam=0.001), "What if prices change")
    edit(app, "what-if prices", {0: {"what_if": None}, 1: {"what_if": -5.0}})
    assert settings(app)["what_if"]["prices"] == {}
    fee_row = len(app.session_state["what-if prices held"]["base"]) - 1
    edit(app, "what-if prices", {fee_row: {"what_if": 9.0}})
    assert list(settings(app)["what_if"]["fees"].values()) == [9.0]


def test_scenarios_are_named_kept_compared_tried_and_deleted():
    what_if = {"name": "What if", "prices": {"Glucose": 40.0}, "fees": {}, "change_all": 0.1}
    app = part(open_study(PAGE, "diabetes", lam=0.001, what_if=what_if), "Scenarios")
    press(app, "Keep it")
    assert app.warning[0].value == "Give the scenario a name first\\."
    app.text_input(key="scenario name").set_value("  Dear   glucose ").run()
    press(app, "Keep it")
    assert [row["name"] for row in settings(app)["scenarios"]] == ["Dear glucose"]
    problem = core_problem("diabetes", "cascade", 0.001)
    change = Change("Dear glucose", {"Glucose": 40.0}, {}, 0.1)
    wanted = readable(compare(problem, [change], 10_000), "CA$")
    shown = app.dataframe[0].value
    assert shown.to_numpy().tolist() == wanted.to_numpy().tolist()
    app.session_state["settings"] = {**settings(app), "what_if": None}
    press(app, "Try its prices")
    assert settings(app)["what_if"]["prices"] == {"Glucose": 40.0}
    press(app, "Delete it")
    assert settings(app)["scenarios"] == []


def test_scenarios_that_do_not_fit_are_left_out_and_there_is_an_end_to_them():
    rows = [{"name": f"S{k}", "prices": {"Biopsy": 1.0}, "fees": {}, "change_all": 0.0}
            for k in range(MOST)]  # fmt: skip
    app = part(open_study(PAGE, "diabetes", lam=0.001, scenarios=rows), "Scenarios")
    assert len(app.dataframe[0].value) == 1
    assert "of another study are left out" in app.main.caption[-1].value
    app.text_input(key="scenario name").set_value("One more").run()
    press(app, "Keep it")
    assert "20 scenarios are kept" in app.warning[0].value


@pytest.mark.parametrize(
    "junk",
    [
        {"lam": "much"},
        {"lam": [0.1, "x", None]},
        {"lam": -1},
        {"what_if": {"prices": {"Glucose": "free"}, "change_all": "all"}},
        {"scenarios": [{"name": 3}, "x"]},
    ],
)
def test_settings_from_a_strange_file_do_no_harm(junk):
    part(open_study(PAGE, "diabetes", **junk), "Scenarios")


def test_break_even_prices_in_sentences():
    app = part(open_study(PAGE, "heart", lam=0.0004), "Which price matters")
    rows = break_even(core_problem("heart", "cascade", 0.0004))
    for sentence in break_even_sentences(rows, "CA$"):
        assert sentence in said(app)
    in_it = rows[rows["in_best"] & np.isfinite(rows["high"])].iloc[0]
    told = break_even_sentences(rows, "CA$")[int(in_it.name)]
    assert f"stays in the best panel until its price passes {money(in_it['high'], 'CA$')}" in told


def test_patients_a_year():
    app = open_study(PAGE, "diabetes", lam=0.001)
    app.number_input(key="cohort").set_value(500).run()
    problem = core_problem("diabetes", "cascade", 0.001)
    year = cohort(problem, problem.best, 500)
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Saved against every test"] == money(year.money_saved, "CA$")
    assert "For 500 patients a year" in said(app)


def test_without_labels_the_page_says_so_and_lambda_can_still_be_set():
    app = open_page(PAGE, link=without_labels())
    assert "no labels" in app.info[0].value
    app.number_input(key="lam worth").set_value(2000.0).run()
    assert settings(app)["lam"] == 1 / 2000
    assert not [n for n in app.number_input if n.key == "lam budget"]
