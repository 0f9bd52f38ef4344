"""Results of experiments, kept in the workspace with the settings they came from.

The tables are blobs (Parquet); the settings hold the rest. Patients are never kept with a result:
an uploaded study is only named by a digest, so that it can be recognised.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pandas as pd

from csmd_core.experiment import Experiment
from csmd_core.plan import Plan, problem_rows
from csmd_core.policies import Policy
from studio import session, work
from studio.shelf import kept
from studio.store import blob_ref

Entry = dict[str, Any]
MAX_NAME = 80
_PARTS = ("runs", "curves", "summary")
_STUDY = ("study", "tests", "fees", "shared_fees", "mode", "at_most", "chosen", "fitting")


@dataclass(frozen=True)
class Tables:
    """What came out, run by run and over time, and in summary."""

    result: Experiment
    summary: pd.DataFrame


def describe(plan: Plan) -> Entry:
    """Write down what is about to run, and on what."""
    title = work.study().about.title or work.study().name
    return {
        "title": title,
        "currency": work.study().currency,
        "of": study_settings(),
        "policies": {name: asdict(policy) for name, policy in plan.policies.items()},
        "lams": {name: problem.lam.tolist() for name, problem in plan.problems.items()},
        "problems": problem_rows(plan.problems),
        "n_patients": plan.n_patients,
        "n_repeats": plan.n_repeats,
        "seed": plan.seed,
        "order": plan.order,
    }


def keep(about: Entry, tables: Tables) -> None:
    """Add a result to the workspace, the newest first."""
    result = tables.result
    blobs = [_write(table) for table in (result.runs, result.curves, tables.summary)]
    entry = (
        about
        | {
            "name": _free(about["title"]),
            "when": datetime.now(UTC).isoformat(timespec="microseconds"),
            "n_total": result.n_total,
            "n_done": result.n_done,
        }
        | {part: blob_ref(blob) for part, blob in zip(_PARTS, blobs, strict=True)}
    )
    session.change(blobs, experiments=[entry, *session.get("experiments")])


def entries() -> list[Entry]:
    """All results of the workspace, the newest first; those of an unknown shape are left out."""
    return [entry for entry in session.get("experiments") if _sound(entry)]


def _sound(entry: Any) -> bool:
    """Whether an entry has all its parts: a workspace file may come from anywhere."""
    wanted = {
        "name": str, "when": str, "title": str, "currency": str, "of": dict, "policies": dict,
        "lams": dict, "n_patients": int, "n_repeats": int, "seed": int, "order": str,
        "n_total": int, "n_done": int,
    } | dict.fromkeys(_PARTS, str)  # fmt: skip
    return isinstance(entry, dict) and all(isinstance(entry.get(k), t) for k, t in wanted.items())


def load(entry: Entry) -> Tables:
    """Read a result; once for its content."""
    held = session.workspace()
    assert held is not None
    refs = [entry[part] for part in _PARTS]

    def read() -> Tables:
        runs, curves, summary = (_read(session.store().get_blob(held.id, ref)) for ref in refs)
        return Tables(Experiment(runs, curves, int(entry["n_total"])), summary)

    return kept(read, "experiment", refs, entry["n_total"])


def load_together(entries: Sequence[Entry]) -> Tables:
    """Read several results as one, each problem named after its experiment."""
    read = [load(entry) for entry in entries]
    if len(read) == 1:
        return read[0]

    def joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
        named = [
            table.assign(problem=[f"{entry['name']}: {name}" for name in table["problem"]])
            for entry, table in zip(entries, tables, strict=True)
        ]
        return pd.concat(named, ignore_index=True)

    result = Experiment(
        joined([tables.result.runs for tables in read]),
        joined([tables.result.curves for tables in read]),
        sum(tables.result.n_total for tables in read),
    )
    return Tables(result, joined([tables.summary for tables in read]))


def rename(when: str, name: str) -> None:
    """Give the result of this moment another name; an empty one changes nothing."""
    if not name.strip():
        return
    others = session.get("experiments")
    free = _free(name, but=when)
    session.change(experiments=[e | {"name": free} if e["when"] == when else e for e in others])


def delete(when: str) -> None:
    """Drop the result of this moment, tables and all."""
    session.change(experiments=[e for e in session.get("experiments") if e["when"] != when])


def policies_of(entry: Entry) -> dict[str, Policy]:
    return {name: Policy(**policy) for name, policy in entry["policies"].items()}


def study_settings() -> Entry:
    """The settings that say which study, prices and panels; patients only by their digest."""
    found = {name: session.get(name) for name in _STUDY}
    study = dict(found["study"])
    if "patients" in study:
        study["patients"] = study["patients"].removeprefix("sha256:")
    return found | {"study": study}


def reopen_study(entry: Entry) -> bool:
    """Go back to the study, prices and panels of a result; False where its patients are gone."""
    wanted, now = dict(entry["of"]), study_settings()
    if wanted["study"] == now["study"]:
        wanted["study"] = session.get("study")
    elif "patients" in wanted["study"]:
        return False
    session.change(**wanted)
    return True


def _free(name: str, but: str = "") -> str:
    """Make a name that no other result has: two compared results must not mix."""
    taken = {e["name"] for e in session.get("experiments") if e["when"] != but}
    name = " ".join(name.split())[:MAX_NAME]
    names = (name if k == 1 else f"{name} ({k})" for k in count(1))
    return next(free for free in names if free not in taken)


def _write(table: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    table.to_parquet(file, index=False, compression="zstd")
    return file.getvalue()


def _read(data: bytes) -> pd.DataFrame:
    return pd.read_parquet(io.BytesIO(data))
