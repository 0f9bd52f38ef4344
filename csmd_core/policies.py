"""Policies: the rules by which the next patient's panel is chosen.

Three learn from disagreements alone (the paper's five: each index, on a cascade or on subsets);
the others are there to compare with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from csmd_core.faults import BadInput, Fault
from csmd_core.panels import Mode

Kind = Literal[
    "thompson", "kl-ucb", "ucb1", "full", "cheapest", "random", "follow", "best"
]  # fmt: skip

NAMES: dict[Kind, str] = {
    "thompson": "Thompson",
    "kl-ucb": "kl-UCB",
    "ucb1": "UCB1",
    "full": "Full panel",
    "cheapest": "Cheapest panel",
    "random": "Random panel",
    "follow": "Follow the labels",
    "best": "Best panel",
}
PAPER_NAMES: dict[tuple[Kind, Mode], str] = {
    ("thompson", "cascade"): "CSMD-TS",
    ("kl-ucb", "cascade"): "CSMD-kl",
    ("ucb1", "cascade"): "CSMD-UCB",
    ("thompson", "subsets"): "CSMD-CTS",
    ("kl-ucb", "subsets"): "CSMD-ESCB (kl-UCB)",
    ("ucb1", "subsets"): "CSMD-ESCB (UCB1)",
}
DEFAULTS: dict[Kind, float] = {"kl-ucb": 0.0, "ucb1": 0.51}


@dataclass(frozen=True)
class Policy:
    """A rule and its one number: a of kl-UCB (≥ 0), α of UCB1 (> 0.5), else 0.

    >>> kl_ucb(3).name
    'kl-UCB (a = 3)'
    """

    kind: Kind
    parameter: float = 0.0

    def __post_init__(self) -> None:
        if fault := _fault(self.kind, self.parameter):
            raise BadInput(fault)

    @property
    def name(self) -> str:
        """What it is called on screen; the number only where it is not the usual one."""
        if self.parameter == DEFAULTS.get(self.kind, 0.0):
            return NAMES[self.kind]
        symbol = "a" if self.kind == "kl-ucb" else "α"
        return f"{NAMES[self.kind]} ({symbol} = {self.parameter:g})"

    @property
    def learns(self) -> bool:
        """Whether it learns from disagreements and never sees the truth."""
        return self.kind in ("thompson", "kl-ucb", "ucb1")

    @property
    def needs_labels(self) -> bool:
        return self.kind in ("follow", "best")


def _fault(kind: Kind, parameter: float) -> Fault | None:
    if kind not in NAMES:
        return Fault(
            f"The policy '{kind}'", "does not exist.", f"Choose one of: {', '.join(NAMES)}."
        )
    if kind == "kl-ucb" and not (parameter >= 0 and math.isfinite(parameter)):
        return Fault("kl-UCB's a", f"must be 0 or more, not {parameter}.", "The usual a is 0.")
    if kind == "ucb1" and not (parameter > 0.5 and math.isfinite(parameter)):
        return Fault("UCB1's α", f"must be above 0.5, not {parameter}.", "The usual α is 0.51.")
    if kind not in DEFAULTS and parameter != 0:
        return Fault(f"The policy {NAMES[kind]}", "takes no number.", "Leave it out.")
    return None


def thompson() -> Policy:
    """Draw each disagreement from its Beta posterior, starting from Beta(1, 1)."""
    return Policy("thompson")


def kl_ucb(a: float = DEFAULTS["kl-ucb"]) -> Policy:
    """Take each disagreement to be as high as N·d(p̂, q) ≤ log t + a·log log t allows."""
    return Policy("kl-ucb", a)


def ucb1(alpha: float = DEFAULTS["ucb1"]) -> Policy:
    """Take each disagreement to be p̂ + √(α·log t / N)."""
    return Policy("ucb1", alpha)


LEARNING: dict[str, Policy] = {p.name: p for p in (thompson(), kl_ucb(), ucb1())}
COMPARATORS: dict[str, Policy] = {
    NAMES[kind]: Policy(kind) for kind in ("full", "cheapest", "random", "follow", "best")
}
POLICIES: dict[str, Policy] = LEARNING | COMPARATORS
