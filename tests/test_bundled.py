"""The bundled studies, against what their publishers and the paper say of them."""

import hashlib

import numpy as np
import pytest

from csmd_core.bundled import (
    DATA,
    ONE_PER_COLUMN,
    about,
    bundled_names,
    groupings,
    load_bundled,
)
from csmd_core.checks import check_study
from csmd_core.faults import BadInput
from csmd_core.panels import cascade

UCI_CLEVELAND = "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8"


@pytest.mark.parametrize(
    ("name", "n_patients", "n_positive"),
    [("heart", 303, 139), ("diabetes", 768, 268), ("hepatitis", 155, 32), ("thyroid", 7200, 534)],
)
def test_counts(name, n_patients, n_positive):
    study = load_bundled(name)
    assert study.n_patients == n_patients
    assert (study.truth == 1).sum() == n_positive
    assert (study.truth == 0).sum() == n_patients - n_positive


def test_heart_rows_are_those_that_uci_publishes():
    patients = load_bundled("heart").patients
    # UCI writes all columns but the last with a decimal and a gap as "?".
    lines = [
        ",".join(["?" if np.isnan(v) else f"{v:.1f}" for v in row[:-1]] + [f"{row[-1]:.0f}"])
        for row in patients.to_numpy(dtype=float)
    ]
    rendered = "\n".join(lines) + "\n"
    assert hashlib.sha256(rendered.encode()).hexdigest() == UCI_CLEVELAND


def test_heart_facts():
    study = load_bundled("heart")
    assert study.patients["num"].value_counts().to_dict() == {0: 164, 1: 55, 2: 36, 3: 35, 4: 13}
    missing = study.patients.isna().sum()
    assert missing[missing > 0].to_dict() == {"ca": 4, "thal": 2}
    complete = study.complete_rows()
    assert complete.n_patients == 297
    assert np.bincount(complete.truth).tolist() == [160, 137]


def test_diabetes_zeros_can_be_kept_or_taken_as_missing():
    columns = ["Glucose", "BloodPressure", "SkinThickness", "Insulin", "BMI"]
    told = load_bundled("diabetes").features(columns).isna().sum()
    assert told.tolist() == [5, 35, 227, 374, 11]
    kept = load_bundled("diabetes", zero_missing=False)
    assert kept.features(columns).notna().all(axis=None)
    assert kept.patients.equals(load_bundled("diabetes").patients)


def test_hepatitis_and_thyroid_facts():
    hepatitis = load_bundled("hepatitis")
    assert hepatitis.patients.isna().sum().sum() == 167
    assert hepatitis.complete_rows().n_patients == 80
    thyroid = load_bundled("thyroid")
    assert thyroid.patients["class"].value_counts().to_dict() == {3: 6666, 2: 368, 1: 166}
    assert thyroid.patients.duplicated().sum() == 71


@pytest.mark.parametrize(
    ("name", "unshared", "shared"),
    [
        ("heart", [31.97, 396.77, 600.57], [29.87, 222.07, 323.97]),
        ("diabetes", [6, 23.61, 46.39], [6, 23.61, 44.29]),
    ],
)
def test_costs_of_the_papers_tiers(name, unshared, shared):
    study = load_bundled(name, "paper")
    assert cascade(study.tests, study.fees, shared_fees=False).costs.tolist() == unshared
    assert cascade(study.tests, study.fees).costs.tolist() == shared


def test_every_grouping_of_a_study_costs_the_same_in_the_end():
    for name in bundled_names():
        for shared in (True, False):
            totals = {
                float(cascade(study.tests, study.fees, shared_fees=shared).costs[-1])
                for study in (load_bundled(name, grouping) for grouping in groupings(name))
            }
            assert len(totals) == 1, (name, shared, totals)


def test_clinic_tests():
    names = {name: [test.name for test in load_bundled(name).tests] for name in bundled_names()}
    assert names["heart"] == [
        "History", "Blood", "Resting ECG", "Exercise ECG", "Thallium scan", "Fluoroscopy",
    ]  # fmt: skip
    assert names["diabetes"] == ["History", "Glucose", "Insulin"]
    assert names["thyroid"] == ["History", "TSH", "T3", "TT4", "T4U"]


def test_fti_comes_free_with_tt4_and_t4u():
    study = load_bundled("thyroid")
    tt4, t4u = study.tests[3], study.tests[4]
    assert study.columns_of([tt4]) == ["TT4"]
    assert study.columns_of([tt4, t4u]) == ["TT4", "T4U", "FTI"]
    assert study.unused_columns == []


def test_every_study_can_be_used_and_tells_its_source():
    for name in bundled_names():
        told = about(name)
        assert all([told.title, told.source, told.licence, told.citation, told.notes])
        for grouping in groupings(name):
            study = load_bundled(name, grouping)
            assert check_study(study) == [], (name, grouping)
            assert set(study.kinds) == set(study.patients.columns) - {study.label}
            assert study.currency == "CA$"


def test_categories_are_declared():
    kinds = load_bundled("heart").kinds
    codes = {column for column, kind in kinds.items() if kind == "category"}
    assert codes == {"sex", "cp", "fbs", "restecg", "exang", "slope", "thal"}


def test_a_change_to_one_study_leaves_the_next_alone():
    study = load_bundled("heart")
    study.patients.loc[0, "age"] = -1
    assert study.patients.loc[0, "age"] == -1
    assert load_bundled("heart").patients.loc[0, "age"] == 63


def test_unknown_names_are_told_the_known_ones():
    with pytest.raises(BadInput) as wrong_name:
        load_bundled("lungs")
    assert str(wrong_name.value) == (
        "The study 'lungs' does not come with the product. "
        "Choose one of: heart, diabetes, hepatitis, thyroid."
    )
    with pytest.raises(BadInput) as wrong_grouping:
        load_bundled("thyroid", "paper")
    assert str(wrong_grouping.value) == (
        "The study 'thyroid' has no grouping called 'paper'. "
        f"Choose one of: clinic, {ONE_PER_COLUMN}."
    )


def test_every_data_file_is_used():
    files = {path.stem for path in DATA.iterdir() if path.suffix in {".csv", ".json"}}
    assert files == set(bundled_names())
