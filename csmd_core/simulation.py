"""A simulation: one policy chooses panels for patients of a study, and is scored.

A run is its choices so far; everything else follows from them, the problem and the seed. So a run
can be saved as a small dict, restored, and goes on exactly as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, get_args
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from csmd_core.comparators import comparator_choices
from csmd_core.engine import choose_panels
from csmd_core.faults import BadInput, Fault
from csmd_core.kernel import whole_numbers
from csmd_core.policies import Policy
from csmd_core.problem import Problem

Order = Literal["replacement", "study", "shuffled"]
MAX_CELLS = 8_000_000_000  # patients × panels: 2 GB of what was shown


@dataclass(frozen=True)
class Run:
    """A policy's choices for the patients played so far, and how they turned out.

    What needs labels is None without them; per patient it is NaN where the truth is unknown.
    """

    problem: Problem
    policy: Policy
    seed: int
    order: Order
    choices: NDArray[np.int32]

    @property
    def n_patients(self) -> int:
        return len(self.choices)

    @cached_property
    def patients(self) -> NDArray[np.int64]:
        """The row of the study each patient came from."""
        return patient_rows(self.problem, self.seed, self.order, self.n_patients)

    @property
    def key(self) -> int:
        """Where the policy's own random numbers come from."""
        return _key(self.seed, 1, crc32(self.policy.kind.encode()))

    @cached_property
    def regret(self) -> NDArray[np.float64] | None:
        """Σ loss(choice) − loss(best panel), after each patient."""
        if self.problem.best is None:
            return None
        losses = self.problem.losses
        return np.cumsum((losses - losses[self.problem.best])[self.choices])

    @cached_property
    def money(self) -> NDArray[np.float64]:
        """Money spent, after each patient."""
        return np.cumsum(self.problem.panels.costs[self.choices])

    @property
    def money_saved(self) -> float:
        """Against giving every patient the last panel, which holds most tests."""
        full = self.problem.panels.costs[-1] * self.n_patients
        return round(float(full - self.problem.panels.costs[self.choices].sum()), 5)

    @cached_property
    def wrong(self) -> NDArray[np.float64] | None:
        """Whether each patient was misdiagnosed."""
        evidence = self.problem.evidence
        if evidence.truth is None or not evidence.has_truth:
            return None
        truth = evidence.truth[self.patients]
        wrong = evidence.predictions[self.patients, self.choices] != truth
        return np.where(truth >= 0, wrong, np.nan)

    @property
    def misdiagnoses(self) -> int | None:
        return None if self.wrong is None else int(np.nansum(self.wrong))

    @property
    def realised_loss(self) -> NDArray[np.float64] | None:
        """λ·cost + 1 if misdiagnosed, for each patient."""
        return None if self.wrong is None else self.problem.scaled_costs[self.choices] + self.wrong

    @property
    def share_of_best(self) -> float | None:
        best = self.problem.best
        return None if best is None else float(np.mean(self.choices == best))


def start(problem: Problem, policy: Policy, seed: int = 0, order: Order = "replacement") -> Run:
    """Make a run in which nobody has been seen yet."""
    if faults := list(_faults(problem, seed, order)):
        raise BadInput(faults)
    return Run(problem, policy, int(seed), order, np.empty(0, dtype=np.int32))


def play(run: Run, n_patients: int) -> Run:
    """Go on with so many more patients."""
    end = run.n_patients + n_patients
    if n_patients < 0 or end * run.problem.n_panels > MAX_CELLS:
        raise BadInput(
            Fault(
                "The number of patients", f"cannot be {n_patients:,}.",
                f"Use 1 to {MAX_CELLS // run.problem.n_panels:,}.",
            )
        )  # fmt: skip
    patients = patient_rows(run.problem, run.seed, run.order, end)
    if run.policy.learns:
        choices = choose_panels(run.problem, run.policy, run.key, patients, run.choices)
    else:
        choices = comparator_choices(run.problem, run.policy, run.key, patients)
    longer = replace(run, choices=choices)
    longer.__dict__["patients"] = patients  # computed already
    return longer


def simulate(
    problem: Problem,
    policy: Policy,
    n_patients: int,
    seed: int = 0,
    order: Order = "replacement",
) -> Run:
    """Let a policy choose for patients drawn from the study with replacement, in the study's own
    order, or shuffled once; the last two go round again when the study ends."""
    return play(start(problem, policy, seed, order), n_patients)


def run_table(run: Run) -> pd.DataFrame:
    """One row a patient: which row of the study, which panel, what it cost, how it turned out."""
    names, costs = np.array(run.problem.panels.names), run.problem.panels.costs
    table = pd.DataFrame(
        {
            "patient": np.arange(1, run.n_patients + 1),
            "study_row": run.patients + 1,
            "panel": names[run.choices],
            "cost": costs[run.choices],
        }
    )
    if run.wrong is not None:
        table["misdiagnosed"] = run.wrong
        table["realised_loss"] = run.realised_loss
        table["regret"] = run.regret
    return table


def patient_rows(problem: Problem, seed: int, order: Order, n: int) -> NDArray[np.int64]:
    """Return the study's row of each of the first n patients."""
    n_rows = problem.evidence.n_patients
    if order == "replacement":
        return whole_numbers(np.uint64(_key(seed, 0)), n, n_rows)
    rows = np.arange(n_rows)
    if order == "shuffled":
        rows = np.random.default_rng(_key(seed, 0)).permutation(n_rows)
    return np.resize(rows, n).astype(np.int64)


@lru_cache(maxsize=1024)
def _key(seed: int, *purpose: int) -> int:
    return int(np.random.SeedSequence(seed, spawn_key=purpose).generate_state(1, np.uint64)[0])


def _faults(problem: Problem, seed: int, order: str) -> Iterator[Fault]:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        yield Fault("The seed", f"cannot be {seed!r}.", "Use a whole number of 0 or more.")
    if order not in get_args(Order):
        yield Fault("The order", f"cannot be '{order}'.", f"Use {', '.join(get_args(Order))}.")
    if problem.evidence.n_patients == 0:
        yield Fault("The study", "has no patients.", "Add at least one.")
