"""Studies for the tests of the decision pages: the core's problem, and patients without labels."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from app import bundled, open_page
from csmd_core.bundled import load_bundled
from csmd_core.panels import Panels, cascade, subsets
from csmd_core.predictions import Fitting, fit_evidence
from csmd_core.problem import Evidence, Problem, make_problem
from studio.session import DEFAULTS, UPLOAD
from studio.store import Store
from studio.workspace import blob_ref

RESULTS = ("Swab", "Culture", "Scan")


def core_problem(name: str, mode: str, lam: Any) -> Problem:
    """The same problem as the app makes of a bundled study, made by the core alone."""
    return make_problem(*_fitted(name, mode), lam)


@cache
def _fitted(name: str, mode: str) -> tuple[Panels, Evidence]:
    study = load_bundled(name)
    panels = (cascade if mode == "cascade" else subsets)(study.tests, study.fees)
    return panels, fit_evidence(study, panels, Fitting(**DEFAULTS["fitting"]))


def open_study(page: str, name: str = "heart", mode: str = "cascade", **settings: Any):
    return open_page(page, study=bundled(name), mode=mode, **settings)


def without_labels(**settings: Any) -> str:
    """Save a workspace of three 0/1 results for 200 patients and no diagnosis; return its link."""
    rng = np.random.default_rng(5)
    ill = rng.random(200) < 0.4
    flips = [rng.random(200) < share for share in (0.3, 0.12, 0.02)]
    rows = np.column_stack([ill ^ flip for flip in flips]).astype(int)
    data = "\n".join([",".join(RESULTS), *(",".join(map(str, row)) for row in rows)]).encode()
    study = {**UPLOAD, "file": "results.csv", "patients": blob_ref(data), "results": True,
             "priced": True}  # fmt: skip
    tests = [
        {"name": test, "columns": [test], "price": price, "fees": []}
        for test, price in zip(RESULTS, (5.0, 20.0, 100.0), strict=True)
    ]
    chosen = {**DEFAULTS, "study": study, "tests": tests, "fees": {}, **settings}
    store = Store.open()
    made = store.create("No labels", chosen, [data])
    store.close()
    return made.id
