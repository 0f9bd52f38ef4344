"""Studies as values: labels of every kind, columns, completeness."""

import numpy as np
import pandas as pd
import pytest

from csmd_core.bundled import load_bundled
from csmd_core.checks import check_study
from csmd_core.guesses import guess_kinds, identifies, suggest_label, suggest_positive
from csmd_core.intake import Choices, as_results, draft_study, study_from_tables
from csmd_core.prices import blank_prices, parse_prices, price_table
from csmd_core.study import Study, Test, plain


def study_with_label(values, positive):
    frame = pd.DataFrame({"x": range(len(values)), "label": values})
    return Study("s", frame, (Test("X", ("x",), 1.0),), label="label", positive=positive)


@pytest.mark.parametrize(
    ("values", "positive", "truth"),
    [
        (["yes", "no", None], ("yes",), [1, 0, -1]),
        (["M", "B", "M"], ("M",), [1, 0, 1]),
        ([0, 1, 1], (1,), [0, 1, 1]),
        ([0.0, 1.0, np.nan], ("1",), [0, 1, -1]),
        ([1, 2, 2], (1.0,), [1, 0, 0]),
        ([True, False, True], ("true",), [1, 0, 1]),
        (["true", "FALSE", None], (True,), [1, 0, -1]),
        (["hypo", "normal", "hyper"], ("hypo", "hyper"), [1, 0, 1]),
        (["1", "2", "10"], (1,), [1, 0, 0]),
    ],
)
def test_labels_of_any_kind(values, positive, truth):
    assert study_with_label(values, positive).truth.tolist() == truth


def test_no_label_no_truth():
    assert Study("s", pd.DataFrame({"x": [1]}), ()).truth is None


def test_plain_writes_equal_values_alike():
    assert plain(1) == plain(1.0) == plain("1") == plain("1.0") == plain(np.int8(1))
    assert plain(True) == plain("TRUE") == plain(np.True_)
    assert plain(1.5) != plain(1)


def test_unused_columns_are_listed():
    study = load_bundled("heart")
    fewer = Study("s", study.patients, study.tests[:2], study.fees, "num", (1, 2, 3, 4))
    assert fewer.unused_columns == [
        "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal",
    ]  # fmt: skip


def test_prices_do_not_change_the_fingerprint():
    study = load_bundled("heart")
    dearer = [Test(t.name, t.columns, t.price + 1, t.fees) for t in study.tests]
    changed = Study(
        "s", study.patients, tuple(dearer), study.fees, "num", (1, 2, 3, 4), study.kinds
    )
    assert changed.fingerprint == study.fingerprint
    assert load_bundled("heart", "paper").fingerprint != study.fingerprint


def test_guessed_kinds():
    n = 60
    frame = pd.DataFrame(
        {
            "age": range(n),
            "code": [k % 4 for k in range(n)],
            "flag": [k % 2 for k in range(n)],
            "part": [k % 4 + 0.5 for k in range(n)],
            "word": ["mild", "severe"] * 30,
            "almost": ["high", *map(str, range(n - 1))],
            "padded": [f"{k % 9:03d}" for k in range(n)],
        }
    )
    kinds = guess_kinds(frame)
    assert [c for c in kinds if kinds[c] == "category"] == ["code", "word", "padded"]


def test_guesses_about_the_bundled_labels():
    for name, label in (("heart", "num"), ("diabetes", "Outcome"), ("hepatitis", "class")):
        assert suggest_label(load_bundled(name).patients) == label
    assert suggest_positive(load_bundled("heart").patients["num"]) == (2, 1, 3, 4)
    assert suggest_positive(load_bundled("diabetes").patients["Outcome"]) == (1,)
    assert suggest_positive(load_bundled("hepatitis").patients["class"]) == ()  # 1 or 2: who knows


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        (["M", "B"], ("M",)),
        (["yes", "no"], ("yes",)),
        ([True, False], (True,)),
        (["normal", "hypo", "hyper"], ("hypo", "hyper")),
        (["a", "b"], ()),
    ],
)
def test_suggested_positives(values, positive):
    assert suggest_positive(pd.Series(values)) == positive


def test_no_bundled_column_looks_identifying():
    for name in ("heart", "diabetes", "hepatitis", "thyroid"):
        study = load_bundled(name)
        assert [c for c in study.patients if identifies(study.patients[c])] == []


def test_price_table_round_trip():
    for name in ("heart", "diabetes", "hepatitis", "thyroid"):
        study = load_bundled(name)
        told = parse_prices(price_table(study), list(study.patients.columns))
        assert told.faults == []
        assert tuple(told.tests) == study.tests
        assert told.fees == study.fees


def test_price_table_needs_only_test_and_price():
    table = pd.DataFrame({" Test": ["Age", "chol"], "Price (CA$)": ["$1.00", "5,17 €"]})
    told = parse_prices(table, ["age", "chol", "num"])
    assert told.tests == [Test("Age", ("age",), 1.0), Test("chol", ("chol",), 5.17)]


def test_price_table_by_column_with_words_for_amounts():
    table = pd.DataFrame({"column": ["a", "b", "c"], "price": ["inf", "1e2", " "]})
    told = parse_prices(table, ["a", "b", "c"])
    assert [test.name for test in told.tests] == ["a", "b", "c"]
    assert [test.price for test in told.tests[:2]] == [np.inf, 100]
    assert np.isnan(told.tests[2].price)
    assert told.faults == []


def test_a_price_that_is_a_number_is_taken_as_it_is():
    table = pd.DataFrame({"test": ["a"], "price": [1.234], "fee group": ["f"], "fee": [2.125]})
    told = parse_prices(table, ["a"])
    assert told.tests == [Test("a", ("a",), 1.234, ("f",))]
    assert told.fees == {"f": 2.125}
    study = Study("s", pd.DataFrame({"a": [1], "b": [1]}), tuple(told.tests), told.fees)
    assert parse_prices(price_table(study), ["a"]) == told


@pytest.mark.parametrize(
    "text", ["$12.50", "12,50", "CA$ 12.50", "12.50 CAD", "EUR 12,50", "€12,50", "12.5 $", "12.50"]
)
def test_amounts_of_money_in_many_writings(text):
    assert (
        parse_prices(pd.DataFrame({"test": ["a"], "price": [text]}), ["a"]).tests[0].price == 12.5
    )


@pytest.mark.parametrize("cell", ["a; b", "a,b", "a | b", "A;B"])
def test_columns_of_a_test_may_be_separated_in_three_ways(cell):
    table = pd.DataFrame({"test": ["T"], "price": [1], "columns": [cell]})
    assert parse_prices(table, ["a", "b"]).tests[0].columns == ("a", "b")


def test_a_column_whose_name_holds_a_comma_is_found_whole():
    table = pd.DataFrame({"test": ["T"], "price": [1], "columns": ["weight, kg"]})
    assert parse_prices(table, ["weight, kg", "b"]).tests[0].columns == ("weight, kg",)


def test_blank_prices_list_every_column_but_the_label():
    table = blank_prices(load_bundled("diabetes").patients, "Outcome")
    assert table["test"].tolist()[:2] == ["Pregnancies", "Glucose"]
    assert len(table) == 8
    assert table["price"].isna().all()


def test_a_study_from_tables_is_the_bundled_one():
    bundled = load_bundled("heart")
    choices = Choices("heart", "num", (1, 2, 3, 4), bundled.kinds, currency="CA$")
    study = study_from_tables(bundled.patients, price_table(bundled), choices)
    assert study.fingerprint == bundled.fingerprint
    assert (study.tests, study.fees) == (bundled.tests, bundled.fees)
    assert check_study(study) == []


def test_text_declared_a_number_becomes_one_and_the_rest_stays_as_it_is():
    frame = pd.DataFrame({"a": ["007", "010"] * 20, "b": ["x", "y"] * 20, "y": ["no", "yes"] * 20})
    table = pd.DataFrame({"test": ["a", "b"], "price": [1, 2]})
    asked = Choices(label="y", positive=("yes",), kinds={"a": "number"})
    study, faults = draft_study(frame, table, asked)
    assert faults == []
    assert study.patients["a"].tolist()[:2] == [7, 10]
    assert study.patients["b"].tolist()[:2] == ["x", "y"]
    assert frame["a"].iloc[0] == "007"


def test_rows_without_a_label_are_kept_and_left_out_of_scoring():
    frame = pd.DataFrame({"a": range(40), "y": ["yes", "no"] * 15 + [None] * 10})
    study = study_from_tables(
        frame, pd.DataFrame({"test": ["a"], "price": [1]}), Choices(label="y", positive=("yes",))
    )
    assert study.n_patients == 40
    assert (study.truth == -1).sum() == 10


def test_results_of_every_writing():
    frame = pd.DataFrame(
        {
            "a": [1, 0],
            "b": ["Yes", "no"],
            "c": [True, False],
            "d": ["pos", "NEG"],
            "e": [1.0, 0.0],
            "f": ["true", "false"],
        }
    )
    results = as_results(frame, list("abcdef"))
    assert results.dtype == np.uint8
    assert results.tolist() == [[1] * 6, [0] * 6]
