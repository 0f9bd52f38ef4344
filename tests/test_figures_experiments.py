"""Figures of experiments: the numbers drawn are the tables', names are escaped, nothing breaks."""

from __future__ import annotations

import numpy as np
import pytest

from csmd_core.experiment import experiment
from csmd_core.figures.experiments import (
    curves_figure,
    final_figure,
    growth_figure,
    margin_regret_figure,
    policy_colour,
    savings_figure,
)
from csmd_core.policies import LEARNING, POLICIES, ucb1
from csmd_core.problem import Evidence, Problem
from csmd_core.scoring import MEASURES
from csmd_core.summary import summary_table
from tests.problems import cascade_problem, random_problem

PROBLEMS = {
    "<b>cascade</b>": cascade_problem([0.3, 0.15, 0.1], [0.1, 0.05, 0.3], lam=1.0),
    "subsets": random_problem(26, "subsets", n_tests=3),
    "free": cascade_problem([0.3, 0.15, 0.1], [0.1, 0.05, 0.01], lam=1.0),
}


SHOWN = LEARNING | {"Full panel": POLICIES["Full panel"], "UCB1 (α = 2)": ucb1(2)}


@pytest.fixture(scope="module")
def result():
    return experiment(PROBLEMS, SHOWN, 400, 5, seed=1)


@pytest.fixture(scope="module")
def summary(result):
    return summary_table(result, PROBLEMS)


@pytest.mark.parametrize("measure", MEASURES)
def test_curves_draw_the_means_and_bands(result, measure):
    figure = curves_figure(result.curves, measure)
    lines = [t for t in figure.data if t.fill is None]
    bands = [t for t in figure.data if t.fill == "toself"]
    assert len(lines) == len(bands) == 3 * 5
    mine = result.curves.query("measure == @measure and problem == 'subsets'")
    thompson = mine[mine["policy"] == "Thompson"]
    drawn = [t for t in lines if t.name == "Thompson"][1]
    np.testing.assert_array_equal(drawn.y, thompson["mean"])
    band = [t for t in bands if t.name == "Thompson"][1]
    assert band.y[0] == thompson["high"].iloc[0]
    assert band.y[-1] == max(thompson["low"].iloc[0], 0)


def test_each_policy_is_in_the_legend_once(result, summary):
    for figure in (curves_figure(result.curves), savings_figure(summary)):
        shown = [t.name for t in figure.data if t.showlegend]
        assert sorted(shown) == sorted(SHOWN)


def test_names_are_escaped(result, summary):
    for figure in (
        curves_figure(result.curves), growth_figure(result.curves, summary),
        final_figure(summary), savings_figure(summary), margin_regret_figure(summary),
    ):  # fmt: skip
        text = figure.to_json()
        assert "cascade" in text
        assert "<b>" not in text.replace("\\u003c", "<")


def test_small_multiples_fill_the_columns_asked_for(result):
    def titles(figure, axis):
        names = sorted(name for name in figure.layout if name.startswith(axis))
        return [figure.layout[name].title.text for name in names]

    wide, narrow = curves_figure(result.curves), curves_figure(result.curves, columns=1)
    assert titles(wide, "yaxis") == ["Regret", None, "Regret"]
    assert titles(wide, "xaxis") == [None, "Patients", "Patients"]
    assert titles(narrow, "xaxis") == [None, None, "Patients"]
    assert narrow.layout.height > wide.layout.height
    one = curves_figure(result.curves[result.curves["problem"] == "free"])
    assert one.layout.height < wide.layout.height


def test_growth_draws_the_fit_through_the_end(result, summary):
    learning = result.curves[result.curves["policy"].isin(LEARNING)]
    figure = growth_figure(learning, summary)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    fit = next(t for t in figure.data if t.line.dash == "dash" and t.showlegend is False)
    row = summary.query("problem == '<b>cascade</b>' and policy == 'Thompson'").iloc[0]
    slope = np.log(fit.y[1] / fit.y[0]) / np.log(fit.x[1] / fit.x[0])
    assert slope == pytest.approx(row["exponent"])
    assert fit.y[1] == pytest.approx(row["regret"])
    notes = " ".join(a.text for a in figure.layout.annotations)
    assert f"Thompson: {row['growth']}, {row['exponent']:.2f}" in notes
    assert "kl-UCB: no regret" in notes  # 'free': the last panel is best, and given from the start


def test_final_values_and_their_intervals(summary):
    figure = final_figure(summary)
    rows = summary[summary["problem"] == "subsets"]
    drawn = figure.data[1]
    np.testing.assert_allclose(drawn.x, rows["regret"])
    np.testing.assert_allclose(drawn.error_x.array, rows["regret_high"] - rows["regret"])
    low, high = figure.layout.xaxis2.range
    assert low < 0 < rows["regret_high"].max() < high


def test_savings_are_per_patient_and_per_thousand(summary):
    figure = savings_figure(summary, "CA$")
    row = summary.iloc[0]
    assert figure.data[0].x[0] == pytest.approx(row["money_saved"] / 400)
    assert figure.data[0].y[0] == pytest.approx(row["extra_misdiagnoses"] * 2.5)
    assert "CA$" in figure.layout.xaxis3.title.text


def test_margin_leaves_out_problems_without_one(summary):
    assert summary.query("problem == 'free'")["margin"].isna().all()
    figure = margin_regret_figure(summary)
    assert all(len(trace.x) == 2 for trace in figure.data)


def test_one_run_has_no_band_and_no_labels_no_regret():
    problem = PROBLEMS["subsets"]
    evidence = Evidence(problem.evidence.masks, problem.evidence.predictions)
    unlabelled = {"x": Problem(problem.panels, evidence, problem.lam)}
    result = experiment(unlabelled, LEARNING, 100, 1)
    summary = summary_table(result, unlabelled)
    figure = curves_figure(result.curves, "money")
    assert len(figure.data) == 3
    for drawn in (growth_figure(result.curves, summary), final_figure(summary)):
        assert drawn.to_json()


def test_colours_stay_with_the_policy():
    assert policy_colour("UCB1 (α = 2)") == policy_colour("UCB1")
    assert len({policy_colour(name) for name in POLICIES}) == len(POLICIES)
