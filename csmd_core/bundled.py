"""The studies that come with the product: public data with published test prices."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from csmd_core.faults import BadInput, Fault
from csmd_core.study import About, Study, Test

DATA = Path(__file__).parent.parent / "data"
ONE_PER_COLUMN = "one test per column"
_NAMES = ("heart", "diabetes", "hepatitis", "thyroid")


def bundled_names() -> tuple[str, ...]:
    """Name the bundled studies, the best known first."""
    return _NAMES


def groupings(name: str) -> tuple[str, ...]:
    """Name the ways in which a bundled study's columns are joined into tests.

    >>> groupings("heart")
    ('clinic', 'paper', 'one test per column')
    """
    return (*_study_file(name)["groupings"], ONE_PER_COLUMN)


def about(name: str) -> About:
    """Tell where a bundled study comes from."""
    facts = _study_file(name)
    return About(
        title=facts["title"],
        source=facts["source"],
        licence=facts["licence"],
        citation=facts["citation"],
        notes=tuple(facts["notes"]),
    )


def load_bundled(name: str, grouping: str = "clinic", zero_missing: bool = True) -> Study:
    """Load a bundled study with its columns joined into tests in the named way.

    zero_missing: whether a 0 that is declared "not measured" is taken as missing.
    """
    facts = _study_file(name)
    derived = facts.get("derived", {})
    described = facts["columns"] | derived
    return Study(
        name=name,
        patients=_patients(name).copy(deep=False),
        tests=_tests(name, grouping),
        fees=dict(facts["fees"]),
        label=facts["label"],
        positive=tuple(facts["positive"]),
        kinds={column: told["kind"] for column, told in described.items()},
        zero_missing=tuple(facts.get("zero_missing", ())) if zero_missing else (),
        derived={column: tuple(told["needs"]) for column, told in derived.items()},
        currency=facts["currency"],
        about=about(name),
    )


def _tests(name: str, grouping: str) -> tuple[Test, ...]:
    facts = _study_file(name)
    columns = facts["columns"]
    if grouping == ONE_PER_COLUMN:
        groups = [{"name": column, "columns": [column]} for column in columns]
    elif grouping in facts["groupings"]:
        groups = facts["groupings"][grouping]
    else:
        raise BadInput(
            Fault(
                f"The study '{name}'",
                f"has no grouping called '{grouping}'.",
                f"Choose one of: {', '.join(groupings(name))}.",
            )
        )
    return tuple(_test(group, columns) for group in groups)


def _test(group: dict[str, Any], columns: dict[str, Any]) -> Test:
    """Price a test as the sum of its columns; each column names the fee that it needs."""
    revealed = [columns[column] for column in group["columns"]]
    return Test(
        name=group["name"],
        columns=tuple(group["columns"]),
        price=round(sum(column["price"] for column in revealed), 5),
        fees=tuple(column["fee"] for column in revealed if "fee" in column),
    )


@lru_cache
def _study_file(name: str) -> dict[str, Any]:
    if name not in _NAMES:
        raise BadInput(
            Fault(
                f"The study '{name}'",
                "does not come with the product.",
                f"Choose one of: {', '.join(_NAMES)}.",
            )
        )
    facts: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return facts


@lru_cache
def _patients(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / _study_file(name)["file"])
