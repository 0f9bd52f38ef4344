"""Made-up problems for the tests: random predictions with awkward costs and λ."""

from __future__ import annotations

import numpy as np

from csmd_core.panels import Panels, cascade, subsets
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.study import Test


def make_evidence(panels: Panels, n_patients: int, rng: np.random.Generator) -> Evidence:
    """Let every panel err at its own rate; a larger panel mostly errs less."""
    truth = (rng.random(n_patients) < rng.uniform(0.2, 0.8)).astype(np.int8)
    sizes = panels.membership.sum(axis=1)
    rates = np.clip(0.5 - 0.4 * sizes / sizes.max() * rng.random(len(panels)), 0.01, 0.5)
    wrong = rng.random((n_patients, len(panels))) < rates
    return Evidence(panels.masks, (truth[:, None] ^ wrong).astype(np.uint8), truth)


def some_tests(prices: list[float]) -> list[Test]:
    return [Test(chr(65 + k), (f"column {k}",), float(p)) for k, p in enumerate(prices)]


def random_problem(seed: int, mode: str | None = None, n_tests: int | None = None) -> Problem:
    """Make a problem with, at random, ties, free tests, gaps above 1, decreasing scaled costs,
    λ per panel, and subsets chosen so that no panel holds all others."""
    rng = np.random.default_rng(seed)
    n_tests = n_tests or int(rng.choice([2, 3, 3, 4]))
    prices = rng.choice([
        rng.integers(0, 4, n_tests), rng.uniform(0, 1, n_tests), rng.integers(1, 3, n_tests) * 0.1,
        np.full(n_tests, 0.5),
    ])  # fmt: skip
    tests = some_tests(list(prices))
    panels = cascade(tests) if (mode or rng.choice(["cascade", "subsets"])) == "cascade" else None
    if panels is None:
        panels = subsets(tests)
        if rng.random() < 0.5 and len(panels) > 2:
            kept = rng.choice(len(panels), size=int(rng.integers(2, len(panels))), replace=False)
            chosen = [[t.name for t in panels.tests_of(int(i))] for i in kept]
            panels = subsets(tests, chosen=chosen)
    lam = float(rng.choice([0.05, 0.1, 0.25, 0.5, 1.0]))
    lams = lam * rng.choice([0.5, 1.0, 2.0], len(panels)) if rng.random() < 0.4 else lam
    return make_problem(panels, make_evidence(panels, int(rng.integers(5, 200)), rng), lams)


def cascade_problem(error_rates: list[float], prices: list[float], lam: float) -> Problem:
    """Make a cascade whose later panels repair errors of the earlier ones and add none."""
    panels = cascade(some_tests(prices))
    n = 1000
    truth = (np.arange(n) % 2).astype(np.int8)
    order = np.random.default_rng(7).permutation(n)
    predictions = np.tile(truth[:, None], (1, len(panels))).astype(np.uint8)
    for panel, rate in enumerate(error_rates):
        wrong = order[: round(rate * n)]
        predictions[wrong, panel] ^= 1
    return make_problem(panels, Evidence(panels.masks, predictions, truth), lam)
