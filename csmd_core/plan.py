"""A plan of an experiment: read from what a user typed, checked, and sized before it runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import cpu_count

from csmd_core.dominance import judge
from csmd_core.engine import warm_up
from csmd_core.experiment import Experiment, Progress, experiment
from csmd_core.faults import BadInput, Fault
from csmd_core.panels import Panels
from csmd_core.policies import DEFAULTS, Kind, Policy
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.scoring import MAX_POINTS, MEASURES
from csmd_core.simulation import Order, simulate
from csmd_core.windows import Window

MOST_BYTES = 2 << 30
MOST_SECONDS = 12 * 3600
OWN_LAM = "λ of each panel"
_PROBE = 0.02  # seconds a policy is tried for
_SCORING = 3e-9  # seconds to score one patient


@dataclass(frozen=True)
class Plan:
    """Policies × problems (by name, one for each λ) × repeats."""

    problems: Mapping[str, Problem]
    policies: Mapping[str, Policy]
    n_patients: int = 10_000
    n_repeats: int = 100
    seed: int = 0
    order: Order = "replacement"

    @property
    def n_runs(self) -> int:
        return len(self.problems) * len(self.policies) * self.n_repeats

    @property
    def n_panels(self) -> int:
        return max(problem.n_panels for problem in self.problems.values())


def read_policies(
    kinds: Iterable[Kind], numbers: Mapping[Kind, Iterable[str]]
) -> dict[str, Policy]:
    """Make the policies by name: one for each number typed for its kind (a of kl-UCB, α of UCB1).

    >>> list(read_policies(["thompson", "ucb1"], {"ucb1": ["0.51", "2"]}))
    ['Thompson', 'UCB1', 'UCB1 (α = 2)']
    """
    made: list[Policy] = []
    faults: list[Fault] = []
    for kind in kinds:
        typed = numbers.get(kind, ()) if kind in DEFAULTS else ["0"]
        for text in typed or [str(DEFAULTS[kind])]:
            try:
                made.append(Policy(kind, _number(text, "The number of a policy")))
            except BadInput as bad:
                faults.extend(bad.faults)
    if faults:
        raise BadInput(faults)
    return {policy.name: policy for policy in made}


def problems_at(
    panels: Panels, evidence: Evidence, lams: Iterable[str], own: Sequence[float] = ()
) -> dict[str, Problem]:
    """Put each λ typed to the evidence; `OWN_LAM` stands for ``own``, one λ for each panel."""
    named: dict[str, float | Sequence[float]] = {}
    for text in lams:
        if text == OWN_LAM:
            named[text] = own
        else:
            lam = _number(text, "λ")
            named[f"λ = {lam:g}"] = lam
    return {name: make_problem(panels, evidence, lam) for name, lam in named.items()}


def telling_lams(windows: list[Window], most: int = 6) -> list[float]:
    """Pick a λ in the middle, by ratio, of each of the widest windows, from small to large."""
    ends = [w.high for w in windows if w.high < np.inf] or [1.0]
    spans = [(w.low or ends[0] / 9, min(w.high, ends[-1] * 9)) for w in windows]
    widest = sorted(spans, key=lambda span: span[0] / span[1])[:most]
    return sorted(float(f"{np.sqrt(low * high):.3g}") for low, high in widest)


def check(plan: Plan, *, n_workers: int | None = None) -> None:
    """Refuse a plan that is empty, needs labels that are not there, or is too large."""
    if faults := list(_faults(plan, n_workers or cpu_count())):
        raise BadInput(faults)


def bytes_needed(plan: Plan, n_workers: int) -> int:
    """Estimate the memory: what each worker plays with, and the scores of all runs, held twice."""
    n, n_panels = plan.n_patients, plan.n_panels
    one = n * (8 + 4 + 32) + n * n_panels // 4 + 28 * n_panels**2
    scores = plan.n_runs * min(n, MAX_POINTS) * len(MEASURES) * 8
    return one * min(n_workers, plan.n_runs) + 2 * scores


def measure_pace(plan: Plan) -> dict[str, float]:
    """Try each policy for a moment here: seconds a patient takes on one core."""
    warm_up()
    problem = next(iter(plan.problems.values()))
    n = min(plan.n_patients, 10_000)
    return {name: _pace(problem, policy, n, plan.order) for name, policy in plan.policies.items()}


def seconds_needed(plan: Plan, pace: Mapping[str, float], n_workers: int | None = None) -> float:
    """Estimate how long the plan takes on so many cores."""
    one_repeat = sum(pace[name] + _SCORING for name in plan.policies) * plan.n_patients
    return one_repeat * len(plan.problems) * plan.n_repeats / (n_workers or cpu_count())


def check_time(seconds: float) -> None:
    """Refuse what would keep this machine busy for half a day."""
    if seconds > MOST_SECONDS:
        raise BadInput(
            Fault(
                "This experiment", f"would take about {seconds / 3600:,.0f} hours on this machine.",
                "Use fewer patients or repeats, or a cluster.",
            )
        )  # fmt: skip


def run_plan(plan: Plan, progress: Progress | None = None) -> Experiment:
    """Play the plan on all cores, or where `joblib.parallel_config` says."""
    return experiment(
        plan.problems, plan.policies, plan.n_patients, plan.n_repeats, plan.seed,
        order=plan.order, progress=progress,
    )  # fmt: skip


def problem_rows(problems: Mapping[str, Problem]) -> list[dict[str, str | bool | float | None]]:
    """Say of each problem which panel is best and whether weak dominance holds, by how much."""
    rows: list[dict[str, str | bool | float | None]] = []
    for name, problem in problems.items():
        verdict, best = judge(problem), problem.best
        rows.append(
            {
                "problem": name,
                "best": None if best is None else problem.panels.names[best],
                "holds": None if best is None else verdict.holds,
                "vacuous": verdict.vacuous,
                "margin": None if best is None else verdict.margin,
            }
        )
    return rows


def _faults(plan: Plan, n_workers: int) -> Iterator[Fault]:
    if not plan.policies:
        yield Fault("The experiment", "has no policy.", "Choose at least one.")
    if not plan.problems:
        yield Fault("The experiment", "has no λ.", "Choose at least one.")
    for what, number, usual in (
        ("The number of patients", plan.n_patients, "10,000"),
        ("The number of repeats", plan.n_repeats, "100"),
    ):
        if number < 1:
            yield Fault(what, f"is {number:,}; it must be 1 or more.", f"Try {usual}.")
    if plan.seed < 0:
        yield Fault("The seed", f"is {plan.seed}; it must be 0 or more.", "Try 0.")
    if not plan.policies or not plan.problems or min(plan.n_patients, plan.n_repeats) < 1:
        return
    yield from _label_faults(plan)
    needed = bytes_needed(plan, n_workers)
    if needed > MOST_BYTES:
        yield Fault(
            "This experiment", f"would need {_gigabytes(needed)} of memory, more than the "
            f"{_gigabytes(MOST_BYTES)} it may have.", "Use fewer patients, repeats or panels.",
        )  # fmt: skip


def _label_faults(plan: Plan) -> Iterator[Fault]:
    labelled = all(problem.evidence.has_truth for problem in plan.problems.values())
    for name, policy in plan.policies.items():
        if policy.needs_labels and not labelled:
            yield Fault(
                f"The policy {name}", "needs labels, and this study has none.",
                "Choose a policy that learns without labels, such as Thompson.",
            )  # fmt: skip


def _pace(problem: Problem, policy: Policy, n: int, order: Order) -> float:
    """Play until the probe's time is up; the first play, which may compile, does not count."""
    simulate(problem, policy, 10, order=order)
    n = max(1, min(n, round(_PROBE * 10 / max(_timed(problem, policy, 10, order), 1e-6))))
    return _timed(problem, policy, n, order) / n


def _timed(problem: Problem, policy: Policy, n: int, order: Order) -> float:
    began = time.perf_counter()
    simulate(problem, policy, n, order=order)
    return time.perf_counter() - began


def _number(text: str, what: str) -> float:
    """Read a number as it is typed, with a point or a comma."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        raise BadInput(
            Fault(what, f"cannot be '{text}'.", "Type a number such as 0.001.")
        ) from None


def _gigabytes(n: int) -> str:
    return f"{n / 2**30:,.1f} GB"
