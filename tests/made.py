"""Plain random problems for the tests of the core: increasing costs, one λ."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from csmd_core.bundled import load_bundled
from csmd_core.panels import Panels, cascade, subsets
from csmd_core.predictions import Fitting, fit_evidence
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.study import Test


@cache
def bundled_case(name: str, mode: str) -> tuple[Panels, Evidence]:
    """A bundled study in its clinic's grouping, fitted once for all tests."""
    study = load_bundled(name)
    panels = (cascade if mode == "cascade" else subsets)(study.tests, study.fees)
    return panels, fit_evidence(study, panels, Fitting(folds=5))


def panels_of(mode: str, prices) -> Panels:
    tests = [Test(f"T{k + 1}", (f"c{k + 1}",), float(p)) for k, p in enumerate(prices)]
    return (cascade if mode == "cascade" else subsets)(tests)


def at_prices(panels: Panels, prices) -> Panels:
    tests = [replace(t, price=float(p)) for t, p in zip(panels.tests, prices, strict=True)]
    return panels.repriced(tests, panels.fees)


def random_evidence(panels: Panels, n_patients: int, rng: np.random.Generator) -> Evidence:
    """Panels with more tests err less on average; errors are independent."""
    truth = (rng.random(n_patients) < 0.4).astype(np.int8)
    error = rng.uniform(0.02, 0.5, len(panels)) / panels.membership.sum(axis=1)
    wrong = rng.random((n_patients, len(panels))) < error
    return Evidence(panels.masks, (truth[:, None] ^ wrong).astype(np.uint8), truth)


def random_problem(
    rng: np.random.Generator, mode: str = "cascade", n_tests: int = 3, n_patients: int = 200
) -> Problem:
    panels = panels_of(mode, rng.integers(1, 50, n_tests))
    return make_problem(panels, random_evidence(panels, n_patients, rng), rng.uniform(1e-4, 2e-2))
