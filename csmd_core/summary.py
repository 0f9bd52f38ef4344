"""A summary of an experiment: one row a problem and policy, ready to be read or saved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from csmd_core.dominance import judge
from csmd_core.experiment import Experiment
from csmd_core.growth import growth_table
from csmd_core.policies import Policy
from csmd_core.problem import Problem
from csmd_core.scoring import mean_interval
from csmd_core.simulation import Order, simulate

AVERAGED = ("regret", "best_share", "money_saved", "misdiagnoses", "extra_misdiagnoses")


def summary_table(
    result: Experiment, problems: Mapping[str, Problem], order: Order = "replacement"
) -> pd.DataFrame:
    """Average the AVERAGED measures over the runs, each with its 95% interval (…_low, …_high), and
    tell for each problem its margin, for each policy how its regret grows.

    money_saved and extra_misdiagnoses are against giving the same patients the last panel.
    """
    runs = result.runs.copy()
    n_patients = int(result.curves["patient"].max()) if len(result.curves) else 0
    runs["extra_misdiagnoses"] = runs["misdiagnoses"] - _of_full_panel(
        runs, problems, n_patients, order
    )
    rows = [
        _row(str(problem), str(policy), mine)
        for (problem, policy), mine in runs.groupby(["problem", "policy"], sort=False)
    ]
    table = pd.DataFrame(rows, columns=["problem", "policy", "n_runs", *_columns()])
    table.insert(2, "n_patients", n_patients)
    verdicts = {name: judge(problem) for name, problem in problems.items()}
    margins = {name: verdict.margin for name, verdict in verdicts.items()}
    table.insert(3, "margin", table["problem"].map(margins).astype(float))
    table.insert(4, "holds", table["problem"].map({k: v.holds for k, v in verdicts.items()}))
    return table.merge(growth_table(result), on=["problem", "policy"], how="left")


def _row(problem: str, policy: str, runs: pd.DataFrame) -> list[object]:
    row: list[object] = [problem, policy, len(runs)]
    for measure in AVERAGED:
        row += [float(x) for x in mean_interval(runs[measure].to_numpy(float))]
    return row


def _columns() -> list[str]:
    return [f"{measure}{end}" for measure in AVERAGED for end in ("", "_low", "_high")]


def _of_full_panel(
    runs: pd.DataFrame, problems: Mapping[str, Problem], n_patients: int, order: Order
) -> pd.Series[float]:
    """Count the misdiagnoses that the last panel makes on the same patients."""
    found: dict[tuple[str, int], float] = {}
    for problem, seed in runs[["problem", "seed"]].drop_duplicates().itertuples(index=False):
        full = simulate(problems[problem], Policy("full"), n_patients, int(seed), order)
        found[problem, seed] = np.nan if full.misdiagnoses is None else full.misdiagnoses
    pairs = zip(runs["problem"], runs["seed"], strict=True)
    return pd.Series([found[pair] for pair in pairs], index=runs.index, dtype=float)
