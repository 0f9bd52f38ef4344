"""What is wrong with an input, where, and how to mend it: in sentences a clinician can act on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing wrong with an input; with ``warning=True`` it may be used all the same.

    >>> print(Fault("Test 'Blood'", "has no price.", "Give it a price of 0 or more."))
    Test 'Blood' has no price. Give it a price of 0 or more.
    """

    where: str
    what: str
    mend: str
    warning: bool = False

    def __str__(self) -> str:
        return f"{self.where} {self.what} {self.mend}"


class BadInput(ValueError):
    """An input that cannot be used: every fault found, not only the first."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[BadInput], tuple[tuple[Fault, ...]]]:
        return BadInput, (self.faults,)
