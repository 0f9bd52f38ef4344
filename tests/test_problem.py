"""Error rates, disagreement, losses: against tables solved by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csmd_core.faults import BadInput
from csmd_core.problem import Evidence, best_of, make_problem, panel_table, wilson
from made import at_prices, panels_of, random_problem

# Eight patients, three panels. Wrong: panel 1 on patients 1, 2, 3; panel 2 on 3; panel 3 on 8.
TRUTH = np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=np.int8)
PREDICTIONS = np.array(
    [[0, 1, 1], [0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]],
    dtype=np.uint8,
)
PANELS = panels_of("cascade", [10, 20, 70])
EVIDENCE = Evidence(PANELS.masks, PREDICTIONS, TRUTH)


def test_error_rates_and_disagreement_by_hand():
    assert EVIDENCE.error_rates.tolist() == [3 / 8, 1 / 8, 1 / 8]
    assert EVIDENCE.disagreement.tolist() == [
        [0, 2 / 8, 4 / 8], [2 / 8, 0, 2 / 8], [4 / 8, 2 / 8, 0],
    ]  # fmt: skip


def test_losses_and_best_panel_by_hand():
    problem = make_problem(PANELS, EVIDENCE, 0.01)
    assert problem.losses == pytest.approx([0.1 + 3 / 8, 0.3 + 1 / 8, 1.0 + 1 / 8])
    assert problem.best == 1
    assert problem.one_lam == 0.01


def test_a_lambda_for_each_panel():
    problem = make_problem(PANELS, EVIDENCE, [0.01, 0.02, 0.001])
    assert problem.scaled_costs == pytest.approx([0.1, 0.6, 0.1])
    assert problem.best == 2
    assert problem.one_lam is None


def test_a_tie_goes_to_the_dearest():
    problem = make_problem(PANELS, EVIDENCE, 0.25 / 20)  # 20 more buys exactly 0.25 less error
    assert problem.losses[0] == pytest.approx(problem.losses[1])
    assert problem.best == 1
    assert best_of(np.array([0.1 + 0.2, 0.3])) == 1


def test_patients_without_a_label_count_for_disagreement_only():
    truth = TRUTH.copy()
    truth[:3] = -1
    evidence = Evidence(PANELS.masks, PREDICTIONS, truth)
    assert evidence.error_rates.tolist() == [0, 0, 1 / 5]
    assert (evidence.disagreement == EVIDENCE.disagreement).all()


def test_without_labels_there_is_no_best_panel_and_the_error_says_so():
    problem = make_problem(PANELS, Evidence(PANELS.masks, PREDICTIONS), 0.01)
    assert problem.best is None
    with pytest.raises(BadInput, match="The study has no labels"):
        _ = problem.losses
    assert list(panel_table(PANELS, problem.evidence).columns) == ["panel", "tests", "cost"]


def test_the_panel_table_by_hand():
    row = panel_table(PANELS, EVIDENCE).iloc[2]
    assert row["sensitivity"] == 1
    assert row["specificity"] == 3 / 4
    assert row["ppv"] == 4 / 5
    assert row["npv"] == 1
    assert (row["error_low"], row["error_high"]) == pytest.approx((0.022420, 0.470879), abs=1e-5)


def test_a_panel_that_never_says_ill_has_no_ppv():
    evidence = Evidence((1,), np.zeros((4, 1), np.uint8), np.array([0, 0, 1, 0], np.int8))
    row = panel_table(panels_of("cascade", [1]), evidence).iloc[0]
    assert pd.isna(row["ppv"])
    assert row["npv"] == 3 / 4


def test_wilson_at_the_ends_stays_between_0_and_1():
    assert wilson(0, 10)[0] == pytest.approx(0, abs=1e-12)
    assert wilson(0, 10)[1] == pytest.approx(0.27753, abs=1e-5)  # Newcombe 1998
    assert wilson(81, 263) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))


@pytest.mark.parametrize("lam", [0, -1, float("nan"), float("inf"), [0.1, 0.2]])
def test_a_wrong_lambda_gets_a_sentence(lam):
    with pytest.raises(BadInput, match="λ"):
        make_problem(PANELS, EVIDENCE, lam)


@given(st.integers(0, 10_000), st.sampled_from(["cascade", "subsets"]))
def test_error_rates_differ_by_no_more_than_panels_disagree(seed, mode):
    evidence = random_problem(np.random.default_rng(seed), mode).evidence
    gaps = np.abs(evidence.error_rates[:, None] - evidence.error_rates[None, :])
    assert (gaps <= evidence.disagreement + 1e-12).all()


@given(st.integers(0, 10_000))
def test_shuffled_labels_leave_disagreement_unchanged(seed):
    rng = np.random.default_rng(seed)
    evidence = random_problem(rng).evidence
    shuffled = Evidence(evidence.masks, evidence.predictions, rng.permutation(evidence.truth))
    assert (shuffled.disagreement == evidence.disagreement).all()


@given(st.integers(0, 10_000))
def test_disagreement_is_what_a_loop_counts(seed):
    evidence = random_problem(np.random.default_rng(seed), "subsets").evidence
    y = evidence.predictions
    for i in range(y.shape[1]):
        for j in range(y.shape[1]):
            assert evidence.disagreement[i, j] == pytest.approx((y[:, i] != y[:, j]).mean())


def test_reordering_keeps_what_belongs_to_each_panel():
    rng = np.random.default_rng(1)
    problem = random_problem(rng, "subsets")
    other = at_prices(problem.panels, [9, 1, 5])
    moved = problem.evidence.ordered_as(other)
    where = [problem.panels.masks.index(m) for m in other.masks]
    assert (moved.error_rates == problem.evidence.error_rates[where]).all()
    fresh = Evidence(other.masks, moved.predictions, moved.truth)
    assert (moved.disagreement == fresh.disagreement).all()
