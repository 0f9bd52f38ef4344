"""The Paper page: Table I, its differences, both figures again, and each case opened elsewhere."""

from __future__ import annotations

import io
import json
import time
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest

from app import open_page
from csmd_core.cli import main
from csmd_core.differences import contradiction, differences
from csmd_core.dominance import judge
from csmd_core.paper import CASES, paper_problem
from csmd_core.reproduce import Settings, paper_table
from studio import decision, jobs, paper_run, work
from studio.paper_parts import PRICES, case_settings
from studio.paper_table import instances, panel_rows
from studio.session import DEFAULTS

PAGE = "pages/paper.py"
SMALL = {"n_patients": 200, "n_repeats": 3, "seed": 4}


def open_paper(**choices):
    return open_page(PAGE, paper={**SMALL, **choices})


def settings(app):
    return app.session_state["settings"]


def words(app):
    blocks = [*app.markdown, *app.caption]
    return "\n".join(block.value for block in blocks).replace("\\", "").replace("\u2060", "")


def errors(app):
    return " ".join(box.value.replace("\\", "") for box in app.error)


def wait(app):
    """Wait for the visitor's job, then run the page with its result."""
    key = app.session_state["paper job"]
    for _ in range(600):
        if not jobs.find(key).running:
            break
        time.sleep(0.05)
    app.run()
    assert not app.exception, app.exception


def play(app):
    app.button(key="start paper").click().run()
    wait(app)
    return app


@pytest.fixture(scope="module")
def told():
    """What `python -m csmd_core paper --json` says of the same settings."""
    out = io.StringIO()
    with redirect_stdout(out):
        main(["paper", "--json", "--n-patients", "200", "--n-repeats", "3", "--seed", "4"])
    return json.loads(out.getvalue())


def same(shown: pd.DataFrame, rows: list[dict]) -> None:
    """Compare every number of two tables; JSON has neither NaN nor ∞."""
    expected = pd.DataFrame(rows)
    assert list(shown.columns) == list(expected.columns)
    for column in shown:
        mine, theirs = shown[column].tolist(), expected[column].tolist()
        if pd.api.types.is_float_dtype(shown[column]):
            finite = np.isfinite(np.array(mine, dtype=float))
            picked = [value for value, known in zip(theirs, finite, strict=True) if known]
            assert np.array(mine, dtype=float)[finite].tolist() == [float(x) for x in picked]
        else:
            assert [_plain(x) for x in mine] == [_plain(x) for x in theirs], column


def _plain(value):
    return list(value) if isinstance(value, tuple) else value


def test_the_page_s_numbers_are_the_command_s(told):
    app = play(open_paper())
    table = paper_table(Settings(200, 3, 4))
    same(table, told["table_one"])
    shown = app.dataframe[0].value
    pd.testing.assert_frame_equal(shown, instances(table), check_dtype=False)
    pd.testing.assert_frame_equal(app.dataframe[1].value, panel_rows(table), check_dtype=False)
    for part in ("cascades", "policies", "subsets"):
        app.segmented_control(key="paper part").select(part).run()
        same(app.dataframe[-1].value, told["figures"][part])
    assert told["n_runs"] == 58 * 3


def test_table_one_stands_beside_what_is_printed():
    app = open_paper()
    rows = app.dataframe[0].value.set_index("case")
    assert rows.loc["Diabetes 1", "holds_printed"] == "holds"
    assert rows.loc["Diabetes 1", "holds"] == "fails"
    assert rows.loc["Diabetes 5", "holds_printed"] == "fails"
    assert rows.loc["Heart 4", "holds"] == "nothing to check"
    assert rows.loc["Heart 4", "margin"] == "none: the best panel is the dearest"
    assert rows["best"].tolist() == rows["best_printed"].tolist() == [1, 2, 1, 3, 2] * 2
    assert rows.loc["Heart 2", "lam"] == "0.0001, 0.0001, 0.00035"
    assert "**10 of 10**" in words(app)
    panels = app.dataframe[1].value
    assert panels["cost_printed"].tolist() == [4, 29, 46, 32, 397, 601]
    assert panels["cost"].tolist() == pytest.approx([6, 23.61, 46.39, 31.97, 396.77, 600.57])


def test_every_difference_is_explained_and_the_contradiction_worked_out():
    app = open_paper()
    told = words(app)
    for difference in differences():
        assert difference.why in told
    assert "0.0038 × 46 − 0.004 × 29 = 0.0588" in told
    assert "0.0055 × 46 − 0.002 × 29 = 0.1950" in told
    assert f"they disagree on {contradiction().measured:.4f}" in told


@pytest.mark.parametrize("prices", list(PRICES))
def test_prices_change_the_table(prices):
    app = open_paper()
    app.segmented_control(key="paper prices").select(prices).run()
    expected = paper_table(Settings(200, 3, 4, PRICES[prices]))
    pd.testing.assert_frame_equal(app.dataframe[0].value, instances(expected), check_dtype=False)
    assert settings(app)["paper"].get("prices", "as in the paper") == prices
    assert not app.exception


def test_every_chart():
    app = play(open_paper())
    for chart in paper_run._CHARTS:
        app.segmented_control(key="paper chart").select(chart).run()
        assert not app.exception, app.exception
        assert len(app.get("plotly_chart")) == 1
    app.selectbox(key="paper study").select("Heart").run()
    assert all(name.startswith("Heart") for name in app.dataframe[-1].value["problem"])


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"n_repeats": 0}, "The number of repeats is 0"),
        ({"n_patients": 10**9}, "of memory"),
    ],
)
def test_bad_settings_get_a_sentence(choices, said):
    app = open_paper(**choices)
    assert said in errors(app)
    assert "start paper" not in [button.key for button in app.button]


def test_settings_go_back_to_the_paper_s():
    app = open_page(PAGE, paper={"n_patients": "x", "prices": "none", "n_repeats": 5, "seed": -3})
    assert app.number_input(key="paper n_patients").value == 10_000
    app.number_input(key="paper seed").set_value(8).run()
    app.button(key="paper usual").click().run()
    assert settings(app)["paper"] == {}
    assert "5,800 runs of 10,000 patients" in words(app)


def test_a_stop_keeps_what_is_done():
    app = open_paper(n_patients=50_000, n_repeats=60, seed=6)
    app.button(key="start paper").click().run()
    job = jobs.find(app.session_state["paper job"])
    while not job.done:
        time.sleep(0.02)
    began = time.monotonic()
    app.button(key=f"stop {app.session_state['paper job']}").click().run()
    while job.running and time.monotonic() - began < 10:
        time.sleep(0.01)
    assert time.monotonic() - began < 1.5
    app.run()
    assert "Stopped early" in app.warning[0].value
    assert len(app.get("plotly_chart")) == 1
    assert "start paper" in [button.key for button in app.button]


@pytest.mark.parametrize("prices", list(PRICES))
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.study} {case.number}")
def test_each_case_is_the_core_s_problem(case, prices, monkeypatch):
    held = {**DEFAULTS, **case_settings(case, PRICES[prices])}
    monkeypatch.setattr("studio.session.get", held.__getitem__)
    found, expected = decision.problem(), paper_problem(case, PRICES[prices])
    assert found.scaled_costs.tolist() == pytest.approx(expected.scaled_costs.tolist())
    assert np.array_equal(found.evidence.predictions, expected.evidence.predictions)
    assert found.best == expected.best
    assert judge(found).holds == judge(expected).holds
    assert work.study().n_patients == expected.evidence.n_patients


@pytest.mark.parametrize("title", ["Trade-off", "Weak dominance", "Live"])
def test_a_case_opens_by_one_click_in_a_workspace_of_its_own(title):
    app = open_paper()
    app.number_input(key="paper seed").set_value(9).run()  # work of the user's own
    mine = app.session_state["workspace"].id
    app.button(key=f"heart 5 {title}").click().run()
    assert not app.exception, app.exception
    assert app.title[0].value == title
    opened = app.session_state["workspace"]
    assert opened.id != mine
    assert settings(app)["lam"] == [0.0042, 0.0001, 0.00027]
    assert "297 patients" in " ".join(block.value for block in app.sidebar.caption)
    assert settings(open_page(PAGE, link=mine))["paper"]["seed"] == 9
    app.run()
    assert app.session_state["workspace"].name == "Paper: heart, case 5"
