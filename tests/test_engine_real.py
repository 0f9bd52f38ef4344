"""The engine on the paper's own instances: every choice as the literal listings make it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from csmd_core.policies import LEARNING, kl_ucb, ucb1
from csmd_core.problem import Problem
from csmd_core.reproduce import paper_parts
from csmd_core.simulation import patient_rows, simulate
from tests import oracle

PARTS = paper_parts()
PROBLEMS = {**PARTS["cascades"].problems, **PARTS["subsets"].problems}
N = 2000


@pytest.mark.parametrize("name", PROBLEMS)
def test_kl_ucb_and_ucb1_choose_as_the_paper_s_listings(name):
    problem = PROBLEMS[name]
    patients = patient_rows(problem, seed=11, order="replacement", n=N)
    kl = simulate(problem, kl_ucb(), N, seed=11)
    assert kl.choices.tolist() == oracle.kl_ucb_choices(problem, 0.0, patients)
    ucb = simulate(problem, ucb1(), N, seed=11)
    assert ucb.choices.tolist() == oracle.ucb1_choices(problem, 0.51, patients)


@pytest.mark.parametrize("name", ["Diabetes, case 1", "Heart, case 5", *PARTS["subsets"].problems])
def test_thompson_chooses_as_the_listings_with_the_same_draws(name):
    problem = PROBLEMS[name]
    run = simulate(problem, LEARNING["Thompson"], 400, seed=11)
    assert run.choices.tolist() == oracle.thompson_choices(problem, run.key, run.patients)


@pytest.mark.parametrize("name", PROBLEMS)
def test_shuffled_labels_change_no_choice(name):
    problem = PROBLEMS[name]
    rng = np.random.default_rng(3)
    truth = rng.permutation(problem.evidence.truth)
    shuffled = Problem(problem.panels, replace(problem.evidence, truth=truth), problem.lam)
    assert not np.allclose(problem.losses, shuffled.losses)
    for policy in LEARNING.values():
        told = simulate(problem, policy, N, seed=2)
        mistold = simulate(shuffled, policy, N, seed=2)
        np.testing.assert_array_equal(told.choices, mistold.choices)


def test_the_instances_are_the_ones_meant():
    assert len(PROBLEMS) == 14
    assert sorted(problem.n_panels for problem in PROBLEMS.values()) == [3] * 10 + [7] * 4
    assert {problem.evidence.n_patients for problem in PROBLEMS.values()} == {297, 768}
