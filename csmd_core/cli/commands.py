"""What each command does; the exit code comes back."""

from __future__ import annotations

from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pandas as pd

from csmd_core import bundled
from csmd_core.cli import FAILS, HOLDS, INTERRUPTED
from csmd_core.cli.opening import Opened, open_study, policy_named
from csmd_core.cli.output import (
    Line,
    make_folder,
    print_json,
    print_table,
    progress_line,
    readable,
    write_tables,
)
from csmd_core.cluster import on_cluster
from csmd_core.dominance import bootstrap_margin, judge
from csmd_core.engine import warm_up
from csmd_core.experiment import experiment as run_experiment
from csmd_core.faults import BadInput, Fault
from csmd_core.paper import Pricing
from csmd_core.predictions import Stopped
from csmd_core.problem import Problem
from csmd_core.report import (
    experiment_page,
    experiment_record,
    flat_table,
    paper_page,
    paper_record,
    side_by_side,
)
from csmd_core.reproduce import Settings, paper_experiments, paper_table
from csmd_core.simulation import run_table
from csmd_core.simulation import simulate as run_simulation
from csmd_core.verdict import in_words
from csmd_core.windows import dominance_windows


def studies(args: Namespace) -> int:
    """List the bundled studies."""
    rows: list[dict[str, Any]] = []
    for name in bundled.bundled_names():
        study = bundled.load_bundled(name)
        rows.append(
            {
                "study": name,
                "title": study.about.title,
                "patients": study.n_patients,
                "tests": [test.name for test in study.tests],
                "groupings": list(bundled.groupings(name)),
                "licence": study.about.licence,
            }
        )
    if args.json:
        print_json({"studies": rows})
        return HOLDS
    for row in rows:
        print(f"{row['study']}: {row['title']}, {row['patients']:,} patients ({row['licence']})")
        print(f"  tests: {', '.join(row['tests'])}")
        print(f"  groupings: {', '.join(row['groupings'])}")
    return HOLDS


def check(args: Namespace) -> int:
    """Judge weak dominance at each λ, and list the windows of λ in which it holds."""
    opened = _open(args)
    if opened is None:
        return INTERRUPTED
    if args.resamples < 1:
        raise BadInput(Fault("--resamples", "must be 1 or more.", "2000 is usual."))
    verdicts = [_verdict(problem, args.resamples) for problem in opened.problems.values()]
    windows = _windows(opened)
    if args.json:
        print_json({"study": opened.study.name, "verdicts": verdicts, "windows": windows})
    else:
        for name, verdict in zip(opened.problems, verdicts, strict=True):
            print(f"{name}: {verdict['sentence']}\n  {verdict['because']}")
        if not windows.empty:
            print("\nFor every λ, the best panel and whether weak dominance holds:")
            print_table(windows)
    return HOLDS if all(verdict["holds"] for verdict in verdicts) else FAILS


def simulate(args: Namespace) -> int:
    """Play one run."""
    policy = policy_named(args.policy)
    if args.out:
        Path(args.out).touch()
    opened = _open(args)
    if opened is None:
        return INTERRUPTED
    if len(opened.problems) > 1:
        raise BadInput(Fault("--lam", "is given more than once.", "A simulation takes one λ."))
    (problem,) = opened.problems.values()
    run = run_simulation(problem, policy, args.n_patients, args.seed, args.order)
    table = run_table(run)
    if args.out:
        table.to_csv(args.out, index=False)
    record = {
        "study": opened.study.name, "lam": _lam(problem), "policy": policy.name, "seed": run.seed,
        "n_patients": run.n_patients, "money": table["cost"].sum(), "money_saved": run.money_saved,
        "regret": None if run.regret is None else run.regret[-1:].sum(),
        "misdiagnoses": run.misdiagnoses, "best_share": run.share_of_best,
    }  # fmt: skip
    given = table["panel"].value_counts().rename_axis("panel").reset_index(name="patients")
    if args.json:
        print_json(record | {"panels": given})
    else:
        for name, value in record.items():
            print(f"{name.replace('_', ' ')}: {_shown(value)}")
        print_table(given)
    return HOLDS


def experiment(args: Namespace) -> int:
    """Play policies × λ × repeats."""
    policies = {policy.name: policy for policy in map(policy_named, args.policies)}
    make_folder(args.out)
    opened = _open(args)
    if opened is None:
        return INTERRUPTED
    with _prepared("Runs") as line, _workers(args):
        result = run_experiment(
            opened.problems, policies, args.n_patients, args.n_repeats, args.seed,
            order=args.order, n_jobs=args.jobs, progress=line,
        )  # fmt: skip
    record = experiment_record(result, opened.problems, args.order)
    summary: Any = record["summary"]
    if args.out:
        tables = {"summary": summary, "runs": result.runs, "curves": result.curves}
        page = experiment_page(f"Experiment: {opened.study.name}", result, summary)
        _write(Path(args.out), tables, "experiment.html", page)
    if args.json:
        print_json(record)
    else:
        _tell_runs(result.n_done, result.n_total)
        print_table(_short(summary))
    return INTERRUPTED if result.stopped else HOLDS


def paper(args: Namespace) -> int:
    """Regenerate Table I and both figures."""
    make_folder(args.out)
    pricing = Pricing(args.shared_fees, args.printed_costs)
    settings = Settings(args.n_patients, args.n_repeats, args.seed, pricing, n_jobs=args.jobs)
    with _prepared("Runs") as line, _workers(args):
        done = paper_experiments(settings, line)
    table = paper_table(settings)
    record = paper_record(done, table)
    summaries: Any = record["figures"]
    if args.out:
        tables = {"table_one": flat_table(table)}
        for name, summary in summaries.items():
            tables |= {f"{name}_summary": summary, f"{name}_curves": done.results[name].curves}
        _write(Path(args.out), tables, "paper.html", paper_page(done, table))
    if args.json:
        print_json(record)
    else:
        print_table(side_by_side(table))
        for name, summary in summaries.items():
            print(f"\n{done.parts[name].title}")
            print_table(_short(summary))
        _tell_runs(done.n_done, done.n_total)
    return INTERRUPTED if done.stopped else HOLDS


def _open(args: Namespace) -> Opened | None:
    """Open the study; None when an interrupt stopped the fits."""
    with progress_line("Fits") as line:
        try:
            return open_study(args, line)
        except Stopped:
            return None


def _prepared(what: str) -> AbstractContextManager[Line]:
    """Compile before the first run; it takes seconds once after installing."""
    with progress_line("Preparing the engine") as line:
        line(0, 1)
        warm_up()
    return progress_line(what)


def _workers(args: Namespace) -> AbstractContextManager[Any]:
    if not args.cluster:
        return nullcontext()
    return on_cluster(args.cluster, None if args.jobs < 1 else args.jobs)


def _verdict(problem: Problem, n_resamples: int) -> dict[str, Any]:
    found, names = judge(problem), problem.panels.names
    labelled = problem.evidence.has_truth
    interval = bootstrap_margin(problem, n_resamples=n_resamples) if labelled else None
    verdict = in_words(problem, found, interval)
    return {
        "lam": _lam(problem),
        "best": None if problem.best is None else names[problem.best],
        "panel": None if found.panel is None else names[found.panel],
        "holds": found.holds,
        "vacuous": found.vacuous,
        "margin": found.margin,
        "margin_interval": None if interval is None else (interval.low, interval.high),
        "probability_holds": None if interval is None else interval.probability_holds,
        "sentence": verdict.sentence,
        "because": verdict.because,
        "table": found.table,
    }


def _lam(problem: Problem) -> float | list[float]:
    one = problem.one_lam
    return problem.lam.tolist() if one is None else one


def _windows(opened: Opened) -> pd.DataFrame:
    if not opened.evidence.has_truth:
        return pd.DataFrame()
    names = opened.panels.names
    return pd.DataFrame(
        [
            {"lam_above": w.low, "lam_up_to": w.high, "best": names[w.best], "holds": w.holds}
            for w in dominance_windows(opened.panels, opened.evidence)
        ]
    )


def _write(folder: Path, tables: dict[str, pd.DataFrame], name: str, page: str) -> None:
    write_tables(folder, tables)
    (folder / name).write_text(page, encoding="utf-8")


def _short(summary: pd.DataFrame) -> pd.DataFrame:
    return summary[
        ["problem", "policy", "n_runs", "margin", "regret", "regret_low", "regret_high",
         "best_share", "money_saved", "extra_misdiagnoses", "growth"]
    ]  # fmt: skip


def _tell_runs(done: int, total: int) -> None:
    print(f"{done:,} of {total:,} runs{'' if done == total else ': interrupted'}")


def _shown(value: Any) -> str:
    if value is None:
        return "unknown without labels"
    return readable(value) if isinstance(value, float) else str(value)
