"""Why a patient got this panel: the comparisons behind the choice, and one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from csmd_core.comparisons import pair_table
from csmd_core.engine import scaled_costs
from csmd_core.faults import BadInput, Fault
from csmd_core.problem import TIE, Problem
from csmd_core.simulation import Run


class Comparison(NamedTuple):
    """One row of the pairs: what was known of two panels."""

    panel: int
    rival: int
    compared: int
    disagreed: int
    gap: float
    estimate: float


@dataclass(frozen=True)
class Explanation:
    """The choice for one patient.

    pairs: one row for two panels, the cheaper (in a cascade the earlier) first: panel, rival,
    compared, disagreed, mean (Thompson: of the posterior, else the observed share), estimate
    (Thompson: this patient's draw, else the index), gap, winner (None where costs are equal).
    Empty for policies that compare nothing. Panels are numbered from 0.
    """

    patient: int
    choice: int
    sentence: str
    pairs: pd.DataFrame


def explain(run: Run, t: int | None = None) -> Explanation:
    """Explain the choice for patient t (counted from 1), or for the latest one."""
    t = run.n_patients if t is None else t
    if not 1 <= t <= run.n_patients:
        raise BadInput(
            Fault(
                f"Patient {t}", f"has not been played: there are {run.n_patients:,}.",
                f"Choose 1 to {run.n_patients:,}." if run.n_patients else "Play one first.",
            )
        )  # fmt: skip
    choice = int(run.choices[t - 1])
    pairs = pair_table(run, t, choice)
    return Explanation(t, choice, _sentence(run, t, choice, pairs), pairs)


def _sentence(run: Run, t: int, choice: int, pairs: pd.DataFrame) -> str:
    problem, name = run.problem, run.problem.panels.names[choice]
    whole = "the full panel" if problem.panels.contains[-1].all() else "the last panel"
    if not run.policy.learns:
        return _comparator_sentence(run, t, name, whole)
    if problem.n_panels == 1:
        return f"Gave {name}: there is no other panel."
    if pairs.empty:
        return f"Gave {name}: nothing is known yet, so the first patient gets {whole}."
    met = (pairs["panel"] == choice) | (pairs["rival"] == choice)
    return _learner_sentence(run, choice, pairs[met & pairs["winner"].notna()], whole)


def _learner_sentence(run: Run, choice: int, met: pd.DataFrame, whole: str) -> str:
    """Say what decided, from the comparisons of the chosen panel with panels of other costs."""
    name = run.problem.panels.names[choice]
    if met.empty:
        return f"Gave {name}: all panels cost the same, so the first in the list is given."
    if (met["winner"] != choice).any():
        return f"Gave {name}: every panel is beaten by another one, so {whole} is given."
    dearer = met[met["panel"] == choice]
    reason = _stopped(run, _closest(dearer)) if len(dearer) else _went_on(run, _closest(met))
    return reason + _equals(run.problem, choice)


def _comparator_sentence(run: Run, t: int, name: str, whole: str) -> str:
    if run.policy.kind == "follow":
        truth = run.problem.evidence.truth
        known = truth is not None and (truth[run.patients[: t - 1]] >= 0).any()
        if not known:
            return f"Gave {name}: no label has been seen yet, so {whole} is given."
        return f"Gave {name}: by the labels seen so far it has the least loss."
    reasons = {
        "full": f"this policy gives everybody {whole}",
        "cheapest": "this policy gives everybody the cheapest panel",
        "random": "this policy draws a panel at random",
        "best": "this policy gives everybody the panel that is best by the labels",
    }
    return f"Gave {name}: {reasons[run.policy.kind]}."


def _closest(rows: pd.DataFrame) -> Comparison:
    """Return the comparison that was nearest to going the other way."""
    nearest = int(np.argmin(np.abs(rows["gap"] - rows["estimate"])))
    return Comparison(*rows[list(Comparison._fields)].to_numpy(dtype=object)[nearest])


def _stopped(run: Run, row: Comparison) -> str:
    panels, choice = run.problem.panels, row.panel
    more = _added(run.problem, choice, row.rival)
    if panels.mode == "cascade":
        begin = f"Stopped after {panels.tests_of(choice)[-1].name}: {more} would cost"
    else:
        begin = f"Gave {panels.names[choice]}: {more} would cost"
    if row.gap > 1:
        return f"{begin} {row.gap:.3g} more, and no diagnosis is worth more than 1."
    return f"{begin} {row.gap:.3g} more, {_evidence(run, row, 'but')}."


def _went_on(run: Run, row: Comparison) -> str:
    names = run.problem.panels.names
    begin, less = f"Gave {names[row.rival]}:", f"than {names[row.panel]}"
    if row.gap <= TIE:
        return f"{begin} it costs no more {less}."
    return f"{begin} it costs {row.gap:.3g} more {less}, {_evidence(run, row, 'and')}."


def _evidence(run: Run, row: Comparison, joint: str) -> str:
    """Say how often the dearer panel changes the diagnosis, by the policy's lights."""
    if row.compared == 0:
        seen = "nobody has had both yet"
    else:
        patients = "patient" if row.compared == 1 else "patients"
        seen = f"it has changed the diagnosis of {row.disagreed:,} of {row.compared:,} {patients}"
    if run.policy.kind == "thompson":
        return f"{joint} {seen} (share drawn for this patient: {row.estimate:.3g})"
    if row.estimate >= 1:
        return f"{joint} {seen} (any share is still possible)"
    return f"{joint} {seen} (a share of up to {row.estimate:.3g} is possible)"


def _added(problem: Problem, choice: int, rival: int) -> str:
    """Name what the rival has more, or the rival where it is not simply more."""
    panels = problem.panels
    if not panels.contains[rival, choice]:
        return f"{panels.names[rival]} instead"
    held = panels.tests_of(choice)
    return " + ".join(test.name for test in panels.tests_of(rival) if test not in held)


def _equals(problem: Problem, choice: int) -> str:
    if problem.panels.mode == "cascade":
        return ""
    costs = scaled_costs(problem)
    same = [k for k in np.flatnonzero(costs == costs[choice]) if k != choice]
    if not same:
        return ""
    named = problem.panels.names[same[0]] if len(same) == 1 else f"{len(same)} other panels"
    verb = "costs" if len(same) == 1 else "cost"
    return f" {named} {verb} the same: of equals the first unbeaten one in the list is given."
