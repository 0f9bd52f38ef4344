"""Figures that all pages share: what is drawn, in which colour, with which words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from csmd_core.bundled import load_bundled
from csmd_core.figures.panels import cost_error_figure, disagreement_figure, roc_figure
from csmd_core.figures.style import OKABE_ITO, base_figure, label, panel_colours
from csmd_core.panels import cascade, subsets
from csmd_core.predictions import Fitting, Scores, fit_scores
from csmd_core.study import Test
from made import bundled_case, panels_of, random_evidence


def test_names_lose_their_tags_and_keep_to_their_width():
    assert label("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert label("a" * 100, 10) == "a" * 9 + "…"
    assert label("<" * 10, 10) == "&lt;" * 10


def test_a_panel_keeps_its_colour_when_prices_change():
    tests = [Test("A", ("a",), 1.0), Test("B", ("b",), 5.0), Test("C", ("c",), 9.0)]
    before = subsets(tests)
    after = before.repriced([Test(t.name, t.columns, 10 - t.price) for t in tests], {})
    assert before.masks != after.masks
    colour = dict(zip(before.masks, panel_colours(before), strict=True))
    assert [colour[mask] for mask in after.masks] == panel_colours(after)
    assert set(panel_colours(before)) <= set(OKABE_ITO)
    assert len(set(panel_colours(before))) == 7


def test_a_figure_begins_with_its_axes_named():
    figure = base_figure(x="Cost", y="Error rate", height=200)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == (
        "Cost", "Error rate",
    )  # fmt: skip
    assert figure.layout.height == 200


def test_cost_and_error_are_drawn_as_they_are():
    panels, evidence = bundled_case("heart", "cascade")
    figure = cost_error_figure(panels, evidence, best=2, currency="CA$")
    line, points, ring = figure.data
    assert list(points.x) == panels.costs.tolist()
    assert list(points.y) == evidence.error_rates.tolist()
    assert points.text[0] == "History"
    assert points.text[1] == ""  # too near to History to be read
    assert points.customdata[1] == "History + Blood"
    assert (ring.x[0], ring.y[0]) == (panels.costs[2], evidence.error_rates[2])
    assert np.all(np.diff(line.x) > 0)
    assert np.all(np.diff(line.y) < 0)
    assert points.error_y.visible


@pytest.mark.parametrize(("n_tests", "kind"), [(5, "scatter"), (10, "scattergl")])
def test_many_panels_are_drawn_without_names_or_intervals(n_tests, kind):
    rng = np.random.default_rng(1)
    panels = panels_of("subsets", rng.integers(1, 50, n_tests))
    figure = cost_error_figure(panels, random_evidence(panels, 50, rng))
    assert figure.data[1].type == kind
    assert figure.data[1].mode == "markers"
    assert not figure.data[1].error_y.visible
    assert len(figure.data[1].customdata) == 2**n_tests - 1


def test_the_heat_map_shows_the_disagreement_of_the_panels_picked():
    panels, evidence = bundled_case("diabetes", "subsets")
    whole = disagreement_figure(panels, evidence).data[0]
    assert np.array_equal(np.array(whole.z), evidence.disagreement)
    some = disagreement_figure(panels, evidence, [0, 3])
    assert np.array_equal(np.array(some.data[0].z), evidence.disagreement[np.ix_([0, 3], [0, 3])])
    assert some.layout.yaxis.ticktext == tuple(label(panels.names[i], 28) for i in (0, 3))


def test_tags_in_test_names_never_reach_a_figure():
    panels = cascade([Test("<b>A</b>", ("a",), 1.0), Test("B", ("b",), 2.0)])
    evidence = random_evidence(panels, 60, np.random.default_rng(0))
    values = np.random.default_rng(0).random((60, 2)).astype(np.float32)
    scores = Scores(panels.masks, values, evidence.truth)
    for figure in (
        cost_error_figure(panels, evidence, currency="<i>"),
        disagreement_figure(panels, evidence),
        roc_figure(panels, scores, [0, 1], 0.5),
    ):
        assert "<b>" not in str(figure.to_dict())
        assert "<i>" not in str(figure.to_dict())


def test_roc_curves_have_the_area_of_the_rank_test_and_the_point_of_the_threshold():
    study = load_bundled("diabetes")
    panels = cascade(study.tests, study.fees)
    scores = fit_scores(study, panels, Fitting(folds=3))
    shuffled = subsets(study.tests, study.fees, chosen=[["History", "Glucose"], ["History"]])
    figure = roc_figure(shuffled, scores, [1], 0.3)
    _, curve, point = figure.data
    column = panels.masks.index(shuffled.masks[1])
    ill, values = scores.truth == 1, scores.values[:, column]
    area = mannwhitneyu(values[ill], values[~ill]).statistic / (ill.sum() * (~ill).sum())
    assert curve.name == f"History + Glucose: AUC {area:.2f}"
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(area)
    tp, fp, fn, tn = scores.evidence(0.3).confusion[:, column]
    assert (point.x[0], point.y[0]) == pytest.approx((fp / (fp + tn), tp / (tp + fn)))


def test_curves_of_one_colour_differ_in_their_dashes():
    panels = panels_of("subsets", [1, 2, 3, 4])
    rng = np.random.default_rng(0)
    truth = np.array([0, 1] * 20, dtype=np.int8)
    scores = Scores(panels.masks, rng.random((40, 15)).astype(np.float32), truth)
    figure = roc_figure(panels, scores, list(range(15)), 0.5)
    lines = [(trace.line.color, trace.line.dash) for trace in figure.data[1::2]]
    assert len(set(lines)) == 15


def test_patients_without_a_diagnosis_are_left_out_of_roc_curves():
    panels = panels_of("cascade", [1])
    values = np.array([[0.1], [0.9], [0.8], [0.2]], dtype=np.float32)
    scores = Scores(panels.masks, values, np.array([0, 1, -1, -1], dtype=np.int8))
    assert "AUC 1.00" in roc_figure(panels, scores, [0], 0.5).data[1].name
