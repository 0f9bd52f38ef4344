"""Every fault at the door: a real file in, the sentence that the user gets out."""

import contextlib
import io
import random
import zipfile

import numpy as np
import pandas as pd
import pytest

from csmd_core.bundled import load_bundled
from csmd_core.checks import check_study, require_usable
from csmd_core.faults import BadInput
from csmd_core.intake import Choices, as_results, draft_study, study_from_tables
from csmd_core.prices import price_table
from csmd_core.readers import read_price_table, read_table
from csmd_core.study import Study, Test

ASKED = Choices(label="ill", positive=("yes",))
PRICES = "test,price\nage,1\nhb,12.50\n"


def patients(n=40, **changed):
    """Write n healthy-looking rows; a named column may be given other cells."""
    columns = {
        "age": [str(30 + k % 30) for k in range(n)],
        "hb": [f"{11 + k % 7}.5" for k in range(n)],
        "ill": ["yes" if k % 2 else "no" for k in range(n)],
    }
    columns |= changed
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n"


def sentences(tmp_path, table, prices=PRICES, asked=ASKED):
    """Read both files as the product does and return every sentence, warnings marked."""
    for name, content in (("patients.csv", table), ("prices.csv", prices)):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
    try:
        told = read_table(tmp_path / "patients.csv").patients
        _, faults = draft_study(told, read_price_table(tmp_path / "prices.csv"), asked)
    except BadInput as bad:
        faults = bad.faults
    return [("(warning) " if fault.warning else "") + str(fault) for fault in faults]


def test_a_clean_file_has_no_faults(tmp_path):
    assert sentences(tmp_path, patients()) == []


WRONG_FILES = {
    "is empty. Choose a file with a heading row and one row a patient.": b"",
    "has no rows below its headings. Put one row for each patient or test below the headings.": (
        b"age,hb,ill\n"
    ),
    "is a PDF document, not a table. Open it in the program that made it and save it as .xlsx "
    "or .csv.": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj",
    "is a picture (JPEG), not a table. Choose the table itself.": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "is an Excel file of the old kind (.xls) or locked with a password. Open it in Excel and save "
    "it as .xlsx without a password.": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "is a broken Parquet file. Save it again, or send it again if it came by mail.": (
        b"PAR1\x15\x04\x15\x10PAR1"
    ),
    "is broken: a part of it is missing. Save it again, or send it again if it came by mail.": (
        b"PK\x03\x04\x14\x00\x06\x00"
    ),
    "is a compressed archive (gzip). Unpack it and choose the table inside.": b"\x1f\x8b\x08\x00",
    "is a web page or XML, whatever its ending. Open it in the program that made it and save it "
    "as .xlsx or .csv.": b"<html><table><tr><td>age</td></tr></table></html>",
    "is not a table in a form that can be read. Open it in the program that made it and save it "
    "as .xlsx or .csv.": bytes(range(256)) * 4,
    "has numbers in its first row, where the column names should be. Add a first row of column "
    "names.": b"63,1.5,0\n41,2.5,1\n",
    "may be separated by commas or semicolons. Save it with one separator only, or as .xlsx.": (
        b"a;b,c\n1;2,5\n3;4,5\n"
    ),
    "cannot be split into rows and cells. Look for a quotation mark that is not closed, or save "
    "it as .xlsx.": b'a,b\n1,"2\n3,4\n',
    "is a JSON file, not a table. Export the table as .csv or .xlsx.": b'[{"age": 63}]',
}


@pytest.mark.parametrize("sentence", WRONG_FILES)
def test_files_that_are_no_tables(tmp_path, sentence):
    assert sentences(tmp_path, WRONG_FILES[sentence]) == [f"The file 'patients.csv' {sentence}"]


def test_blank_file_with_a_byte_order_mark(tmp_path):
    said = sentences(tmp_path, b"\xef\xbb\xbf\r\n")
    assert said == [
        "The file 'patients.csv' is empty. Choose a file with a heading row and one row a patient."
    ]


def test_one_endless_cell(tmp_path):
    said = sentences(tmp_path, b"x" * 300_000)
    assert said == [
        "The file 'patients.csv' cannot be split into rows and cells. "
        "Look for a quotation mark that is not closed, or save it as .xlsx."
    ]


def test_a_zip_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("patients.csv", patients())
    with pytest.raises(BadInput, match=r"'x.xlsx' is a zip archive\. Unpack it and choose"):
        read_table(tmp_path / "x.xlsx")


def test_a_word_document(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    with pytest.raises(BadInput, match="is a Word or PowerPoint document, not a table"):
        read_table(tmp_path / "x.xlsx")


def test_a_broken_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook")
    with pytest.raises(BadInput) as bad:
        read_table(tmp_path / "x.xlsx")
    assert str(bad.value) == (
        "The file 'x.xlsx' is an Excel file that cannot be read. "
        "Open it in Excel and save it again as .xlsx without a password."
    )


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadInput, match=r"'no\.csv' cannot be opened\. Check its name and folder"):
        read_table(tmp_path / "no.csv")


def test_an_empty_workbook_and_one_without_patients(tmp_path):
    pd.DataFrame().to_excel(tmp_path / "empty.xlsx")
    with pytest.raises(BadInput, match=r"'empty\.xlsx' is empty\."):
        read_table(tmp_path / "empty.xlsx")
    prices = pd.DataFrame({"test": ["a"], "price": [1]})
    prices.to_excel(tmp_path / "tests.xlsx", sheet_name="tests", index=False)
    with pytest.raises(BadInput, match=r"has no sheet of patients\. Put one row a patient in a"):
        read_table(tmp_path / "tests.xlsx")


def test_lists_inside_parquet_cells(tmp_path):
    pd.DataFrame({"a": [[1, 2], [3]], "b": [1, 2]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(BadInput, match="has lists inside cells, in column 'a'"):
        read_table(tmp_path / "x.parquet")


def test_damaged_files_never_fail_otherwise():
    book, parquet = io.BytesIO(), io.BytesIO()
    load_bundled("hepatitis").patients.to_excel(book, index=False)
    load_bundled("hepatitis").patients.to_parquet(parquet)
    text = patients().encode()
    for seed in range(150):
        rng = random.Random(seed)
        data = bytearray(rng.choice([book.getvalue(), parquet.getvalue(), text]))
        for _ in range(rng.choice([1, 10, 100])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if seed % 3 == 0:
            data = data[: rng.randrange(len(data))]
        with contextlib.suppress(BadInput):  # a sentence is allowed, and nothing else
            read_table(bytes(data), "damaged")


def test_one_column(tmp_path):
    said = sentences(tmp_path, "age\n" + "1\n" * 30)
    assert said == [
        "The patient table has only one column, 'age'. "
        "Separate the columns by commas, semicolons or tabs, or save the table as .xlsx."
    ]


def test_duplicate_column_names(tmp_path):
    said = sentences(tmp_path, "age,hb,age,ill\n1,2,3,yes\n")
    assert said == [
        "Column name 'age' stands 2 times in the file 'patients.csv', in columns 1, 3. "
        "Give every column a name of its own."
    ]


def test_rows_of_another_width(tmp_path):
    said = sentences(tmp_path, "age,hb,ill\n1,2,no\n1,2\n3,4,yes\n1,2,3,4\n")
    assert said == [
        "The file 'patients.csv', row 3 (and 1 more rows), has 2 cells where the heading has 3. "
        "Look for a missing cell, or a comma or quotation mark inside a cell."
    ]


def test_label_with_one_value(tmp_path):
    assert sentences(tmp_path, patients(ill=["no"] * 40)) == [
        "Label 'ill' has only one value, 'no'. "
        "Choose a column that tells ill patients from healthy ones."
    ]


def test_label_more_than_half_missing(tmp_path):
    said = sentences(tmp_path, patients(100, ill=["yes", "no"] * 20 + [""] * 60))
    assert said == [
        "Label 'ill' is missing for 60 of 100 patients. "
        "Fill in more than half of the labels, or use no label."
    ]
    assert sentences(tmp_path, patients(80, ill=["yes", "no"] * 20 + [""] * 40)) == []


def test_label_that_does_not_exist_or_has_no_such_value(tmp_path):
    assert sentences(tmp_path, patients(), asked=Choices(label="sick")) == [
        "Label 'sick' is not a column of the patient table. Choose one of: age, hb, ill."
    ]
    assert sentences(tmp_path, patients(), asked=Choices(label="ill")) == [
        "Label 'ill' has no positive value. Say which mean disease: no, yes."
    ]
    assert sentences(tmp_path, patients(), asked=Choices(label="ill", positive=("ja",))) == [
        "Label 'ill' never takes the positive value ja. Its values are: no, yes."
    ]
    assert sentences(tmp_path, patients(), asked=Choices(label="ill", positive=("yes", "no"))) == [
        "Label 'ill' has no value left that means no disease. "
        "Leave at least one value that means no disease."
    ]


def test_no_label_is_a_warning(tmp_path):
    said = sentences(tmp_path, patients(), asked=Choices())
    assert said == [
        "(warning) The study has no label, so error rates cannot be measured. "
        "Name the column that holds the diagnosis, if there is one."
    ]


@pytest.mark.parametrize(
    ("price", "sentence"),
    [
        ("", "has no price. Give it a price of 0 or more."),
        ("-3", "has a negative price, -3. Give it a price of 0 or more."),
        ("cheap", "has the price 'cheap', which is not a number. "
         "Write a number of 0 or more, such as 12.50."),
        ("inf", "has an infinite price. Give it a price of 0 or more."),
        ('"1,234"', "has the price '1,234', which may have a decimal or a thousands mark. "
         "Write it without a thousands mark, with two decimals."),
    ],
)  # fmt: skip
def test_prices_that_are_none(tmp_path, price, sentence):
    said = sentences(tmp_path, patients(), f"test,price\nage,1\nhb,{price}\n")
    assert said == [f"Test 'hb' {sentence}"]


def test_price_table_without_its_columns(tmp_path):
    mend = (
        "Its columns are: test, price, columns, shared_fee_group, shared_fee; "
        "only test and price are always needed."
    )
    said = sentences(tmp_path, patients(), "a,b\n1,2\n")
    assert said == [
        f"The price table has no column called 'test'. {mend}",
        f"The price table has no column called 'price'. {mend}",
    ]


def test_a_price_without_a_test_and_no_tests_at_all(tmp_path):
    assert sentences(tmp_path, patients(), "test,price\nage,1\n,5\n") == [
        "The price table, row 3, has no test name. Write the test's name, or delete the row."
    ]
    (tmp_path / "patients.csv").write_text(patients())
    _, faults = draft_study(read_table(tmp_path / "patients.csv").patients, None, ASKED)
    assert [str(fault) for fault in faults] == [
        "The study has no tests. Add a price table with at least one test."
    ]


def test_test_naming_an_unknown_column(tmp_path):
    said = sentences(tmp_path, patients(), "test,price,columns\nBlood,5,hb; chol\n")
    assert said == [
        "Test 'Blood' names the column 'chol', which does not exist. The columns are: age, hb, ill."
    ]


def test_column_in_two_tests_and_a_test_listed_twice(tmp_path):
    said = sentences(tmp_path, patients(), "test,price,columns\nA,5,hb\nB,5,hb; age\n")
    assert said == ["Column 'hb' belongs to 2 tests: A, B. Let one test reveal it."]
    said = sentences(tmp_path, patients(), "test,price,columns\nA,5,hb\nA,5,age\n")
    assert said == ["Test 'A' is listed 2 times. Give each test its own name."]


def test_test_without_columns(tmp_path):
    said = sentences(
        tmp_path, patients(), "test,price,columns\nA,5,;\nB,5,hb\n".replace("A,5,;", 'A,5,";"')
    )
    assert said == ["Test 'A' has no columns. Name the columns that it reveals."]


def test_label_used_in_a_test(tmp_path):
    said = sentences(tmp_path, patients(), "test,price\nage,1\nill,2\n")
    assert said == [
        "Test 'ill' reveals the label 'ill'. "
        "Take it out: the diagnosis is what the tests should find."
    ]


def test_shared_fees(tmp_path):
    heading = "test,price,columns,shared_fee_group,shared_fee\n"
    assert sentences(tmp_path, patients(), heading + "A,1,age,,\nB,5,hb,draw,\n") == [
        "Test 'B' needs the shared fee 'draw', which has no amount. "
        "Write its amount in the column shared_fee."
    ]
    assert sentences(tmp_path, patients(), heading + "A,1,age,draw,2\nB,5,hb,draw,3\n") == [
        "Shared fee 'draw' has two amounts, 2.00 and 3.00. Give it the same everywhere."
    ]
    assert sentences(tmp_path, patients(), heading + "A,1,age,draw,-2\nB,5,hb,draw,\n") == [
        "Shared fee 'draw' has a negative amount, -2. Give it an amount of 0 or more."
    ]
    assert sentences(tmp_path, patients(), heading + "A,1,age,,2\nB,5,hb,draw,3\n") == [
        "Test 'A' has 1 shared fees for 0 names in shared_fee_group. "
        "Give every shared fee a name and an amount."
    ]


def test_constant_and_empty_columns_are_warnings(tmp_path):
    mend = "It cannot tell patients apart; leave it out of the tests."
    assert sentences(tmp_path, patients(hb=["12.5"] * 40)) == [
        f"(warning) Column 'hb' has only one value, '12.5'. {mend}"
    ]
    assert sentences(tmp_path, patients(hb=["NA"] * 40)) == [
        f"(warning) Column 'hb' is empty. {mend}"
    ]


@pytest.mark.parametrize(
    ("name", "cell", "looks"),
    [
        ("Patient name", lambda k: f"P{k % 3}", "a name"),
        ("surname", lambda k: f"P{k % 3}", "a name"),
        ("MRN", lambda k: f"{k % 5}", "a record number"),
        ("patient_id", lambda k: f"{k % 5}", "a record number"),
        ("x", lambda k: str(k + 1), "a record number"),
        ("x", lambda k: str(4_000_000 + 37 * k), "a record number"),
        ("x", lambda k: f"Person {k}", "a name or a record number"),
        ("DOB", lambda k: "1950-01-01" if k % 2 else "1961-01-01", "a date of birth"),
        ("date_of_birth", lambda k: "1.2.1950" if k % 2 else "3.4.1961", "a date of birth"),
        ("x", lambda k: f"{k % 28 + 1}.02.1950", "a date, perhaps of birth"),
        ("email", lambda k: f"a{k % 3}@b.org", "contact details"),
    ],
)
def test_columns_that_may_identify_patients(tmp_path, name, cell, looks):
    said = sentences(tmp_path, patients(**{name: [cell(k) for k in range(40)]}))
    assert said == [
        f"(warning) Column '{name}' looks like {looks}. "
        "Delete it from the file: patients must not be recognised."
    ]


def test_text_where_numbers_are_expected(tmp_path):
    cells = [f"{11 + k % 7}.5" for k in range(40)]
    cells[5], cells[9] = "high", "low"
    assert sentences(tmp_path, patients(hb=cells)) == [
        "Column 'hb', row 7 (and 1 more row), says 'high' where a number is expected. "
        "Write a number, leave the cell empty, or make the column a category."
    ]


def test_row_numbers_survive_blank_lines(tmp_path):
    cells = [f"{11 + k % 7}.5" for k in range(40)]
    cells[5] = "<0.1"
    table = patients(hb=cells).replace("\n", "\n\n", 1)
    assert sentences(tmp_path, table)[0].startswith("Column 'hb', row 8, says '<0.1' where")


def test_a_mark_that_may_mean_two_things(tmp_path):
    cells = [f'"1,{200 + k % 7}"' for k in range(40)]
    said = sentences(tmp_path, patients(hb=cells))
    assert said == [
        "Column 'hb', row 2 (and 39 more rows), says '1,200', "
        "which may have a decimal or a thousands mark. "
        "Say which decimal mark the file uses, or leave thousands unmarked."
    ]


def test_infinite_cells(tmp_path):
    cells = ["inf", *(f"{11 + k % 7}.5" for k in range(39))]
    assert sentences(tmp_path, patients(hb=cells)) == [
        "Column 'hb', row 2, holds an infinite number. Write the true value, or leave it empty."
    ]


def test_too_few_labelled_patients(tmp_path):
    asked = Choices(label="ill", positive=("yes",), folds=5)
    assert sentences(tmp_path, patients(18), asked=asked) == [
        "Label 'ill' is known for 18 patients; at least 20 are needed. "
        "Add patients whose diagnosis is known."
    ]


def test_fewer_positives_or_negatives_than_folds(tmp_path):
    few = ["yes"] * 4 + ["no"] * 36
    assert sentences(tmp_path, patients(ill=few)) == [
        "Label 'ill' has 4 positive patients, fewer than the 10 folds. Use at most 4 folds."
    ]
    one = ["no"] + ["yes"] * 39
    assert sentences(tmp_path, patients(ill=one)) == [
        "Label 'ill' has 1 negative patient, fewer than the 10 folds. Add negative patients."
    ]
    nothing_learnt = Choices(label="ill", positive=("yes",), folds=None)
    assert sentences(tmp_path, patients(ill=few), asked=nothing_learnt) == []


def test_more_than_twelve_tests_for_all_subsets():
    study = load_bundled("thyroid", "one test per column")
    assert [str(fault) for fault in check_study(study, mode="subsets")] == [
        "All subsets of 20 tests would be 1,048,575 panels. "
        "Use at most 12 tests, join some, or choose the subsets you need."
    ]
    assert check_study(study) == []


def test_everything_wrong_is_said_at_once(tmp_path):
    cells = ["high", *("12.5" for _ in range(39))]
    table = patients(hb=cells, name=["x"] * 40, ill=["yes"] * 3 + ["no"] * 37)
    said = sentences(tmp_path, table, "test,price\nage,-1\nhb,free\nchol,\n")
    assert [sentence.split(" ", 2)[1] for sentence in said] == [
        "'hb'", "'ill'", "'age'", "'chol'", "'chol'", "'hb',", "Column",
    ]  # fmt: skip
    assert said[-1].startswith("(warning) Column 'name' looks like a name.")


def test_faults_stop_a_study_and_warnings_do_not():
    bundled = load_bundled("diabetes")
    table = price_table(bundled)
    asked = Choices(label="Outcome", positive=(1,), kinds=bundled.kinds)
    with pytest.raises(BadInput) as bad:
        study_from_tables(bundled.patients.assign(Glucose="?"), table, asked)
    assert [fault.where for fault in bad.value.faults] == [
        "Column 'Glucose', row 2 (and 767 more rows),"
    ]
    constant = bundled.patients.assign(Glucose=1)
    study = study_from_tables(constant, table, asked)
    assert [fault.warning for fault in require_usable(study)] == [True]
    with pytest.raises(BadInput, match="fewer than the 300 folds"):
        require_usable(study, folds=300)


def test_a_study_built_by_hand_is_checked_too():
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    assert [fault.what for fault in check_study(Study("s", frame, ()))] == [
        "stands 2 times in the table."
    ]
    assert [fault.what for fault in check_study(Study("s", pd.DataFrame(), ()))] == ["is empty."]
    price = Test("T", ("a",), "12")  # type: ignore[arg-type]
    frame = pd.DataFrame({"a": range(30), "b": [0, 1] * 15})
    what = [
        fault.what for fault in check_study(Study("s", frame, (price,), label="b", positive=(1,)))
    ]
    assert what[0] == "has the price '12', which is not a number."


def test_results_that_are_not_0_or_1(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("ECG,Scan,Blood\n1,yes,0\n0,maybe,\n2,no,1\n")
    with pytest.raises(BadInput) as bad:
        as_results(read_table(path).patients, ["ECG", "Scan", "Blood", "Biopsy"])
    mend = "Write 1 for a positive and 0 for a negative result in every row."
    assert [str(fault) for fault in bad.value.faults] == [
        "Column 'Biopsy' does not exist. Choose from: ECG, Scan, Blood.",
        f"Column 'ECG', row 4, says '2' where a test result, 0 or 1, is expected. {mend}",
        f"Column 'Scan', row 3, says 'maybe' where a test result, 0 or 1, is expected. {mend}",
        f"Column 'Blood', row 3, is empty where a test result, 0 or 1, is expected. {mend}",
    ]
    assert np.array_equal(as_results(read_table(path).patients.iloc[:1], ["ECG", "Scan"]), [[1, 1]])
