"""Panels: the sets of tests a patient may get, as bit masks, with names and costs.

A cascade gives the tests one after the other in a fixed order, so its panels are the prefixes of
that order. Subsets are any chosen non-empty sets, sorted by cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from csmd_core.faults import BadInput, Fault
from csmd_core.study import Test

MAX_TESTS = 12  # 2^12 - 1 = 4,095 subsets
MAX_PANELS = 2**MAX_TESTS - 1

Mode = Literal["cascade", "subsets"]


@dataclass(frozen=True)
class Panels:
    """Panels in the order the policies number them: bit k of a mask stands for test k."""

    mode: Mode
    tests: tuple[Test, ...]
    masks: tuple[int, ...]
    fees: Mapping[str, float]
    shared_fees: bool = True

    def __len__(self) -> int:
        return len(self.masks)

    @cached_property
    def membership(self) -> NDArray[np.bool_]:
        """Whether panel i holds test k, as (n_panels, n_tests)."""
        bits = np.arange(len(self.tests))
        return (np.array(self.masks)[:, None] >> bits & 1).astype(bool)

    @cached_property
    def contains(self) -> NDArray[np.bool_]:
        """Whether panel i holds every test of panel j: then giving i shows what j says."""
        masks = np.array(self.masks)
        return np.asarray((masks[:, None] & masks[None, :]) == masks[None, :])

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """Money per patient: prices, plus each shared fee once (or in every test: full prices)."""
        return panel_costs(self.membership, self.tests, self.fees, self.shared_fees)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(
            " + ".join(test.name for test, in_it in zip(self.tests, row, strict=True) if in_it)
            for row in self.membership
        )

    @cached_property
    def short_names(self) -> tuple[str, ...]:
        """In a cascade the test that each panel adds, "+ Blood"; else the names."""
        if self.mode == "subsets":
            return self.names
        return tuple(("+ " if k else "") + test.name for k, test in enumerate(self.tests))

    def tests_of(self, panel: int) -> tuple[Test, ...]:
        return tuple(t for k, t in enumerate(self.tests) if self.masks[panel] >> k & 1)

    def repriced(self, tests: Sequence[Test], fees: Mapping[str, float]) -> Panels:
        """Give the same tests other prices; subsets are sorted anew."""
        changed = replace(self, tests=tuple(tests), fees=dict(fees))
        return changed if self.mode == "cascade" else _sorted_by_cost(changed)


def cascade(
    tests: Sequence[Test], fees: Mapping[str, float] | None = None, *, shared_fees: bool = True
) -> Panels:
    """Make the panels {1}, {1, 2}, …, all tests in the given order.

    >>> blood, scan = Test("Blood", ("hb",), 5.0, ("draw",)), Test("Scan", ("ct",), 100.0)
    >>> cascade([blood, scan], {"draw": 2.0}).costs.tolist()
    [7.0, 107.0]
    """
    _require_tests(tests)
    masks = tuple((2 << k) - 1 for k in range(len(tests)))
    return Panels("cascade", tuple(tests), masks, dict(fees or {}), shared_fees)


def subsets(
    tests: Sequence[Test],
    fees: Mapping[str, float] | None = None,
    *,
    shared_fees: bool = True,
    at_most: int | None = None,
    chosen: Iterable[Iterable[str]] | None = None,
) -> Panels:
    """Make all non-empty subsets, those of ``at_most`` so many tests, or the ``chosen`` ones.

    Sorted by cost; of equal cost, fewer tests first, then the order of the tests.
    """
    _require_tests(tests)
    if chosen is not None:
        masks = _masks_by_name(tests, chosen)
    else:
        _require_few(len(tests), at_most)
        most = _most(len(tests), at_most)
        masks = [
            sum(1 << k for k in picked)
            for size in range(1, most + 1)
            for picked in combinations(range(len(tests)), size)
        ]
    if not masks:
        raise BadInput(Fault("The subsets", "are empty.", "Choose at least one set of tests."))
    return _sorted_by_cost(
        Panels("subsets", tuple(tests), tuple(masks), dict(fees or {}), shared_fees)
    )


def n_subsets(n_tests: int, at_most: int | None = None) -> int:
    """Count the non-empty subsets, or those of at most so many tests.

    >>> n_subsets(6), n_subsets(20, 2)
    (63, 210)
    """
    return sum(math.comb(n_tests, size) for size in range(1, _most(n_tests, at_most) + 1))


def panel_costs(
    membership: NDArray[np.bool_],
    tests: Sequence[Test],
    fees: Mapping[str, float],
    shared_fees: bool,
) -> NDArray[np.float64]:
    """Add up prices and fees for each row of (n_panels, n_tests), rounded to 0.00001 so that
    equal costs are equal."""
    if not shared_fees:
        costs = membership @ np.array([full_price(test, fees) for test in tests])
    else:
        costs = membership @ np.array([test.price for test in tests])
        for fee, amount in fees.items():
            payers = [k for k, test in enumerate(tests) if fee in test.fees]
            costs = costs + amount * membership[:, payers].any(axis=1)
    return np.asarray(np.round(costs, 5))


def full_price(test: Test, fees: Mapping[str, float]) -> float:
    """Return what the test costs where nothing is shared: every fee, every time it is named."""
    return test.price + sum(fees[fee] for fee in test.fees)


def _sorted_by_cost(panels: Panels) -> Panels:
    costs = panels.costs
    order = sorted(
        range(len(panels)),
        key=lambda i: (costs[i], panels.masks[i].bit_count(), _positions(panels.masks[i])),
    )
    return replace(panels, masks=tuple(panels.masks[i] for i in order))


def _positions(mask: int) -> tuple[int, ...]:
    return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


def _masks_by_name(tests: Sequence[Test], chosen: Iterable[Iterable[str]]) -> list[int]:
    bit = {test.name: 1 << k for k, test in enumerate(tests)}
    masks: dict[int, None] = {}
    for names in map(tuple, chosen):
        unknown = [name for name in names if name not in bit]
        if unknown:
            raise BadInput(
                Fault(
                    "A chosen subset",
                    f"names tests that do not exist: {', '.join(unknown)}.",
                    f"The tests are: {', '.join(bit)}.",
                )
            )
        mask = sum(bit[name] for name in dict.fromkeys(names))
        if mask:
            masks[mask] = None
    return list(masks)


def _most(n_tests: int, at_most: int | None) -> int:
    return n_tests if at_most is None else min(at_most, n_tests)


def _require_few(n_tests: int, at_most: int | None) -> None:
    n = n_subsets(n_tests, at_most)
    if n > MAX_PANELS:
        what = f"of {n_tests} tests would be {n:,} panels."
        mend = f"Use at most {MAX_TESTS} tests, join some, or choose the subsets you need."
        raise BadInput(Fault("All subsets", what, mend))


def _require_tests(tests: Sequence[Test]) -> None:
    if not tests:
        raise BadInput(Fault("The list of tests", "is empty.", "Add at least one test."))
