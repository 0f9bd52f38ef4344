"""A study: a table of patients, the column that holds the truth, the tests with their prices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Kind = Literal["number", "category"]
UNKNOWN = -1  # the truth of a patient whose label is missing


def plain(value: object) -> str:
    """Write a label value so that 1, 1.0 and "1", or True, "true" and "TRUE", are the same.

    >>> plain(1.0), plain(True), plain(" Yes ")
    ('1', 'true', 'yes')
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    text = str(value).strip().casefold()
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


@dataclass(frozen=True)
class Test:
    """One medical test: the columns it reveals, its own price, the shared fees it needs.

    ``fees`` names a fee once for each column that needs it: shared, it is paid once by all tests
    together; not shared, it is paid every time it is named.
    """

    __test__: ClassVar[bool] = False  # not a pytest class

    name: str
    columns: tuple[str, ...]
    price: float
    fees: tuple[str, ...] = ()


@dataclass(frozen=True)
class About:
    """Where a study comes from and on what terms it may be used."""

    title: str = ""
    source: str = ""
    licence: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """Patients, label, tests. Built by anyone; `checks.check_study` says whether it can be used.

    ``derived`` names columns that come free once all the columns they are computed from are known.
    ``zero_missing`` names columns in which 0 means "not measured".
    """

    name: str
    patients: pd.DataFrame
    tests: tuple[Test, ...]
    fees: Mapping[str, float] = field(default_factory=dict)
    label: str | None = None
    positive: tuple[object, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    zero_missing: tuple[str, ...] = ()
    derived: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    currency: str = "$"
    about: About = About()

    @property
    def n_patients(self) -> int:
        return len(self.patients)

    @cached_property
    def truth(self) -> NDArray[np.int8] | None:
        """1 disease, 0 none, -1 unknown; None where the study has no label column."""
        if self.label is None:
            return None
        positive = {plain(value) for value in self.positive}
        codes, values = pd.factorize(self.patients[self.label])
        meaning = [int(plain(value) in positive) for value in values]
        return np.array([*meaning, UNKNOWN], dtype=np.int8)[codes]  # a missing label has code -1

    @property
    def unused_columns(self) -> list[str]:
        """Columns that no test reveals and that are not the label."""
        used = {c for test in self.tests for c in test.columns} | {self.label, *self.derived}
        return [c for c in self.patients.columns if c not in used]

    def columns_of(self, tests: Iterable[Test]) -> list[str]:
        """List what these tests reveal together, in the table's order, derived columns included."""
        known = {c for test in tests for c in test.columns}
        known |= {c for c, needs in self.derived.items() if known.issuperset(needs)}
        return [c for c in self.patients.columns if c in known]

    def features(self, columns: Iterable[str]) -> pd.DataFrame:
        """Take these columns, with a 0 that means "not measured" made missing."""
        frame = self.patients[list(columns)].copy()
        for column in set(self.zero_missing) & set(frame.columns):
            frame[column] = frame[column].where(frame[column] != 0)
        return frame

    def complete_rows(self) -> Study:
        """Keep only patients with no missing cell in the label or in any test."""
        needed = [*self.columns_of(self.tests), *([self.label] if self.label else [])]
        whole = self.features(needed).notna().all(axis=1)
        return replace(self, patients=self.patients[whole].reset_index(drop=True))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything a prediction depends on: prices are left out on purpose."""
        digest = hashlib.sha256()
        digest.update(pd.util.hash_pandas_object(self.patients, index=False).to_numpy().tobytes())
        meaning = (
            list(self.patients.columns), [t.columns for t in self.tests], self.label,
            self.positive, sorted(self.kinds.items()), sorted(self.zero_missing),
            sorted(self.derived.items()),
        )  # fmt: skip
        digest.update(repr(meaning).encode())
        return digest.hexdigest()
