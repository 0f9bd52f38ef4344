"""The engine against the literal oracle, SciPy and itself stopped half-way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betainc, betaincinv
from scipy.stats import chi2_contingency

from csmd_core import engine, kernel
from csmd_core.panels import subsets
from csmd_core.policies import kl_ucb, thompson, ucb1
from csmd_core.problem import make_problem
from tests import oracle
from tests.problems import cascade_problem, make_evidence, random_problem, some_tests

NOBODY = np.empty(0, dtype=np.int32)
KEY = 0x1234_5678_9ABC_DEF0


def rows(problem, n_patients, seed=0):
    return np.random.default_rng(seed).integers(0, problem.evidence.n_patients, n_patients)


def choices(problem, policy, patients, key=KEY):
    return engine.choose_panels(problem, policy, key, patients, NOBODY).tolist()


@pytest.mark.parametrize("block", range(10))
def test_chooses_as_the_listings_on_random_problems(block):
    for seed in range(30 * block, 30 * block + 30):
        problem = random_problem(seed)
        patients = rows(problem, 50 if problem.n_panels > 7 else 150, seed)
        few = patients[:25] if problem.n_panels > 7 else patients[:80]
        a, alpha = [(0.0, 0.51), (3.0, 2.0)][seed % 2]
        assert choices(problem, ucb1(alpha), patients) == oracle.ucb1_choices(
            problem, alpha, patients
        )
        assert choices(problem, kl_ucb(a), few) == oracle.kl_ucb_choices(problem, a, few)
        assert choices(problem, thompson(), few) == oracle.thompson_choices(problem, KEY, few)


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
def test_chooses_as_the_listings_for_2000_patients(mode):
    problem = random_problem(11, mode, n_tests=3 if mode == "cascade" else 2)
    patients = rows(problem, 2000)
    assert choices(problem, kl_ucb(), patients) == oracle.kl_ucb_choices(problem, 0, patients)
    assert choices(problem, ucb1(), patients) == oracle.ucb1_choices(problem, 0.51, patients)
    assert choices(problem, thompson(), patients) == oracle.thompson_choices(problem, KEY, patients)


def test_seven_subsets_over_long_runs():
    problem = random_problem(5, "subsets", n_tests=3)
    patients = rows(problem, 1000)
    assert problem.n_panels >= 3
    assert choices(problem, ucb1(), patients) == oracle.ucb1_choices(problem, 0.51, patients)
    assert choices(problem, thompson(), patients) == oracle.thompson_choices(problem, KEY, patients)


def test_random_problems_hold_every_awkward_case():
    problems = [random_problem(seed) for seed in range(300)]
    gaps = [np.subtract.outer(p.scaled_costs, p.scaled_costs) for p in problems]
    off = [g[~np.eye(len(g), dtype=bool)] for g in gaps]
    assert sum((g == 0).any() for g in off) > 50
    assert sum((p.scaled_costs == 0).any() for p in problems) > 20
    assert sum((g > 1).any() for g in off) > 50
    falling = [np.any(np.diff(p.scaled_costs) < 0) for p in problems]
    assert sum(falling) > 50
    assert sum(not p.panels.contains[-1].all() for p in problems) > 10


def test_thompson_draws_like_numpy():
    """First five choices: the engine's keys against NumPy's own Beta draws."""
    panels = subsets(some_tests([0.3, 0.4]))
    problem = make_problem(panels, make_evidence(panels, 50, np.random.default_rng(6)), 0.9)
    patients = rows(problem, 5)
    n_runs = 3000
    rng = np.random.default_rng(1)
    free = [tuple(oracle.free_thompson_choices(problem, rng, patients)) for _ in range(n_runs)]
    keyed = [tuple(choices(problem, thompson(), patients, int(k)))
             for k in rng.integers(0, 2**63, n_runs)]  # fmt: skip
    kinds = sorted(set(free) | set(keyed))
    table = np.array([[runs.count(kind) for kind in kinds] for runs in (free, keyed)])
    common = table.sum(axis=0) >= 20
    table = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] > 3
    assert chi2_contingency(table).pvalue > 0.001


def test_thompson_regret_is_that_of_numpys_draws():
    problem = cascade_problem([0.3, 0.15, 0.1], [0.1, 0.05, 0.3], lam=1.0)
    gaps = problem.losses - problem.losses[problem.best]
    patients = rows(problem, 150)
    rng = np.random.default_rng(2)
    free = [gaps[oracle.free_thompson_choices(problem, rng, patients)].sum() for _ in range(60)]
    keyed = [gaps[choices(problem, thompson(), patients, k)].sum() for k in range(2000)]
    error = math.hypot(np.std(free) / math.sqrt(60), np.std(keyed) / math.sqrt(2000))
    assert abs(np.mean(free) - np.mean(keyed)) < 3 * error


def test_incomplete_beta_is_scipys():
    rng = np.random.default_rng(3)
    a, b = (np.floor(10 ** rng.uniform(0, 5, 3000)) for _ in range(2))
    spread = np.sqrt(a * b / (a + b) ** 3)
    x = np.clip(a / (a + b) + 4 * rng.normal(size=3000) * spread, 1e-9, 1 - 1e-9)
    ours = [kernel.incomplete_beta(*args)[0] for args in zip(x, a, b, strict=True)]
    np.testing.assert_allclose(ours, betainc(a, b, x), atol=1e-11)


@pytest.mark.parametrize("gap", [1e-6, 0.02, 0.3, 0.5, 0.97])
def test_running_bar_is_scipys_through_long_silence_and_noise(gap):
    """Nobody disagrees for 6,000 patients, then everybody: the term underflows and comes back."""
    disagrees = np.repeat([False, True, False], [6000, 12_000, 6000])
    share, term, a, b = gap, gap * (1 - gap), 1.0, 1.0
    for n, disagree in enumerate(disagrees, start=1):
        if disagree:
            share, term = kernel._one_more(share, term, gap, a, b)
            a += 1
        else:
            rest, term = kernel._one_more(1 - share, term, 1 - gap, b, a)
            share, b = 1 - rest, b + 1
        if n % 50 == 0:
            assert share == pytest.approx(betainc(a, b, gap), abs=1e-10)


def test_counts_and_bars_after_a_long_run():
    problem = random_problem(5, "subsets", n_tests=3)
    patients = rows(problem, 20_000)
    game = engine._game(problem, thompson(), KEY, len(patients))
    memory = game.memory
    given = np.empty(len(patients), dtype=np.int32)
    kernel.play(game, patients, given, 0)
    costs, said = engine.scaled_costs(problem), problem.evidence.predictions
    checked = 0
    for i, j in np.argwhere(memory.compared > 0):
        until = memory.counted[i, j]
        both = problem.panels.contains[given[:until]][:, [i, j]].all(axis=1)
        differ = said[patients[:until], i] != said[patients[:until], j]
        n, d = int(both.sum()), int((both & differ).sum())
        gap = abs(costs[i] - costs[j]) - kernel.TIE
        assert (memory.compared[i, j], memory.disagreed[i, j]) == (n, d)
        assert memory.first[i, j] == pytest.approx(betainc(1 + d, 1 + n - d, gap), abs=1e-10)
        checked += n > 5000
    assert checked > 0


@pytest.mark.parametrize("policy", [thompson(), kl_ucb(), ucb1()], ids=lambda p: p.kind)
@pytest.mark.parametrize("seed", range(8))
def test_stopping_and_going_on_changes_nothing(policy, seed):
    problem = random_problem(seed)
    patients = rows(problem, 700)
    whole = engine.choose_panels(problem, policy, KEY, patients, NOBODY)
    parts = NOBODY
    for end in (1, 2, 64, 65, 300, 700):
        parts = engine.choose_panels(problem, policy, KEY, patients[:end], parts)
    assert parts.tolist() == whole.tolist()


def test_uniform_is_splitmix64():
    for position in (0, 1, 2**40 + 3):
        ours = kernel.uniform(np.uint64(KEY), np.uint64(position))
        assert ours == oracle.splitmix(KEY, position)
    assert oracle.splitmix(0, 0) == (0xE220A8397B1DCDAF >> 11) / 2**53  # Vigna's first output


def test_the_draw_behind_a_choice_can_be_made_again():
    u = engine.draw(KEY, 7, 1, 2, 3)
    assert u == oracle.splitmix(KEY, 7 * 9 + 1 * 3 + 2)
    assert 0 < betaincinv(3, 5, u) < 1


@pytest.mark.parametrize("policy", [thompson(), kl_ucb(), ucb1()], ids=lambda p: p.kind)
def test_many_panels_equal_the_small_tournament(policy):
    """31 panels with many equal costs: the same choices as comparing all pairs."""
    rng = np.random.default_rng(4)
    panels = subsets(some_tests(list(rng.integers(1, 4, 5))))
    problem = make_problem(panels, make_evidence(panels, 80, rng), 0.05)
    patients = rows(problem, 40)
    expected = {
        "thompson": lambda: oracle.thompson_choices(problem, KEY, patients),
        "kl-ucb": lambda: oracle.kl_ucb_choices(problem, 0, patients),
        "ucb1": lambda: oracle.ucb1_choices(problem, 0.51, patients),
    }
    assert choices(problem, policy, patients) == expected[policy.kind]()


def test_warm_up_compiles_what_is_played():
    engine.warm_up()
    before = len(kernel.play.signatures)
    choices(random_problem(0), thompson(), np.zeros(3, dtype=np.int64))
    assert len(kernel.play.signatures) == before
