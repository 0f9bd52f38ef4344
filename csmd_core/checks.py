"""Can this study be used? Every fault at once, each with where it is and how to mend it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from csmd_core.cells import is_ambiguous
from csmd_core.faults import BadInput, Fault
from csmd_core.guesses import identifies
from csmd_core.panels import MAX_TESTS, Mode
from csmd_core.study import Study, Test
from csmd_core.tabular import as_text, row_in_file

NO_PRICE = "has no price."
MIN_LABELLED = 20


def check_study(study: Study, folds: int | None = 10, mode: Mode = "cascade") -> list[Fault]:
    """List all faults and warnings.

    folds: how many parts cross-validation needs, or None where nothing is learnt from the labels.
    """
    faults = list(_table_faults(study.patients))
    if faults:
        return faults
    faults += _label_faults(study, folds)
    faults += _list_faults(study, mode)
    for test in study.tests:
        faults += _test_faults(test, study)
    faults += _fee_faults(study)
    unused = set(study.unused_columns)
    for column in study.patients.columns:
        faults += _column_faults(column, study, used=column not in unused)
    return sorted(faults, key=lambda fault: fault.warning)


def require_usable(study: Study, folds: int | None = 10, mode: Mode = "cascade") -> list[Fault]:
    """Return the warnings; raise BadInput where there are faults."""
    faults = check_study(study, folds, mode)
    serious = [fault for fault in faults if not fault.warning]
    if serious:
        raise BadInput(serious)
    return faults


def _table_faults(patients: pd.DataFrame) -> Iterator[Fault]:
    names = [str(column) for column in patients.columns]
    if not names or patients.empty:
        yield Fault(
            "The patient table", "is empty.", "Put a heading row and one row a patient in it."
        )
    elif len(names) == 1:
        yield Fault(
            "The patient table",
            f"has only one column, '{names[0]}'.",
            "Separate the columns by commas, semicolons or tabs, or save the table as .xlsx.",
        )
    for name, count in Counter(names).items():
        if count > 1:
            mend = "Give every column a name of its own."
            yield Fault(f"Column name '{name}'", f"stands {count} times in the table.", mend)


def _label_faults(study: Study, folds: int | None) -> Iterator[Fault]:
    if study.label is None:
        mend = "Name the column that holds the diagnosis, if there is one."
        what = "has no label, so error rates cannot be measured."
        yield Fault("The study", what, mend, warning=True)
        return
    where = f"Label '{study.label}'"
    if study.label not in study.patients.columns:
        mend = f"Choose one of: {_some(list(study.patients.columns))}."
        yield Fault(where, "is not a column of the patient table.", mend)
        return
    label = study.patients[study.label]
    known = label.dropna()
    if len(known) < len(label) / 2:
        what = f"is missing for {len(label) - len(known):,} of {len(label):,} patients."
        yield Fault(where, what, "Fill in more than half of the labels, or use no label.")
    if known.nunique() < 2:
        only = (
            f"has only one value, '{as_text(known.iloc[0])}'." if len(known) else "has no values."
        )
        yield Fault(where, only, "Choose a column that tells ill patients from healthy ones.")
        return
    yield from _positive_faults(study, where, [as_text(value) or "" for value in known.unique()])
    yield from _count_faults(study, where, folds)


def _positive_faults(study: Study, where: str, values: list[str]) -> Iterator[Fault]:
    truth = study.truth
    if not study.positive:
        yield Fault(where, "has no positive value.", f"Say which mean disease: {_some(values)}.")
    elif truth is None or not (truth == 1).any():
        chosen = _some([str(value) for value in study.positive])
        mend = f"Its values are: {_some(values)}."
        yield Fault(where, f"never takes the positive value {chosen}.", mend)
    elif not (truth == 0).any():
        mend = "Leave at least one value that means no disease."
        yield Fault(where, "has no value left that means no disease.", mend)


def _count_faults(study: Study, where: str, folds: int | None) -> Iterator[Fault]:
    truth = study.truth
    if truth is None or not study.positive:
        return
    n_ill, n_healthy = int((truth == 1).sum()), int((truth == 0).sum())
    if n_ill + n_healthy < MIN_LABELLED:
        what = f"is known for {n_ill + n_healthy} patients; at least {MIN_LABELLED} are needed."
        yield Fault(where, what, "Add patients whose diagnosis is known.")
    if not n_ill or not n_healthy or folds is None:
        return
    for count, kind in ((n_ill, "positive"), (n_healthy, "negative")):
        if count < folds:
            patients = "patient" if count == 1 else "patients"
            what = f"has {count} {kind} {patients}, fewer than the {folds} folds."
            mend = f"Use at most {count} folds." if count > 1 else f"Add {kind} patients."
            yield Fault(where, what, mend)


def _list_faults(study: Study, mode: Mode) -> Iterator[Fault]:
    if not study.tests:
        yield Fault("The study", "has no tests.", "Add a price table with at least one test.")
    for name, count in Counter(test.name for test in study.tests).items():
        if count > 1:
            yield Fault(
                f"Test '{name}'", f"is listed {count} times.", "Give each test its own name."
            )
    owners: dict[str, list[str]] = {}
    for test in study.tests:
        for column in dict.fromkeys(test.columns):
            owners.setdefault(column, []).append(test.name)
    for column, tests in owners.items():
        if len(tests) > 1:
            what = f"belongs to {len(tests)} tests: {', '.join(tests)}."
            yield Fault(f"Column '{column}'", what, "Let one test reveal it.")
    if mode == "subsets" and len(study.tests) > MAX_TESTS:
        n = len(study.tests)
        what = f"of {n} tests would be {2**n - 1:,} panels."
        mend = f"Use at most {MAX_TESTS} tests, join some, or choose the subsets you need."
        yield Fault("All subsets", what, mend)


def _test_faults(test: Test, study: Study) -> Iterator[Fault]:
    where = f"Test '{test.name}'"
    if not test.name.strip():
        yield Fault("A test", "has no name.", "Give every test a name.")
    if not test.columns:
        yield Fault(where, "has no columns.", "Name the columns that it reveals.")
    for column in test.columns:
        if column == study.label:
            mend = "Take it out: the diagnosis is what the tests should find."
            yield Fault(where, f"reveals the label '{column}'.", mend)
        elif column not in study.patients.columns:
            mend = f"The columns are: {_some(list(study.patients.columns))}."
            yield Fault(where, f"names the column '{column}', which does not exist.", mend)
    yield from _amount_faults(where, "price", test.price)
    for fee in dict.fromkeys(test.fees):
        if fee not in study.fees:
            what = f"needs the shared fee '{fee}', which has no amount."
            yield Fault(where, what, "Write its amount in the column shared_fee.")


def _fee_faults(study: Study) -> Iterator[Fault]:
    for fee, amount in study.fees.items():
        yield from _amount_faults(f"Shared fee '{fee}'", "amount", amount)


def _amount_faults(where: str, word: str, amount: object) -> Iterator[Fault]:
    mend = f"Give it a{'n' if word == 'amount' else ''} {word} of 0 or more."
    if not isinstance(amount, int | float | np.number) or isinstance(amount, bool):
        yield Fault(where, f"has the {word} '{amount}', which is not a number.", mend)
    elif math.isnan(amount):
        yield Fault(where, NO_PRICE.replace("price", word), mend)
    elif math.isinf(amount):
        yield Fault(where, f"has an infinite {word}.", mend)
    elif amount < 0:
        yield Fault(where, f"has a negative {word}, {amount:g}.", mend)


def _column_faults(name: str, study: Study, used: bool) -> Iterator[Fault]:
    column = study.patients[name]
    where = f"Column '{name}'"
    looks = identifies(column) if name != study.label else None
    if looks is not None:
        mend = "Delete it from the file: patients must not be recognised."
        yield Fault(where, f"looks like {looks}.", mend, warning=True)
    if name == study.label or not used:
        return
    known = column.dropna()
    if known.empty or (known == known.iloc[0]).all():
        same = "is empty." if known.empty else f"has only one value, '{known.iloc[0]}'."
        mend = "It cannot tell patients apart; leave it out of the tests."
        yield Fault(where, same, mend, warning=True)
    if study.kinds.get(name) != "category":
        yield from _number_faults(where, column)


def _number_faults(where: str, column: pd.Series[Any]) -> Iterator[Fault]:
    """Find text and infinite values in a column of numbers."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        numbers = pd.to_numeric(column, errors="coerce")
        wrong = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
        if len(wrong):
            yield _text_fault(where, column, wrong)
        column = numbers
    endless = np.flatnonzero(np.isinf(column.to_numpy(dtype=float, na_value=np.nan)))
    if len(endless):
        at = f"{where}, row {row_in_file(column, int(endless[0])):,}{_and_more(endless)},"
        yield Fault(at, "holds an infinite number.", "Write the true value, or leave it empty.")


def _text_fault(where: str, column: pd.Series[Any], wrong: np.ndarray[Any, Any]) -> Fault:
    value = str(column.iloc[int(wrong[0])])
    at = f"{where}, row {row_in_file(column, int(wrong[0])):,}{_and_more(wrong)},"
    if is_ambiguous(value):
        what = f"says '{value}', which may have a decimal or a thousands mark."
        return Fault(at, what, "Say which decimal mark the file uses, or leave thousands unmarked.")
    what = f"says '{value}' where a number is expected."
    mend = "Write a number, leave the cell empty, or make the column a category."
    return Fault(at, what, mend)


def _and_more(positions: np.ndarray[Any, Any]) -> str:
    more = len(positions) - 1
    return f" (and {more:,} more row{'s' if more > 1 else ''})" if more else ""


def _some(names: list[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
