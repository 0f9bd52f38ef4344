"""An experiment: policies × problems × repeats on all cores, or on a cluster through joblib.

Every run has a seed of its own: the results do not depend on the number of workers, and any run
can be played again by `simulate` with that seed. In one repeat all policies see the same patients.
"""

from __future__ import annotations

import math
import queue
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from csmd_core.engine import warm_up
from csmd_core.faults import BadInput, Fault
from csmd_core.policies import Policy
from csmd_core.problem import Evidence, Problem
from csmd_core.scoring import MEASURES, MONEY, halfway, mean_interval, points_of, score_run
from csmd_core.simulation import Order, simulate

_TASK = 3_000_000  # patients × panels × policies × repeats in one piece of work
_TICK = 0.2  # seconds

_RUN = ["problem", "policy", "repeat", "seed", "money_saved"]
_CURVE = ["problem", "policy", "patient", "measure", "mean", "low", "high", "n_runs"]

Progress = Callable[[int, int], bool | None]
Result = tuple[int, pd.DataFrame, NDArray[np.float64]]


class Task(NamedTuple):
    """A piece of work: some repeats of all policies on one problem."""

    name: str
    problem: Problem
    policies: Mapping[str, Policy]
    seeds: Mapping[int, int]
    n_patients: int
    order: Order


@dataclass(frozen=True)
class Experiment:
    """What came out: one row a run, and the mean with its 95% interval over time.

    runs: problem, policy, repeat, seed, regret, money, money_saved, misdiagnoses, best_share, and
    regret_halfway: the regret at the middle one of the points in time.
    curves: problem, policy, patient, measure (one of MEASURES), mean, low, high, n_runs.
    What needs labels is NaN without them; low and high are NaN after a single run.
    """

    runs: pd.DataFrame
    curves: pd.DataFrame
    n_total: int

    @property
    def n_done(self) -> int:
        return len(self.runs)

    @property
    def stopped(self) -> bool:
        return self.n_done < self.n_total


def experiment(  # noqa: PLR0913
    problems: Mapping[str, Problem],
    policies: Mapping[str, Policy],
    n_patients: int = 10_000,
    n_repeats: int = 100,
    seed: int = 0,
    *,
    order: Order = "replacement",
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> Experiment:
    """Play every policy on every problem ``n_repeats`` times.

    ``progress(done, total)`` counts runs, and is asked at least every _TICK seconds; it stops the
    experiment by returning False, and what is done is kept: whole repeats, so that policies can
    still be compared.
    """
    _check(problems, policies, n_patients, n_repeats)
    warm_up()
    tasks = [
        Task(name, _lean(problem), policies, seeds, n_patients, order)
        for name, problem in problems.items()
        for seeds in _batches(name, problem, len(policies) * n_patients, n_repeats, seed)
    ]
    total = len(problems) * len(policies) * n_repeats
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")
    done: list[Result] = []
    n_done = 0
    work = [delayed(_play_task)(k, task) for k, task in enumerate(tasks)]
    for result in _as_they_come(lambda: parallel(work)):
        if result is not None:
            done.append(result)
            n_done += len(result[1])
        if progress is not None and progress(n_done, total) is False:
            break
    return _collect(done, points_of(n_patients), total)


def run_seed(seed: int, problem: str, repeat: int) -> int:
    """Return the seed of one run: below 2^48, so that spreadsheets and JSON keep it whole."""
    sequence = np.random.SeedSequence(seed, spawn_key=(crc32(problem.encode()), repeat))
    return int(sequence.generate_state(1, np.uint64)[0]) >> 16


def paired_differences(result: Experiment, baseline: str, measure: str = "regret") -> pd.DataFrame:
    """Compare each policy with a baseline on the same patients: mean difference, low, high."""
    wide = result.runs.pivot(index=["problem", "repeat"], columns="policy", values=measure)
    rows = []
    for problem, runs in wide.groupby(level="problem", sort=False):
        for policy in runs.columns.drop(baseline):
            mean, low, high = mean_interval((runs[policy] - runs[baseline]).to_numpy())
            rows.append((problem, policy, float(mean), float(low), float(high), len(runs)))
    return pd.DataFrame(rows, columns=["problem", "policy", "mean", "low", "high", "n_runs"])


def _check(
    problems: Mapping[str, Problem], policies: Mapping[str, Policy], n_patients: int, n_repeats: int
) -> None:
    faults = []
    if not problems or not policies:
        faults.append(Fault("The experiment", "is empty.", "Choose a problem and a policy."))
    if n_patients < 1 or n_repeats < 1:
        faults.append(Fault("Patients and repeats", "must be 1 or more.", "Try 10,000 and 100."))
    if faults:
        raise BadInput(faults)


def _as_they_come(start: Callable[[], Generator[Result]]) -> Generator[Result | None]:
    """Yield each result, and None when none came for a while, so that a stop need not wait for the
    pieces under way: those are left to end by themselves."""
    come: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
    stopped = threading.Event()

    def wait() -> None:
        try:
            results = start()
            for result in results:
                come.put(result)
                if stopped.is_set():
                    _cancel(results)
                    break
            come.put(None)
        except BaseException as trouble:
            come.put(trouble)

    threading.Thread(target=wait, daemon=True).start()
    try:
        while True:
            try:
                result = come.get(timeout=_TICK)
            except queue.Empty:
                yield None
                continue
            if result is None:
                return
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stopped.set()


def _cancel(results: Generator[Result]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that work was left undone is meant
        results.close()


def _lean(problem: Problem) -> Problem:
    """Leave behind what is computed and large, so that a worker elsewhere is sent little."""
    evidence = problem.evidence
    return Problem(
        problem.panels,
        Evidence(evidence.masks, np.ascontiguousarray(evidence.predictions), evidence.truth),
        problem.lam,
    )


def _batches(
    name: str, problem: Problem, rounds: int, n_repeats: int, seed: int
) -> Iterator[dict[int, int]]:
    """Give seeds to repeats, as many together as make a piece of work worth sending."""
    size = max(1, min(_TASK // (rounds * problem.n_panels), math.ceil(n_repeats / 4)))
    for first in range(0, n_repeats, size):
        repeats = range(first, min(first + size, n_repeats))
        yield {repeat: run_seed(seed, name, repeat) for repeat in repeats}


def _play_task(k: int, task: Task) -> Result:
    """Play one piece of work; scores are (runs, points, measures)."""
    points = points_of(task.n_patients)
    full = task.problem.panels.costs[-1] * task.n_patients
    rows, scores = [], []
    for repeat, seed in task.seeds.items():
        for name, policy in task.policies.items():
            run = simulate(task.problem, policy, task.n_patients, seed, task.order)
            scores.append(score_run(run, points))
            rows.append((task.name, name, repeat, seed, round(full - scores[-1][-1, MONEY], 5)))
    return k, pd.DataFrame(rows, columns=_RUN), np.stack(scores)


def _collect(done: list[Result], points: NDArray[np.int64], n_total: int) -> Experiment:
    """Join the pieces, in an order that does not depend on who finished first."""
    if not done:
        none = pd.DataFrame(columns=[*_RUN, *MEASURES, "regret_halfway"])
        return Experiment(none, pd.DataFrame(columns=_CURVE), n_total)
    done = sorted(done, key=lambda result: result[0])
    runs = pd.concat([runs for _, runs, _ in done], ignore_index=True)
    scores = np.concatenate([scores for *_, scores in done])
    for m, measure in enumerate(MEASURES):
        runs[measure] = scores[:, -1, m]
    runs["regret_halfway"] = scores[:, halfway(points), 0]
    curves = [
        _curve(str(problem), str(policy), points, scores[rows.index])
        for (problem, policy), rows in runs.groupby(["problem", "policy"], sort=False)
    ]
    return Experiment(runs, pd.concat(curves, ignore_index=True), n_total)


def _curve(
    problem: str, policy: str, points: NDArray[np.int64], scores: NDArray[np.float64]
) -> pd.DataFrame:
    mean, low, high = mean_interval(scores)
    return pd.DataFrame(
        {
            "problem": problem,
            "policy": policy,
            "patient": np.repeat(points, len(MEASURES)),
            "measure": np.tile(MEASURES, len(points)),
            "mean": mean.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
            "n_runs": len(scores),
        }
    )
