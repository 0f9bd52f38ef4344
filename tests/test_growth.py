"""How regret grows, from curves whose growth is known, and the summary it is part of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from csmd_core.dominance import judge
from csmd_core.experiment import experiment
from csmd_core.growth import growth, growth_table
from csmd_core.policies import LEARNING, POLICIES, Policy
from csmd_core.problem import Evidence, Problem
from csmd_core.scoring import halfway, points_of
from csmd_core.simulation import simulate
from csmd_core.summary import AVERAGED, summary_table
from tests.problems import cascade_problem

EASY = cascade_problem([0.3, 0.15, 0.1], [0.1, 0.05, 0.3], lam=1.0)


@pytest.fixture(scope="module")
def result():
    return experiment({"easy": EASY}, POLICIES, 800, 10, seed=2, n_jobs=2)


def runs_of(curve, n_runs=40, noise=0.02, n=10_000):
    """Runs whose regret follows a curve, each with its own scale: halfway and at the end."""
    scale = 1 + noise * np.random.default_rng(1).standard_normal(n_runs)
    own = 1 + noise * np.random.default_rng(2).standard_normal((2, n_runs))
    return curve(n / 2) * scale * own[0], curve(n) * scale * own[1]


@pytest.mark.parametrize("exponent", [0.05, 0.3, 0.5, 0.7, 1.0])
def test_the_exponent_of_a_power_is_found(exponent):
    found = growth(*runs_of(lambda t: 3 * t**exponent), 2.0)
    assert found.low < exponent < found.high
    assert found.exponent == pytest.approx(exponent, abs=0.02)


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        (lambda t: 7 * math.log(t), "levels off"),
        (lambda t: 12.0, "levels off"),
        (lambda t: 0.0, "levels off"),
        (lambda t: 0.01 * t, "grows linearly"),
        (lambda t: 10 + 0.02 * t, "grows linearly"),
        (math.sqrt, "in between"),
        (lambda t: t**0.7, "in between"),
    ],
)
def test_words(curve, words):
    assert growth(*runs_of(curve), 2.0).words == words


def test_strong_words_need_the_whole_interval():
    """The same exponents, from runs that differ wildly, are not enough."""
    calm, wild = runs_of(lambda t: t**0.95), runs_of(lambda t: t**0.95, n_runs=4, noise=0.3)
    assert growth(*calm, 2.0).words == "grows linearly"
    assert growth(*wild, 2.0).words == "in between"


def test_the_interval_covers():
    """95 of 100 intervals hold the true exponent, within four standard errors."""
    rng, hits, n = np.random.default_rng(5), 0, 1000
    for _ in range(n):
        half = rng.gamma(4, 25.0, 30)  # mean 100
        end = half + rng.gamma(4, 10.0, 30)  # mean 140
        found = growth(half, end, 2.0)
        hits += found.low <= math.log2(1.4) <= found.high
    assert abs(hits / n - 0.95) < 0.01 + 4 * math.sqrt(0.95 * 0.05 / n)


def test_one_run_has_no_interval_but_words():
    found = growth(np.array([5.0]), np.array([10.0]), 2.0)
    assert math.isnan(found.low)
    assert found.words == "grows linearly"


@pytest.mark.parametrize(
    ("half", "end", "ratio"), [([0.0], [3.0], 2.0), ([1.0], [1.0], 1.0), ([np.nan], [np.nan], 2.0)]
)
def test_what_cannot_be_told(half, end, ratio):
    assert growth(np.array(half), np.array(end), ratio).words == "too short to tell"


def test_regret_halfway_is_that_of_the_run(result):
    row = result.runs.iloc[5]
    run = simulate(EASY, POLICIES[row["policy"]], 800, int(row["seed"]))
    points = points_of(800)
    assert run.regret[points[halfway(points)] - 1] == pytest.approx(row["regret_halfway"])


def test_growth_of_policies_with_a_known_end(result):
    table = growth_table(result).set_index("policy")
    assert table.loc["Full panel", "exponent"] == pytest.approx(1)
    assert table.loc["Full panel", "growth"] == "grows linearly"
    assert table.loc["Best panel", "growth"] == "levels off"
    assert table.loc["Random panel", "growth"] == "grows linearly"


def test_summary_against_the_full_panel(result):
    table = summary_table(result, {"easy": EASY}).set_index("policy")
    assert table.loc["Full panel", ["money_saved", "extra_misdiagnoses"]].tolist() == [0, 0]
    assert (table["margin"] == judge(EASY).margin).all()
    assert (table["n_patients"] == 800).all()
    runs = result.runs.pivot(index="repeat", columns="policy", values="misdiagnoses")
    extra = (runs["Thompson"] - runs["Full panel"]).mean()
    assert table.loc["Thompson", "extra_misdiagnoses"] == pytest.approx(extra)
    for measure in AVERAGED:
        assert (table[f"{measure}_low"] <= table[measure] + 1e-9).all()
        assert (table[measure] <= table[f"{measure}_high"] + 1e-9).all()


def test_summary_without_labels_or_without_runs():
    evidence = Evidence(EASY.evidence.masks, EASY.evidence.predictions)
    unlabelled = {"x": Problem(EASY.panels, evidence, EASY.lam)}
    table = summary_table(experiment(unlabelled, LEARNING, 100, 3), unlabelled)
    assert table["extra_misdiagnoses"].isna().all()
    assert (table["growth"] == "too short to tell").all()
    nothing = experiment({"easy": EASY}, LEARNING, 50, 2, progress=lambda done, total: False)
    assert len(summary_table(nothing, {"easy": EASY})) in {0, 3}  # 3: a piece was done by then


def test_summary_follows_the_order_of_patients():
    """In the study's own order all repeats are alike, so the last panel's errors are exact."""
    result = experiment({"e": EASY}, {"c": Policy("cheapest")}, 1000, 2, order="study")
    row = summary_table(result, {"e": EASY}, "study").iloc[0]
    assert row["extra_misdiagnoses"] == pytest.approx(1000 * (0.3 - 0.1))
