"""Predictions equal a plain scikit-learn pipeline per panel, whatever the number of workers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from csmd_core.bundled import load_bundled
from csmd_core.faults import BadInput
from csmd_core.panels import cascade, subsets
from csmd_core.predictions import (
    CLASSIFIERS,
    Fitting,
    Stopped,
    brought_evidence,
    fit_evidence,
    fit_scores,
)
from csmd_core.study import Study, Test

HEART = load_bundled("heart")
PANELS = cascade(HEART.tests, HEART.fees)


def plain_pipeline(columns):
    categories = [c for c in columns if HEART.kinds[c] == "category"]
    numbers = [c for c in columns if c not in categories]
    return make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
            (OneHotEncoder(handle_unknown="ignore"), categories),
        ),
        LogisticRegression(solver="newton-cholesky"),
    )


def test_equal_to_a_pipeline_per_panel():
    scores = fit_scores(HEART, PANELS)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for i in (0, 3, 5):
        columns = HEART.columns_of(PANELS.tests_of(i))
        frame = HEART.features(columns)
        for c in columns:
            if HEART.kinds[c] == "category":
                frame[c] = frame[c].map(str, na_action="ignore").astype(object).fillna("(missing)")
        plain = cross_val_predict(
            plain_pipeline(columns), frame, HEART.truth, cv=folds, method="predict_proba"
        )[:, 1]
        assert scores.values[:, i] == pytest.approx(plain, abs=1e-5)


def test_same_result_for_any_number_of_workers_and_the_same_seed():
    forest = Fitting("random forest", folds=3)
    two_panels = cascade(HEART.tests[:2], HEART.fees)
    one, two = (fit_scores(HEART, two_panels, forest, n_jobs=n) for n in (1, 2))
    assert (one.values == two.values).all()
    other = fit_scores(HEART, two_panels, Fitting("random forest", folds=3, seed=1))
    assert (other.values != one.values).any()


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_beats_a_coin_and_errs_less_in_sample(classifier):
    everything = subsets(HEART.tests, HEART.fees, chosen=[[t.name for t in HEART.tests]])
    honest = fit_evidence(HEART, everything, Fitting(classifier, folds=5)).error_rates[0]
    flattering = fit_evidence(HEART, everything, Fitting(classifier, folds=0)).error_rates[0]
    assert honest < 0.3
    assert flattering <= honest


def test_every_label_is_out_of_fold():
    """A column that is the label itself, hidden in row numbers, cannot be learnt by heart."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": rng.normal(size=200), "ill": rng.integers(0, 2, 200)})
    study = Study("noise", frame, (Test("N", ("noise",), 1.0),), {}, "ill", (1,))
    panels = cascade(study.tests)
    boosting = Fitting("gradient boosting", folds=5)
    assert 0.4 < fit_evidence(study, panels, boosting).error_rates[0] < 0.6
    assert fit_evidence(study, panels, Fitting("gradient boosting", folds=0)).error_rates[0] < 0.3


def test_patients_without_a_label_are_predicted_and_not_scored():
    frame = HEART.patients.copy()
    frame["num"] = frame["num"].astype(float)
    frame.loc[:9, "num"] = np.nan
    study = Study("h", frame, HEART.tests, HEART.fees, "num", (1.0, 2.0, 3.0, 4.0), HEART.kinds)
    evidence = fit_evidence(study, PANELS)
    assert evidence.n_patients == 303
    assert evidence.n_labelled == 293
    assert np.isfinite(fit_scores(study, PANELS).values).all()


def test_the_threshold_moves_sensitivity_without_a_new_fit():
    scores = fit_scores(HEART, PANELS)
    called_ill = [scores.evidence(t).predictions.sum() for t in (0.2, 0.5, 0.8)]
    assert called_ill == sorted(called_ill, reverse=True)
    with pytest.raises(BadInput, match="threshold must lie between 0 and 1"):
        scores.evidence(1.0)


def test_progress_counts_up_and_can_stop():
    seen = []
    fit_scores(
        HEART, PANELS, Fitting(folds=2), progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(k, 12) for k in range(1, 13)]
    with pytest.raises(Stopped):
        fit_scores(HEART, PANELS, progress=lambda done, total: done < 3)


def test_a_free_column_comes_with_the_tests_it_is_computed_from():
    thyroid = load_bundled("thyroid")
    by_name = {t.name: t for t in thyroid.tests}
    assert "FTI" in thyroid.columns_of([by_name["TT4"], by_name["T4U"]])
    assert "FTI" not in thyroid.columns_of([by_name["TT4"], by_name["TSH"]])


def test_results_that_the_user_brings():
    tests = [Test(n, (n,), 1.0) for n in "abc"]
    results = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]], dtype=np.uint8)
    panels = cascade(tests)
    assert (brought_evidence(results, panels).predictions == results).all()
    either = brought_evidence(results, panels, rule="any positive test").predictions
    assert either.tolist() == [[1, 1, 1], [0, 1, 1], [1, 1, 1]]
    most = brought_evidence(results, subsets(tests), rule="most of the tests")
    assert most.predictions[:, -1].tolist() == [0, 1, 1]
    assert not most.has_truth


def test_faults():
    with pytest.raises(BadInput, match=r"is not known\. Choose one of: logistic"):
        fit_scores(HEART, PANELS, Fitting("oracle"))
    with pytest.raises(BadInput, match="folds is 200; the rarer diagnosis has 139"):
        fit_scores(HEART, PANELS, Fitting(folds=200))
    unlabelled = Study("h", HEART.patients, HEART.tests, HEART.fees)
    with pytest.raises(BadInput, match="has no label column, so no classifier can be fitted"):
        fit_scores(unlabelled, PANELS)
