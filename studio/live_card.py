"""The patient on the Live page: tests done, what the panels say, the choice and why, the truth.

It is one piece of HTML, drawn anew many times a second; every name and value in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from csmd_core.explain import Explanation
from csmd_core.figures.live import policy_colour, so_far
from csmd_core.simulation import Run
from csmd_core.study import UNKNOWN, Study, Test
from studio.live_run import Live
from studio.text import count, money, percent

MAX_SAYINGS = 6  # panels whose prediction is listed one by one
_SAID = ("healthy", "ill")
_GREY, _SMALL = "opacity:.55", "font-size:.85em"
_FRAME = "border:1px solid rgba(136,136,136,.35);border-radius:.5rem;padding:1rem"


def patient_card(live: Live, told: Explanation) -> str:
    """Show one patient: what was done, what it says, the choice, and at last the truth."""
    run = live.watched
    row = int(run.patients[told.patient - 1])
    parts = [
        f"<h4 style='margin:0'>Patient {told.patient:,}</h4>",
        f"<div style='{_GREY};{_SMALL}'>Row {row + 1:,} of the study</div>",
        _tests(live, row, told.choice),
        _sayings(run, row, told.choice),
        f"<p style='margin:.6em 0 0'><b>{escape(run.policy.name)}</b>: {escape(told.sentence)}</p>",
        _truth(run, row, told.choice),
    ]
    return f"<div data-patient='{told.patient}' style='{_FRAME}'>{''.join(parts)}</div>"


def next_card(live: Live, t: int) -> str:
    """Show the patient before anything is chosen: tests and prices only."""
    head = f"<h4 style='margin:0'>Patient {t + 1:,} is next</h4>"
    rows = "".join(_row(live, test, None) for test in live.problem.panels.tests)
    return f"<div data-next='{t + 1}' style='{_FRAME}'>{head}{_rows(rows)}</div>"


def standings(live: Live, t: int) -> str:
    """Show how each policy stands after t patients, as a table."""
    head = "".join(f"<th style='{_CELL}'>{name}</th>" for name in _columns(live))
    body = "".join(
        f"<tr><td style='{_CELL};text-align:left;white-space:nowrap'>"
        f"<span style='color:{policy_colour(run.policy)}'>■</span> {escape(run.policy.name)}</td>"
        + "".join(f"<td style='{_CELL}'>{escape(value)}</td>" for value in standing(live, run, t))
        + "</tr>"
        for run in live.runs
    )
    table = f"<table style='width:100%;border-collapse:collapse;{_SMALL}'>"
    return (
        f"<div data-shown='{t}' style='overflow-x:auto'>{table}<tr>{head}</tr>{body}</table></div>"
    )


_CELL = "padding:.15em .4em;text-align:right;border:none;font-variant-numeric:tabular-nums"


def _columns(live: Live) -> list[str]:
    scored = ["Regret", "Wrong", "Best given"] if live.problem.evidence.has_truth else []
    return ["", "Spent", *scored]


def standing(live: Live, run: Run, t: int) -> list[str]:
    """Write what a run cost and how often it was wrong, after t patients."""
    at = np.array([t])
    spent = money(float(so_far(run, "money", at)[0]), live.study.currency)
    if not live.problem.evidence.has_truth:
        return [spent]
    right = percent(float(np.mean(run.choices[:t] == live.problem.best))) if t else "–"
    return [
        spent,
        f"{so_far(run, 'regret', at)[0]:,.2f}",
        f"{so_far(run, 'misdiagnoses', at)[0]:,.0f}",
        right,
    ]


def _tests(live: Live, row: int, choice: int) -> str:
    done = live.problem.panels.tests_of(choice)
    return _rows(
        "".join(
            _row(live, test, _values(live.study, test, row) if test in done else None)
            for test in live.problem.panels.tests
        )
    )


def _rows(rows: str) -> str:
    return f"<div style='margin:.5em 0'>{rows}</div>"


def _row(live: Live, test: Test, values: str | None) -> str:
    """A test that was done with its values, one that was not greyed with its price."""
    price = escape(money(test.price, live.study.currency)) + (" + fee" if test.fees else "")
    look = "" if values is not None else _GREY
    return (
        f"<div style='margin:.25em 0;overflow-wrap:anywhere;{look}'>"
        f"<span style='float:right;{_SMALL}'>{price}</span><b>{escape(test.name)}</b> "
        f"<span style='{_SMALL}'>{values if values is not None else 'not done'}</span></div>"
    )


def _values(study: Study, test: Test, row: int) -> str:
    cells = study.patients.iloc[row]
    return ", ".join(
        f"{escape(column)} {escape(_value(study, column, cells[column]))}"
        for column in test.columns
    )


def _value(study: Study, column: str, value: Any) -> str:
    if pd.isna(value) or (column in study.zero_missing and value == 0):
        return "missing"
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def _sayings(run: Run, row: int, choice: int) -> str:
    """Say what each panel seen predicts, and whether they disagree."""
    seen = np.flatnonzero(run.problem.panels.contains[choice])
    said = run.problem.evidence.predictions[row, seen]
    agree = "agree" if (said == said[0]).all() else "<b>disagree</b>"
    if len(seen) == 1:
        return f"<div>It says: <b>{_SAID[said[0]]}</b></div>"
    if len(seen) > MAX_SAYINGS:
        ill = int(said.sum())
        return (
            f"<div>{count(len(seen), 'panel')} seen {agree}: {ill:,} say ill, "
            f"{len(seen) - ill:,} healthy; the whole one says "
            f"<b>{_SAID[run.problem.evidence.predictions[row, choice]]}</b></div>"
        )
    lines = "".join(f"<li>{line}</li>" for line in _lines(run, seen, said))
    return f"<div>The panels seen {agree}:<ul style='margin:0'>{lines}</ul></div>"


def _lines(run: Run, seen: np.ndarray, said: np.ndarray) -> Iterator[str]:
    names = run.problem.panels.names
    for panel, word in zip(seen, said, strict=True):
        yield f"{escape(names[panel])}: <b>{_SAID[word]}</b>"


def _truth(run: Run, row: int, choice: int) -> str:
    truth = run.problem.evidence.truth
    if truth is None or not run.problem.evidence.has_truth:
        words = "The truth is not known: this study has no labels."
    elif truth[row] == UNKNOWN:
        words = "The truth of this patient is not known."
    else:
        right = run.problem.evidence.predictions[row, choice] == truth[row]
        words = (
            f"Afterwards, never shown to the policy: the patient is <b>{_SAID[truth[row]]}</b>, "
            f"so the diagnosis was <b>{'right' if right else 'wrong'}</b>."
        )
    rule = "border-top:1px dashed;padding-top:.5em;margin-top:.6em"
    return f"<div style='{rule};{_SMALL};opacity:.8'>{words}</div>"
