"""The price table: tests with prices, columns and shared fees, as a small file of its own.

Only `test` and `price` are needed where every test is one column. A cell of `columns` or
`shared_fee_group` lists several, separated by semicolons, bars or commas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from csmd_core.cells import is_ambiguous, parse_number
from csmd_core.faults import Fault
from csmd_core.study import Study, Test
from csmd_core.tabular import as_text, row_in_file

HEADINGS = ("test", "price", "columns", "shared_fee_group", "shared_fee")
_ALSO = {
    "test": ("test", "tests", "name", "testname"),
    "price": ("price", "prices", "cost", "testprice"),
    "columns": ("columns", "column", "reveals"),
    "shared_fee_group": ("sharedfeegroup", "feegroup", "sharedfeename", "feename"),
    "shared_fee": ("sharedfee", "fee", "sharedfeeamount", "feeamount"),
}
_MONEY = re.compile(
    r"(?:[A-Za-z]{0,3}\s*[$€£¥]|[A-Z]{3})?\s*(-?[^A-Za-z$€£¥]*?)\s*(?:[$€£¥]|[A-Z]{3})?"
)
_ENDLESS = {"inf": math.inf, "infinity": math.inf, "∞": math.inf, "-inf": -math.inf}


@dataclass
class PriceList:
    """What a price table says, and what in it cannot be understood."""

    tests: list[Test] = field(default_factory=list)
    fees: dict[str, float] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def parse_prices(table: pd.DataFrame, columns: Sequence[str]) -> PriceList:
    """Read tests and fees from a price table for patients with these columns."""
    found = _roles(table)
    prices = PriceList(faults=_missing_headings(found))
    if prices.faults:
        return prices
    found.setdefault("test", found.get("columns", ""))
    known = {column.casefold(): column for column in reversed(columns)} | {c: c for c in columns}
    for k, cells in enumerate(table.to_dict("records")):
        told = {role: cells[heading] for role, heading in found.items()}
        name = (as_text(told["test"]) or "").strip()
        if not name:
            where = f"The price table, row {row_in_file(table, k)},"
            mend = "Write the test's name, or delete the row."
            prices.faults.append(Fault(where, "has no test name.", mend))
            continue
        price = _money(told["price"], f"Test '{name}'", "price", prices.faults)
        revealed = _listed(as_text(told.get("columns")) or name, known)
        prices.tests.append(Test(name, revealed, price, _fees(told, name, prices)))
    return prices


def price_table(study: Study) -> pd.DataFrame:
    """Write a study's tests as a price table, to be edited or saved."""
    rows = [
        (
            test.name,
            test.price,
            _joined(test.columns),
            _joined(test.fees),
            _joined([_amount(study.fees[fee]) for fee in test.fees]),
        )
        for test in study.tests
    ]
    return pd.DataFrame(rows, columns=list(HEADINGS))


def blank_prices(patients: pd.DataFrame, label: str | None = None) -> pd.DataFrame:
    """Begin a price table for these patients: one test a column, prices still to be filled in."""
    names = [column for column in patients.columns if column != label]
    blank = pd.DataFrame({"test": names, "price": math.nan, "columns": names})
    return blank.assign(shared_fee_group="", shared_fee=math.nan)


def _roles(table: pd.DataFrame) -> dict[str, str]:
    """Say which column plays which part, whatever the case, blanks or currency in its heading."""
    bare = {re.sub(r"\(.*?\)|[^a-z]", "", str(c).casefold()): str(c) for c in table.columns[::-1]}
    found = {
        role: next((bare[word] for word in words if word in bare), None)
        for role, words in _ALSO.items()
    }
    return {role: heading for role, heading in found.items() if heading is not None}


def _missing_headings(found: Mapping[str, str]) -> list[Fault]:
    missing = [role for role in ("test", "price") if role not in found]
    if "columns" in found and "test" in missing:
        missing.remove("test")
    mend = f"Its columns are: {', '.join(HEADINGS)}; only test and price are always needed."
    return [Fault("The price table", f"has no column called '{role}'.", mend) for role in missing]


def _money(cell: object, where: str, what: str, faults: list[Fault]) -> float:
    """Read an amount such as "$12.50" or "12,50 €"; NaN where it is missing or cannot be read."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(cell)
    text = (as_text(cell) or "").strip()
    if not text:
        return math.nan
    if text.casefold() in _ENDLESS:
        return _ENDLESS[text.casefold()]
    matched = _MONEY.fullmatch(text)
    bare = matched[1] if matched else text
    value = _as_float(bare)
    if value is not None:
        return value
    if is_ambiguous(bare):
        told = f"has the {what} '{text}', which may have a decimal or a thousands mark."
        faults.append(Fault(where, told, "Write it without a thousands mark, with two decimals."))
    else:
        told = f"has the {what} '{text}', which is not a number."
        faults.append(Fault(where, told, "Write a number of 0 or more, such as 12.50."))
    return math.nan


def _as_float(text: str) -> float | None:
    number = parse_number(text)
    if number is None and re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text):
        number = None if is_ambiguous(text) else float(text)
    return number


def _listed(cell: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """Split a list of columns; a column whose own name holds a separator is found whole."""
    whole = cell.strip()
    parts = [whole] if _match(whole, known) in known.values() else _split(whole)
    return tuple(dict.fromkeys(_match(part, known) for part in parts))


def _match(name: str, known: Mapping[str, str]) -> str:
    return known.get(name) or known.get(name.casefold()) or name


def _split(cell: str) -> list[str]:
    separators = r"[;|]" if re.search(r"[;|]", cell) else ","
    return [part.strip() for part in re.split(separators, cell) if part.strip()]


def _fees(told: Mapping[str, object], name: str, prices: PriceList) -> tuple[str, ...]:
    """Name the fees of a test and note their amounts, given once or once for each."""
    fees = _split(as_text(told.get("shared_fee_group")) or "")
    amount = told.get("shared_fee")
    amounts = re.split(r"[;|]", amount) if isinstance(amount, str) else [amount]
    where = f"Test '{name}'"
    values = [_money(one, where, "shared fee", prices.faults) for one in amounts]
    values = values * len(fees) if len(values) == 1 and len(set(fees)) == 1 else values
    given = [value for value in values if not math.isnan(value)]
    if given and len(values) != len(fees):
        what = f"has {len(given)} shared fees for {len(fees)} names in shared_fee_group."
        prices.faults.append(Fault(where, what, "Give every shared fee a name and an amount."))
        return tuple(fees)
    for fee, value in zip(fees, values, strict=False):
        if not math.isnan(value) and prices.fees.setdefault(fee, value) != value:
            what = f"has two amounts, {_amount(prices.fees[fee])} and {_amount(value)}."
            prices.faults.append(Fault(f"Shared fee '{fee}'", what, "Give it the same everywhere."))
    return tuple(fees)


def _joined(parts: Sequence[str]) -> str:
    free = [mark for mark in ("; ", " | ", ", ") if not any(mark.strip() in p for p in parts)]
    return (free or ["; "])[0].join(parts)


def _amount(value: float) -> str:
    text = f"{value:.2f}"
    text = text if float(text) == value else repr(value)
    return f"{text}0" if is_ambiguous(text) else text
