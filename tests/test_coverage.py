"""Interval coverage: the 95% band covers the mean of very many runs in about 95 of 100.

The band of an experiment is `mean_interval` of its runs at each point (tests/test_experiment.py);
here 10,000 runs are taken as 200 experiments of 50, each put to the mean of all.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from joblib import Parallel, delayed

from csmd_core.experiment import run_seed
from csmd_core.policies import LEARNING
from csmd_core.scoring import mean_interval, score_run
from csmd_core.simulation import simulate
from tests.problems import cascade_problem

N_EXPERIMENTS, N_REPEATS = 200, 50
POINTS = np.array([200, 400])
REGRET_AND_MONEY = [0, 1]
PROBLEM = cascade_problem([0.3, 0.15, 0.1], [0.1, 0.05, 0.3], lam=1.0)


def some_runs(policy: str, repeats: range) -> np.ndarray:
    """Regret and money halfway and at the end: one row a run."""
    runs = (simulate(PROBLEM, LEARNING[policy], 400, run_seed(1, "c", k)) for k in repeats)
    return np.array([score_run(run, POINTS)[:, REGRET_AND_MONEY].ravel() for run in runs])


@pytest.fixture(scope="module", params=list(LEARNING))
def experiments(request):
    """Runs of one policy, as (experiments, repeats, values)."""
    blocks = [range(k, k + 500) for k in range(0, N_EXPERIMENTS * N_REPEATS, 500)]
    parts = Parallel(n_jobs=-1, prefer="threads")(
        delayed(some_runs)(request.param, block) for block in blocks
    )
    return np.concatenate(parts).reshape(N_EXPERIMENTS, N_REPEATS, -1)


def covering(experiments: np.ndarray, width: float = 1.0) -> np.ndarray:
    """How many experiments' bands hold the mean of all runs, for each value."""
    truth = experiments.mean(axis=(0, 1))
    held = []
    for runs in experiments:
        mean, low, _ = mean_interval(runs)
        held.append(np.abs(mean - truth) <= width * (mean - low))
    return np.mean(held, axis=0)


def test_about_95_of_100_bands_cover(experiments):
    """A share of 200 has a standard error of 1.5 points, and four of them are a chance in 16,000;
    that 50 skewed runs have not quite a normal mean may take away one point more."""
    error = 4 * math.sqrt(0.95 * 0.05 / N_EXPERIMENTS)
    shares = covering(experiments)
    assert np.all(shares > 0.95 - error - 0.01), shares
    assert np.all(shares < min(1.0, 0.95 + error)), shares


def test_a_narrower_band_would_be_found_out(experiments):
    """Bands of two thirds of the width cover some 80 of 100: the test above would fail."""
    assert np.all(covering(experiments, 2 / 3) < 0.95 - 4 * 0.0154 - 0.01)
