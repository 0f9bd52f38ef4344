"""Budgets against brute force: frontier, break-even prices, cohorts, paired intervals."""

import numpy as np
import pytest

from csmd_core.budget import (
    break_even,
    budget_window,
    cohort,
    frontier,
    paired_difference,
    reprice,
)
from csmd_core.bundled import bundled_names, load_bundled
from csmd_core.faults import BadInput
from csmd_core.panels import cascade
from csmd_core.predictions import fit_evidence
from csmd_core.problem import Evidence, make_problem
from made import bundled_case, random_problem
from test_problem import EVIDENCE, PANELS

PROBLEM = make_problem(PANELS, EVIDENCE, 0.01)


def best_name(problem, **changed):
    panels = reprice(problem.panels, **changed)
    lam = problem.one_lam
    if lam is None:
        where = [problem.panels.masks.index(m) for m in panels.masks]
        lam = problem.lam[where]
    again = make_problem(panels, problem.evidence, lam)
    return panels.names[again.best]


def assert_break_even_is_right(problem):
    stays = problem.panels.names[problem.best]
    for row in break_even(problem).itertuples():

        def best_at(price, row=row):
            changed = {"prices" if row.kind == "test" else "fees": {row.name: price}}
            return best_name(problem, **changed)

        top = row.high if np.isfinite(row.high) else row.low + 1000
        step = max(1e-4, (top - row.low) * 1e-6)
        for price in np.linspace(row.low + step, max(top - step, row.low + step), 9):
            assert best_at(price) == stays
        if row.dearer_best is not None and isinstance(row.dearer_best, str):
            assert best_at(row.high + step) == row.dearer_best
        else:
            assert row.high == np.inf
        if row.cheaper_best is not None and isinstance(row.cheaper_best, str):
            assert best_at(row.low - step) == row.cheaper_best
        else:
            assert row.low == 0


def test_break_even_by_hand():
    # Losses 0.475, 0.425, 1.125: the second test may cost 5 more (0.05 / λ) before panel 1 wins.
    rows = break_even(PROBLEM).set_index("name")
    assert rows.loc["T2", "high"] == pytest.approx(25)
    assert rows.loc["T2", "dearer_best"] == "T1"
    assert rows.loc["T1", "high"] == np.inf
    assert rows.loc["T3", "low"] == 0


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("seed", range(15))
def test_break_even_on_random_problems(mode, seed):
    assert_break_even_is_right(random_problem(np.random.default_rng(seed), mode))


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("name", bundled_names())
def test_break_even_on_every_bundled_study(name, mode):
    panels, evidence = bundled_case(name, mode)
    for lam in (3e-4, 2e-3):
        assert_break_even_is_right(make_problem(panels, evidence, lam))


def test_break_even_with_a_lambda_for_each_panel_and_fees_not_shared():
    study = load_bundled("heart", "paper")
    panels = cascade(study.tests, study.fees, shared_fees=False)
    problem = make_problem(panels, fit_evidence(study, panels), [1e-4, 1e-4, 3.5e-4])
    assert_break_even_is_right(problem)


@pytest.mark.parametrize("seed", range(20))
def test_the_frontier_word_for_word(seed):
    problem = random_problem(np.random.default_rng(seed), "subsets", n_tests=4, n_patients=40)
    c, g = problem.panels.costs, problem.evidence.error_rates
    rows = frontier(problem.panels, problem.evidence)
    n = range(len(c))
    undominated = [
        not any(c[j] <= c[i] and g[j] <= g[i] and (c[j] < c[i] or g[j] < g[i]) for j in n)
        for i in n
    ]
    assert rows["undominated"].tolist() == undominated
    grid = np.geomspace(1e-7, 10, 3000)
    ever_best = {make_problem(problem.panels, problem.evidence, lam).best for lam in grid}
    assert ever_best <= set(np.flatnonzero(rows["best_for_some"]))
    assert rows["undominated"][rows["best_for_some"]].all()


def test_a_budget_becomes_a_lambda_window():
    window = budget_window(PANELS, EVIDENCE, 50)
    assert (window.best, window.high) == (1, 1 / 80)
    assert budget_window(PANELS, EVIDENCE, 29.99).best == 0
    with pytest.raises(BadInput, match=r"A budget of 5\.00 per patient pays for no panel"):
        budget_window(PANELS, EVIDENCE, 5)


def test_a_cohort_by_hand():
    year = cohort(PROBLEM, 1, 1000)
    assert (year.cost, year.misdiagnoses, year.money_saved) == (30_000, 125, 70_000)
    assert year.extra_misdiagnoses == 0
    assert year.extra_interval[0] < 0 < year.extra_interval[1]
    assert cohort(PROBLEM, 2, 1000).extra_interval == (0, 0)


def test_the_paired_interval_covers():
    rng, covered, n = np.random.default_rng(8), 0, 800
    for _ in range(n):
        truth = np.zeros(150, np.int8)
        both = rng.random(150) < 0.1
        wrong = np.column_stack([both | (rng.random(150) < 0.1), both | (rng.random(150) < 0.04)])
        _, low, high = paired_difference(Evidence((1, 3), wrong.astype(np.uint8), truth), 0, 1)
        covered += low <= 0.9 * (0.1 - 0.04) <= high
    assert abs(covered / n - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / n)


def test_what_if_prices():
    cheaper = reprice(PANELS, prices={"T3": 20}, change_all=-0.5)
    assert cheaper.costs.tolist() == [5, 15, 25]
    assert PANELS.costs.tolist() == [10, 30, 100]
    with pytest.raises(BadInput, match="names Biopsy"):
        reprice(PANELS, prices={"Biopsy": 1})
    with pytest.raises(BadInput, match="must be a number of 0 or more"):
        reprice(PANELS, prices={"T1": -1})
