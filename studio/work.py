"""What the settings mean: the study, its panels, the evidence.

Everything is computed once for its content, whoever asks: a new price never fits again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import streamlit as st
from joblib import cpu_count
from streamlit.runtime.scriptrunner_utils.exceptions import StopException

from csmd_core.bundled import load_bundled
from csmd_core.cells import Decimal
from csmd_core.checks import check_study
from csmd_core.engine import warm_up
from csmd_core.faults import BadInput, Fault
from csmd_core.intake import Choices, as_results, draft_study
from csmd_core.panels import Mode, Panels, cascade, subsets
from csmd_core.predictions import Fitting, Scores, brought_evidence, fit_scores
from csmd_core.problem import Evidence
from csmd_core.readers import Tables, read_table
from csmd_core.study import Study, Test
from studio import session
from studio.shelf import kept, key_of, shelf
from studio.text import count, plain, show_faults

SMALL = 3.0  # seconds: what is fitted without asking
_PACE = {  # milliseconds a fit takes at least, and more for each 1,000 patients; on one core
    "logistic regression": (4, 3), "as in the paper": (4, 4), "naive Bayes": (3, 2),
    "gradient boosting": (60, 45), "random forest": (280, 110),
}  # fmt: skip


def study() -> Study:
    """The chosen study with the user's tests and prices, faults and all."""
    chosen, tests, fees = (session.get(name) for name in ("study", "tests", "fees"))

    def make() -> Study:
        found = _bundled(chosen) if chosen["source"] == "bundled" else _uploaded(chosen)
        if tests is None:
            return found
        amounts = {fee: _amount(amount) for fee, amount in (fees or {}).items()}
        return replace(found, tests=tuple(as_test(t) for t in tests), fees=amounts)

    return kept(make, "study", chosen, tests, fees)


def as_test(row: dict[str, Any]) -> Test:
    """Read a test as settings keep it."""
    return Test(row["name"], tuple(row["columns"]), _amount(row["price"]), tuple(row["fees"]))


def as_row(test: Test) -> dict[str, Any]:
    """Write a test as settings keep it."""
    return {"name": test.name, "columns": list(test.columns), "price": _kept_amount(test.price),
            "fees": list(test.fees)}  # fmt: skip


def fees_as_kept(fees: Mapping[str, float]) -> dict[str, float | None]:
    """Write shared fees as settings keep them."""
    return {fee: _kept_amount(amount) for fee, amount in fees.items()}


def _amount(kept_amount: float | None) -> float:
    return math.nan if kept_amount is None else float(kept_amount)


def _kept_amount(amount: float) -> float | None:
    """Keep an amount that is still to be filled in as None: JSON has no NaN."""
    return float(amount) if math.isfinite(amount) else None


def tables() -> Tables:
    """The uploaded file as read."""
    chosen, held = session.get("study"), session.workspace()
    assert held is not None
    return read(
        lambda: session.store().get_blob(held.id, chosen["patients"]),
        chosen["patients"], chosen["file"], chosen.get("decimal"),
    )  # fmt: skip


def read(data: Callable[[], bytes], ref: str, name: str, decimal: Decimal | None = None) -> Tables:
    """Read a file once for its content."""
    return kept(lambda: read_table(data(), name, decimal), "tables", ref, name, decimal)


def _bundled(chosen: dict[str, Any]) -> Study:
    found = load_bundled(chosen["name"], chosen["grouping"], chosen["zero_missing"])
    return found.complete_rows() if chosen.get("complete_rows") else found


def _uploaded(chosen: dict[str, Any]) -> Study:
    frame = tables().patients.drop(columns=chosen.get("left_out", []), errors="ignore")
    choices = Choices(
        name=chosen["file"],
        label=chosen.get("label"),
        positive=tuple(chosen.get("positive", ())),
        kinds=chosen.get("kinds", {}),
        zero_missing=tuple(chosen.get("zero_missing") or ()),
        currency=chosen.get("currency", "$"),
    )
    return draft_study(frame, None, choices)[0]


def brought_results() -> bool:
    """Whether the user's columns are test results already."""
    return bool(session.get("study").get("results"))


def faults() -> list[Fault]:
    """Everything wrong with the study, warnings included."""
    folds = None if brought_results() else int(session.get("fitting")["folds"])
    every_subset = session.get("mode") == "subsets" and not (
        session.get("chosen") or session.get("at_most")
    )
    mode: Mode = "subsets" if every_subset else "cascade"
    settings = [session.get(name) for name in ("study", "tests", "fees")]
    return kept(lambda: _checked(folds, mode), "faults", settings, folds, mode)


def _checked(folds: int | None, mode: Mode) -> list[Fault]:
    """Check the study; without labels it is of use only where nothing has to be learnt."""
    found = check_study(study(), folds, mode)
    if brought_results():
        return _result_faults(study()) + found
    if study().label is not None:
        return found
    mend = "Choose the column that holds the diagnosis, or say that your columns are test results."
    needed = Fault("The study", "has no label, so no classifier can learn from it.", mend)
    return [needed, *(fault for fault in found if fault.where != needed.where or not fault.warning)]


def _result_faults(found: Study) -> list[Fault]:
    """Find cells that are no test results in the columns that are said to hold them."""
    columns = [test.columns[0] for test in found.tests if test.columns]
    try:
        as_results(found.patients, [column for column in columns if column in found.patients])
    except BadInput as bad:
        return list(bad.faults)
    return []


def usable_study() -> Study:
    """The study, or what is wrong with it, a link to the page that mends it, and stop."""
    serious = [fault for fault in faults() if not fault.warning]
    if serious:
        stop_with(serious, "pages/data.py", "Mend it on the Data page")
    return study()


def panels() -> Panels:
    """The cascade or the subsets, with today's prices."""
    found, shared = usable_study(), session.get("shared_fees")
    mode, at_most, chosen = (session.get(name) for name in ("mode", "at_most", "chosen"))

    def make() -> Panels:
        if mode == "cascade":
            return cascade(found.tests, found.fees, shared_fees=shared)
        return subsets(found.tests, found.fees, shared_fees=shared, at_most=at_most, chosen=chosen)

    settings = [session.get(name) for name in ("study", "tests", "fees")]
    try:
        return kept(make, "panels", settings, shared, mode, at_most, chosen)
    except BadInput as bad:
        stop_with(bad.faults, "pages/tests.py", "Mend it on the Tests page")


def fitting() -> Fitting:
    return Fitting(**session.get("fitting"))


def fit_key(found: Study, made: Panels, how: Fitting) -> str:
    """Name what a fit depends on: patients, columns, panels, classifier; no price, no threshold."""
    return key_of(
        "scores", found.fingerprint, sorted(made.masks), how.classifier, how.folds, how.seed
    )


def fit_seconds(found: Study, made: Panels, how: Fitting) -> float:
    """Estimate roughly how long fitting takes here."""
    least, more = _PACE.get(how.classifier, (280, 110))
    one = (least + more * found.n_patients / 1000) / 1000
    return one * len(made) * max(how.folds, 1) / int(cpu_count())


def is_small(found: Study, made: Panels, how: Fitting) -> bool:
    """Whether fitting takes so little that nobody need be asked."""
    return fit_seconds(found, made, how) <= SMALL


def scores() -> Scores | None:
    """P(disease) by panel, if fitted; None where it is not, or where results were brought."""
    found: Scores | None = shelf().get(fit_key(usable_study(), panels(), fitting()))
    return found


def at_hand() -> bool:
    """Whether the evidence is there, or fitted so fast that nobody notices."""
    if brought_results():
        return True
    found, made, how = usable_study(), panels(), fitting()
    return is_small(found, made, how) or scores() is not None


def evidence() -> Evidence:
    """The evidence for today's panels; fits small studies at once, else says where to fit."""
    found, made, how = usable_study(), panels(), fitting()
    if brought_results():
        return _results_evidence(found, made)
    key = fit_key(found, made, how)
    fitted = shelf().get(key)
    if fitted is None:
        if not (is_small(found, made, how) or session.get("fitted") == key):
            waiting = Fault(
                "The classifiers", f"for {count(len(made), 'panel')} are not fitted yet.",
                "Fit them on the Tests page; it takes a while with this many.",
            )  # fmt: skip
            stop_with([waiting], "pages/tests.py", "Go to Tests")
        fitted = fit_now(found, made, how)
    called: Evidence = kept(lambda: fitted.evidence(how.threshold), "evidence", key, how.threshold)
    return kept(lambda: called.ordered_as(made), "ordered", key, how.threshold, made.masks)


def fit_now(found: Study, made: Panels, how: Fitting) -> Scores:
    """Fit with a progress bar and the time left, and keep the scores."""
    bar, began = st.empty(), time.monotonic()

    def progress(done: int, total: int) -> None:
        spent = time.monotonic() - began
        if spent > 0.5:
            left = math.ceil(spent / done * (total - done))
            bar.progress(done / total, f"Fitting {done} of {total}, about {left} s left")

    try:
        fitted = fit_scores(found, made, how, progress=progress)
    except BadInput as bad:
        bar.empty()
        stop_with(bad.faults, "pages/tests.py", "Mend it on the Tests page")
    bar.empty()
    return shelf().put(fit_key(found, made, how), fitted)


def _results_evidence(found: Study, made: Panels) -> Evidence:
    """Read the columns as results: the first column of each test."""
    rule = session.get("study").get("rule", "the last test decides")
    try:
        results = as_results(found.patients, [test.columns[0] for test in made.tests])
    except BadInput as bad:
        stop_with(bad.faults, "pages/data.py", "Mend it on the Data page")
    return kept(
        lambda: brought_evidence(results, made, found.truth, rule),
        "results", found.fingerprint, made.masks, rule,
    )  # fmt: skip


@st.cache_resource(show_spinner="Preparing the engine: some seconds, once after installing …")
def engine_ready() -> bool:
    """Have the engine compiled before anything waits for it."""
    warm_up()
    return True


def stop_with(wrong: Iterable[Fault], page: str, words: str) -> NoReturn:
    """Say what is wrong, link to the page that mends it, and stop the page here."""
    show_faults(wrong)
    st.page_link(page, label=plain(words), icon=":material/arrow_forward:")
    stop()


def stop() -> NoReturn:
    """End the page here, but not the sidebar that follows, which `st.stop` would end as well."""
    raise StopException
