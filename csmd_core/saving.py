"""Saving a run as a small dict of plain values, fit for JSON, and taking it up again."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from csmd_core.faults import BadInput, Fault
from csmd_core.policies import Policy
from csmd_core.problem import Problem
from csmd_core.simulation import Run, start


def save(run: Run) -> dict[str, str | int | float]:
    """Put all of a run that cannot be computed again into a dict."""
    packed = zlib.compress(run.choices.astype("<i4").tobytes())
    return {
        "policy": run.policy.kind,
        "parameter": run.policy.parameter,
        "seed": run.seed,
        "order": run.order,
        "problem": _fingerprint(run.problem, run.policy),
        "choices": base64.b64encode(packed).decode(),
    }


def restore(problem: Problem, saved: Mapping[str, Any]) -> Run:
    """Take up a saved run of the same problem; it goes on as if it had never stopped."""
    try:
        policy = Policy(saved["policy"], saved["parameter"])
        run = start(problem, policy, saved["seed"], saved["order"])
        choices = _unpack(saved["choices"])
        fingerprint = saved["problem"]
    except (KeyError, TypeError, binascii.Error, zlib.error, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise _unreadable() from error
    if fingerprint != _fingerprint(problem, policy):
        raise BadInput(
            Fault(
                "The saved run", "was played with other panels, prices, λ or predictions.",
                "Choose the same ones again, or start a new run.",
            )
        )  # fmt: skip
    if len(choices) and not (choices.min() >= 0 and choices.max() < problem.n_panels):
        raise _unreadable()
    return Run(problem, policy, run.seed, run.order, choices)


def _unpack(text: str) -> NDArray[np.int32]:
    data = zlib.decompress(base64.b64decode(text, validate=True))
    return np.frombuffer(data, dtype="<i4").astype(np.int32)


def _fingerprint(problem: Problem, policy: Policy) -> str:
    """Digest all that choices depend on: labels only where the policy is told them."""
    digest = hashlib.sha256(repr((problem.panels.mode, problem.panels.masks)).encode())
    digest.update(problem.scaled_costs.tobytes())
    digest.update(np.ascontiguousarray(problem.evidence.predictions).tobytes())
    if policy.needs_labels and problem.evidence.truth is not None:
        digest.update(problem.evidence.truth.tobytes())
    return digest.hexdigest()


def _unreadable() -> BadInput:
    return BadInput(Fault("The saved run", "cannot be read.", "Save it again, or start a new run."))
