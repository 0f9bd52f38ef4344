"""What a cell of a file says: a missing value, a number in some country's writing, or text.

A column becomes numbers only when every cell can be read as a number in one way. "1,5" is one and
a half, "1,234.5" is above a thousand; "1,234" alone may be either, so the rest of the file decides,
and where it says nothing the column stays text for the user to settle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Decimal = Literal[".", ","]

# "None" is not here: "symptoms: none" is an answer. "-" and "." are how registries write a gap.
_GAPS = (
    "", "na", "n/a", "#n/a", "n.a.", "nan", "<na>", "?", "-", "--", ".", "null", "missing",
    "unknown", "not known", "not done", "not measured", "#value!", "#div/0!", "#ref!", "#null!",
    "#num!", "#name?",
)  # fmt: skip
MISSING = frozenset(word for gap in _GAPS for word in (gap, gap.upper(), gap.capitalize(), "NaN"))
_SPACES = " \u00a0\u202f'"  # what may stand between thousands besides the other mark
_WRITTEN = {
    ",": rf"^[+-]?(\d+|[1-9]\d{{0,2}}([.{_SPACES}]\d{{3}})+)(,\d+)?$",
    ".": rf"^[+-]?(\d+|[1-9]\d{{0,2}}([,{_SPACES}]\d{{3}})+)(\.\d+)?$",
}
_MARKS: tuple[Decimal, Decimal] = (".", ",")


def possible_marks(text: str) -> list[Decimal]:
    """List the decimal marks under which the text is a number; both fit "12", but also "1,234".

    >>> possible_marks("1,5"), possible_marks("1,234.5"), possible_marks("1,234")
    ([','], ['.'], ['.', ','])
    """
    return [mark for mark in _MARKS if re.match(_WRITTEN[mark], text)]


def parse_number(text: str, decimal: Decimal | None = None) -> float | None:
    """Read one number, or return None where it is none or may mean two different numbers.

    >>> parse_number("12,50"), parse_number("1.234,5"), parse_number("1,234"), parse_number("high")
    (12.5, 1234.5, None, None)
    """
    marks = possible_marks(text.strip())
    if decimal is not None:
        marks = [mark for mark in marks if mark == decimal]
    values = {float(_with_point(text.strip(), mark)) for mark in marks}
    return values.pop() if len(values) == 1 else None


def is_ambiguous(text: str) -> bool:
    """Tell whether the text is a number whose mark may be a decimal or a thousands mark."""
    return len(possible_marks(text)) == 2 and parse_number(text) is None


def _with_point(text: str, mark: Decimal) -> str:
    other = "," if mark == "." else "."
    return re.sub(f"[{other}{_SPACES}]", "", text).replace(",", ".")


def read_columns(
    texts: Mapping[int, pa.ChunkedArray], decimal: Decimal | None, semicolons: bool
) -> tuple[dict[int, pd.Series[Any]], Decimal | None]:
    """Turn text columns into numbers where they are numbers; tell which decimal mark was settled.

    semicolons: the file separates cells by semicolons, as where the comma is the decimal mark.
    """
    texts, numbers = _plain_first(texts)
    unsettled = [k for k in texts if numbers[k] is None and _possible(texts[k])]
    mark: Decimal | None = decimal or "."
    if decimal == "," or unsettled or semicolons:
        seen = {k: _possible(texts[k]) for k in texts if k in unsettled or _has(texts[k], ".")}
        settled = {marks[0] for marks in seen.values() if len(marks) == 1}
        mark = decimal or (settled.pop() if len(settled) == 1 else None)
        for k, marks in seen.items():
            if marks:  # else: written with an exponent, which only a decimal point allows
                numbers[k] = _numbers(texts[k], marks, decimal, mark)
    return {k: _series(texts[k], numbers[k]) for k in texts}, mark


def _plain_first(
    texts: Mapping[int, pa.ChunkedArray],
) -> tuple[dict[int, pa.ChunkedArray], dict[int, pa.ChunkedArray | None]]:
    """Read what needs no thought: most columns, most files. Only the rest is trimmed."""
    with ThreadPoolExecutor() as threads:
        read = dict(zip(texts, threads.map(_plain_or_trimmed, texts.values()), strict=True))
    return {k: text for k, (text, _) in read.items()}, {k: found for k, (_, found) in read.items()}


def _plain_or_trimmed(text: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray | None]:
    numbers = plain_numbers(text)
    if numbers is None:
        text = trimmed(text)
        numbers = plain_numbers(text)
    return text, numbers


def _numbers(
    text: pa.ChunkedArray, marks: list[Decimal], decimal: Decimal | None, mark: Decimal | None
) -> pa.ChunkedArray | None:
    """Read a column that is a number under these marks, or leave it to the user to settle."""
    if decimal is not None and decimal not in marks:
        return None
    if len(marks) == 1 or not (_has(text, ".") or _has(text, ",")):
        return _numbers_with(text, marks[0])
    return None if mark is None else _numbers_with(text, mark)


def plain_numbers(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Read whole numbers, else numbers with a decimal point; None unless every cell is one.

    Codes such as 007 and numbers of more than 15 digits stay text: as numbers they would change.
    """
    for kind in (pa.int64(), pa.float64()):
        try:
            pc.cast(text[:100], kind)  # decides most columns of text at once
            numbers = pc.cast(text, kind)
        except pa.ArrowInvalid:
            continue
        return None if _is_code(text) else numbers
    return None


def trimmed(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Strip blanks around the cells and make missing what only then is seen to be missing."""
    text = pc.utf8_trim_whitespace(text)
    gap = pc.is_in(text, value_set=pa.array(sorted(MISSING)))
    return pc.if_else(gap, pa.scalar(None, pa.string()), text)


def _is_code(text: pa.ChunkedArray) -> bool:
    lengths = pc.utf8_length(text)
    longest = pc.max(lengths).as_py() or 0
    if longest > 15 and pc.any(pc.match_substring_regex(text, r"^[+-]?\d{16,}$")).as_py():
        return True
    zero = pc.and_(pc.starts_with(text, "0"), pc.greater(lengths, 1))
    if not pc.any(zero).as_py():
        return False
    return bool(pc.any(pc.match_substring_regex(text.filter(zero), r"^0[\dxX]")).as_py())


def _possible(text: pa.ChunkedArray) -> list[Decimal]:
    return [mark for mark in _MARKS if _all_match(text, _WRITTEN[mark])]


def _all_match(text: pa.ChunkedArray, pattern: str) -> bool:
    """Tell whether every cell matches; most columns of text are decided by the first cells."""
    return all(
        pc.all(pc.match_substring_regex(part, pattern), min_count=0).as_py()
        for part in (text[:100], text)
    )


def _has(text: pa.ChunkedArray, mark: Decimal) -> bool:
    return bool(pc.any(pc.match_substring(text, mark), min_count=0).as_py())


def _numbers_with(text: pa.ChunkedArray, mark: Decimal) -> pa.ChunkedArray | None:
    other = "," if mark == "." else "."
    bare = pc.replace_substring_regex(text, f"[{other}{_SPACES}]|^[+]", "")
    return plain_numbers(pc.replace_substring(bare, ",", "."))


def _series(text: pa.ChunkedArray, numbers: pa.ChunkedArray | None) -> pd.Series[Any]:
    series: pd.Series[Any] = (text if numbers is None else numbers).to_pandas()
    return series.astype("str") if numbers is None else series
