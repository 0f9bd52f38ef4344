"""The Live page's controls: play, step, jump, speed; which policies, which patients."""

from __future__ import annotations

from typing import Any

import streamlit as st

from csmd_core.faults import BadInput
from csmd_core.policies import NAMES, POLICIES, Kind, Policy
from csmd_core.problem import Problem
from studio import live_run
from studio.live_run import LENGTHS, MAX_POLICIES, SPEEDS, setting
from studio.text import plain, show_faults

ORDERS = {
    "replacement": "Drawn from the study, again and again",
    "study": "In the study's order",
    "shuffled": "The study, shuffled",
}
_NUMBERS: dict[Kind, tuple[str, float]] = {"kl-ucb": ("a", 3.0), "ucb1": ("α", 2.0)}


def choices(problem: Problem) -> None:
    """Which policies play, on which patients."""
    with st.popover("Policies and patients", icon=":material/tune:"):
        _policies(problem)
        _patients()


def transport() -> None:
    """Play or pause, step, jump, speed; buttons have keys."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _button("Back", "J", ":material/skip_previous:", _step, -1)
        # two buttons, not one that turns: a click that arrives late can then never undo itself
        if live_run.playing():
            _button("Pause", "K", ":material/pause:", live_run.pause)
        else:
            _button("Play", "K", ":material/play_arrow:", live_run.play)
        _button("Next", "L", ":material/skip_next:", _step, 1)
        _button("New seed", "N", ":material/casino:", _reseed)
        choice_of("Patients a second", "speed", SPEEDS, width=150, format_func=lambda s: f"{s:,}")
        if not setting("teaching"):
            st.number_input(
                "Jump to patient", 0, setting("n"), None, key="live jump", width=120,
                placeholder="number", on_change=_jump,
            )  # fmt: skip


def _button(label: str, shortcut: str, icon: str, act: Any, *args: Any) -> None:
    key = f"live {label.lower()}"
    main: Any = "primary" if shortcut == "K" else "secondary"
    st.button(label, key=key, icon=icon, shortcut=shortcut, type=main, on_click=act, args=args)


def _policies(problem: Problem) -> None:
    options = dict.fromkeys([*POLICIES, *(p.name for p in _chosen())])
    if not problem.evidence.has_truth:
        options = {k: None for k in options if not POLICIES.get(k, _FIRST).needs_labels}
    st.session_state["live policies"] = [p.name for p in _chosen() if p.name in options]
    st.multiselect(
        "Policies, on the same patients", options, key="live policies",
        max_selections=MAX_POLICIES, on_change=_set_policies,
    )  # fmt: skip


_FIRST = next(iter(POLICIES.values()))


def _patients() -> None:
    lengths = sorted({*LENGTHS, setting("n")})  # an experiment's run has its own length
    choice_of("Patients played", "n", lengths, widget=st.selectbox, format_func=lambda n: f"{n:,}")
    choice_of("They come", "order", list(ORDERS), widget=st.selectbox, format_func=ORDERS.get)
    st.session_state["live seed"] = setting("seed")
    st.number_input(
        "Seed", 0, 2**53 - 1, key="live seed", on_change=lambda: _restart(_state("live seed")),
        help="The same seed gives the same patients and the same draws.",
    )  # fmt: skip
    toggle("Band of repeats behind the chart", "band")
    st.divider()
    kind = st.selectbox(
        "Add a policy with its own number", tuple(_NUMBERS), format_func=lambda kind: NAMES[kind]
    )
    symbol, usual = _NUMBERS[kind]
    number = st.number_input(symbol, 0.0, 100.0, usual, key=f"live number {kind}")
    st.button("Add", on_click=_add, args=(kind, number), key="live add")
    if "live faults" in st.session_state:
        show_faults(st.session_state.pop("live faults"))


def measure_switch(options: dict[str, str]) -> None:
    """Choose what the chart shows."""
    choice_of(
        "The chart shows", "measure", list(options), widget=st.segmented_control,
        format_func=options.get, label_visibility="collapsed", required=True, wrap=True,
    )  # fmt: skip


def watched_switch(live: live_run.Live) -> None:
    """Choose whose patients and beliefs are shown."""
    names = [run.policy.name for run in live.runs]
    st.session_state["live watched"] = live.watched.policy.name
    st.segmented_control(
        "Watch", names, key="live watched", label_visibility="collapsed", required=True,
        on_change=lambda: live_run.change(watched=_state("live watched")), format_func=plain,
    )  # fmt: skip


def choice_of(label: str, name: str, options: Any, *, widget: Any = None, **how: Any) -> None:
    """A widget that shows a setting and sets it."""
    key = f"live {name}"
    st.session_state[key] = setting(name) if setting(name) in options else options[0]
    (widget or st.select_slider)(
        label, options, key=key, on_change=lambda: live_run.change(**{name: _state(key)}), **how
    )


def toggle(label: str, name: str, **how: Any) -> None:
    key = f"live {name}"
    st.session_state[key] = setting(name)
    st.toggle(label, key=key, on_change=lambda: live_run.change(**{name: _state(key)}), **how)


def _state(key: str) -> Any:
    return st.session_state[key]


def _chosen() -> list[Policy]:
    return [Policy(kind, parameter) for kind, parameter in setting("policies")]


def _set_policies() -> None:
    known = {**POLICIES, **{p.name: p for p in _chosen()}}
    chosen = [known[name] for name in _state("live policies")]
    live_run.change(policies=[[p.kind, p.parameter] for p in chosen])


def _add(kind: Any, number: float) -> None:
    try:
        policy = Policy(kind, number)
    except BadInput as bad:
        st.session_state["live faults"] = bad.faults
        return
    rows = [[p.kind, p.parameter] for p in _chosen() if p != policy][: MAX_POLICIES - 1]
    live_run.change(policies=[*rows, [policy.kind, policy.parameter]], watched=policy.name)


def _step(by: int) -> None:
    """One patient on or back; while playing, stop here first."""
    if live_run.playing():
        live_run.pause()
    else:
        live_run.move(live_run.cursor() + by)


def _jump() -> None:
    if (wanted := _state("live jump")) is not None:
        live_run.move(int(wanted))


def _reseed() -> None:
    _restart(int(setting("seed")) + 1)


def _restart(seed: int) -> None:
    st.session_state["live owed"] = 0.0
    live_run.change(seed=int(seed), cursor=0, tally=[0, 0])
