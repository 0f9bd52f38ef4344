"""Growth: does regret level off, or does it grow with every patient?

Regret that grows as t^e is a straight line of slope e on doubly logarithmic axes: e near 0 is
levelling off, e = 1 is linear growth. The slope is taken over the second half of the patients, in
which the price of getting to know the panels has been paid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from csmd_core.experiment import Experiment
from csmd_core.problem import TIE
from csmd_core.scoring import halfway

Words = Literal["levels off", "grows linearly", "in between", "too short to tell"]

LEVEL = 0.5  # below √t: new patients add less and less
LINEAR = 0.85  # twice the patients, at least 1.8 times the regret


@dataclass(frozen=True)
class Growth:
    """The exponent over the second half, its 95% interval (NaN after one run), and in words."""

    exponent: float
    low: float
    high: float
    words: Words


def growth(at_half: NDArray[np.float64], at_end: NDArray[np.float64], ratio: float) -> Growth:
    """Fit the exponent to the mean of many runs, from each run's regret halfway and at the end.

    ratio: patients at the end / patients halfway.

    >>> growth(np.array([5.0, 5.0]), np.array([10.0, 10.0]), 2.0).words
    'grows linearly'
    """
    mean_half, mean_end = float(np.mean(at_half)), float(np.mean(at_end))
    if mean_end <= TIE:
        return Growth(0.0, 0.0, 0.0, "levels off")
    if not (ratio > 1 and mean_half > 0):  # NaN without labels
        return Growth(math.nan, math.nan, math.nan, "too short to tell")
    exponent = math.log(mean_end / mean_half) / math.log(ratio)
    half_width = _half_width(at_half / mean_half, at_end / mean_end) / math.log(ratio)
    low, high = exponent - half_width, exponent + half_width
    return Growth(exponent, low, high, _words(exponent, low, high))


def growth_table(result: Experiment) -> pd.DataFrame:
    """One row a problem and policy: exponent, low, high, words."""
    points = np.unique(result.curves["patient"])
    rows = []
    for (problem, policy), runs in result.runs.groupby(["problem", "policy"], sort=False):
        found = growth(
            runs["regret_halfway"].to_numpy(float),
            runs["regret"].to_numpy(float),
            float(points[-1] / points[halfway(points)]),
        )
        rows.append((problem, policy, found.exponent, found.low, found.high, found.words))
    columns = ["problem", "policy", "exponent", "exponent_low", "exponent_high", "growth"]
    return pd.DataFrame(rows, columns=columns)


def _half_width(at_half: NDArray[np.float64], at_end: NDArray[np.float64]) -> float:
    """Half of the interval of log(mean end / mean half): a ratio of means, by the delta method."""
    n = len(at_end)
    if n < 2:
        return math.nan
    spread = float(np.std(at_end - at_half, ddof=1))
    return float(stdtrit(n - 1, 0.975)) * spread / math.sqrt(n)


def _words(exponent: float, low: float, high: float) -> Words:
    """Use strong words only where the whole interval allows them."""
    low, high = (exponent, exponent) if math.isnan(low) else (low, high)
    if high < LEVEL:
        return "levels off"
    return "grows linearly" if low > LINEAR else "in between"
