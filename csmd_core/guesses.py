"""First guesses about a table, for the user to correct: kinds of columns, label, positives."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from csmd_core.cells import is_ambiguous
from csmd_core.study import Kind, plain

_LABELS = (
    "label", "outcome", "diagnosis", "target", "class", "disease", "truth", "status", "result",
    "died", "death", "num", "y",
)  # fmt: skip
_POSITIVE = (
    "1", "yes", "y", "true", "t", "positive", "pos", "+", "disease", "diseased", "ill", "sick",
    "malignant", "case", "died", "dead", "ja", "oui", "si", "sí",
)  # fmt: skip
_NEGATIVE = (
    "0", "no", "n", "false", "f", "negative", "neg", "healthy", "normal", "benign", "control",
    "alive", "survived", "none", "nein", "non",
)  # fmt: skip
_IDENTIFYING = {
    "a name": r"((first|last|sur|family|given|full|patient|middle)\W*_?)?names?|surname|initials"
    r"|nom|pr[eé]nom|nachname|vorname|apellidos?|nombre",
    "a record number": r"(patient|case|record|hospital|subject|person|study|medical record|nhs|chi"
    r"|health)?[\W_]*(id|no|nr|number|identifier)|mrn|nhs|ssn|pid|uuid|guid"
    r"|social security( number)?|insurance( number)?|unnamed.*|column 1",
    "a date of birth": r"dob|birth[\W_]*(date|day)?|(date|day|day and month)[\W_]*of[\W_]*birth"
    r"|born( on)?|geburtsdatum|date de naissance|fecha de nacimiento",
    "contact details": r"e?-?mail( address)?|(tele)?phone( number)?|mobile|address|street"
    r"|post ?code|zip( ?code)?",
}
_DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4}))\b"


def guess_kinds(frame: pd.DataFrame) -> dict[str, Kind]:
    """Guess which columns hold amounts and which hold categories.

    Text is a category unless most of it is numbers; whole numbers with three to five different
    values in a table of 50 rows or more are taken as codes.
    """
    return {str(name): _guess_kind(frame[name]) for name in frame.columns}


def _guess_kind(column: pd.Series[Any]) -> Kind:
    known = column.dropna()
    if pd.api.types.is_numeric_dtype(column.dtype):
        few = len(column) >= 50 and known[:1000].nunique() <= 5 and 3 <= known.nunique() <= 5
        return "category" if few and (known % 1 == 0).all() else "number"
    counts = known.astype(str).value_counts()
    texts = counts.index.to_series()
    if texts.str.match(r"0\d+$").any():
        return "category"  # codes such as 007
    numbers = pd.to_numeric(texts, errors="coerce").notna() | texts.map(is_ambiguous).astype(bool)
    return "number" if counts[numbers].sum() > 0.5 * len(known) else "category"


def suggest_label(frame: pd.DataFrame) -> str | None:
    """Suggest the column that holds the truth: by its name, else the last one with few values."""
    few = [str(name) for name in frame.columns if 2 <= frame[name].nunique() <= 10]
    named = {name.strip().casefold(): name for name in reversed(few)}
    by_name = next((named[word] for word in _LABELS if word in named), None)
    last = str(frame.columns[-1]) if len(frame.columns) else ""
    return by_name or (last if last in few else None)


def suggest_positive(label: pd.Series[Any]) -> tuple[object, ...]:
    """Suggest which values of the label mean disease; none where the values do not tell."""
    values = {plain(value): value for value in label.dropna().unique()}
    if set(values) == {"b", "m"}:  # benign, malignant
        return (values["m"],)
    healthy = [key for key in values if key in _NEGATIVE]
    ill = [key for key in values if key in _POSITIVE]
    if healthy and "0" in values and all(key.isdigit() for key in values):
        return tuple(values[key] for key in values if key != "0")
    if len(ill) == 1 and len(values) == 2 and (healthy or ill != ["1"]):
        return (values[ill[0]],)
    if len(healthy) == 1 and len(values) > 1:
        return tuple(values[key] for key in values if key != healthy[0])
    return ()


def identifies(column: pd.Series[Any]) -> str | None:
    """Say what a column that may identify patients looks like, by its name or its content."""
    name = str(column.name).strip().casefold()
    for what, pattern in _IDENTIFYING.items():
        if re.fullmatch(pattern, name.replace("_", " ")) or re.fullmatch(pattern, name):
            return what
    known = column.dropna()
    if len(known) < 20:
        return None
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "a record number" if _numbered(known) else None
    head = known[:1000].astype(str)
    if head.str.match(_DATE).mean() > 0.9:
        return "a date, perhaps of birth"
    all_differ = head.nunique() > 0.95 * len(head) and known.nunique() > 0.95 * len(known)
    return "a name or a record number" if all_differ and _guess_kind(column) != "number" else None


def _numbered(known: pd.Series[Any]) -> bool:
    """Tell whether whole numbers count the rows, or are all different, long and of one length."""
    if not pd.api.types.is_integer_dtype(known.dtype):
        return False
    low, high = int(known.min()), int(known.max())
    counted = high - low == len(known) - 1
    long = low >= 100_000 and len(str(low)) == len(str(high))
    return (counted or long) and known.is_unique
