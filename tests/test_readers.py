"""Reading files as hospitals export them: what was written is what is read, or it is asked."""

import io
import string
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csmd_core.bundled import DATA, load_bundled
from csmd_core.cells import MISSING, parse_number
from csmd_core.checks import check_study
from csmd_core.files import decode
from csmd_core.guesses import guess_kinds
from csmd_core.intake import Choices, draft_study
from csmd_core.prices import parse_prices
from csmd_core.readers import read_price_table, read_table
from csmd_core.tabular import ROW
from csmd_core.templates import templates, write_templates

ENCODINGS = ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"]
WORDS = st.text(string.ascii_letters + " éüñß;,\t|\"'\n", min_size=1, max_size=12).map(
    lambda word: "w" + word.strip()
)
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 4))


@st.composite
def frames(draw):
    n = draw(st.integers(1, 8))

    def column(cell):
        return draw(st.lists(cell, min_size=n, max_size=n))

    return pd.DataFrame(
        {
            "id": range(1, n + 1),
            "whole": column(st.integers(-(10**9), 10**9)),
            "amount": column(NUMBERS),
            "thousandths": column(st.integers(-(10**6), 10**6).map(lambda k: k / 1000)),
            "gaps": column(st.one_of(st.none(), NUMBERS)),
            "Größe": column(st.one_of(st.none(), WORDS)),
        }
    )


def written(frame, separator, decimal, encoding):
    text = frame.to_csv(sep=separator, decimal=decimal, index=False, lineterminator="\r\n")
    return text.encode(encoding)


def assert_same(read, frame):
    assert list(read.columns) == list(frame.columns)
    for name in frame:
        if frame[name].isna().all():
            assert read[name].isna().all()
        elif name == "Größe":
            assert read[name].where(read[name].notna(), None).tolist() == frame[name].tolist()
        else:
            np.testing.assert_array_equal(
                read[name].to_numpy(dtype=float), frame[name].to_numpy(dtype=float)
            )


@settings(deadline=None, max_examples=150)
@given(frames(), st.sampled_from(",;\t|"), st.sampled_from(".,"), st.sampled_from(ENCODINGS))
def test_every_dialect_and_encoding_reads_back_equal(frame, separator, decimal, encoding):
    data = written(frame, separator, decimal, encoding)
    assert_same(read_table(data, "x.csv", decimal=decimal).patients, frame)


@settings(deadline=None, max_examples=150)
@given(frames(), st.sampled_from(",;\t"), st.sampled_from(".,"))
def test_a_number_is_never_guessed_wrongly(frame, separator, decimal):
    if decimal == ",":  # one column that shows the file's mark beyond doubt
        frame["amount"] = frame["amount"].round() + 0.5
    read = read_table(written(frame, separator, decimal, "utf-8"), "x.csv").patients
    for name in ("whole", "amount", "thousandths", "gaps"):
        if pd.api.types.is_numeric_dtype(read[name].dtype):
            np.testing.assert_array_equal(read[name].astype(float), frame[name].astype(float))


@settings(deadline=None, max_examples=25)
@given(frames())
def test_excel_and_parquet_read_back_equal(frame):
    frame["Größe"] = frame["Größe"].str.replace("\n", " ")
    book, parquet = io.BytesIO(), io.BytesIO()
    frame.to_excel(book, index=False)
    frame.to_parquet(parquet)
    assert_same(read_table(book.getvalue(), "x.xlsx").patients, frame)
    assert_same(read_table(parquet.getvalue(), "x.parquet").patients, frame)


def test_bundled_files_read_as_pandas_reads_them():
    for name in ("heart", "diabetes", "hepatitis", "thyroid"):
        read = read_table(DATA / f"{name}.csv").patients
        pd.testing.assert_frame_equal(read.reset_index(drop=True), load_bundled(name).patients)


def test_the_file_tells_how_it_was_read(tmp_path):
    path = tmp_path / "klinik.csv"
    path.write_bytes("Größe;Alter\r\n1,72;63\r\n1,80;41\r\n".encode("cp1252"))
    tables = read_table(path)
    assert tables.patients["Größe"].tolist() == [1.72, 1.80]
    assert tables.notes == ("CSV, CP1252, separated by semicolons, decimal comma",)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "2"], [1.5, 2]),
        (["1.234,5", "2"], [1234.5, 2]),
        (["1,234.5", "7"], [1234.5, 7]),
        (["1,234,567", "7"], [1234567, 7]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["1 234,5", "1\u00a0000"], [1234.5, 1000]),
        (["1 234", "12"], [1234, 12]),
        (["+5", " 6 "], [5, 6]),
        (["1e-3", "2.5"], [0.001, 2.5]),
        (["3.5", " N/A "], [3.5, None]),
    ],
)
def test_numbers_in_many_writings(cells, numbers):
    data = "id\tx\n" + "".join(f"{k}\t{cell}\n" for k, cell in enumerate(cells))
    read = read_table(data.encode(), "x.tsv").patients["x"]
    expected = [np.nan if x is None else x for x in numbers]
    np.testing.assert_array_equal(read.to_numpy(dtype=float), expected)


def test_a_mark_that_may_be_decimal_or_thousands_is_settled_by_the_file_or_left():
    alone = read_table(b"id;x\n1;1,234\n2;5,678\n", "x.csv").patients["x"]
    assert alone.tolist() == ["1,234", "5,678"]
    with_comma = read_table(b"id;x;y\n1;1,234;0,5\n2;5,678;1,5\n", "x.csv").patients["x"]
    assert with_comma.tolist() == [1.234, 5.678]
    with_point = read_table(b"id;x;y\n1;1,234;0.5\n2;5,678;1.5\n", "x.csv").patients["x"]
    assert with_point.tolist() == [1234, 5678]
    asked = read_table(b"id;x\n1;1,234\n2;5,678\n", "x.csv", decimal=",").patients["x"]
    assert asked.tolist() == [1.234, 5.678]
    contradicted = read_table(b"id;x\n1;1,5\n2;2,5\n", "x.csv", decimal=".").patients["x"]
    assert contradicted.tolist() == ["1,5", "2,5"]
    point_alone = read_table(b"id;x\n1;1.234\n2;5.678\n", "x.csv").patients["x"]
    assert point_alone.tolist() == ["1.234", "5.678"]  # where semicolons separate, 1234 is likely
    usual = read_table(b"id,x\n1,1.234\n2,5.678\n", "x.csv").patients["x"]
    assert usual.tolist() == [1.234, 5.678]


def test_codes_and_long_numbers_keep_their_digits():
    read = read_table(b"code,long,n\n007,12345678901234567890,1\n010,1,2\n", "x.csv").patients
    assert read["code"].tolist() == ["007", "010"]
    assert read["long"].tolist() == ["12345678901234567890", "1"]


@pytest.mark.parametrize("gap", sorted(MISSING))
def test_gaps(gap):
    data = f"id\tx\tword\n1\t{gap}\t{gap}\n2\t2.5\tmild\n"
    read = read_table(data.encode(), "x.tsv").patients
    assert read["x"].isna().tolist() == [True, False]
    assert read["word"].isna().tolist() == [True, False]


def test_none_is_an_answer_and_not_a_gap():
    read = read_table(b"id,pain\n1,None\n2,mild\n", "x.csv").patients
    assert read["pain"].tolist() == ["None", "mild"]


def test_rows_are_counted_as_seen_in_the_file():
    read = read_table(b"a,b\n1,2\n\n3,4\n,\n5,6\n\n", "x.csv").patients
    assert read.index.name == ROW
    assert read.index.tolist() == [2, 4, 6]
    shifted = read_table(b"sep=;\r\na;b\r\n1;2\r\n", "x.csv").patients
    assert shifted.index.tolist() == [3]
    assert list(shifted.columns) == ["a", "b"]


def test_quotes_newlines_and_old_line_ends():
    quoted = read_table(b'a,b\n"x, ""y""\nz",2\n', "x.csv").patients
    assert quoted["a"].tolist() == ['x, "y"\nz']
    inches = read_table(b"a,b\n5'10\",2\n", "x.csv").patients
    assert inches["a"].tolist() == ["5'10\""]
    assert read_table(b"a,b\r1,2\r3,4", "x.csv").patients["b"].tolist() == [2, 4]


def test_a_very_wide_table():
    names = [f"a column with {'a very long name ' * 4}{k}" for k in range(2000)]
    data = ";".join(names) + "\n" + ";".join(["1,5"] * 2000) + "\n"
    read = read_table(data.encode(), "x.csv").patients
    assert list(read.columns) == names
    assert (read == 1.5).all(axis=None)


def test_a_nameless_empty_column_goes_and_a_nameless_full_one_gets_a_name():
    assert list(read_table(b"a,b,\n1,2,\n", "x.csv").patients.columns) == ["a", "b"]
    assert list(read_table(b",a\n0,1\n1,5\n", "x.csv").patients.columns) == ["column 1", "a"]


def test_workbook_with_both_sheets_or_patients_alone(tmp_path):
    write_templates(tmp_path)
    both = read_table(tmp_path / "study.xlsx")
    assert list(both.patients.columns) == ["age", "sex", "glucose", "insulin", "diagnosis"]
    told = parse_prices(both.prices, list(both.patients.columns))
    assert [test.columns for test in told.tests] == [("age", "sex"), ("glucose",), ("insulin",)]
    assert told.fees == {"blood draw": 2.1}
    alone = tmp_path / "alone.xlsx"
    both.patients.to_excel(alone, index=False, sheet_name="Tabelle1")
    assert read_table(alone).prices is None
    assert read_table(alone).patients["glucose"].isna().sum() == 1


def test_workbook_cells_of_every_type(tmp_path):
    path = tmp_path / "x.xlsx"
    frame = pd.DataFrame(
        {
            "flag": [True, False],
            "date": pd.to_datetime(["1950-02-01", "1961-03-04"]),
            "mixed": [1.234, "1,5"],
            "text": ["1,5", "2,5"],
            "whole": [1.0, None],
        }
    )
    frame.to_excel(path, index=False, startrow=2)
    read = read_table(path).patients
    assert read["flag"].tolist() == ["true", "false"]
    assert read["date"].tolist() == ["1950-02-01", "1961-03-04"]
    assert read["mixed"].tolist() == ["1.234", "1,5"]  # no guess: a number beside a text
    assert read["text"].tolist() == [1.5, 2.5]
    assert read.index.tolist() == [4, 5]


def test_parquet_of_every_type(tmp_path):
    path = tmp_path / "x.parquet"
    frame = pd.DataFrame(
        {
            "small": np.array([1, 2], dtype="int8"),
            "gap": pd.array([1, None], dtype="Int64"),
            "half": np.array([0.5, 1.5], dtype="float32"),
            "word": pd.Categorical(["a", "b"]),
            "code": pd.Categorical([3, 7]),
            "flag": [True, False],
            "day": pd.to_datetime(["2020-01-01", None]),
        },
        index=pd.Index(["p1", "p2"], name="patient"),
    )
    frame["exact"] = [Decimal("1.50"), None]
    frame["maybe"] = pd.array([True, None], dtype="boolean")
    frame["huge"] = np.array([2**64 - 1, 1], dtype="uint64")
    frame.to_parquet(path)
    read = read_table(path).patients
    assert read["exact"].tolist()[0] == 1.5
    assert read["maybe"].tolist()[0] == "true"
    assert read["maybe"].isna().tolist() == [False, True]
    assert read["huge"].tolist() == ["18446744073709551615", "1"]
    assert read["patient"].tolist() == ["p1", "p2"]
    assert read["small"].dtype == np.int64
    assert read["gap"].isna().tolist() == [False, True]
    assert read["half"].tolist() == [0.5, 1.5]
    assert read["word"].tolist() == ["a", "b"]
    assert read["code"].tolist() == [3, 7]
    assert read["flag"].tolist() == ["true", "false"]
    assert read["day"].tolist()[0] == "2020-01-01"


def test_price_table_of_its_own(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(
        "Test;Price;Columns;Shared fee group;Shared fee\nHistory;4,00;age, sex;;\n"
        "Blood;8,27;chol | fbs;blood draw;2,10\n",
        encoding="utf-8",
    )
    told = parse_prices(read_price_table(path), ["age", "sex", "chol", "fbs"])
    assert told.faults == []
    assert [test.price for test in told.tests] == [4, 8.27]
    assert told.tests[1].columns == ("chol", "fbs")
    assert told.fees == {"blood draw": 2.1}


def test_the_templates_can_be_read_and_lack_only_patients():
    files = templates()
    patients = read_table(files["patients.csv"]).patients
    prices = read_price_table(files["tests.csv"])
    _, faults = draft_study(patients, prices, Choices(label="diagnosis", positive=("yes",)))
    assert {fault.where for fault in faults} == {"Label 'diagnosis'"}
    pd.testing.assert_frame_equal(read_price_table(files["study.xlsx"]), prices)
    assert guess_kinds(patients)["sex"] == "category"


def test_utf16_without_its_mark_and_latin1_with_odd_bytes():
    assert decode("a,b\n1,2\n".encode("utf-16-be"), "x")[1] == "utf-16-be"
    assert decode(b"a,b\n\x81,\xe9\n", "x") == ("a,b\n\x81,é\n".encode(), "latin-1")


@given(st.floats(0, 1e9, allow_nan=False))
def test_a_parsed_number_is_the_number_written(x):
    for mark in (".", ","):
        text = f"{x:.6f}".replace(".", mark)
        assert parse_number(text) == parse_number(text, mark) == float(f"{x:.6f}")


def test_a_file_from_a_hospital_becomes_a_study(tmp_path):
    rows = [f"{40 + k % 30};{'ja' if k % 3 else 'nein'};{k % 7},5" for k in range(60)]
    path = tmp_path / "export.csv"
    path.write_bytes(("Alter;Krank;Wert\r\n" + "\r\n".join(rows)).encode("utf-16"))
    prices = pd.DataFrame({"test": ["Alter", "Wert"], "price": [1, 12.5]})
    asked = Choices(label="Krank", positive=("ja",))
    study, faults = draft_study(read_table(path).patients, prices, asked)
    assert faults == []
    assert check_study(study, mode="subsets") == []
    assert (study.truth == 1).sum() == 40
