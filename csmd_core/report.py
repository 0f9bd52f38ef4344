"""Reports: results as one HTML page that needs nothing else, and as plain records for JSON."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import asdict

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from csmd_core.differences import contradiction, differences
from csmd_core.experiment import Experiment
from csmd_core.figures.experiments import (
    curves_figure,
    final_figure,
    growth_figure,
    margin_regret_figure,
    savings_figure,
)
from csmd_core.problem import Problem
from csmd_core.reproduce import Reproduction
from csmd_core.simulation import Order
from csmd_core.summary import summary_table

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #ddd; padding: 4px 8px; text-align: left; vertical-align: top }
"""
_SHOWN = [
    "problem", "policy", "n_runs", "margin", "regret", "regret_low", "regret_high", "best_share",
    "money_saved", "extra_misdiagnoses", "exponent", "growth",
]  # fmt: skip


def html_page(title: str, blocks: Iterable[str | pd.DataFrame | go.Figure]) -> str:
    """Put headings ("# …"), sentences, tables and figures on one page, Plotly included."""
    body = "\n".join(_block(block) for block in [f"# {title}", *blocks])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>"
        f"<script>{get_plotlyjs()}</script></head><body>\n{body}\n</body></html>\n"
    )


def experiment_page(title: str, result: Experiment, summary: pd.DataFrame) -> str:
    """Show an experiment's curves, ends and summary."""
    return html_page(title, [_progress(result), *_result_blocks(result, summary)])


def paper_page(done: Reproduction, table: pd.DataFrame) -> str:
    """Show Table I beside what is measured, the differences, and both figures."""
    found, settings = contradiction(), done.settings
    blocks: list[str | pd.DataFrame | go.Figure] = [
        f"{settings.n_patients:,} patients, {settings.n_repeats:,} repeats, seed {settings.seed}.",
        "## Table I: printed and measured", side_by_side(table), "## Where they differ, and why",
        pd.DataFrame([asdict(d) | {"cases": _listed(d.cases)} for d in differences()]),
        "## Printed cases 2 and 5 of diabetes", found.sentence,
        f"Case 2: {found.holds_arithmetic}. Case 5: {found.fails_arithmetic}.",
    ]  # fmt: skip
    for name, summary in paper_summaries(done).items():
        blocks += [f"## {done.parts[name].title}", _progress(done.results[name])]
        blocks += _result_blocks(done.results[name], summary)
    return html_page("The paper's experiments", blocks)


def side_by_side(table: pd.DataFrame) -> pd.DataFrame:
    """Write Table I for reading: printed beside measured, three panels in one cell."""
    words = {True: "holds", False: "fails"}
    margins = [
        "none: nothing is dearer" if row.vacuous
        else f"{row.margin:+.3f} ({row.margin_low:+.3f} to {row.margin_high:+.3f})"
        for row in table.itertuples()
    ]  # fmt: skip
    return pd.DataFrame(
        {
            "study": table["study"],
            "case": table["case"],
            "λ": table["lam"].map(_listed),
            "costs printed": table["cost_printed"].map(_listed),
            "costs measured": table["cost"].map(_listed),
            "error rates printed": table["error_rate_printed"].map(_listed),
            "error rates measured": table["error_rate"].map(_listed),
            "best printed": table["best_printed"],
            "best measured": table["best"],
            "weak dominance printed": table["holds_printed"].map(words),
            "weak dominance measured": table["holds"].map(words),
            "margin measured": margins,
        }
    )


def flat_table(table: pd.DataFrame) -> pd.DataFrame:
    """Give every number of Table I a column of its own: cost_1, cost_2, cost_3, …"""
    columns: dict[str, pd.Series[float]] = {}
    for name in map(str, table.columns):
        if isinstance(table[name].iloc[0], tuple):
            for k, values in enumerate(zip(*table[name], strict=True), start=1):
                columns[f"{name}_{k}"] = pd.Series(values)
        else:
            columns[name] = table[name]
    return pd.DataFrame(columns)


def paper_summaries(done: Reproduction) -> dict[str, pd.DataFrame]:
    """Summarise each part that has runs."""
    return {
        name: summary_table(result, done.parts[name].problems)
        for name, result in done.results.items()
        if result.n_done
    }


def paper_record(done: Reproduction, table: pd.DataFrame) -> dict[str, object]:
    """Collect every number of the paper's page."""
    return {
        "settings": asdict(done.settings),
        "stopped": done.stopped,
        "n_runs": done.n_done,
        "table_one": table,
        "differences": [asdict(difference) for difference in differences()],
        "contradiction": asdict(contradiction()),
        "figures": paper_summaries(done),
    }


def experiment_record(
    result: Experiment, problems: Mapping[str, Problem], order: Order
) -> dict[str, object]:
    """Collect the numbers of an experiment."""
    return {
        "stopped": result.stopped,
        "n_runs": result.n_done,
        "n_total": result.n_total,
        "summary": summary_table(result, problems, order),
    }


def _result_blocks(
    result: Experiment, summary: pd.DataFrame
) -> list[str | pd.DataFrame | go.Figure]:
    if not result.n_done:
        return []
    labelled = summary["regret"].notna().any()
    if not labelled:
        return [curves_figure(result.curves, "money"), summary]
    return [
        curves_figure(result.curves), curves_figure(result.curves, "best_share"),
        growth_figure(result.curves, summary), final_figure(summary), savings_figure(summary),
        margin_regret_figure(summary), summary[_SHOWN],
    ]  # fmt: skip


def _listed(values: Iterable[float]) -> str:
    return ", ".join(np.format_float_positional(round(value, 5), trim="-") for value in values)


def _progress(result: Experiment) -> str:
    stopped = f", stopped before all {result.n_total:,} were done" if result.stopped else ""
    return f"{result.n_done:,} runs{stopped}. Bands and bars are 95% intervals of the mean."


def _block(block: str | pd.DataFrame | go.Figure) -> str:
    if isinstance(block, pd.DataFrame):
        named = block.rename(columns=lambda name: str(name).replace("_", " "))
        return str(named.to_html(index=False, border=0, float_format="{:,.4g}".format, na_rep="–"))
    if isinstance(block, go.Figure):
        return str(block.to_html(full_html=False, include_plotlyjs=False))
    level = len(block) - len(block.lstrip("#"))
    text = html.escape(block.lstrip("# "))
    return f"<h{level}>{text}</h{level}>" if level else f"<p>{text}</p>"
