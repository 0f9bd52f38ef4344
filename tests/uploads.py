"""Files as a clinic would upload them, made here: no real patient."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

N_PATIENTS = 120


def clinic(n_patients: int = N_PATIENTS) -> pd.DataFrame:
    """Patients whose age, glucose and lactate tell something about the diagnosis."""
    rng = np.random.default_rng(7)
    ill = rng.random(n_patients) < 0.4
    return pd.DataFrame(
        {
            "patient_id": np.arange(1001, 1001 + n_patients),
            "age": rng.integers(30, 80, n_patients) + 5 * ill,
            "sex": np.where(rng.random(n_patients) < 0.5, "female", "male"),
            "glucose": np.round(5 + rng.normal(0, 1, n_patients) + 1.2 * ill, 1),
            "lactate": np.round(1.5 + rng.normal(0, 0.4, n_patients) + 0.8 * ill, 2),
            "diagnosis": np.where(ill, "Yes", "No"),
        }
    )


def semicolons(frame: pd.DataFrame) -> bytes:
    """As Excel writes CSV in most of Europe."""
    return frame.to_csv(sep=";", decimal=",", index=False, encoding="utf-8").encode()


PRICES_WITH_TWO_FAULTS = (
    b"test;price;columns;shared_fee_group;shared_fee\n"
    b"History;10,00;age|sex;;\n"
    b"Glucose;fifteen;glucose;blood draw;2,10\n"
    b"Lactate;;lactate;blood draw;2,10\n"
)


def results(n_patients: int = N_PATIENTS) -> pd.DataFrame:
    """Columns that are test results already, and the truth."""
    rng = np.random.default_rng(3)
    truth = rng.random(n_patients) < 0.5
    flips = [0.3, 0.2, 0.05]
    columns = {f"test {k}": truth ^ (rng.random(n_patients) < p) for k, p in enumerate(flips, 1)}
    return pd.DataFrame({**columns, "truth": truth}).astype(int)


def workbook(patients: pd.DataFrame, tests: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    with pd.ExcelWriter(file, engine="openpyxl") as writer:
        patients.to_excel(writer, sheet_name="patients", index=False)
        tests.to_excel(writer, sheet_name="tests", index=False)
    return file.getvalue()
