"""The paper's own instances (Table I): as printed, and as measured on the same data.

Its setting: columns read as coded numbers, plain logistic regression with C = 1 run to
convergence, fees not shared; heart in-sample on its 297 complete rows, diabetes out of ten folds
with its zeros kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from csmd_core.bundled import load_bundled
from csmd_core.dominance import bootstrap_margin, judge
from csmd_core.panels import Mode, Panels, cascade, subsets
from csmd_core.predictions import Fitting, fit_evidence
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.study import Study


@dataclass(frozen=True)
class Printed:
    """What Table I prints of one study."""

    costs: tuple[float, float, float]
    error_rates: tuple[float, float, float]
    folds: int


@dataclass(frozen=True)
class Case:
    """One instance of Table I: λ for each panel; panels counted from 1, as printed."""

    study: str
    number: int
    lam: tuple[float, float, float]
    best: int
    holds: bool


PRINTED = {
    "diabetes": Printed((4, 29, 46), (0.3125, 0.2331, 0.2279), folds=10),
    "heart": Printed((32, 397, 601), (0.29292, 0.20202, 0.14815), folds=0),
}
CASES = (
    Case("diabetes", 1, (0.01, 0.0106, 0.015), 1, True),
    Case("diabetes", 2, (0.01, 0.004, 0.0038), 2, True),
    Case("diabetes", 3, (0.01, 0.0113, 0.015), 1, True),
    Case("diabetes", 4, (0.0001, 0.0001, 0.0001), 3, True),
    Case("diabetes", 5, (0.01, 0.002, 0.0055), 2, False),
    Case("heart", 1, (0.0001, 0.0008, 0.001), 1, True),
    Case("heart", 2, (0.0001, 0.0001, 0.00035), 2, True),
    Case("heart", 3, (0.0001, 0.0009, 0.001), 1, True),
    Case("heart", 4, (0.00001, 0.00004, 0.0001), 3, True),
    Case("heart", 5, (0.0042, 0.0001, 0.00027), 2, False),
)


def paper_study(name: str) -> Study:
    """Load a study as the paper uses it."""
    study = load_bundled(name, grouping="paper", zero_missing=False)
    return study.complete_rows() if name == "heart" else study


@dataclass(frozen=True)
class Pricing:
    """What the paper's tiers cost: the price table without shared fees, as in the paper, or with
    them, or the costs that Table I prints."""

    shared_fees: bool = False
    printed_costs: bool = False


PAPER_PRICING, PRINTED_PRICING = Pricing(), Pricing(printed_costs=True)


def paper_panels(name: str, pricing: Pricing = PAPER_PRICING, mode: Mode = "cascade") -> Panels:
    """Make the paper's three tiers, or their seven subsets."""
    study = paper_study(name)
    make = cascade if mode == "cascade" else subsets
    if not pricing.printed_costs:
        return make(study.tests, study.fees, shared_fees=pricing.shared_fees)
    prices = np.diff(PRINTED[name].costs, prepend=0.0)
    return make(
        [replace(t, price=float(p), fees=()) for t, p in zip(study.tests, prices, strict=True)]
    )


@lru_cache(maxsize=8)
def paper_evidence(name: str, mode: Mode = "cascade", seed: int = 0) -> Evidence:
    """Fit the paper's classifier to its three tiers, or to their seven subsets."""
    fitting = Fitting("as in the paper", folds=PRINTED[name].folds, seed=seed)
    return fit_evidence(paper_study(name), paper_panels(name, mode=mode), fitting)


def paper_problem(case: Case, pricing: Pricing = PAPER_PRICING) -> Problem:
    """Put one case of Table I to the measured predictions."""
    panels = paper_panels(case.study, pricing)
    return make_problem(panels, paper_evidence(case.study), np.array(case.lam))


def table_one(
    *, n_resamples: int = 2000, seed: int = 0, pricing: Pricing = PAPER_PRICING
) -> pd.DataFrame:
    """Decide all ten instances: one row each, measured beside printed.

    Table I's diabetes costs (4, 29, 46) are not those of its text or of the price table (6, 23.61,
    46.39), so each case is decided at both.
    """
    return pd.DataFrame([_row(case, n_resamples, seed, pricing) for case in CASES])


def _row(case: Case, n_resamples: int, seed: int, pricing: Pricing) -> dict[str, object]:
    problem, printed = paper_problem(case, pricing), PRINTED[case.study]
    at_printed = paper_problem(case, PRINTED_PRICING)
    verdict, verdict_at_printed = judge(problem), judge(at_printed)
    interval = bootstrap_margin(problem, n_resamples=n_resamples, seed=seed)
    assert problem.best is not None
    assert at_printed.best is not None
    return {
        "study": case.study,
        "case": case.number,
        "lam": case.lam,
        "cost_printed": printed.costs,
        "cost": tuple(problem.panels.costs.tolist()),
        "error_rate_printed": printed.error_rates,
        "error_rate": tuple(problem.evidence.error_rates.tolist()),
        "best_printed": case.best,
        "best": problem.best + 1,
        "holds_printed": case.holds,
        "holds": verdict.holds,
        "vacuous": verdict.vacuous,
        "margin": verdict.margin,
        "margin_low": interval.low,
        "margin_high": interval.high,
        "probability_holds": interval.probability_holds,
        "best_at_printed_costs": at_printed.best + 1,
        "holds_at_printed_costs": verdict_at_printed.holds,
        "margin_at_printed_costs": verdict_at_printed.margin,
    }
