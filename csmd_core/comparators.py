"""Policies to compare with: they learn nothing, or from labels that nobody has in practice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from csmd_core.faults import BadInput, Fault
from csmd_core.kernel import compiled, whole_numbers
from csmd_core.policies import Policy
from csmd_core.problem import TIE, Problem


def comparator_choices(
    problem: Problem, policy: Policy, key: int, patients: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Choose a panel for each patient (a row of the evidence) in turn."""
    last = problem.n_panels - 1
    if policy.kind == "random":
        drawn = whole_numbers(np.uint64(key), len(patients), last + 1)
        return drawn.astype(np.int32)
    if policy.kind == "follow":
        truth = _truth(problem, policy)
        choices = np.empty(len(patients), dtype=np.int32)
        said = np.ascontiguousarray(problem.evidence.predictions)
        _follow_labels(problem.scaled_costs, said, truth, patients, choices)
        return choices
    if policy.kind == "best":
        _truth(problem, policy)
    always = {"full": last, "cheapest": int(np.argmin(problem.panels.costs)), "best": problem.best}
    return np.full(len(patients), always[policy.kind], dtype=np.int32)


def _truth(problem: Problem, policy: Policy) -> NDArray[np.int8]:
    if problem.evidence.truth is None or not problem.evidence.has_truth:
        raise BadInput(
            Fault(
                f"The policy {policy.name}", "needs labels, and this study has none.",
                "Choose a policy that learns without labels, such as Thompson.",
            )
        )  # fmt: skip
    return problem.evidence.truth


@compiled
def _follow_labels(
    costs: NDArray[np.float64],
    predictions: NDArray[np.uint8],
    truth: NDArray[np.int8],
    patients: NDArray[np.int64],
    choices: NDArray[np.int32],
) -> None:
    """Choose the least λC + share of errors so far, on a tie the last; at first the last panel.
    The truth of every patient is told afterwards, where it is known."""
    n_panels, n_labelled = len(costs), 0
    errors = np.zeros(n_panels, dtype=np.int64)
    for k in range(len(patients)):
        choice = n_panels - 1
        if n_labelled > 0:
            least = np.inf
            for panel in range(n_panels):
                least = min(least, costs[panel] + errors[panel] / n_labelled)
            while costs[choice] + errors[choice] / n_labelled > least + TIE:
                choice -= 1
        choices[k] = choice
        label = truth[patients[k]]
        if label >= 0:
            n_labelled += 1
            for panel in range(n_panels):
                errors[panel] += predictions[patients[k], panel] != label
