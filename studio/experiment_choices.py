"""The Experiments page's controls: what is chosen, the plan it makes, how large that is."""

from __future__ import annotations

import os
from typing import Any, get_args

import streamlit as st
from joblib import cpu_count

from csmd_core import plan as planning
from csmd_core.faults import BadInput, Fault
from csmd_core.plan import OWN_LAM, Plan
from csmd_core.policies import NAMES, Kind
from csmd_core.problem import Problem
from csmd_core.simulation import Order
from studio import decision, session, work
from studio.shelf import kept
from studio.text import count, duration, lam_meaning, plain

USUAL: dict[str, Any] = {
    "policies": ["thompson", "kl-ucb", "ucb1"],
    "kl-ucb": ["0"],
    "ucb1": ["0.51"],
    "lams": None,  # None: the λ of the other pages
    "n_patients": 10_000,
    "n_repeats": 100,
    "seed": 0,
    "order": "replacement",
    "cluster": None,  # None: the cores of this machine; else an address
}
ORDERS: dict[Order, str] = {
    "replacement": "Drawn at random, again and again",
    "shuffled": "The study, shuffled",
    "study": "The study, in its own order",
}
_MOST = 2**53 - 1  # a browser's largest whole number


def chosen() -> dict[str, Any]:
    """What is chosen on the page; a file from elsewhere may hold anything, so kinds are checked."""
    held = session.get("experiment")
    known = {name: held[name] for name in USUAL.keys() & held.keys()}
    return USUAL | {name: value for name, value in known.items() if _sound(name, value)}


def _sound(name: str, value: Any) -> bool:
    if name in ("policies", "kl-ucb", "ucb1", "lams"):
        words = isinstance(value, list) and all(isinstance(word, str) for word in value)
        return words and (name != "policies" or set(value) <= NAMES.keys())
    if name == "order":
        return value in ORDERS
    return isinstance(value, str if name == "cluster" else int)


def choose(asked: Problem) -> None:
    """Let the user choose policies, λ, patients, repeats, seed and order."""
    left, right = st.columns(2)
    with left:
        _choose_policies()
    with right:
        _choose_lams(asked)
    one, two, three, four = st.columns([1, 1, 1, 2])
    with one:
        _widget(st.number_input, "Patients", "n_patients", max_value=_MOST, step=1000)
    with two:
        _widget(st.number_input, "Repeats", "n_repeats", max_value=_MOST, step=10)
    with three:
        _widget(
            st.number_input, "Seed", "seed", max_value=_MOST, step=1,
            help="The same seed gives the same patients and the same results.",
        )  # fmt: skip
    with four:
        _widget(
            st.selectbox, "Patients come", "order", list(get_args(Order)), format_func=ORDERS.get
        )


def _choose_policies() -> None:
    _widget(
        st.multiselect, "Policies", "policies", list(NAMES), format_func=NAMES.get,
        help="Thompson, kl-UCB and UCB1 learn without labels; the others are there to compare.",
    )  # fmt: skip
    kinds = chosen()["policies"]
    numbers = {"kl-ucb": "a of kl-UCB (0 or more)", "ucb1": "α of UCB1 (above 0.5)"}
    shown = [kind for kind in numbers if kind in kinds]
    for kind, column in zip(shown, st.columns(len(shown)) if shown else [], strict=True):
        with column:
            options = list(dict.fromkeys(["0", "3"] if kind == "kl-ucb" else ["0.51", "1", "2"]))
            _typed(numbers[kind], kind, options, "Several are compared. Type another.")


def _choose_lams(asked: Problem) -> None:
    present = present_lam(asked)
    options = [present, *suggested(asked)]
    if chosen()["lams"] is None:
        st.session_state["experiment lams"] = [present]
    _typed("λ", "lams", options, "Each λ is a problem of its own. Type another.")
    told = []
    for text in chosen()["lams"] or [present]:
        try:
            told.append(plain(lam_meaning(float(text), work.study().currency)))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
    if told:
        words = "; ".join(told[:3])
        st.caption(words[0].upper() + words[1:] + (" …" if len(told) > 3 else "."))


def present_lam(asked: Problem) -> str:
    """Write the λ of the other pages as it is typed."""
    return OWN_LAM if asked.one_lam is None else f"{asked.one_lam:.12g}"


def suggested(asked: Problem) -> list[str]:
    """Offer a λ in each of the widest λ windows, so that the margins differ."""
    if not asked.evidence.has_truth:
        return []
    windows = decision.windows(asked.panels, asked.evidence)
    return [f"{lam:g}" for lam in planning.telling_lams(windows)]


def _typed(label: str, name: str, options: list[str], help: str) -> None:
    """A list of numbers to pick from or to type."""
    typed = chosen()[name] or []
    _widget(
        st.multiselect, label, name, list(dict.fromkeys([*options, *typed])),
        accept_new_options=True, help=help, max_selections=24, filter_mode="prefix",
    )  # fmt: skip


def _widget(widget: Any, label: str, name: str, *args: Any, **looks: Any) -> None:
    """Show one choice; a change is saved before the page runs."""
    key = f"experiment {name}"
    if chosen()[name] is not None:
        st.session_state[key] = chosen()[name]

    def changed() -> None:
        value = st.session_state[key]
        session.change(
            experiment={**session.get("experiment"), name: 0 if value is None else value}
        )

    widget(label, *args, key=key, on_change=changed, **looks)


def choose_place() -> None:
    """Let the user choose this machine or a Dask cluster by its address."""
    with st.expander(
        "Where it runs", icon=":material/dns:", expanded=chosen()["cluster"] is not None
    ):
        st.session_state["experiment on cluster"] = chosen()["cluster"] is not None
        st.toggle("On a Dask cluster", key="experiment on cluster", on_change=_switch_cluster)
        if chosen()["cluster"] is None:
            st.caption(f"Now: {count(cpu_count(), 'core')} of this machine.")
            return
        _widget(
            st.text_input, "Address of the scheduler", "cluster", placeholder="tcp://10.0.0.5:8786",
            help="Its machines need this app installed. Name only a cluster you trust. The word "
            "local starts one on this machine.",
        )  # fmt: skip


def _switch_cluster() -> None:
    on = st.session_state["experiment on cluster"]
    session.change(experiment={**session.get("experiment"), "cluster": "" if on else None})


def check_cluster() -> None:
    """Refuse an address that cannot be one, or that whoever runs this server does not allow."""
    address, allowed = chosen()["cluster"], os.environ.get("CSMD_CLUSTERS", "").split()
    if address is None:
        return
    if not address.strip():
        mend = "Type the scheduler's address, such as tcp://10.0.0.5:8786, or local."
        raise BadInput(Fault("The cluster", "has no address.", mend))
    if allowed and address not in allowed:
        mend = f"Choose one of: {', '.join(allowed)}."
        raise BadInput(Fault(f"The cluster '{address}'", "is not open to this server.", mend))


def make_plan(asked: Problem) -> Plan:
    """Make the plan that is chosen, or refuse it with a sentence."""
    now = chosen()
    kinds: list[Kind] = now["policies"]
    return Plan(
        planning.problems_at(
            asked.panels, asked.evidence, present_or(now["lams"], asked), asked.lam.tolist()
        ),
        planning.read_policies(kinds, {"kl-ucb": now["kl-ucb"], "ucb1": now["ucb1"]}),
        now["n_patients"], now["n_repeats"], now["seed"], now["order"],
    )  # fmt: skip


def present_or(lams: list[str] | None, asked: Problem) -> list[str]:
    return [present_lam(asked)] if lams is None else lams


def expected_seconds(plan: Plan) -> float:
    """How long the plan takes here, from a short trial of each policy."""
    problem = next(iter(plan.problems.values()))
    pace = kept(
        lambda: planning.measure_pace(plan), "pace", problem.evidence.fingerprint,
        problem.panels.mode, problem.scaled_costs.tolist(), list(plan.policies), plan.order,
    )  # fmt: skip
    return planning.seconds_needed(plan, pace)


def size_words(plan: Plan, seconds: float | None) -> str:
    """Say how large a plan is and how long it takes."""
    n_rounds = plan.n_runs * plan.n_patients
    words = (
        f"{count(plan.n_runs, 'run')}: {count(len(plan.policies), 'policy', 'policies')} × "
        f"{len(plan.problems)} λ × {count(plan.n_repeats, 'repeat')}, "
        f"{count(plan.n_patients, 'patient')} each; {n_rounds:,} choices in all."
    )
    if seconds is None:
        return f"{words} How long the cluster takes is seen once it runs."
    return f"{words} About {duration(seconds)} on {count(cpu_count(), 'core')} of this machine."
