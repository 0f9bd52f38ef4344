"""The verdict on weak dominance in sentences that anyone understands, in plain letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from csmd_core.dominance import Dominance, MarginInterval, candidates
from csmd_core.problem import TIE, Problem

Kind = Literal["holds", "fails", "borderline", "vacuous", "no labels"]


@dataclass(frozen=True)
class Verdict:
    """What to say, and how it stands; ``because`` goes into the numbers behind it."""

    kind: Kind
    sentence: str
    because: str


def in_words(problem: Problem, found: Dominance, interval: MarginInterval | None) -> Verdict:
    """Say whether the best panel can be learnt without labels, and why."""
    if not problem.evidence.has_truth:
        return _without_labels(problem, found)
    assert found.panel is not None
    best = problem.panels.names[found.panel]
    if found.vacuous:
        return Verdict(
            "vacuous",
            f"There is nothing to check: {best} is best, and no panel comes after it that could "
            "mislead the policy.",
            "Weak dominance compares the best panel only with dearer ones, and there is none.",
        )
    if interval is not None and not _is_clear(interval, bool(found.holds)):
        return _borderline(problem, found, interval, best)
    if found.holds:
        return Verdict(
            "holds",
            f"Without knowing a single diagnosis, the policy can learn that {best} is best: every "
            f"{_others(found)} panel costs more than it changes.",
            _closest(found),
        )
    return Verdict(
        "fails",
        f"It cannot: without diagnoses, the policy cannot learn that {best} is best, because "
        f"{_breaker(found)} changes more than it costs.",
        _closest(found),
    )


def _is_clear(interval: MarginInterval, holds: bool) -> bool:
    """Whether the whole interval lies on the verdict's side of nothing."""
    return interval.low > TIE if holds else interval.high <= TIE


def _borderline(problem: Problem, found: Dominance, interval: MarginInterval, best: str) -> Verdict:
    so_far = "can" if found.holds else "cannot"
    n = problem.evidence.n_patients
    return Verdict(
        "borderline",
        f"Too close to call: in these {n:,} patients the policy {so_far} learn without diagnoses "
        f"that {best} is best, but with other patients of the same kind it might be otherwise.",
        f"{_closest(found)} The margin may be anything from {interval.low:.3f} to "
        f"{_end(interval.high)}; it holds with a probability of {interval.probability_holds:.0%}.",
    )


def _without_labels(problem: Problem, found: Dominance) -> Verdict:
    """Speak of what disagreement alone can show."""
    names = problem.panels.names
    if found.panel is None:
        several = candidates(problem)
        if several:
            told = "between panels of the same cost: " + ", ".join(names[i] for i in several[:4])
            sentence = (
                f"There are no diagnoses to check against, and disagreement cannot tell {told}."
            )
        else:
            sentence = (
                "Weak dominance cannot hold here: whichever panel were best, another one would "
                "mislead the policy, which sees no diagnoses."
            )
        return Verdict("no labels", sentence, "Another λ may point to one panel: see the windows.")
    sentence = (
        f"There are no diagnoses to check against. If weak dominance holds, {names[found.panel]} "
        "is the best panel: disagreement points to it and to no other."
    )
    because = (
        f"Every {_others(found)} panel costs more than it changes, and it changes more than it "
        "costs against every one before it."
    )
    return Verdict("no labels", sentence, because)


def _closest(found: Dominance) -> str:
    """Tell the comparison that decides, in parts of all patients."""
    row = found.table.iloc[int(found.table["difference"].argmin())]
    word = "only" if row["holds"] else "as many as"
    weighs = (
        f"its extra cost weighs as much as a wrong diagnosis for {row['cost_gap']:.1%} of patients"
        if row["cost_gap"] > 0
        else "it costs no more"
    )
    return (
        f"The closest is {row['panel']}: {weighs}, and it changes the diagnosis of {word} "
        f"{row['disagreement']:.1%}."
    )


def _breaker(found: Dominance) -> str:
    in_the_way = found.table[~found.table["holds"]]
    first = str(in_the_way["panel"].iloc[int(in_the_way["difference"].argmin())])
    others = len(in_the_way) - 1
    if not others:
        return first
    return f"{first} (and {others} more panel{'s' if others > 1 else ''} like it)"


def _others(found: Dominance) -> str:
    """Panels of a cascade come later; they are dearer too unless a test is free."""
    return "dearer" if (found.table["extra_cost"] > 0).all() else "later"


def _end(value: float) -> str:
    return f"{value:.3f}" if value < float("inf") else "no limit"
