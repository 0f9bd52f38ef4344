"""A plan of an experiment: what a user types, what is refused, how large it is."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import pytest

from csmd_core.experiment import experiment
from csmd_core.faults import BadInput
from csmd_core.plan import (
    MOST_BYTES,
    OWN_LAM,
    Plan,
    bytes_needed,
    check,
    check_time,
    measure_pace,
    problem_rows,
    problems_at,
    read_policies,
    run_plan,
    seconds_needed,
    telling_lams,
)
from csmd_core.policies import LEARNING, POLICIES, kl_ucb, ucb1
from csmd_core.problem import Evidence, Problem
from csmd_core.windows import Window, dominance_windows, window_at
from made import bundled_case

PANELS, EVIDENCE = bundled_case("diabetes", "cascade")


def plan_of(*lams: str, **changes) -> Plan:
    plan = Plan(problems_at(PANELS, EVIDENCE, lams or ["0.001"]), LEARNING, 200, 5)
    return replace(plan, **changes)


def test_numbers_are_read_as_typed():
    made = read_policies(["kl-ucb", "ucb1", "full"], {"kl-ucb": ["0", "3"], "ucb1": ["0,51"]})
    assert list(made.values()) == [kl_ucb(0), kl_ucb(3), ucb1(0.51), POLICIES["Full panel"]]
    assert list(read_policies(["ucb1"], {"ucb1": []})) == ["UCB1"]


def test_every_bad_number_is_told():
    with pytest.raises(BadInput) as bad:
        read_policies(["kl-ucb", "ucb1"], {"kl-ucb": ["-1", "x"], "ucb1": ["0.5", "nan"]})
    told = str(bad.value)
    assert len(bad.value.faults) == 4
    assert "UCB1's α must be above 0.5, not 0.5." in told
    assert "kl-UCB's a must be 0 or more, not -1.0." in told
    assert "cannot be 'x'" in told


def test_each_lam_is_a_problem_by_name():
    made = problems_at(PANELS, EVIDENCE, ["0.001", "0,01", "1e-3", OWN_LAM], [1e-4, 2e-4, 3e-4])
    assert list(made) == ["λ = 0.001", "λ = 0.01", OWN_LAM]
    assert made["λ = 0.01"].one_lam == 0.01
    assert made[OWN_LAM].lam.tolist() == [1e-4, 2e-4, 3e-4]


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "", "much"])
def test_a_lam_that_is_none_is_told(text):
    with pytest.raises(BadInput, match="λ"):
        problems_at(PANELS, EVIDENCE, [text])


def test_telling_lams_lie_in_different_windows():
    windows = dominance_windows(PANELS, EVIDENCE)
    lams = telling_lams(windows)
    assert lams == sorted(lams)
    assert len({window_at(windows, lam) for lam in lams}) == len(windows)
    assert telling_lams([Window(0, math.inf, 0, True)]) != []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_repeats": 0}, "The number of repeats is 0; it must be 1 or more."),
        ({"n_patients": -5}, "The number of patients is -5; it must be 1 or more."),
        ({"seed": -1}, "The seed is -1"),
        ({"policies": {}}, "has no policy"),
        ({"problems": {}}, "has no λ"),
        ({"n_patients": 10**9}, "of memory"),
        ({"n_repeats": 10**9}, "of memory"),
    ],
)
def test_what_cannot_be_run_is_refused(changes, said):
    with pytest.raises(BadInput, match=said.replace("(", r"\(")):
        check(plan_of(**changes))


def test_usual_sizes_are_allowed():
    usual = plan_of("0.001", "0.01", n_patients=10_000, n_repeats=100)
    check(usual)
    assert bytes_needed(usual, 2) < MOST_BYTES / 10
    assert bytes_needed(usual, 8) > bytes_needed(usual, 2)


def test_policies_that_need_labels_are_told_without_them():
    blind = Problem(PANELS, Evidence(EVIDENCE.masks, EVIDENCE.predictions), plan_of().problems[
        "λ = 0.001"].lam)  # fmt: skip
    with pytest.raises(BadInput) as bad:
        check(Plan({"blind": blind}, POLICIES, 10, 2))
    assert [fault.where for fault in bad.value.faults] == [
        "The policy Follow the labels", "The policy Best panel",
    ]  # fmt: skip
    check(Plan({"blind": blind}, LEARNING, 10, 2))
    assert problem_rows({"blind": blind})[0]["margin"] is None


def test_half_a_day_is_too_long():
    check_time(3600.0)
    with pytest.raises(BadInput, match="about 20 hours"):
        check_time(20 * 3600.0)


def test_the_expected_time_is_of_the_right_size():
    """Within a factor of eight of what it takes: another person may share the machine."""
    plan = plan_of("0.001", n_patients=20_000, n_repeats=40)
    expected = seconds_needed(plan, measure_pace(plan))
    began = time.perf_counter()
    run_plan(plan)
    spent = time.perf_counter() - began
    assert spent / 8 < expected + 0.1 < spent * 8 + 0.1


def test_a_plan_runs_as_the_experiment_it_is():
    plan = plan_of("0.001", "0.01", seed=3, order="shuffled")
    same = experiment(plan.problems, plan.policies, 200, 5, 3, order="shuffled")
    assert plan.n_runs == same.n_total == 30
    assert run_plan(plan).runs.equals(same.runs)
