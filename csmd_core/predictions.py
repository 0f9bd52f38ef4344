"""Predictions: what each panel's classifier says about each patient, honestly out of fold.

Imputing, encoding and scaling work column by column, so each fold prepares all columns once and
every panel takes its own: the same result as a pipeline per panel, for a fraction of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import ThreadpoolController

from csmd_core.faults import BadInput, Fault
from csmd_core.panels import Panels
from csmd_core.problem import Evidence
from csmd_core.study import UNKNOWN, Study

Progress = Callable[[int, int], bool | None]  # (done, total); return False to stop

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda seed: LogisticRegression(C=1.0, solver="newton-cholesky"),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "random forest": lambda seed: RandomForestClassifier(200, random_state=seed),
    "naive Bayes": lambda seed: GaussianNB(),
    "as in the paper": lambda seed: LogisticRegression(
        C=1.0, solver="newton-cholesky", tol=1e-8, max_iter=1000
    ),
}
"""By name. "as in the paper" reads columns as coded numbers: no encoding, no scaling."""


@dataclass(frozen=True)
class Fitting:
    """How predictions are made. folds=0 fits and predicts the same patients (in-sample)."""

    classifier: str = "logistic regression"
    folds: int = 10
    threshold: float = 0.5
    seed: int = 0


@dataclass(frozen=True)
class Scores:
    """P(disease) by panel for every patient: (n_patients, n_panels)."""

    masks: tuple[int, ...]
    values: NDArray[np.float32]
    truth: NDArray[np.int8] | None

    def evidence(self, threshold: float = 0.5) -> Evidence:
        """Call a patient ill from this probability on."""
        if not 0 < threshold < 1:
            raise BadInput(Fault("The threshold", "must lie between 0 and 1.", "0.5 is usual."))
        return Evidence(self.masks, (self.values >= threshold).astype(np.uint8), self.truth)


class Stopped(Exception):
    """The progress callback asked to stop."""


def fit_scores(
    study: Study,
    panels: Panels,
    fitting: Fitting | None = None,
    *,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> Scores:
    """Score every patient with every panel; unlabelled patients by a fit on all labelled ones."""
    fitting = fitting or Fitting()
    truth = _labels_for_fitting(study, fitting)
    values = np.full((study.n_patients, len(panels)), np.nan, dtype=np.float32)
    columns = [study.columns_of(panels.tests_of(i)) for i in range(len(panels))]
    table = _coded(study, fitting)
    splits = list(_splits(truth, fitting))
    run = Parallel(n_jobs, prefer="threads", return_as="generator_unordered")
    total, done = len(splits) * len(panels), 0
    stopping = False
    with _libraries().limit(limits=1):  # one thread for each fit: many fits run side by side
        for fit_rows, score_rows in splits:
            prepared = _prepare(table, fit_rows, score_rows)
            jobs = (
                delayed(_score)(prepared, truth[fit_rows], names, fitting, i)
                for i, names in enumerate(columns)
                if not stopping
            )
            for i, scores in run(jobs):
                values[score_rows, i] = scores
                done += 1
                stopping = stopping or bool(progress and progress(done, total) is False)
            if stopping:
                raise Stopped
    return Scores(panels.masks, values, truth)


def fit_evidence(study: Study, panels: Panels, fitting: Fitting | None = None) -> Evidence:
    """Fit, and call ill from the threshold on: the short way for scripts."""
    fitting = fitting or Fitting()
    return fit_scores(study, panels, fitting).evidence(fitting.threshold)


RULES: dict[str, Callable[[NDArray[np.uint8]], NDArray[np.uint8]]] = {
    "the last test decides": lambda results: results[:, -1],
    "any positive test": lambda results: results.max(axis=1),
    "most of the tests": lambda results: (2 * results.sum(axis=1) > results.shape[1]).astype(
        np.uint8
    ),
}
"""How a panel of 0/1 results, in the order of the tests, becomes one prediction."""


def brought_evidence(
    results: NDArray[np.uint8],
    panels: Panels,
    truth: NDArray[np.int8] | None = None,
    rule: str = "the last test decides",
) -> Evidence:
    """Use results the user brought, (n_patients, n_tests) of 0 and 1, instead of fitting."""
    columns = [RULES[rule](results[:, in_it]) for in_it in panels.membership]
    return Evidence(panels.masks, np.column_stack(columns), truth)


def _labels_for_fitting(study: Study, fitting: Fitting) -> NDArray[np.int8]:
    truth = study.truth
    if truth is None:
        raise BadInput(
            Fault(
                "The study", "has no label column, so no classifier can be fitted.",
                "Name a label, or bring 0/1 test results.",
            )
        )  # fmt: skip
    if fitting.classifier not in CLASSIFIERS:
        raise BadInput(
            Fault(
                "The classifier", f"{fitting.classifier!r} is not known.",
                f"Choose one of: {', '.join(CLASSIFIERS)}.",
            )
        )  # fmt: skip
    fewest = min(int((truth == 1).sum()), int((truth == 0).sum()))
    if fitting.folds == 1 or fitting.folds < 0 or fewest < max(fitting.folds, 1):
        raise BadInput(
            Fault(
                "The number of folds", f"is {fitting.folds}; the rarer diagnosis has {fewest}.",
                "Use 2 folds or more and at most that many; 0 predicts the fitted patients.",
            )
        )  # fmt: skip
    return truth


def _splits(
    truth: NDArray[np.int8], fitting: Fitting
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield rows to fit on and rows to score: the folds, then whoever has no label."""
    known, unknown = np.flatnonzero(truth != UNKNOWN), np.flatnonzero(truth == UNKNOWN)
    if fitting.folds == 0:
        yield known, known
    else:
        folds = StratifiedKFold(fitting.folds, shuffle=True, random_state=fitting.seed)
        for fit, score in folds.split(known, truth[known]):
            yield known[fit], known[score]
    if len(unknown):
        yield known, unknown


@dataclass(frozen=True)
class _Table:
    """Every column a panel may use, as floats; categories as codes, a missing one as a code too."""

    frame: pd.DataFrame
    numbers: list[str]
    categories: list[str]
    scale: bool


@dataclass(frozen=True)
class _Prepared:
    """All columns of one fold as numbers; ``where`` gives the positions of each study column."""

    fit: NDArray[np.float64]
    score: NDArray[np.float64]
    where: dict[str, list[int]]

    def pick(self, columns: list[str]) -> list[int]:
        return [position for column in columns for position in self.where[column]]


def _coded(study: Study, fitting: Fitting) -> _Table:
    columns = study.columns_of(study.tests)
    plain = fitting.classifier == "as in the paper"
    categories = [c for c in columns if not plain and study.kinds.get(c) == "category"]
    frame = study.features(columns)
    for column in columns:
        if column in categories:
            frame[column] = pd.factorize(frame[column], use_na_sentinel=False)[0]
        else:
            frame[column] = pd.to_numeric(frame[column]).astype(float)
    numbers = [c for c in columns if c not in categories]
    return _Table(frame, numbers, categories, scale=not plain)


def _prepare(table: _Table, fit_rows: NDArray[np.intp], score_rows: NDArray[np.intp]) -> _Prepared:
    """Impute, encode and scale with what the fitted patients show."""
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    scale = StandardScaler()
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    transformer = ColumnTransformer(
        [
            ("n", make_pipeline(impute, scale) if table.scale else impute, table.numbers),
            ("c", encode, table.categories),
        ]
    )
    fit = transformer.fit_transform(table.frame.iloc[fit_rows])
    score = transformer.transform(table.frame.iloc[score_rows])
    where = {column: [i] for i, column in enumerate(table.numbers)}
    start = len(table.numbers)
    levels = transformer.named_transformers_["c"].categories_ if table.categories else []
    for column, values in zip(table.categories, levels, strict=True):
        where[column] = list(range(start, start + len(values)))
        start += len(values)
    return _Prepared(fit, score, where)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _score(
    prepared: _Prepared,
    truth: NDArray[np.int8],
    columns: list[str],
    fitting: Fitting,
    panel: int,
) -> tuple[int, NDArray[np.float32]]:
    picked = prepared.pick(columns)
    classifier = CLASSIFIERS[fitting.classifier](fitting.seed)
    with _libraries().limit(limits=1, user_api="openmp"):  # OpenMP counts in each thread anew
        classifier.fit(prepared.fit[:, picked], truth)
        positive = classifier.predict_proba(prepared.score[:, picked])[:, 1]
    return panel, positive.astype(np.float32)
