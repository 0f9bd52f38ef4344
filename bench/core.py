"""How fast the core decides, reads and fits: `python -m bench.core`."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from csmd_core.bundled import load_bundled
from csmd_core.dominance import judge
from csmd_core.panels import Panels, subsets
from csmd_core.predictions import fit_scores
from csmd_core.problem import Evidence, make_problem
from csmd_core.readers import read_table
from csmd_core.study import Test
from csmd_core.windows import dominance_windows

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Run once; return the result and the seconds it took."""
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def best_of_runs(work: Callable[[], object], runs: int = 7) -> float:
    return min(timed(work)[1] for _ in range(runs))


def random_evidence(panels: Panels, n_patients: int) -> Evidence:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, n_patients, dtype=np.int8)
    wrong = rng.random((n_patients, len(panels)), dtype=np.float32) < 0.3 / panels.membership.sum(1)
    return Evidence(panels.masks, (truth[:, None] ^ wrong).astype(np.uint8), truth)


def deciding(n_tests: int, n_patients: int = 10_000) -> None:
    """Problem, dominance and windows: the first time, and for a new λ."""
    panels = subsets([Test(str(k), (str(k),), 3.0 + k) for k in range(n_tests)])
    _ = panels.costs, panels.names
    evidence = random_evidence(panels, n_patients)

    def decide(lam: float) -> None:
        judge(make_problem(panels, evidence, lam))

    def first() -> None:
        decide(0.002)
        dominance_windows(panels, evidence)

    _, cold = timed(first)
    warm = best_of_runs(lambda: decide(0.003))
    print(
        f"deciding {len(panels):5,} panels x {n_patients:,} patients: "
        f"{1e3 * cold:8.1f} ms first, {1e3 * warm:6.2f} ms for a new λ"
    )


def reading(n_rows: int = 1_000_000, n_columns: int = 20) -> None:
    """A million patients from CSV and from Parquet, beside bare pandas."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {f"c{k}": rng.normal(50, 10, n_rows).round(2) for k in range(n_columns - 1)}
        | {"ill": rng.integers(0, 2, n_rows)}
    )
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = Path(folder, "big.csv"), Path(folder, "big.parquet")
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet)
        del frame
        _, bare = timed(lambda: pd.read_csv(csv))
        for path in (csv, parquet):
            tables, spent = timed(lambda path=path: read_table(path))
            assert len(tables.patients) == n_rows
            print(
                f"reading {n_rows:,} x {n_columns} {path.suffix[1:]:7}: {spent:5.2f} s "
                f"(bare pandas.read_csv {bare:.2f} s, without a check)"
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"peak memory of this process so far: {peak:.2f} GiB")


def fitting() -> None:
    """Heart's 63 panels, against a plain loop of cross_val_predict over pipelines."""
    study = load_bundled("heart")
    panels = subsets(study.tests, study.fees)
    fit_scores(study, panels)
    spent = best_of_runs(lambda: fit_scores(study, panels), 2)
    _, loop = timed(lambda: [_plain(study.columns_of(panels.tests_of(i))) for i in range(63)])
    print(f"fitting 63 panels of heart: {spent:.2f} s, {loop / spent:.1f}x a plain loop's speed")


def _plain(columns: list[str]) -> None:
    study = load_bundled("heart")
    frame = study.features(columns)
    categories = [c for c in columns if study.kinds[c] == "category"]
    numbers = [c for c in columns if c not in categories]
    pipeline = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
            (
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
                ),
                categories,
            ),
        ),
        LogisticRegression(max_iter=1000),
    )
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    cross_val_predict(pipeline, frame, study.truth, cv=folds, method="predict_proba")


def main() -> None:
    deciding(6)
    deciding(10)
    fitting()
    reading()


if __name__ == "__main__":
    main()
