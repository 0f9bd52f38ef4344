"""From what was typed to a problem: study, panels, predictions, λ."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from csmd_core.bundled import load_bundled
from csmd_core.checks import require_usable
from csmd_core.faults import BadInput, Fault
from csmd_core.intake import Choices, as_results, study_from_tables
from csmd_core.panels import Panels, cascade, subsets
from csmd_core.policies import DEFAULTS, Kind, Policy
from csmd_core.predictions import RULES, Fitting, Progress, brought_evidence, fit_scores
from csmd_core.problem import Evidence, Problem, make_problem
from csmd_core.readers import read_price_table, read_table
from csmd_core.study import Study
from csmd_core.windows import dominance_windows, suggested_lam


@dataclass(frozen=True)
class Opened:
    """What the options name; problems by the name of their λ."""

    study: Study
    panels: Panels
    evidence: Evidence
    problems: dict[str, Problem]


def open_study(args: Namespace, progress: Progress | None = None) -> Opened:
    """Read or load, check, make panels, predict."""
    study = _chosen_tests(_study(args), args.tests)
    panels = _panels(study, args)
    evidence = _evidence(study, panels, args, progress)
    lams = [_numbers(text) for text in args.lam] or [_default_lam(panels, evidence)]
    problems = {
        "λ = " + ", ".join(f"{x:g}" for x in lam): make_problem(panels, evidence, np.array(lam))
        for lam in lams
    }
    return Opened(study, panels, evidence, problems)


def policy_named(text: str) -> Policy:
    """Read "kl-ucb" or "kl-ucb:3"."""
    kind, _, number = text.partition(":")
    if kind not in get_args(Kind):
        raise _bad(
            f"The policy '{kind}'", "does not exist.", f"Choose of: {', '.join(get_args(Kind))}."
        )
    if not number:
        return Policy(kind, DEFAULTS.get(kind, 0.0))  # type: ignore[arg-type, call-overload]
    return Policy(kind, _numbers(number)[0])  # type: ignore[arg-type]


def _study(args: Namespace) -> Study:
    if bool(args.study) == bool(args.patients):
        raise _bad(
            "The study", "is not named, or named twice.",
            "Name a bundled study such as heart, or give --patients and --prices.",
        )  # fmt: skip
    if args.study:
        study = load_bundled(args.study, args.grouping)
        require_usable(study, args.folds or None, args.mode)
        return study
    tables = read_table(args.patients)
    prices = read_price_table(args.prices) if args.prices else tables.prices
    choices = Choices(
        label=args.label,
        positive=tuple(args.positive),
        folds=None if args.results else args.folds,
        mode=args.mode,
    )
    return study_from_tables(tables.patients, prices, choices)


def _chosen_tests(study: Study, names: list[str] | None) -> Study:
    if not names:
        return study
    known = {test.name: test for test in study.tests}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise _bad(
            f"The test '{unknown[0]}'", "does not exist.", f"The tests are: {', '.join(known)}."
        )
    return replace(study, tests=tuple(known[name] for name in dict.fromkeys(names)))


def _panels(study: Study, args: Namespace) -> Panels:
    shared = not args.separate_fees
    if args.mode == "cascade":
        return cascade(study.tests, study.fees, shared_fees=shared)
    if args.at_most is not None and args.at_most < 1:
        raise _bad("--at-most", f"cannot be {args.at_most}.", "Use 1 or more.")
    return subsets(study.tests, study.fees, shared_fees=shared, at_most=args.at_most)


def _evidence(study: Study, panels: Panels, args: Namespace, progress: Progress | None) -> Evidence:
    if args.results:
        if args.results not in RULES:
            raise _bad("The rule", f"cannot be '{args.results}'.", f"Use {', '.join(RULES)}.")
        several = [test.name for test in study.tests if len(test.columns) != 1]
        if several:
            raise _bad(
                f"Test '{several[0]}'", "has several columns.", "Give each 0/1 result its own test."
            )
        results = as_results(study.patients, [test.columns[0] for test in panels.tests])
        return brought_evidence(results, panels, study.truth, args.results)
    fitting = Fitting(args.classifier, args.folds)
    return fit_scores(study, panels, fitting, progress=progress).evidence()


def _default_lam(panels: Panels, evidence: Evidence) -> list[float]:
    if not evidence.has_truth:
        raise _bad("λ", "is missing.", "Give --lam: without labels there is none to suggest.")
    return [suggested_lam(dominance_windows(panels, evidence))]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise _bad(f"'{text}'", "is not a number.", "Write it like 0.001.") from None


def _bad(where: str, what: str, mend: str) -> BadInput:
    return BadInput(Fault(where, what, mend))
