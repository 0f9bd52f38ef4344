"""From read tables to a study, or to test results that need no learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from csmd_core.checks import NO_PRICE, check_study
from csmd_core.faults import BadInput, Fault
from csmd_core.guesses import guess_kinds
from csmd_core.panels import Mode
from csmd_core.prices import PriceList, parse_prices
from csmd_core.study import About, Kind, Study, plain
from csmd_core.tabular import as_text, row_in_file

_YES = ("1", "yes", "y", "true", "t", "pos", "positive", "+")
_NO = ("0", "no", "n", "false", "f", "neg", "negative")


@dataclass(frozen=True)
class Choices:
    """What the tables alone do not say. Kinds are guessed where they are not given."""

    name: str = "My study"
    label: str | None = None
    positive: tuple[object, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    zero_missing: tuple[str, ...] = ()
    currency: str = "$"
    folds: int | None = 10
    mode: Mode = "cascade"


def study_from_tables(
    patients: pd.DataFrame, prices: pd.DataFrame | None, choices: Choices
) -> Study:
    """Make a study that can be used, or raise BadInput with every fault in both tables."""
    study, faults = draft_study(patients, prices, choices)
    serious = [fault for fault in faults if not fault.warning]
    if serious:
        raise BadInput(serious)
    return study


def draft_study(
    patients: pd.DataFrame, prices: pd.DataFrame | None, choices: Choices
) -> tuple[Study, list[Fault]]:
    """Make a study as far as it goes, with every fault and warning found in both tables."""
    columns = [str(column) for column in patients.columns]
    told = PriceList() if prices is None else parse_prices(prices, columns)
    kinds = guess_kinds(patients) | dict(choices.kinds) if patients.columns.is_unique else {}
    study = Study(
        name=choices.name,
        patients=_as_declared(patients, kinds, choices.label),
        tests=tuple(told.tests),
        fees=told.fees,
        label=choices.label,
        positive=choices.positive,
        kinds={column: kind for column, kind in kinds.items() if column != choices.label},
        zero_missing=choices.zero_missing,
        currency=choices.currency,
        about=About(title=choices.name),
    )
    unread = {fault.where for fault in told.faults}  # say once that a price cannot be read
    found = check_study(study, choices.folds, choices.mode)
    if told.faults and not told.tests:
        found = [fault for fault in found if fault.what != "has no tests."]
    return study, told.faults + [f for f in found if not (f.what == NO_PRICE and f.where in unread)]


def _as_declared(
    patients: pd.DataFrame, kinds: Mapping[str, Kind], label: str | None
) -> pd.DataFrame:
    """Make numbers of text that is declared a number, where all of it is."""
    patients = patients.copy(deep=False)
    for column, kind in kinds.items():
        text = column in patients and not pd.api.types.is_numeric_dtype(patients[column].dtype)
        if text and kind == "number" and column != label:
            numbers = pd.to_numeric(patients[column], errors="coerce")
            if numbers.notna().equals(patients[column].notna()):
                patients[column] = numbers
    return patients


def as_results(frame: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.uint8]:
    """Turn columns of test results into (n_patients, n_columns) of 0 and 1.

    Accepts 1/0, yes/no, true/false, pos/neg and the like; raises BadInput with every other cell's
    column and row.
    """
    faults = [
        Fault(f"Column '{column}'", "does not exist.", f"Choose from: {', '.join(frame.columns)}.")
        for column in columns
        if column not in frame
    ]
    results = np.zeros((len(frame), len(columns)), dtype=np.uint8)
    for k, column in enumerate(columns):
        if column not in frame:
            continue
        codes, values = pd.factorize(frame[column])
        meaning = np.array([_as_result(value) for value in values] + [-1], dtype=np.int8)[codes]
        wrong = np.flatnonzero(meaning < 0)
        if len(wrong):
            faults.append(_result_fault(frame, column, wrong))
        results[:, k] = meaning == 1
    if faults:
        raise BadInput(faults)
    return results


def _as_result(value: object) -> int:
    text = plain(value)
    return 1 if text in _YES else 0 if text in _NO else -1


def _result_fault(frame: pd.DataFrame, column: str, wrong: NDArray[np.intp]) -> Fault:
    first = int(wrong[0])
    value = frame[column].iloc[first]
    more = f" (and {len(wrong) - 1:,} more)" if len(wrong) > 1 else ""
    said = "is empty" if pd.isna(value) else f"says '{as_text(value)}'"
    return Fault(
        f"Column '{column}', row {row_in_file(frame, first):,}{more},",
        f"{said} where a test result, 0 or 1, is expected.",
        "Write 1 for a positive and 0 for a negative result in every row.",
    )
