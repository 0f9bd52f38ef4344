"""Figures of the decision pages: right numbers, names kept harmless and apart, few lines drawn."""

import numpy as np
import pytest

from csmd_core.dominance import MarginInterval, judge
from csmd_core.figures.dominance import (
    MOST_BARS,
    closest_disagreement_figure,
    gap_figure,
    margin_figure,
)
from csmd_core.figures.lam import NOW, Strip, lam_range, windows_figure
from csmd_core.figures.style import panel_colours, panel_label
from csmd_core.figures.trade_off import (
    MOST_LINES,
    MOST_POINTS,
    frontier_figure,
    frontier_now,
    loss_bars_figure,
    loss_figure,
    loss_now,
    tornado_figure,
)
from csmd_core.panels import cascade, subsets
from csmd_core.problem import make_problem
from csmd_core.study import Test
from csmd_core.what_if import tornado
from csmd_core.windows import dominance_windows
from made import bundled_case, random_evidence
from test_problem import EVIDENCE, PANELS

PROBLEM = make_problem(PANELS, EVIDENCE, 0.01)


def losses_of(panels, evidence, lam):
    windows = dominance_windows(panels, evidence)
    return loss_figure(panels, evidence, windows, lam_range(windows, lam)), windows


def test_thick_lines_follow_the_least_loss_exactly():
    figure, windows = losses_of(PANELS, EVIDENCE, 0.01)
    thick = [t for t in figure.data if t.line.width == 5]
    assert [t.name for t in thick] == ["T1 + T2", "T1"]
    for trace in thick:
        x = np.asarray(trace.x)
        least = (x[:, None] * PANELS.costs + EVIDENCE.error_rates).min(axis=1)
        assert np.asarray(trace.y) == pytest.approx(least)
    assert thick[0].x[-1] == thick[1].x[0] == windows[1].high == 1 / 80  # they meet where they tie


def test_only_where_dominance_holds_is_shaded():
    figure, windows = losses_of(PANELS, EVIDENCE, 0.01)
    shaded = [(s.x0, s.x1) for s in figure.layout.shapes]
    low, high = lam_range(windows, 0.01)
    assert shaded == [(windows[1].low, windows[1].high), (windows[2].low, high)]
    assert low < windows[0].high


def test_marks_move_with_lambda_and_nothing_else_does():
    line, point = loss_now(PROBLEM)
    assert (line["name"], line["x0"], line["x1"]) == (NOW, 0.01, 0.01)
    assert (point["xanchor"], point["yanchor"]) == (0.01, pytest.approx(0.425))
    ring, budget, at_most = frontier_now(PROBLEM)
    assert (ring["xanchor"], ring["yanchor"]) == (30, 1 / 8)
    assert at_most["x0"] == 30
    # The budget line goes through the best panel and stays below every other.
    slope = (budget["y1"] - budget["y0"]) / (budget["x1"] - budget["x0"])
    assert slope == pytest.approx(-0.01)
    below = budget["y0"] + slope * PANELS.costs - EVIDENCE.error_rates
    assert below.max() == pytest.approx(0)
    assert below.argmax() == 1
    each = make_problem(PANELS, EVIDENCE, [0.01, 0.02, 0.03])
    assert len(frontier_now(each)) == 1


def test_4095_panels_stay_a_drawing():
    tests = [Test(f"T{k}", (f"c{k}",), float(3 + k * k)) for k in range(12)]
    panels = subsets(tests)
    evidence = random_evidence(panels, 60, np.random.default_rng(0))
    figure, windows = losses_of(panels, evidence, 0.001)
    faded = figure.data[0]
    assert faded.name == f"Never best (nearest {MOST_LINES})"
    assert np.isnan(np.asarray(faded.x, float)).sum() == MOST_LINES
    assert len(figure.to_json()) < 200_000
    assert sum(bool(t.showlegend is not False) for t in figure.data) <= 14
    points = frontier_figure(panels, evidence)
    assert len(points.data[0].x) == MOST_POINTS
    assert len(points.to_json()) < 100_000
    problem = make_problem(panels, evidence, 0.001)
    found = judge(problem)
    assert len(closest_disagreement_figure(problem, found.panel, found.table).data[0].z) <= 12
    assert len(gap_figure(panels, found.table).data[0].x) == MOST_BARS
    strip = windows_figure([Strip("Best", panels, windows)], 0.001)
    assert len(strip.data) == len(windows)


def test_strips_cover_the_frame_without_gaps():
    panels, evidence = bundled_case("heart", "subsets")
    windows = dominance_windows(panels, evidence)
    figure = windows_figure([Strip("Today", panels, windows)], 0.001)
    low, high = lam_range(windows, 0.001)
    edges = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in figure.data]
    assert edges[0][0] == low
    assert edges[-1][1] == pytest.approx(high)
    assert [a for a, _ in edges[1:]] == pytest.approx([b for _, b in edges[:-1]])
    solid = [bar.marker.pattern.shape == "" for bar in figure.data]
    assert solid == [w.holds for w in windows]
    assert figure.layout.shapes[0].name == NOW


def test_the_margin_on_its_line():
    interval = MarginInterval(-0.02, 0.05, 0.7, 0.0, np.ones(1), 100)
    figure = margin_figure(0.01, interval)
    assert tuple(figure.data[0].x) == (-0.02, 0.05)
    assert tuple(figure.data[1].x) == (0.01,)
    left, right = figure.layout.xaxis.range
    assert left < -0.02
    assert right > 0.05
    endless = margin_figure(0.01, MarginInterval(0.005, np.inf, 1.0, 0.2, np.ones(1), 100))
    assert endless.data[0].x[1] == endless.layout.xaxis.range[1]  # drawn to the edge
    assert tuple(margin_figure(-0.3, None).data[0].x) == (-0.3, -0.3)


def test_bars_mark_what_breaks_it():
    found = judge(make_problem(PANELS, EVIDENCE, 0.003))
    figure = gap_figure(PANELS, found.table)
    assert tuple(figure.data[2].text) == ("✗ T1 + T2 + T3",)
    assert tuple(figure.data[0].x) == (pytest.approx(0.21),)
    assert tuple(figure.data[1].x) == (0.25,)
    holding = gap_figure(PANELS, judge(PROBLEM).table)
    assert tuple(holding.data[2].text) == ("T1 + T2 + T3",)


def test_a_lambda_for_each_panel_is_drawn_as_bars():
    each = make_problem(PANELS, EVIDENCE, [0.01, 0.02, 0.03])
    errors, costs, _ = loss_bars_figure(each).data
    total = np.asarray(errors.x) + np.asarray(costs.x)
    assert total == pytest.approx(np.sort(each.losses))


def test_the_tornado_in_money():
    table = tornado(PROBLEM)
    falls, rises, _ = tornado_figure(table, 0.01).data
    assert np.asarray(falls.x) == pytest.approx(table["change_low"] / 0.01)
    assert np.asarray(rises.x) == pytest.approx(table["change_high"] / 0.01)


NASTY = ("<b>Blood</b>", "A name as long as hospital catalogues like to have it, with <i>tags</i>")


def test_names_are_harmless_and_stay_apart_when_cut():
    long = "Examination by the attending physician on admission"
    tests = [Test(long, ("a",), 1.0), Test(NASTY[0], ("b",), 2.0), Test(NASTY[1], ("c",), 3.0)]
    panels = subsets(tests)
    labels = [panel_label(panels, i, 36) for i in range(len(panels))]
    assert len(set(labels)) == len(labels)
    assert all("<" not in text for text in labels)
    assert all(len(text.replace("&lt;", "<").replace("&gt;", ">")) <= 40 for text in labels)
    evidence = random_evidence(panels, 50, np.random.default_rng(1))
    windows = dominance_windows(panels, evidence)
    problem = make_problem(panels, evidence, 0.01)
    figures = [
        loss_figure(panels, evidence, windows, lam_range(windows, 0.01), "<$>"),
        frontier_figure(panels, evidence, "<$>"),
        windows_figure([Strip("<b>x</b>", panels, windows)], 0.01, "<$>"),
        tornado_figure(tornado(problem), 0.01, "<$>"),
        gap_figure(panels, judge(make_problem(panels, evidence, 9.0)).table),
    ]
    for figure in figures:
        assert "<b>" not in figure.to_json().replace("\\u003c", "<")
        assert "<i>" not in figure.to_json().replace("\\u003c", "<")


def test_colours_come_again_only_after_24_panels():
    panels = cascade([Test(f"T{k}", (f"c{k}",), 1.0) for k in range(24)])
    assert len(set(panel_colours(panels))) == 24
