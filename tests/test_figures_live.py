"""The Live page's figures: the numbers of the run, few points, names escaped, valid for Plotly."""

from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from csmd_core.bands import repeat_band
from csmd_core.bundled import load_bundled
from csmd_core.dominance import judge
from csmd_core.experiment import run_seed
from csmd_core.explain import explain
from csmd_core.figures.beliefs import belief_figure, pair_name, pairs_that_matter
from csmd_core.figures.live import (
    MAX_POINTS,
    nice_end,
    packed,
    points_up_to,
    policy_colour,
    progress_figure,
    share_figure,
    so_far,
)
from csmd_core.panels import cascade, subsets
from csmd_core.policies import LEARNING, POLICIES, kl_ucb, thompson, ucb1
from csmd_core.predictions import fit_evidence
from csmd_core.problem import Evidence, make_problem
from csmd_core.simulation import simulate
from csmd_core.situations import SITUATIONS, STUDY, situation
from csmd_core.study import Test
from made import random_problem


def unpacked(values):
    if not isinstance(values, dict):
        return np.array(values)
    return np.frombuffer(base64.b64decode(values["bdata"]), dtype="<" + values["dtype"])


@pytest.fixture(scope="module", params=["cascade", "subsets"])
def runs(request):
    problem = random_problem(np.random.default_rng(3), request.param, n_tests=4)
    return [simulate(problem, policy, 3000) for policy in POLICIES.values()]


@given(st.integers(0, 2_000_000))
def test_few_points_from_the_first_to_the_last(t):
    points = points_up_to(t)
    assert points[0] == 0
    assert points[-1] == t
    assert len(points) <= MAX_POINTS
    assert len(points) > min(t, MAX_POINTS // 2 - 2)
    assert (np.diff(points) > 0).all() or t == 0


def test_points_stay_while_the_run_grows():
    before, after = points_up_to(5000), points_up_to(5100)
    assert set(before[:-1]) <= set(after)


@given(st.floats(1e-6, 1e9))
def test_an_axis_ends_a_little_above(value):
    assert value <= nice_end(value) * 1.0001 <= 5 / 3 * value * 1.001  # 3 is followed by 5


@pytest.mark.parametrize("measure", ["regret", "money", "misdiagnoses"])
@pytest.mark.parametrize("t", [0, 1, 777, 3000])
def test_lines_are_the_runs(runs, measure, t):
    figure = progress_figure(runs, t, measure)
    go.Figure(figure)
    for run, line in zip(runs, figure["data"], strict=False):
        x, y = unpacked(line["x"]), unpacked(line["y"])
        whole = {"regret": run.regret, "money": run.money, "misdiagnoses": np.cumsum(run.wrong)}
        assert x[-1] == t
        np.testing.assert_allclose(y, np.append(0, whole[measure])[x])
        assert line["line"]["color"] == policy_colour(run.policy)
    heads = figure["data"][-1]
    assert heads["y"] == [so_far(run, measure, np.array([t]))[0] for run in runs]


def test_policies_of_one_rule_are_told_apart():
    problem = random_problem(np.random.default_rng(0))
    three = [simulate(problem, policy, 10) for policy in (kl_ucb(), kl_ucb(3), ucb1())]
    dashes = [line["line"]["dash"] for line in progress_figure(three, 10, "money")["data"][:3]]
    assert dashes == ["solid", "dash", "solid"]


@pytest.mark.parametrize("t", [0, 1, 500, 3000])
def test_shares_add_up_to_one(runs, t):
    run = runs[3]
    figure = share_figure(run, t)
    go.Figure(figure)
    shares = np.array([unpacked(area["y"]) for area in figure["data"]])
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    if t:
        given = np.bincount(run.choices[:t], minlength=run.problem.n_panels) / t
        last = {area["name"]: unpacked(area["y"])[-1] for area in figure["data"]}
        for panel, name in enumerate(run.problem.panels.names):
            assert name not in last or last[name] == pytest.approx(given[panel])


def test_the_band_holds_nine_tenths_of_repeats():
    problem = random_problem(np.random.default_rng(5))
    band = repeat_band(problem, thompson(), 400, n_repeats=60)
    ends = [simulate(problem, thompson(), 400, run_seed(0, "band", k)).regret for k in range(60)]
    low, high = band.edges["regret"]
    inside = [(low[-1] <= run[-1] <= high[-1]) for run in ends]
    assert 0.85 <= np.mean(inside) <= 0.95
    figure = progress_figure(
        [simulate(problem, thompson(), 400)], 400, "regret", {thompson(): band}
    )
    go.Figure(figure)
    outline = figure["data"][0]
    assert outline["fill"] == "toself"
    assert unpacked(outline["y"]).max() == pytest.approx(high.max())


def test_a_band_without_labels_has_money_only():
    problem = random_problem(np.random.default_rng(5))
    blind = Evidence(problem.evidence.masks, problem.evidence.predictions)
    band = repeat_band(make_problem(problem.panels, blind, problem.lam), ucb1(), 50, n_repeats=3)
    assert list(band.edges) == ["money"]


@pytest.mark.parametrize("policy", LEARNING.values(), ids=lambda p: p.kind)
@pytest.mark.parametrize("t", [1, 2, 50, 3000])
def test_beliefs_are_those_behind_the_choice(runs, policy, t):
    run = next(run for run in runs if run.policy == policy)
    told = explain(run, t)
    pairs = pairs_that_matter(run, told)
    figure = belief_figure(run, pairs)
    go.Figure(figure)
    _, gaps, worth, not_worth = figure["data"]
    assert len(worth["customdata"]) + len(not_worth["customdata"]) == len(pairs.gap)
    listed = told.pairs.set_index(["panel", "rival"])
    for k in range(len(pairs.gap)):
        known = listed.loc[(pairs.panel[k], pairs.rival[k])]
        assert known.gap == pairs.gap[k]
        assert known.estimate == pairs.estimate[k]
    drawn = unpacked(gaps["x"]).reshape(-1, 3)[:, 0] ** 2
    np.testing.assert_allclose(drawn, pairs.gap)
    ends = np.sort(np.concatenate([unpacked(end["x"]) ** 2 for end in (worth, not_worth)]))
    np.testing.assert_allclose(ends, np.sort(np.minimum(pairs.estimate, 1)), atol=1e-12)


def test_a_hill_is_the_beta_density_scaled_to_its_top():
    problem = random_problem(np.random.default_rng(1), n_tests=2)
    run = simulate(problem, thompson(), 200)
    pairs = pairs_that_matter(run, explain(run))
    figure = belief_figure(run, pairs)
    x, y = (unpacked(figure["data"][0][axis])[1:62] for axis in "xy")
    a, b = 1 + pairs.disagreed[0], 1 + pairs.compared[0] - pairs.disagreed[0]
    density = beta.pdf(x**2, a, b)
    top = beta.pdf((a - 1) / (a + b - 2), a, b)
    np.testing.assert_allclose(y, 0.8 * density / top, atol=1e-9)


def test_nobody_seen_yet_is_an_empty_picture():
    run = simulate(random_problem(np.random.default_rng(1)), thompson(), 5)
    figure = belief_figure(run, pairs_that_matter(run, None))
    go.Figure(figure)
    assert figure["layout"]["yaxis"]["ticktext"] == []


def test_users_names_are_escaped():
    nasty = [Test("<b>A</b>", ("a",), 1.0), Test("<i>B</i>", ("b",), 2.0)]
    assert pair_name(cascade(nasty), 0, 1) == "&lt;b&gt;A&lt;/b&gt;<br>+ &lt;i&gt;B&lt;/i&gt;"
    made = subsets(nasty)
    assert "<b>" not in pair_name(made, 0, 1)
    evidence = Evidence(made.masks, np.zeros((5, 3), dtype=np.uint8))
    run = simulate(make_problem(made, evidence, 0.1), ucb1(), 20)
    assert not any("<b>" in area["name"] for area in share_figure(run, 20)["data"])


def test_numbers_are_packed_whole():
    for values in (np.array([1, -5, 2**30]), np.array([0.1, np.nan, 1e300])):
        np.testing.assert_array_equal(unpacked(packed(values)), values)


def test_situations_are_what_they_say():
    study = load_bundled(STUDY)
    panels = cascade(study.tests, study.fees)
    evidence = fit_evidence(study, panels)
    found = {name: situation(name, panels, evidence) for name in SITUATIONS}
    verdicts = {name: judge(problem) for name, problem in found.items()}
    assert len({problem.best for problem in found.values()}) == 1
    assert [verdicts[name].holds for name in SITUATIONS] == [True, True, False]
    assert verdicts["holds clearly"].margin > 5 * verdicts["holds barely"].margin
    settled = {
        name: np.bincount(simulate(problem, thompson(), 5000).choices[-500:], minlength=3).argmax()
        for name, problem in found.items()
    }
    assert settled["holds clearly"] == found["fails"].best != settled["fails"]
    assert replace(found["fails"], lam=found["holds clearly"].lam).best == found["fails"].best
