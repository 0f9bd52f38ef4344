"""The paper's experiments beside the page: started, watched, stopped, drawn."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from csmd_core import plan as planning
from csmd_core.experiment import Experiment
from csmd_core.figures.experiments import (
    curves_figure,
    final_figure,
    growth_figure,
    margin_regret_figure,
)
from csmd_core.plan import Plan
from csmd_core.report import paper_page, paper_summaries
from csmd_core.reproduce import Reproduction, Settings, paper_experiments, paper_parts
from studio import experiment_words as words
from studio import jobs
from studio.downloads import downloads
from studio.figure_shown import show_figure
from studio.shelf import kept, key_of, shelf
from studio.text import count, duration, plain, show_faults
from studio.watching import watch_runs

_KIND = "paper"
_CHARTS = ("Regret over time", "Regret at the end", "Best choices", "Margin", "Growth")


@dataclass(frozen=True)
class Drawn:
    """What came out, and in summary for each part."""

    found: Reproduction
    summaries: dict[str, pd.DataFrame]


def plans(settings: Settings) -> dict[str, Plan]:
    """The parts as plans, to be checked and sized."""
    parts = kept(lambda: paper_parts(settings), "paper parts", settings.pricing)
    return {
        name: Plan(
            part.problems, part.policies, settings.n_patients, settings.n_repeats, settings.seed
        )
        for name, part in parts.items()
    }  # fmt: skip


def check(settings: Settings) -> None:
    """Refuse what cannot be run, with a sentence."""
    made = plans(settings)
    for plan in made.values():
        planning.check(plan)
    planning.check_time(expected_seconds(settings))


def expected_seconds(settings: Settings) -> float:
    """How long all parts take here, from a short trial of each policy."""
    made = plans(settings)
    paces = kept(
        lambda: {name: planning.measure_pace(plan) for name, plan in made.items()},
        "paper pace", settings.pricing,
    )  # fmt: skip
    return sum(planning.seconds_needed(plan, paces[name]) for name, plan in made.items())


def start(settings: Settings) -> None:
    """Play everything in a thread of its own."""
    key, whole, keep = _job_key(settings), _whole_key(settings), shelf()

    def play(progress: jobs.Progress) -> None:
        found = paper_experiments(settings, progress)
        keep.put(key if found.stopped else whole, Drawn(found, paper_summaries(found)))

    jobs.start(key, play, _KIND)


def drawn(settings: Settings) -> Drawn | None:
    """What these settings gave, whoever ran it; else what this visitor stopped."""
    found: Drawn | None = shelf().get(_whole_key(settings)) or shelf().get(_job_key(settings))
    return found


def is_running(settings: Settings) -> bool:
    job = jobs.find(_job_key(settings))
    return job is not None and job.running


def say_how_it_ended(settings: Settings) -> None:
    job = jobs.find(_job_key(settings))
    if job is not None and job.faults:
        show_faults(job.faults)


def watch(settings: Settings) -> None:
    """Show how far it is."""
    watch_runs(_job_key(settings))


def show(made: Drawn, table: pd.DataFrame) -> None:
    """Show one part in one chart, its sentence and its tables; ``table`` is Table I."""
    found = made.found
    if found.stopped:
        st.warning(f"Stopped early: {found.n_done:,} of {count(found.n_total, 'run')} were played.")
    titles = {name: found.parts[name].title for name in made.summaries}
    if not titles:
        return
    if st.session_state.get("paper part") not in titles:
        st.session_state["paper part"] = next(iter(titles))
    part = str(
        st.segmented_control(
            "Figure", list(titles), key="paper part", required=True,
            format_func=lambda name: titles[name],
            label_visibility="collapsed",
        )
    )  # fmt: skip
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        st.session_state.setdefault("paper chart", _CHARTS[0])
        chart = st.segmented_control("Chart", _CHARTS, key="paper chart", required=True, wrap=True)
    study = right.selectbox("Study", ["Both", "Diabetes", "Heart"], key="paper study")
    result, summary = _of(str(study), found.results[part], made.summaries[part])
    _draw(str(chart), result, summary)
    with st.expander("Tables", icon=":material/table:"):
        st.dataframe(summary, hide_index=True, key="paper summary", alt="Summary")
        downloads(summary, f"{part}-summary")
        st.caption("Run by run.")
        downloads(result.runs, f"{part}-runs")
        st.caption("Over time.")
        downloads(result.curves, f"{part}-curves")
    st.download_button(
        "Everything as one page (HTML)", lambda: paper_page(found, table).encode(), "paper.html",
        "text/html", key="paper report", icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _of(study: str, result: Experiment, summary: pd.DataFrame) -> tuple[Experiment, pd.DataFrame]:
    """Leave out the other study."""
    if study == "Both" or not summary["problem"].str.startswith(study).any():
        return result, summary
    runs, curves = (t[t["problem"].str.startswith(study)] for t in (result.runs, result.curves))
    return Experiment(runs, curves, result.n_total), summary[
        summary["problem"].str.startswith(study)
    ]


def _draw(chart: str, result: Experiment, summary: pd.DataFrame) -> None:
    curves = result.curves
    figure, sentence = {
        "Regret over time": lambda: (curves_figure(curves), words.read_regret(summary)),
        "Regret at the end": lambda: (final_figure(summary), words.read_regret(summary)),
        "Best choices": lambda: (curves_figure(curves, "best_share"), words.read_best(summary)),
        "Margin": lambda: (margin_regret_figure(summary), words.read_margin(summary)),
        "Growth": lambda: (growth_figure(curves, summary), words.read_growth(summary)),
    }[chart]()
    name = f"paper-{chart.lower().replace(' ', '-')}"
    show_figure(figure, key=name, alt=f"{chart}, the paper's experiments", name=name)
    st.markdown(sentence)


def size_words(settings: Settings) -> str:
    """Say how large it is and how long it takes."""
    n_runs = sum(plan.n_runs for plan in plans(settings).values())
    about = duration(expected_seconds(settings))
    return plain(
        f"{count(n_runs, 'run')} of {count(settings.n_patients, 'patient')}: cascades on ten "
        f"cases, all policies on case 1, subsets on both studies. About {about} on this machine."
    )


def _whole_key(settings: Settings) -> str:
    return key_of("paper", settings)


def _job_key(settings: Settings) -> str:
    visitor = st.session_state.setdefault("visitor", secrets.token_hex(8))
    return key_of("paper", settings, visitor)
