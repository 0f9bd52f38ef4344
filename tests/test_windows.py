"""λ windows against brute force over a fine grid, on random problems and every bundled study."""

from itertools import pairwise

import numpy as np
import pytest

from csmd_core.bundled import bundled_names
from csmd_core.dominance import judge
from csmd_core.problem import Evidence, make_problem
from csmd_core.windows import (
    best_windows,
    dominance_windows,
    nearest_holding,
    suggested_lam,
    window_at,
)
from made import at_prices, bundled_case, panels_of, random_problem
from test_problem import EVIDENCE, PANELS


def assert_windows_are_right(panels, evidence, n_points=400):
    windows = dominance_windows(panels, evidence)
    assert windows[0].low == 0
    assert windows[-1].high == np.inf
    assert all(a.high == b.low for a, b in pairwise(windows))
    ends = np.array([w.high for w in windows[:-1]])
    beside = np.concatenate([ends * (1 - 1e-7), ends * (1 + 1e-7)])
    for lam in [*np.geomspace(1e-7, 10, n_points), *beside]:
        window, verdict = window_at(windows, lam), judge(make_problem(panels, evidence, lam))
        assert (window.best, window.holds, window.vacuous) == (
            verdict.panel, verdict.holds, verdict.vacuous,
        ), lam  # fmt: skip


def test_by_hand():
    # Losses 10λ + 3/8, 30λ + 1/8, 100λ + 1/8: panel 2 up to λ = 1/80, then panel 1. Dominance:
    # panel 2 above (2/8)/70, panel 1 above max((2/8)/20, (4/8)/90) = 1/80.
    found = [(w.low, w.high, w.best, w.holds) for w in dominance_windows(PANELS, EVIDENCE)]
    assert found == [
        (0.0, pytest.approx(0.25 / 70), 1, False),
        (pytest.approx(0.25 / 70), pytest.approx(1 / 80), 1, True),
        (pytest.approx(1 / 80), np.inf, 0, True),
    ]


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("seed", range(25))
def test_random_problems(mode, seed):
    problem = random_problem(np.random.default_rng(seed), mode)
    assert_windows_are_right(problem.panels, problem.evidence, 150)


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_study(name, mode):
    assert_windows_are_right(*bundled_case(name, mode))


def test_tests_that_are_free():
    rng = np.random.default_rng(2)
    problem = random_problem(rng)
    assert_windows_are_right(at_prices(problem.panels, [3, 0, 0]), problem.evidence)


def test_the_nearest_lambda_at_which_it_holds():
    windows = dominance_windows(PANELS, EVIDENCE)
    same_best = nearest_holding(windows, 0.003, best=1)
    assert same_best == pytest.approx(0.25 / 70, rel=1e-5)
    assert judge(make_problem(PANELS, EVIDENCE, same_best)).holds
    assert nearest_holding(windows, 0.005) == 0.005
    assert nearest_holding(windows, 0.02, best=1) == pytest.approx(1 / 80)
    never = Evidence(PANELS.masks, EVIDENCE.predictions[:, [0, 2, 1]], EVIDENCE.truth)
    assert nearest_holding(dominance_windows(PANELS, never), 0.003, best=2) is None


def test_the_best_windows_join_the_dominance_windows():
    assert [(w.best, w.high) for w in best_windows(PANELS, EVIDENCE)] == [(1, 1 / 80), (0, np.inf)]


def test_a_lambda_to_begin_with():
    assert suggested_lam(dominance_windows(PANELS, EVIDENCE)) == 0.001
    dear = at_prices(PANELS, [10_000, 20_000, 70_000])
    lam = suggested_lam(dominance_windows(dear, EVIDENCE))
    assert lam == pytest.approx(np.sqrt(0.25 / 70_000 / 80_000), rel=0.01)
    assert judge(make_problem(dear, EVIDENCE, lam)).holds
    only = panels_of("cascade", [5])
    one = Evidence(only.masks, EVIDENCE.predictions[:, :1], EVIDENCE.truth)
    assert suggested_lam(dominance_windows(only, one)) > 0
