"""One sentence that reads each chart of an experiment to the user, from its summary table."""

from __future__ import annotations

import pandas as pd

from csmd_core.policies import LEARNING
from studio.text import money, percent, plain


def read_regret(summary: pd.DataFrame) -> str:
    """Say who ends with the least regret and who with the most, on the first problem shown."""
    rows = _learning(_first(summary)).sort_values("regret")
    least, most = rows.iloc[0], rows.iloc[-1]
    who = _without_labels(summary, rows)
    words = (
        f"{_where(summary)}After {least['n_patients']:,} patients{who} "
        f"**{plain(least['policy'])}** has the least regret: {plain(_interval(least, 'regret'))}"
    )
    if len(rows) == 1:
        return words + "."
    return f"{words}; **{plain(most['policy'])}** the most: {plain(_interval(most, 'regret'))}."


def read_best(summary: pd.DataFrame) -> str:
    """Say who gives the best panel most often."""
    rows = _learning(_first(summary)).sort_values("best_share")
    most, who = rows.iloc[-1], _without_labels(summary, rows).removeprefix(", ").capitalize()
    words = (
        f"{_where(summary)}{who} **{plain(most['policy'])}** gives the best panel most often: to "
        f"{plain(percent(most['best_share']))} of all patients"
    )
    if len(rows) == 1:
        return words + "."
    least = rows.iloc[0]
    return f"{words}; **{plain(least['policy'])}** to {plain(percent(least['best_share']))}."


def read_money(summary: pd.DataFrame, currency: str) -> str:
    """Say what the policy with the least regret saves, and at what price in misdiagnoses."""
    row = _learning(_first(summary)).sort_values("regret").iloc[0]
    saved = money(row["money_saved"] / row["n_patients"], currency)
    words = (
        f"{_where(summary)}Against giving everyone every test, **{plain(row['policy'])}** saves "
        f"{plain(saved)} per patient"
    )
    extra = row["extra_misdiagnoses"] * 1000 / row["n_patients"]
    if pd.isna(extra):
        return words + "."
    more = "more" if extra >= 0 else "fewer"
    return f"{words} and makes {plain(f'{abs(extra):.1f}')} {more} misdiagnoses in 1,000."


def read_margin(summary: pd.DataFrame) -> str:
    """Say whether regret falls as the margin grows, as the paper claims."""
    trend = _margin_trend(summary)
    if trend is None:
        return (
            "Regret against the margin is seen over three problems or more in which weak dominance "
            "holds: add more λ."
        )
    holding = "over the problems in which weak dominance holds"
    if trend < -0.3:
        return f"The larger the margin, the smaller the regret, {holding}: as the paper claims."
    if trend > 0.3:
        return f"Here regret grows with the margin, {holding}: other than the paper claims."
    return f"No clear relation of regret and margin, {holding}."


def read_growth(summary: pd.DataFrame) -> str:
    """Say of each policy whether its regret levels off."""
    rows = _first(summary)
    told = [
        f"**{plain(row['policy'])}** {row['growth']}" + _exponent(row["exponent"])
        for row in rows.to_dict("records")
    ]
    return f"{_where(summary)}{'; '.join(told)}."


def _exponent(exponent: float) -> str:
    return "" if pd.isna(exponent) else plain(f" (exponent {exponent:.2f})")


def _margin_trend(summary: pd.DataFrame) -> float | None:
    """Rank correlation of margin and regret where dominance holds, over the learning policies."""
    holding = summary[summary["margin"] > 0]
    trends = [
        rows["margin"].corr(rows["regret"], method="spearman")
        for policy, rows in holding.groupby("policy")
        if str(policy).startswith(tuple(LEARNING)) and rows["margin"].nunique() >= 3
    ]
    known = [trend for trend in trends if pd.notna(trend)]
    return sum(known) / len(known) if known else None


def _first(summary: pd.DataFrame) -> pd.DataFrame:
    first: pd.DataFrame = summary[summary["problem"] == summary["problem"].iloc[0]]
    return first


def _learning(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out the policies that are there to compare with, unless there is no other."""
    mine: pd.DataFrame = rows[rows["policy"].str.startswith(tuple(LEARNING))]
    return rows if mine.empty else mine


def _without_labels(summary: pd.DataFrame, rows: pd.DataFrame) -> str:
    others = len(rows) < summary["policy"].nunique()
    return ", of those that learn without labels," if others else ""


def _where(summary: pd.DataFrame) -> str:
    """Name the problem where there are several."""
    if summary["problem"].nunique() == 1:
        return ""
    return f"On **{plain(summary['problem'].iloc[0])}**: "


def _interval(row: pd.Series, measure: str) -> str:
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    if pd.isna(low):
        return f"{row[measure]:,.1f} in a single run"
    return f"{row[measure]:,.1f} (95% interval {low:,.1f} to {high:,.1f})"
