"""Templates to fill in: a table of patients, a price table, and one workbook with both."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from csmd_core.prices import HEADINGS

_PATIENTS = pd.DataFrame(
    {
        "age": [63, 41, 58],
        "sex": ["female", "male", "female"],
        "glucose": [5.4, None, 7.9],
        "insulin": [None, 62.0, 118.5],
        "diagnosis": ["no", "no", "yes"],
    }
)
_TESTS = pd.DataFrame(
    [
        ("History", 10.00, "age; sex", None, None),
        ("Glucose", 15.51, "glucose", "blood draw", 2.10),
        ("Insulin", 20.68, "insulin", "blood draw", 2.10),
    ],
    columns=list(HEADINGS),
)


def templates() -> dict[str, bytes]:
    """Return the content of each template by its file name."""
    workbook = io.BytesIO()
    with pd.ExcelWriter(workbook, engine="openpyxl") as writer:
        _PATIENTS.to_excel(writer, sheet_name="patients", index=False)
        _TESTS.to_excel(writer, sheet_name="tests", index=False)
    return {
        "patients.csv": _PATIENTS.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig"),
        "tests.csv": _TESTS.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig"),
        "study.xlsx": workbook.getvalue(),
    }


def write_templates(folder: str | Path) -> list[Path]:
    """Write the templates into a folder, which is made if need be."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in templates().items():
        paths.append(folder / name)
        paths[-1].write_bytes(content)
    return paths
