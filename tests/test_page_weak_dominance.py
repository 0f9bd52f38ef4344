"""The Weak dominance page: its verdict, why, where, what to change, and what needs no labels."""

from __future__ import annotations

import pytest

from app import bundled, edit, open_page
from csmd_core.bundled import bundled_names
from csmd_core.dominance import bootstrap_margin, judge, strong_dominance
from csmd_core.mending import mending_prices, panels_in_the_way
from csmd_core.paper import CASES, paper_problem
from csmd_core.problem import make_problem
from csmd_core.verdict import in_words
from csmd_core.windows import dominance_windows, nearest_holding
from decided import core_problem, open_study, without_labels

PAGE = "pages/weak_dominance.py"
PAPER = {"classifier": "as in the paper", "folds": 10, "threshold": 0.5, "seed": 0}


def settings(app):
    return app.session_state["settings"]


def said(app):
    return " ".join(m.value for m in app.main.markdown).replace("\\", "")


def box(app):
    [found] = [*app.main.success, *app.main.error, *app.main.warning, *app.main.info]
    return type(found).__name__, found.value.replace("\\", "")


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


def button(app, words):
    return next(b for b in app.button if words in b.label)


CASES_SHOWN = [*((name, "cascade") for name in bundled_names()), ("heart", "subsets")]


@pytest.mark.parametrize(("name", "mode"), CASES_SHOWN)
def test_every_bundled_study_gets_the_cores_verdict(name, mode):
    app, problem = open_study(PAGE, name, mode, lam=0.0008), core_problem(name, mode, 0.0008)
    found, interval = judge(problem), bootstrap_margin(problem)
    told = in_words(problem, found, interval)
    kind, sentence = box(app)
    boxes = {"holds": "Success", "fails": "Error", "borderline": "Warning", "vacuous": "Info"}
    assert (kind, sentence) == (boxes[told.kind], told.sentence)
    assert told.because in said(app)
    if found.margin is not None:
        assert metrics(app)["Margin"] == f"{found.margin:+.4f}".replace("-", "−")
        rows = app.dataframe[0].value
        wanted = found.table.drop(columns="index").sort_values("difference")
        assert rows["disagreement"].tolist() == wanted["disagreement"].tolist()
        assert rows["panel"].tolist() == wanted["panel"].tolist()
    share = strong_dominance(problem)
    assert f"It fails for {100 * share:.1f}% of the patients" in said(app)


def test_holding_failing_vacuous_and_borderline_side_by_side():
    kinds = {
        ("diabetes", 0.001): "Success",
        ("diabetes", 0.02): "Success",
        ("heart", 0.001): "Error",
        ("thyroid", 0.000001): "Info",
        ("hepatitis", 0.0012): "Warning",
    }
    for (name, lam), kind in kinds.items():
        assert box(open_study(PAGE, name, lam=lam))[0] == kind, (name, lam)


def test_go_to_the_nearest_lambda_where_it_holds():
    problem = core_problem("diabetes", "cascade", 0.006)
    windows = dominance_windows(problem.panels, problem.evidence)
    app = open_study(PAGE, "diabetes", lam=0.006)
    assert box(app)[0] == "Error"
    same, anyhow = nearest_holding(windows, 0.006, problem.best), nearest_holding(windows, 0.006)
    assert same != anyhow
    button(app, "Same best panel").click().run()
    assert settings(app)["lam"] == same
    assert judge(make_problem(problem.panels, problem.evidence, same)).holds
    app.number_input(key="lam number").set_value(0.006).run()
    button(app, "Any best panel").click().run()
    assert settings(app)["lam"] == anyhow
    assert judge(make_problem(problem.panels, problem.evidence, anyhow)).holds


def test_what_to_change_names_the_prices_that_do_it_and_takes_one_to_the_trade_off():
    problem = core_problem("heart", "cascade", 0.001)
    rows = mending_prices(problem).dropna(subset="new_price")
    assert len(rows)
    app = open_study(PAGE, "heart", lam=0.001)
    for row in rows.itertuples():
        assert f"{row.name}{' (fee)' if row.kind == 'fee' else ''} at CA$" in said(app)
    row = rows.iloc[0]
    app.button(key=f"try {row['kind']} {row['name']}").click().run()
    assert settings(app)["what_if"]["prices"] == {row["name"]: row["new_price"]}
    assert app.title[0].value == "Trade-off"
    shown = app.table[0].value  # the what-if is open, and there it holds
    assert shown.loc["Weak dominance"].tolist() == ["fails", "holds"]


def test_panels_in_the_way_can_be_left_out():
    problem = core_problem("diabetes", "subsets", 0.001)
    in_the_way = panels_in_the_way(problem)
    app = open_study(PAGE, "diabetes", "subsets", lam=0.001)
    assert box(app)[0] == "Error"
    app.button(key="leave out").click().run()
    assert len(settings(app)["chosen"]) == problem.n_panels - len(in_the_way)
    assert not app.main.error  # it holds, or there is nothing left that is dearer


def test_in_a_cascade_the_panels_in_the_way_are_named():
    problem = core_problem("heart", "cascade", 0.001)
    first = problem.panels.names[panels_in_the_way(problem)[0]]
    assert f"Or never stop at {first}" in said(open_study(PAGE, "heart", lam=0.001))


@pytest.mark.parametrize("case", [c for c in CASES if c.study == "diabetes"], ids=str)
def test_the_papers_cases_typed_by_hand_give_the_cores_verdict(case):
    study = {**bundled("diabetes", "paper"), "zero_missing": False}
    app = open_page(PAGE, study=study, shared_fees=False, fitting=PAPER, lam=0.001)
    app.segmented_control(key="lam kind").set_value("One for each panel").run()
    edit(app, "lam table", {i: {"lam": lam} for i, lam in enumerate(case.lam)})
    assert settings(app)["lam"] == list(case.lam)
    problem = paper_problem(case)
    found = judge(problem)
    assert problem.best == case.best - 1
    told = in_words(problem, found, bootstrap_margin(problem))
    assert box(app)[1] == told.sentence
    if found.margin is not None:
        assert metrics(app)["Margin"] == f"{found.margin:+.4f}".replace("-", "−")


def test_what_can_be_said_without_labels():
    for lam, words in ((0.002, "If weak dominance holds, Swab"), (1e-9, "Swab + Culture + Scan")):
        app = open_page(PAGE, link=without_labels(lam=lam))
        kind, sentence = box(app)
        assert kind == "Info"
        assert sentence.startswith("There are no diagnoses to check against.")
        assert words in sentence
        assert "This uses no diagnosis at all" in said(app)
        assert "Probability that it holds" not in metrics(app)


def test_names_are_shown_letter_by_letter():
    names = ["$History$ <b>x</b>", "![](http://127.0.0.1:1/x.png)", "www.x.y"]
    tests = [
        {"name": name, "columns": [column], "price": price, "fees": []}
        for name, column, price in zip(names, ["Age", "Glucose", "Insulin"], [4, 20, 30],
                                       strict=True)
    ]  # fmt: skip
    app = open_study(PAGE, "diabetes", tests=tests, fees={}, lam=0.001)
    shown = [m.value for m in [*app.main.markdown, *app.main.error, *app.main.success]]
    for text in shown:
        assert "<b>" not in text
        assert "![" not in text
        assert "://" not in text
