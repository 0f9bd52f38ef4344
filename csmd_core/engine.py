"""The engine: hands a problem, a policy and patients to the compiled kernel.

The truth never comes in here: a policy gets costs and predictions, and of these only what the
panels it chose have shown.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from csmd_core import kernel
from csmd_core.policies import Policy
from csmd_core.problem import Problem

_CODES = {"thompson": kernel.THOMPSON, "kl-ucb": kernel.KL_UCB, "ucb1": kernel.UCB1}


def choose_panels(
    problem: Problem,
    policy: Policy,
    key: int,
    patients: NDArray[np.int64],
    so_far: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Choose a panel for each patient (a row of the evidence) in turn, after those ``so_far``."""
    choices = np.empty(len(patients), dtype=np.int32)
    choices[: len(so_far)] = so_far
    game = _game(problem, policy, key, len(patients))
    kernel.play(game, patients, choices, len(so_far))
    return choices


def scaled_costs(problem: Problem) -> NDArray[np.float64]:
    """Return λC rounded to 1e-12, so that equal costs are equal."""
    return np.round(problem.scaled_costs, 12)


def threshold(policy: Policy, t: int) -> float:
    """Return what bounds N·d for kl-UCB and N·(gap − p̂)² for UCB1 at patient t."""
    return kernel.threshold(_CODES[policy.kind], policy.parameter, t)


def draw(key: int, t: int, i: int, j: int, n_panels: int) -> float:
    """Return the uniform number behind Thompson's draw for patient t and panels i < j."""
    return kernel.uniform(np.uint64(key), np.uint64((t * n_panels + i) * n_panels + j))


def warm_up() -> None:
    """Compile what is not compiled yet: some seconds after installing, then nothing.

    Call it early (at an app's start, before starting workers) and say "Preparing the engine".
    """
    game = kernel.Game(
        kernel.UCB1, 1.0, True, np.zeros(1), np.ones((1, 1), dtype=bool),
        np.zeros((1, 1), dtype=np.uint8), np.zeros(2), np.uint64(1), _memory(1, 1),
    )  # fmt: skip
    one = np.zeros(1, dtype=np.int64)
    kernel.play(game, one, one.astype(np.int32), 0)


def _game(problem: Problem, policy: Policy, key: int, n_patients: int) -> kernel.Game:
    return kernel.Game(
        kind=_CODES[policy.kind],
        parameter=float(policy.parameter),
        cascade=problem.panels.mode == "cascade",
        costs=scaled_costs(problem),
        contains=np.ascontiguousarray(problem.panels.contains),
        predictions=np.ascontiguousarray(problem.evidence.predictions),
        n_log_n=_n_log_n(1 << n_patients.bit_length()),
        key=np.uint64(key),
        memory=_memory(problem.n_panels, n_patients),
    )


def _memory(n_panels: int, n_patients: int) -> kernel.Memory:
    bits = (n_patients // 64 + 1, n_panels)
    pairs = (n_panels, n_panels)
    return kernel.Memory(
        shown=np.zeros(bits, dtype=np.uint64),
        said=np.zeros(bits, dtype=np.uint64),
        counted=np.zeros(pairs, dtype=np.int32),
        compared=np.zeros(pairs, dtype=np.int32),
        disagreed=np.zeros(pairs, dtype=np.int32),
        first=np.zeros(pairs),
        second=np.zeros(pairs),
        beaten_by=np.zeros(n_panels, dtype=np.int32),
        aside=np.zeros(n_panels, dtype=np.int32),
    )


@lru_cache(maxsize=32)
def _n_log_n(size: int) -> NDArray[np.float64]:
    n = np.arange(size, dtype=float)
    return np.asarray(n * np.log(np.maximum(n, 1)))
