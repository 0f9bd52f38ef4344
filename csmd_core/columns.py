"""What the columns of a study hold, and which tests reveal them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from csmd_core.study import UNKNOWN, Study, Test
from csmd_core.tabular import as_text

MEANINGS = {1: "disease", 0: "no disease", UNKNOWN: "not known"}


def column_table(study: Study) -> pd.DataFrame:
    """Describe every column but the label: kind, missing share, different values, examples."""
    rows = [
        (name, study.kinds.get(name, "number"), *_describe(study.features([name])[name]))
        for name in study.patients.columns
        if name != study.label
    ]
    return pd.DataFrame(rows, columns=["column", "kind", "missing", "different", "examples"])


def _describe(column: pd.Series[Any]) -> tuple[float, int, str]:
    known = column.dropna()
    examples = ", ".join(as_text(value) or "" for value in known.unique()[:3])
    return 1 - len(known) / max(len(column), 1), known.nunique(), examples


def class_counts(study: Study) -> dict[str, int]:
    """Count patients with disease, without, and with no known label; none without a label."""
    truth = study.truth
    if truth is None:
        return {}
    return {words: int((truth == code).sum()) for code, words in MEANINGS.items()}


def label_values(study: Study, most: int = 30) -> pd.DataFrame:
    """Count the label's values, the most frequent first, with what each means."""
    assert study.label is not None
    truth = study.truth
    table = pd.DataFrame({"value": study.patients[study.label].to_numpy(), "code": truth})
    counts = table.groupby(["value", "code"], dropna=False).size().nlargest(most).reset_index()
    return pd.DataFrame(
        {
            "value": [as_text(value) or "(empty)" for value in counts["value"]],
            "meaning": [MEANINGS[code] for code in counts["code"]],
            "patients": counts[0].to_numpy(),
        }
    )


def split_by_class(study: Study, column: str) -> dict[str, pd.Series[Any]]:
    """Take a column's known values, apart for each class that has patients."""
    values, truth = study.features([column])[column], study.truth
    if truth is None:
        return {"all patients": values.dropna()}
    parts = {words: values[_is(truth, code)].dropna() for code, words in MEANINGS.items()}
    return {words: part for words, part in parts.items() if len(part)}


def _is(truth: NDArray[np.int8], code: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = truth == code
    return found


def reading(study: Study, column: str) -> str:
    """Say in a sentence how a column differs between the classes, and how much of it is missing."""
    parts = split_by_class(study, column)
    missing = study.n_patients - sum(len(part) for part in parts.values())
    if study.kinds.get(column) == "category":
        told = [f"{_commonest(part)} among {_who(words)}" for words, part in parts.items()]
        begin = "Most frequent: "
    else:
        told = [f"{_median(part)} among {_who(words)}" for words, part in parts.items()]
        begin = "Median: "
    gaps = f" Missing for {missing:,} of {study.n_patients:,} patients." if missing else ""
    return f"{begin}{', '.join(told)}.{gaps}" if told else f"Nothing is known.{gaps}"


def _who(words: str) -> str:
    told = {"disease": "patients with the disease", "no disease": "patients without"}
    return told.get(words, "all patients" if words == "all patients" else "the undiagnosed")


def _median(part: pd.Series[Any]) -> str:
    middle = pd.to_numeric(part, errors="coerce").median()
    return "no number" if math.isnan(middle) else f"{middle:.4g}"


def _commonest(part: pd.Series[Any]) -> str:
    counts = part.value_counts()
    return f"'{as_text(counts.index[0])}' ({counts.iloc[0] / len(part):.0%})"


def revealing(
    tests: Iterable[Test], columns: Iterable[str], *, one_each: bool = False
) -> tuple[Test, ...]:
    """Let tests reveal only these columns: those that lose all of theirs go.

    one_each: also begin a test, still without a price, for each column that no test reveals.
    """
    columns, kept = list(columns), []
    for test in tests:
        left = tuple(column for column in test.columns if column in columns)
        if left or not test.columns:
            kept.append(replace(test, columns=left))
    revealed = {column for test in kept for column in test.columns}
    if one_each:
        kept += [Test(name, (name,), math.nan) for name in columns if name not in revealed]
    return tuple(kept)
