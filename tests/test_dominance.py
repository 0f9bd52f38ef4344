"""Weak dominance: solved by hand, against a literal loop, and the interval's coverage."""

import itertools

import numpy as np
import pytest

from csmd_core.dominance import bootstrap_margin, candidates, judge, strong_dominance
from csmd_core.problem import Evidence, make_problem
from made import panels_of, random_problem
from test_problem import EVIDENCE, PANELS


def test_holding_by_hand():
    verdict = judge(make_problem(PANELS, EVIDENCE, 0.01))  # gap 0.70, disagreement 2/8
    assert verdict.panel == 1
    assert verdict.margin == pytest.approx(0.45)
    assert verdict.holds
    assert not verdict.vacuous
    assert verdict.table["panel"].tolist() == ["T1 + T2 + T3"]
    assert verdict.table["extra_cost"].tolist() == [70]


def test_failing_by_hand():
    verdict = judge(make_problem(PANELS, EVIDENCE, 0.003))  # gap 0.21 against 2/8
    assert verdict.panel == 1
    assert verdict.margin == pytest.approx(-0.04)
    assert verdict.holds is False


def test_a_margin_of_exactly_nothing_fails():
    verdict = judge(make_problem(PANELS, EVIDENCE, 0.25 / 70))
    assert verdict.margin == pytest.approx(0, abs=1e-12)
    assert verdict.holds is False


def test_vacuous_when_the_best_panel_is_the_dearest():
    verdict = judge(make_problem(PANELS, EVIDENCE, [0.1, 0.1, 1e-6]))
    assert verdict.panel == 2
    assert verdict.vacuous
    assert verdict.holds
    assert verdict.margin is None


def test_without_labels_disagreement_points_to_one_panel_or_to_none():
    unlabelled = Evidence(EVIDENCE.masks, EVIDENCE.predictions)
    verdict = judge(make_problem(PANELS, unlabelled, 0.01))
    assert verdict.panel == 1
    assert verdict.margin == pytest.approx(0.45)
    # A circle: 2 changes 2/8 of 1 for 0.2, 3 changes 2/8 of 2 for 0.1, and nothing of 1.
    circle = Evidence(EVIDENCE.masks, EVIDENCE.predictions[:, [0, 1, 0]])
    none = judge(make_problem(PANELS, circle, [0.01, 0.01, 0.004]))
    assert none.panel is None
    assert none.holds is None
    assert none.table.empty


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("seed", range(40))
def test_against_the_definitions_word_for_word(mode, seed):
    problem = random_problem(np.random.default_rng(seed), mode)
    costs, d, n = problem.scaled_costs, problem.evidence.disagreement, problem.n_panels

    def comes_after(i, j):
        return j > i if mode == "cascade" else costs[j] > costs[i]

    best = max(i for i in range(n) if problem.losses[i] <= min(problem.losses) + 1e-12)
    gaps = [costs[j] - costs[best] - d[best, j] for j in range(n) if comes_after(best, j)]
    verdict = judge(problem)
    assert verdict.panel == best
    assert verdict.margin == (pytest.approx(min(gaps)) if gaps else None)
    assert verdict.holds == all(gap > 1e-12 for gap in gaps)

    low = {
        i
        for i in range(n)
        if all(costs[i] - costs[j] <= d[i, j] for j in range(n) if comes_after(j, i))
    }
    high = {
        i
        for i in range(n)
        if all(costs[j] - costs[i] > d[i, j] for j in range(n) if comes_after(i, j))
    }
    assert set(candidates(problem)) == low & high
    if verdict.holds:
        assert best in candidates(problem)


def test_strong_dominance_by_hand():
    # Only patient 8 is right in an earlier panel and wrong in a later one.
    assert strong_dominance(make_problem(PANELS, EVIDENCE, 0.01)) == 1 / 8


def test_strong_dominance_makes_weak_dominance_hold_everywhere():
    nested = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]], dtype=np.uint8)
    evidence = Evidence(PANELS.masks, nested, np.array([1, 1, 1, 0], dtype=np.int8))
    assert strong_dominance(make_problem(PANELS, evidence, 0.01)) == 0
    assert all(
        judge(make_problem(PANELS, evidence, lam)).holds for lam in np.geomspace(1e-4, 1, 99)
    )


def test_the_bootstrap_reproduces_by_seed_and_finds_the_obvious():
    problem = make_problem(PANELS, EVIDENCE, 0.01)
    assert bootstrap_margin(problem, seed=3).low == bootstrap_margin(problem, seed=3).low
    sure = random_problem(np.random.default_rng(0), n_patients=2000)
    sure = make_problem(sure.panels, sure.evidence, 10.0)
    found = bootstrap_margin(sure, n_resamples=500)
    assert found.probability_holds == 1
    assert found.best_shares[0] == 1
    assert found.low < judge(sure).margin < found.high


def world(error_rates):
    """All answers (truth, panels) with their probabilities, errors independent."""
    rows = np.array(list(itertools.product([0, 1], repeat=len(error_rates) + 1)))
    wrong = rows[:, 1:] != rows[:, :1]
    share = np.where(rows[:, 0] == 1, 0.4, 0.6) * np.where(
        wrong, error_rates, 1 - np.array(error_rates)
    ).prod(axis=1)
    return rows, share


@pytest.mark.parametrize(
    ("error_rates", "prices"),
    [
        ([0.3, 0.1, 0.08], [0.05, 0.1, 0.3]),  # a clear best panel in the middle
        ([0.3, 0.1, 0.1], [0.05, 0.1, 0.2]),  # a margin close to zero
        ([0.1, 0.1, 0.1, 0.1], [0.05, 0.3, 1e-4, 1e-4]),  # three nearly equal differences
        ([0.2, 0.1, 0.08], [0.05, 0.12, 0.3]),  # an uncertain best panel, dominance fails
    ],
)
def test_the_interval_covers_the_true_margin_as_often_as_it_says(error_rates, prices):
    panels, (rows, share) = panels_of("cascade", prices), world(error_rates)
    losses = panels.costs + error_rates
    best = int(np.flatnonzero(losses <= losses.min() + 1e-12)[-1])
    truth = min(
        panels.costs[j] - panels.costs[best] - share[rows[:, j + 1] != rows[:, best + 1]].sum()
        for j in range(best + 1, len(panels))
    )
    rng, n_studies, covered = np.random.default_rng(5), 400, 0
    for k in range(n_studies):
        drawn = rows[rng.choice(len(rows), 300, p=share)]
        evidence = Evidence(
            panels.masks, drawn[:, 1:].astype(np.uint8), drawn[:, 0].astype(np.int8)
        )
        found = bootstrap_margin(make_problem(panels, evidence, 1.0), n_resamples=500, seed=k)
        covered += found.low <= truth <= found.high
    three_errors = 3 * np.sqrt(0.95 * 0.05 / n_studies)
    assert abs(covered / n_studies - 0.95) <= three_errors
