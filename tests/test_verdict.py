"""The verdict's sentences: holding, failing, vacuous, borderline, without labels."""

import numpy as np
import pytest

from csmd_core.dominance import MarginInterval, bootstrap_margin, judge
from csmd_core.problem import Evidence, make_problem
from csmd_core.verdict import in_words
from made import random_problem
from test_problem import EVIDENCE, PANELS

UNLABELLED = Evidence(EVIDENCE.masks, EVIDENCE.predictions)


def told(lam, evidence=EVIDENCE, interval=None):
    problem = make_problem(PANELS, evidence, lam)
    return in_words(problem, judge(problem), interval)


def interval(low, high, chance=0.5):
    return MarginInterval(low, high, chance, 0.0, np.array([0.0, 1.0, 0.0]), 2000)


def test_it_holds():
    # Margin 0.45: the third panel's 70 weigh 0.7, and it changes 2 of 8 diagnoses.
    verdict = told(0.01, interval=interval(0.2, 0.6))
    assert verdict.kind == "holds"
    assert verdict.sentence == (
        "Without knowing a single diagnosis, the policy can learn that T1 + T2 is best: every "
        "dearer panel costs more than it changes."
    )
    assert verdict.because == (
        "The closest is T1 + T2 + T3: its extra cost weighs as much as a wrong diagnosis for 70.0% "
        "of patients, and it changes the diagnosis of only 25.0%."
    )


def test_it_fails():
    verdict = told(0.003, interval=interval(-0.2, -0.01))
    assert verdict.kind == "fails"
    assert verdict.sentence == (
        "It cannot: without diagnoses, the policy cannot learn that T1 + T2 is best, because "
        "T1 + T2 + T3 changes more than it costs."
    )
    assert "21.0% of patients" in verdict.because
    assert "as many as 25.0%" in verdict.because


def wrong_on(*patients):
    """Evidence of three panels on eight healthy patients: whom each calls ill."""
    predictions = np.zeros((8, 3), dtype=np.uint8)
    for panel, ill in enumerate(patients):
        predictions[list(ill), panel] = 1
    return Evidence(PANELS.masks, predictions, np.zeros(8, dtype=np.int8))


def test_how_many_break_it():
    # Each panel errs on another patient: all err on 1/8, any two disagree on 2/8, costs weigh less.
    verdict = told(0.001, wrong_on([0], [1], [2]))
    assert verdict.sentence == (
        "It cannot: without diagnoses, the policy cannot learn that T1 is best, because T1 + T2 "
        "(and 1 more panel like it) changes more than it costs."
    )


def test_a_later_panel_that_weighs_no_more():
    verdict = told([0.01, 0.01, 0.0005], wrong_on([], [0], [0, 1, 2, 3]))
    assert verdict.kind == "fails"
    assert verdict.because == (
        "The closest is T1 + T2 + T3: it costs no more, and it changes the diagnosis of as many as "
        "50.0%."
    )


def test_there_is_nothing_to_check():
    verdict = told([0.1, 0.1, 1e-6])
    assert verdict.kind == "vacuous"
    assert verdict.sentence.startswith("There is nothing to check: T1 + T2 + T3 is best")


@pytest.mark.parametrize(
    ("lam", "low", "high", "word"),
    [
        (0.01, -0.01, 0.5, "can learn"),
        (0.003, -0.1, 0.02, "cannot learn"),
        (0.003, 0.01, 0.02, "cannot learn"),  # the corrected interval leaves the estimate behind
        (0.01, -0.5, -0.1, "can learn"),
        (0.01, -0.1, np.inf, "can learn"),
    ],
)
def test_an_interval_that_spans_nothing_is_too_close_to_call(lam, low, high, word):
    verdict = told(lam, interval=interval(low, high, 0.43))
    assert verdict.kind == "borderline"
    assert verdict.sentence.startswith(f"Too close to call: in these 8 patients the policy {word}")
    assert "probability of 43%" in verdict.because
    assert ("no limit" in verdict.because) == np.isinf(high)


def test_without_labels_one_panel_several_or_none():
    one = told(0.01, UNLABELLED)
    assert one.kind == "no labels"
    assert "If weak dominance holds, T1 + T2 is the best panel" in one.sentence
    circle = Evidence(EVIDENCE.masks, EVIDENCE.predictions[:, [0, 1, 0]])
    none = told([0.01, 0.01, 0.004], circle)
    assert none.sentence.startswith("Weak dominance cannot hold here")
    assert none.kind == "no labels"


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("seed", range(12))
def test_every_random_problem_gets_the_sentence_of_its_verdict(mode, seed):
    problem = random_problem(np.random.default_rng(seed), mode)
    found, boot = judge(problem), bootstrap_margin(problem, n_resamples=200)
    verdict = in_words(problem, found, boot)
    if found.vacuous:
        assert verdict.kind == "vacuous"
    elif found.holds:
        assert verdict.kind == ("holds" if boot.low > 1e-12 else "borderline")
    else:
        assert verdict.kind == ("fails" if boot.high <= 1e-12 else "borderline")
    assert problem.panels.names[found.panel] in verdict.sentence
