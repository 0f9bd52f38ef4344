"""How fast policies play, as ratios: `python -m bench.engine`."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from csmd_core import engine, kernel
from csmd_core.experiment import experiment
from csmd_core.panels import subsets
from csmd_core.paper import CASES, paper_problem
from csmd_core.policies import LEARNING, Policy
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.simulation import simulate
from csmd_core.study import Test
from tests import oracle

KEY = 1
NOBODY = np.empty(0, dtype=np.int32)


def best_of_runs(work: Callable[[], object], runs: int = 5) -> float:
    """Return the least seconds of some runs."""
    spent = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return min(spent)


def rows(problem: Problem, n_patients: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, problem.evidence.n_patients, n_patients)


def per_patient(problem: Problem, policy: Policy, n_patients: int = 10_000) -> float:
    patients = rows(problem, n_patients)
    work = lambda: engine.choose_panels(problem, policy, KEY, patients, NOBODY)  # noqa: E731
    return best_of_runs(work) / n_patients


def slow_choices(problem: Problem, policy: Policy, patients: NDArray[np.int64]) -> object:
    if policy.kind == "thompson":
        return oracle.free_thompson_choices(problem, np.random.default_rng(0), patients)
    if policy.kind == "kl-ucb":
        return oracle.kl_ucb_choices(problem, policy.parameter, patients)
    return oracle.ucb1_choices(problem, policy.parameter, patients)


def numpy_estimates(policy: Policy, counts: NDArray, t: int, rng) -> NDArray[np.float64]:
    n, d = counts
    if policy.kind == "thompson":
        return rng.beta(1 + d, 1 + n - d)
    safe = np.maximum(n, 1)
    p = d / safe
    if policy.kind == "ucb1":
        return np.where(n == 0, np.inf, p + np.sqrt(policy.parameter * np.log(t) / safe))
    low, high = p.copy(), np.ones_like(p)
    for _ in range(30):
        q = np.clip((low + high) / 2, 1e-12, 1 - 1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            ill = np.where(p > 0, p * np.log(p / q), 0)
            well = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0)
        inside = safe * (ill + well) <= np.log(t)
        low, high = np.where(inside, q, low), np.where(inside, high, q)
    return np.where(n == 0, 1.0, low)


def numpy_choices(problem: Problem, policy: Policy, patients: NDArray[np.int64]) -> None:
    """Play all pairs of a round at once in NumPy (costs rising): what one would write first."""
    costs, contains = problem.scaled_costs, problem.panels.contains
    n, rng = len(costs), np.random.default_rng(0)
    counts = np.zeros((2, n, n))
    later = np.triu(np.ones((n, n), dtype=bool), 1)
    gaps = costs[None, :] - costs[:, None]
    for t, patient in enumerate(patients, start=1):
        worth = gaps <= numpy_estimates(policy, counts, t, rng)
        unbeaten = ~((worth & later).any(axis=1) | (~worth & later).any(axis=0))
        choice = int(np.argmax(unbeaten)) if unbeaten.any() else n - 1
        seen = contains[choice]
        said = problem.evidence.predictions[patient]
        both = seen[:, None] & seen[None, :]
        counts[0] += both
        counts[1] += both & (said[:, None] != said[None, :])


def compile_c(folder: str) -> ctypes.CDLL:
    library = Path(folder, "engine.so")
    source = Path(__file__).with_name("engine.c")
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library, "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


class CGame(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("kind", "cascade", "n")),
        ("parameter", ctypes.c_double),
        ("key", ctypes.c_uint64),
        *(
            (name, ctypes.c_void_p)
            for name in (
                "costs", "n_log_n", "contains", "predictions", "shown", "said", "counted",
                "compared", "disagreed", "beaten_by", "aside", "first", "second",
            )
        ),
    )  # fmt: skip


def c_choices(library: ctypes.CDLL, game: kernel.Game, patients: NDArray[np.int64]) -> NDArray:
    arrays = game.memory._asdict() | {
        name: getattr(game, name) for name in ("costs", "n_log_n", "contains", "predictions")
    }
    pointers = {name: array.ctypes.data for name, array in arrays.items()}
    c_game = CGame(
        kind=game.kind, cascade=game.cascade, n=len(game.costs), parameter=game.parameter,
        key=int(game.key), **pointers,
    )  # fmt: skip
    choices = np.empty(len(patients), dtype=np.int32)
    library.play(
        ctypes.byref(c_game), patients.ctypes.data_as(ctypes.c_void_p),
        choices.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(patients)),
    )  # fmt: skip
    return choices


def against_c(problem: Problem, policy: Policy, library: ctypes.CDLL) -> float:
    """Return the engine's time over C's, after checking that both choose the same."""
    patients = rows(problem, 100_000)
    choices = np.empty(len(patients), dtype=np.int32)

    def game() -> kernel.Game:
        return engine._game(problem, policy, KEY, len(patients))

    def spent(play: Callable[[kernel.Game], object]) -> float:
        games = [game() for _ in range(7)]
        return best_of_runs(lambda: play(games.pop()), 7)

    ours = spent(lambda g: kernel.play(g, patients, choices, 0))
    theirs = spent(lambda g: c_choices(library, g, patients))
    same = np.array_equal(c_choices(library, game(), patients), choices)
    if not same:
        print("  C and the engine differ!")
    return ours / theirs


def against_others(name: str, problem: Problem) -> None:
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(folder) if shutil.which("gcc") else None
        for policy in LEARNING.values():
            fast = per_patient(problem, policy)
            few = rows(problem, 300)
            slow = best_of_runs(lambda p=policy, f=few: slow_choices(problem, p, f), 2) / 300
            array = best_of_runs(lambda p=policy, f=few: numpy_choices(problem, p, f), 2) / 300
            line = f"{name}, {policy.name:9}: {1e9 * fast:7.0f} ns a patient; {slow / fast:7,.0f}x "
            line += f"the literal listing, {array / fast:6,.0f}x NumPy per round"
            if library is not None:
                line += f"; {against_c(problem, policy, library):.2f}x the time of C"
            print(line)


def subsets_problem(n_tests: int, lam: float = 0.002) -> Problem:
    """Make all subsets of tests whose results add up, so that more tests err less."""
    rng = np.random.default_rng(0)
    prices = rng.uniform(5, 100, n_tests).round(2)
    panels = subsets([Test(str(k), (str(k),), float(p)) for k, p in enumerate(prices)])
    truth = rng.integers(0, 2, 500).astype(np.int8)
    results = rng.normal(size=(500, n_tests)) + (truth[:, None] - 0.5) * rng.uniform(0.2, 1.2)
    predictions = (results @ panels.membership.T > 0).astype(np.uint8)
    return make_problem(panels, Evidence(panels.masks, predictions, truth), lam)


def growth(n_patients: int = 10_000) -> None:
    for n_tests in range(3, 13):
        problem = subsets_problem(n_tests)
        _ = problem.panels.contains
        line = (
            f"subsets of {n_tests:2} tests, {problem.n_panels:5,} panels, {n_patients:,} patients:"
        )
        for policy in LEARNING.values():
            spent = best_of_runs(lambda p=problem, q=policy: simulate(p, q, n_patients), 1)
            each = 1e9 * spent / n_patients / problem.n_panels
            line += f"  {policy.name} {spent:6.3f} s ({each:3.0f} ns a panel)"
        print(line)


def whole_paper() -> None:
    problems = {f"{case.study} {case.number}": paper_problem(case) for case in CASES}
    experiment(problems, LEARNING, 10, 1)
    spent = {
        jobs: best_of_runs(lambda j=jobs: experiment(problems, LEARNING, n_jobs=j), 2)
        for jobs in (1, 2)
    }
    print(
        f"the paper's experiments (10 x 3 policies x 100 x 10,000 patients): {spent[1]:.2f} s on "
        f"one core, {spent[2]:.2f} s on two ({spent[1] / spent[2]:.2f}x)"
    )


def main() -> None:
    began = time.perf_counter()
    engine.warm_up()
    print(
        f"preparing the engine: {time.perf_counter() - began:.2f} s (seconds only the first time)"
    )
    against_others("cascade of 3", paper_problem(CASES[1]))
    against_others("7 subsets   ", subsets_problem(3))
    growth()
    whole_paper()


if __name__ == "__main__":
    main()
