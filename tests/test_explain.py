"""Explanations: the numbers lead to the very choice, and the sentence fits every case."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc

from csmd_core.comparisons import counts_with, kl_ucb_index, pair_counts, ucb1_index
from csmd_core.explain import explain
from csmd_core.faults import BadInput
from csmd_core.panels import cascade, subsets
from csmd_core.policies import LEARNING, POLICIES, Policy, kl_ucb, thompson, ucb1
from csmd_core.problem import Evidence, make_problem
from csmd_core.simulation import Run, simulate, start
from csmd_core.study import Test
from tests import oracle
from tests.problems import cascade_problem, random_problem, some_tests


def blood_then_ecg(disagree: int, gap: float, lam: float = 1.0):
    """Make a cascade in which ECG changes the diagnosis of so many of 100 patients."""
    panels = cascade([Test("Blood", ("b",), 0.1), Test("ECG", ("e",), gap)])
    predictions = np.zeros((100, 2), dtype=np.uint8)
    predictions[:disagree, 1] = 1
    truth = predictions[:, 1].astype(np.int8)
    return make_problem(panels, Evidence(panels.masks, predictions, truth), lam)


def forced(problem, policy: Policy, before: list[int], choice: int, seed: int = 0) -> Run:
    """Pretend that these panels were given, in the study's order, and then the choice."""
    return Run(problem, policy, seed, "study", np.array([*before, choice], dtype=np.int32))


@pytest.mark.parametrize("policy", LEARNING.values(), ids=lambda p: p.kind)
@pytest.mark.parametrize("seed", range(25))
def test_the_pairs_lead_to_the_choice(policy, seed):
    problem = random_problem(seed)
    run = simulate(problem, policy, 120, seed)
    for t in (1, 2, 3, 7, 64, 65, 120):
        told = explain(run, t)
        if told.pairs.empty:
            assert t == 1
            continue
        decided = told.pairs.dropna(subset=["winner"])
        losers = np.where(decided.winner == decided.panel, decided.rival, decided.panel)
        unbeaten = set(range(problem.n_panels)) - set(losers)
        assert told.choice == min({*unbeaten, problem.n_panels - 1}) == run.choices[t - 1]


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda p: p.kind)
@pytest.mark.parametrize("seed", range(10))
def test_every_sentence_is_whole(policy, seed):
    run = simulate(random_problem(seed), policy, 30, seed)
    for t in (1, 2, 30):
        sentence = explain(run, t).sentence
        assert sentence.startswith(("Gave ", "Stopped after "))
        assert sentence.endswith(".")
        assert "nan" not in sentence
        assert "inf" not in sentence


def test_estimates_are_the_oracles():
    n, d = np.array([0, 1, 9, 500]), np.array([0, 1, 0, 123])
    for t in (2, 3, 1000):
        pairs = list(zip(n.tolist(), d.tolist(), strict=True))
        expected = [oracle.kl_index(*pair, t, 3.0) for pair in pairs]
        np.testing.assert_allclose(kl_ucb_index(kl_ucb(3.0), t, n, d), expected, atol=1e-12)
        expected = [oracle.ucb1_index(*pair, t, 0.51) for pair in pairs]
        np.testing.assert_allclose(ucb1_index(ucb1(), t, n, d), expected)


def test_thompson_shows_the_posterior_mean_and_the_draw():
    run = simulate(blood_then_ecg(19, 0.29), thompson(), 50, order="study")
    for t in (1, 2, 50):
        row = explain(run, t).pairs.iloc[0]
        assert row["mean"] == (1 + row.disagreed) / (2 + row.compared)
        u = betainc(1 + row.disagreed, 1 + row.compared - row.disagreed, row.estimate)
        assert u == pytest.approx(oracle.splitmix(run.key, t * 4 + 1))


def test_counts_are_those_of_the_patients_before():
    row = explain(forced(blood_then_ecg(19, 0.29), ucb1(), [1] * 100, 0)).pairs.iloc[0]
    assert (row.compared, row.disagreed, row["mean"]) == (100, 19, 0.19)
    row = explain(forced(blood_then_ecg(19, 0.29), ucb1(), [0] * 90 + [1] * 10, 0)).pairs.iloc[0]
    assert (row.compared, row.disagreed) == (10, 0)


def test_stopped():
    told = explain(forced(blood_then_ecg(19, 0.49), kl_ucb(), [1] * 100, 0))
    assert told.sentence == (
        "Stopped after Blood: ECG would cost 0.49 more, but it has changed the diagnosis of "
        "19 of 100 patients (a share of up to 0.326 is possible)."
    )


def test_went_on():
    told = explain(forced(blood_then_ecg(40, 0.29), ucb1(), [1] * 100, 1))
    assert told.sentence.startswith(
        "Gave Blood + ECG: it costs 0.29 more than Blood, and it has changed the diagnosis of "
        "40 of 100 patients (a share of up to 0.5"
    )


def test_never_seen_together():
    panels = subsets(some_tests([0.1, 0.3]), chosen=[["A"], ["B"]])
    evidence = Evidence(panels.masks, np.zeros((5, 2), dtype=np.uint8))
    run = simulate(make_problem(panels, evidence, 1.0), ucb1(), 20)
    assert explain(run, 1).sentence == (
        "Gave B: nothing is known yet, so the first patient gets the last panel."
    )
    assert explain(run).sentence == (
        "Gave B: it costs 0.2 more than A, and nobody has had both yet "
        "(any share is still possible)."
    )


def test_a_gap_above_one():
    told = explain(simulate(blood_then_ecg(100, 1.4), thompson(), 20))
    assert told.sentence == (
        "Stopped after Blood: ECG would cost 1.4 more, and no diagnosis is worth more than 1."
    )


def test_a_free_test_is_taken():
    told = explain(simulate(blood_then_ecg(0, 0.0), thompson(), 20))
    assert told.sentence == "Gave Blood + ECG: it costs no more than Blood."


def test_nobody_unbeaten():
    problem = cascade_problem([0.3, 0.2, 0.1], [0.1, 0.2, 0.2], lam=1.0)
    runs = (simulate(problem, thompson(), 1, seed) for seed in range(200))
    said = {explain(run).sentence for run in runs}
    assert (
        "Gave A + B + C: every panel is beaten by another one, so the full panel is given." in said
    )


def test_equal_costs():
    panels = subsets(some_tests([0.2, 0.2]), chosen=[["A"], ["B"]])
    evidence = Evidence(panels.masks, np.zeros((5, 2), dtype=np.uint8))
    run = simulate(make_problem(panels, evidence, 1.0), thompson(), 3)
    assert explain(run).sentence == (
        "Gave A: all panels cost the same, so the first in the list is given."
    )
    assert explain(run).pairs["winner"].isna().all()
    panels = subsets(some_tests([0.2, 0.2]))
    evidence = Evidence(panels.masks, np.zeros((5, 3), dtype=np.uint8))
    told = explain(simulate(make_problem(panels, evidence, 1.0), ucb1(), 200))
    assert told.sentence.endswith(
        " B costs the same: of equals the first unbeaten one in the list is given."
    )


def test_one_panel():
    panels = cascade(some_tests([0.2]))
    evidence = Evidence(panels.masks, np.zeros((5, 1), dtype=np.uint8))
    for policy in LEARNING.values():
        run = simulate(make_problem(panels, evidence, 1.0), policy, 3)
        assert explain(run).sentence == "Gave A: there is no other panel."


def test_many_panels_list_the_pairs_of_the_choice():
    problem = random_problem(5, "subsets", n_tests=6)
    run = simulate(problem, thompson(), 100)
    told = explain(run)
    assert len(told.pairs) == problem.n_panels - 1
    assert ((told.pairs.panel == told.choice) | (told.pairs.rival == told.choice)).all()


def test_counts_with_one_panel_are_those_of_all_pairs():
    run = simulate(random_problem(5, "subsets", n_tests=6), thompson(), 300)
    for t in (1, 2, 300):
        compared, disagreed = pair_counts(run, t, np.arange(63))
        for panel in (0, 17, 62):
            np.testing.assert_array_equal(counts_with(run, t, panel)[0], compared[panel])
            np.testing.assert_array_equal(counts_with(run, t, panel)[1], disagreed[panel])
    told = explain(run)
    others = told.pairs.panel + told.pairs.rival - told.choice
    np.testing.assert_array_equal(told.pairs.compared, compared[told.choice][others])


def test_only_played_patients_can_be_explained():
    run = simulate(blood_then_ecg(19, 0.29), ucb1(), 5)
    for t in (0, 6, -1):
        with pytest.raises(BadInput, match=f"Patient {t} has not been played"):
            explain(run, t)
    with pytest.raises(BadInput, match="Play one first"):
        explain(start(blood_then_ecg(19, 0.29), ucb1()))
