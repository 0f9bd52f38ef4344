"""The paper's experiments again: figure 2 (cascades), policies compared, figure 3 (subsets).

Settings as in the paper: 10,000 patients drawn with replacement, 100 repeats, fees not shared.
The paper does not print the λ of its subsets: `subset_lams` chooses two for each study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from csmd_core.experiment import Experiment, Progress, experiment
from csmd_core.panels import Panels
from csmd_core.paper import (
    CASES,
    PRINTED,
    Pricing,
    paper_evidence,
    paper_panels,
    paper_problem,
    table_one,
)
from csmd_core.policies import LEARNING, POLICIES, Policy
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.windows import Window, dominance_windows

HOLDS, FAILS = "weak dominance holds", "weak dominance fails"


@dataclass(frozen=True)
class Settings:
    """How the paper's experiments are repeated; the defaults are the paper's own."""

    n_patients: int = 10_000
    n_repeats: int = 100
    seed: int = 0
    pricing: Pricing = field(default_factory=Pricing)
    n_resamples: int = 2000  # of the margin's interval in Table I
    n_jobs: int = -1


@dataclass(frozen=True)
class Part:
    """One figure: its problems by name, and the policies played on each."""

    title: str
    problems: Mapping[str, Problem]
    policies: Mapping[str, Policy]

    def n_runs(self, settings: Settings) -> int:
        return len(self.problems) * len(self.policies) * settings.n_repeats


@dataclass(frozen=True)
class Reproduction:
    """What came out, by part ("cascades", "policies", "subsets"); stopped early, some are missing
    or hold fewer repeats."""

    settings: Settings
    parts: Mapping[str, Part]
    results: Mapping[str, Experiment]

    @property
    def n_total(self) -> int:
        return sum(part.n_runs(self.settings) for part in self.parts.values())

    @property
    def n_done(self) -> int:
        return sum(result.n_done for result in self.results.values())

    @property
    def stopped(self) -> bool:
        return self.n_done < self.n_total


def paper_parts(settings: Settings | None = None) -> dict[str, Part]:
    """Set up the problems of each figure: fits the panels once, then instant."""
    settings = settings or Settings()
    cases = {
        f"{case.study.capitalize()}, case {case.number}": paper_problem(case, settings.pricing)
        for case in CASES
    }
    first = {name: problem for name, problem in cases.items() if name.endswith("case 1")}
    return {
        "cascades": Part("Figure 2: cascades", cases, LEARNING),
        "policies": Part("Figure 2: policies compared on case 1", first, POLICIES),
        "subsets": Part("Figure 3: subsets", _subset_problems(settings.pricing), LEARNING),
    }


def paper_experiments(
    settings: Settings | None = None, progress: Progress | None = None
) -> Reproduction:
    """Play all of the paper's experiments; ``progress(done, total)`` counts runs over all parts
    and stops them by returning False: what is done is kept."""
    settings = settings or Settings()
    parts = paper_parts(settings)
    total = sum(part.n_runs(settings) for part in parts.values())
    results: dict[str, Experiment] = {}
    for name, part in parts.items():
        before = sum(result.n_done for result in results.values())
        results[name] = experiment(
            part.problems, part.policies, settings.n_patients, settings.n_repeats, settings.seed,
            n_jobs=settings.n_jobs, progress=_counting_on(progress, before, total),
        )  # fmt: skip
        if results[name].stopped:
            break
    return Reproduction(settings, parts, results)


def paper_table(settings: Settings | None = None) -> pd.DataFrame:
    """Decide Table I at the settings' prices."""
    settings = settings or Settings()
    return table_one(n_resamples=settings.n_resamples, seed=settings.seed, pricing=settings.pricing)


def subset_lams(panels: Panels, evidence: Evidence) -> dict[str, float]:
    """Choose a λ at which weak dominance holds and one at which it fails, by a fixed rule.

    Holds: a quarter above the λ from which it holds for good, so that the margin is small and
    there is something to learn. Fails: the middle, by ratio, of the widest window in which it
    fails. Both to three figures; what no λ offers is left out.
    """
    windows = dominance_windows(panels, evidence)
    holding = [w for w in windows if w.holds and not w.vacuous]
    failing = [w for w in windows if not w.holds]
    lams = {}
    if holding:
        lams[HOLDS] = _three_figures(min(1.25 * holding[-1].low, _middle(holding[-1])))
    if failing:
        lams[FAILS] = _three_figures(_middle(max(failing, key=lambda w: w.high / max(w.low, 1e-9))))
    return lams


def _subset_problems(pricing: Pricing) -> dict[str, Problem]:
    problems = {}
    for study in PRINTED:
        panels = paper_panels(study, pricing, "subsets")
        evidence = paper_evidence(study, "subsets")
        for verdict, lam in subset_lams(panels, evidence).items():
            name = f"{study.capitalize()}, λ = {lam:g} ({verdict})"
            problems[name] = make_problem(panels, evidence, lam)
    return problems


def _counting_on(progress: Progress | None, before: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


def _middle(window: Window) -> float:
    if window.high == np.inf:
        return float("inf")
    return float(np.sqrt((window.low or window.high / 9) * window.high))


def _three_figures(lam: float) -> float:
    return float(f"{lam:.3g}")
