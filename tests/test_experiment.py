"""Experiments: the same on any number of workers, replayable run by run, stoppable."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from csmd_core.experiment import _lean, experiment, paired_differences, run_seed
from csmd_core.faults import BadInput
from csmd_core.policies import LEARNING, POLICIES
from csmd_core.problem import Evidence, Problem
from csmd_core.scoring import MEASURES, mean_interval, points_of
from csmd_core.simulation import simulate
from tests.problems import cascade_problem, random_problem

PROBLEMS = {
    "cascade": cascade_problem([0.3, 0.15, 0.1], [0.1, 0.05, 0.3], lam=1.0),
    "subsets": random_problem(5, "subsets", n_tests=3),
}


@pytest.fixture(scope="module")
def result():
    return experiment(PROBLEMS, POLICIES, 700, 12, seed=4, n_jobs=1)


def test_one_worker_or_four_give_the_same(result):
    four = experiment(PROBLEMS, POLICIES, 700, 12, seed=4, n_jobs=4)
    pd.testing.assert_frame_equal(result.runs, four.runs, check_exact=True)
    pd.testing.assert_frame_equal(result.curves, four.curves, check_exact=True)


def test_a_subset_of_the_experiment_gives_the_same_runs(result):
    alone = experiment({"subsets": PROBLEMS["subsets"]}, LEARNING, 700, 3, seed=4)
    merged = alone.runs.merge(result.runs, how="left", on=["problem", "policy", "repeat"])
    np.testing.assert_array_equal(merged["regret_x"], merged["regret_y"])


def test_any_run_can_be_played_again(result):
    for row in result.runs.sample(20, random_state=1).itertuples():
        run = simulate(PROBLEMS[row.problem], POLICIES[row.policy], 700, row.seed)
        assert run.regret[-1] == pytest.approx(row.regret)
        assert run.money[-1] == pytest.approx(row.money)
        assert run.money_saved == pytest.approx(row.money_saved)
        assert run.misdiagnoses == row.misdiagnoses
        assert run.share_of_best == pytest.approx(row.best_share)


def test_policies_share_patients_and_repeats_do_not(result):
    seeds = result.runs.groupby(["problem", "repeat"])["seed"]
    assert (seeds.nunique() == 1).all()
    assert result.runs["seed"].nunique() == 24
    assert (result.runs["seed"] < 2**48).all()
    assert run_seed(4, "cascade", 0) != run_seed(5, "cascade", 0)


def test_curves_are_means_with_student_intervals(result):
    last = result.curves.query(
        "problem == 'cascade' and policy == 'Thompson' and measure == 'regret'"
    )
    runs = result.runs.query("problem == 'cascade' and policy == 'Thompson'")["regret"]
    interval = ttest_1samp(runs, 0).confidence_interval()
    assert last["patient"].tolist() == points_of(700).tolist()
    assert last.iloc[-1]["mean"] == pytest.approx(runs.mean())
    assert last.iloc[-1]["low"] == pytest.approx(interval.low)
    assert last.iloc[-1]["high"] == pytest.approx(interval.high)
    assert set(result.curves["measure"]) == set(MEASURES)


def test_points_in_time():
    assert points_of(1).tolist() == [1]
    assert points_of(5).tolist() == [1, 2, 3, 4, 5]
    points = points_of(10_000)
    assert (len(points), points[0], points[-1]) == (500, 1, 10_000)


def test_paired_differences_are_tighter_than_unpaired(result):
    table = paired_differences(result, "Full panel", "misdiagnoses").set_index(
        ["problem", "policy"]
    )
    runs = result.runs.query("problem == 'cascade'").pivot(
        index="repeat", columns="policy", values="misdiagnoses"
    )
    row = table.loc[("cascade", "Best panel")]
    _, low, high = mean_interval(runs["Best panel"].to_numpy())
    assert row["mean"] == pytest.approx((runs["Best panel"] - runs["Full panel"]).mean())
    assert row["high"] - row["low"] < high - low


def test_progress_counts_runs_and_can_stop():
    calls = []

    def stop_after_first(done: int, total: int) -> bool:
        calls.append((done, total))
        return done == 0

    stopped = experiment(PROBLEMS, LEARNING, 2000, 40, n_jobs=2, progress=stop_after_first)
    assert stopped.stopped
    assert (stopped.n_done, stopped.n_total) == calls[-1]
    assert 0 < stopped.n_done < 240
    assert (stopped.runs.groupby(["problem", "repeat"]).size() == 3).all()
    whole = experiment(PROBLEMS, LEARNING, 50, 4, progress=lambda done, total: calls.append(done))
    assert not whole.stopped
    assert calls[-1] == 24


def test_a_stop_waits_for_nothing_and_may_keep_nothing():
    began = time.monotonic()
    stopped = experiment(
        {"long": PROBLEMS["subsets"]}, LEARNING, 1_000_000, 2, progress=lambda done, total: False
    )
    assert time.monotonic() - began < 1
    assert stopped.stopped
    assert (stopped.n_done, stopped.n_total) == (0, 6)
    assert {"regret", "money"} <= set(stopped.runs.columns)
    assert stopped.curves.empty


def test_what_goes_wrong_in_a_run_is_told():
    problem = PROBLEMS["cascade"]
    evidence = Evidence(problem.evidence.masks, problem.evidence.predictions)
    with pytest.raises(BadInput, match="labels"):
        experiment({"no": Problem(problem.panels, evidence, problem.lam)}, POLICIES, 10, 2)


def test_without_labels_regret_is_missing_and_money_is_not():
    problem = PROBLEMS["cascade"]
    evidence = Evidence(problem.evidence.masks, problem.evidence.predictions)
    unlabelled = Problem(problem.panels, evidence, problem.lam)
    result = experiment({"no labels": unlabelled}, LEARNING, 100, 3)
    assert result.runs[["regret", "misdiagnoses", "best_share"]].isna().all(axis=None)
    assert (result.runs["money"] > 0).all()


def test_one_repeat_has_no_interval():
    result = experiment({"one": PROBLEMS["cascade"]}, LEARNING, 50, 1)
    assert result.curves["mean"].notna().all()
    assert result.curves[["low", "high"]].isna().all(axis=None)


def test_a_worker_is_sent_little():
    problem = random_problem(5, "subsets", n_tests=6)
    assert problem.evidence.disagreement.nbytes == 8 * 63**2
    lean = pickle.dumps(_lean(problem))
    assert len(lean) < len(pickle.dumps(problem)) - 8 * 63**2 + 1000
    assert pickle.loads(lean).losses.tolist() == problem.losses.tolist()


@pytest.mark.parametrize(
    "change", [{"problems": {}}, {"policies": {}}, {"n_patients": 0}, {"n_repeats": 0}]
)
def test_an_empty_experiment_is_told(change):
    with pytest.raises(BadInput):
        experiment(
            **{"problems": PROBLEMS, "policies": LEARNING, "n_patients": 5, "n_repeats": 2} | change
        )
