"""The Live page: what it shows at patient t is what `simulate` gives at t, whatever is pressed."""

from __future__ import annotations

import base64
import json
import re
from contextlib import suppress
from functools import cache
from html import escape, unescape

import numpy as np
import pytest

from app import bundled, open_page
from csmd_core.bundled import bundled_names, load_bundled
from csmd_core.explain import explain
from csmd_core.panels import cascade, subsets
from csmd_core.policies import LEARNING, POLICIES, kl_ucb
from csmd_core.predictions import fit_evidence
from csmd_core.problem import make_problem
from csmd_core.simulation import run_table, simulate
from csmd_core.situations import SITUATIONS
from studio import live_run, session
from studio.session import DEFAULTS, disc_store
from studio.store import blob_ref
from studio.text import money, percent
from uploads import results

PAGE = "pages/live.py"
LAM = 0.002


@cache
def problem_of(name="diabetes", mode="cascade"):
    study = load_bundled(name)
    panels = (cascade if mode == "cascade" else subsets)(study.tests, study.fees)
    return make_problem(panels, fit_evidence(study, panels), LAM)


def open_live(name="diabetes", mode="cascade", **live):
    return open_page(PAGE, study=bundled(name), mode=mode, lam=LAM, live={"n": 1000, **live})


def rows(*policies):
    return [[policy.kind, policy.parameter] for policy in policies]


def settings(app):
    return {**live_run.USUAL, **app.session_state["settings"]["live"]}


def pieces(app):
    return [piece.proto.body for piece in app.get("html")]


def standings(app):
    """Read the table of policies: name → its cells; and at which patient."""
    table = next(piece for piece in pieces(app) if "data-shown" in piece)
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", table)[1:]:
        name, *cells = (
            unescape(re.sub("<.*?>", "", c)) for c in re.findall(r"<td.*?>(.*?)</td>", row)
        )
        found[name.removeprefix("■ ")] = cells
    return found, int(re.search(r"data-shown='(\d+)'", table)[1])


def card(app):
    return next(piece for piece in pieces(app) if re.search("data-(patient|next)", piece))


def figure(app, key):
    """Read a chart's figure, its packed numbers unpacked."""
    mounted = next(x for x in app.get("bidi_component") if x.proto.id.endswith(f"-{key}"))
    found = json.loads(json.loads(mounted.proto.json)["figure"])
    for trace in found["data"]:
        for axis in "xy":
            if isinstance(trace[axis], dict):
                data = base64.b64decode(trace[axis]["bdata"])
                trace[axis] = np.frombuffer(data, dtype="<" + trace[axis]["dtype"])
    return found


def expected(run, currency="CA$"):
    return [
        money(run.money[-1], currency), f"{run.regret[-1]:,.2f}",
        f"{run.misdiagnoses:,}", percent(run.share_of_best),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
def test_numbers_on_screen_are_those_of_simulate_for_all_policies(mode):
    problem = problem_of(mode=mode)
    app = open_live(mode=mode, policies=rows(*POLICIES.values(), kl_ucb(3)), seed=5)
    for t in (1, 2, 64, 333, 1000):
        app.number_input(key="live jump").set_value(t).run()
        shown, at = standings(app)
        assert at == t
        assert len(shown) == 9
        for policy in [*POLICIES.values(), kl_ucb(3)]:
            assert shown[policy.name] == expected(simulate(problem, policy, t, seed=5)), policy
        lines = {trace.get("name"): trace for trace in figure(app, "live chart")["data"]}
        for policy in POLICIES.values():
            line, run = lines[policy.name], simulate(problem, policy, t, seed=5)
            np.testing.assert_allclose(line["y"][1:], run.regret[line["x"][1:] - 1])
            assert line["x"][-1] == t
            assert len(line["x"]) <= 500


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda p: p.kind)
def test_the_patient_is_the_one_that_simulate_gives(mode, policy):
    problem, study = problem_of(mode=mode), load_bundled("diabetes")
    app = open_live(mode=mode, policies=rows(policy), cursor=57)
    run = simulate(problem, policy, 57, seed=1)
    row, choice = int(run.patients[-1]), int(run.choices[-1])
    shown = card(app)
    assert f"Row {row + 1} of the study" in shown
    assert escape(explain(run).sentence) in shown
    done = problem.panels.tests_of(choice)
    for test in problem.panels.tests:
        assert (f"<b>{test.name}</b> <span style='font-size:.85em'>not done" in shown) == (
            test not in done
        )
    assert ("Age " + str(study.patients["Age"][row]) in shown) == (done[0].name == "History")
    truth = ("healthy", "ill")[study.truth[row]]
    verdict = "wrong" if run.wrong[-1] else "right"
    assert f"never shown to the policy: the patient is <b>{truth}</b>" in shown
    assert f"the diagnosis was <b>{verdict}</b>" in shown
    said = problem.evidence.predictions[row, problem.panels.contains[choice]]
    assert ("disagree" in shown) == (len(set(said)) > 1)


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_study(name, mode):
    app = open_live(name, mode, cursor=50)
    if (name, mode) == ("thyroid", "subsets"):
        assert "not fitted yet" in app.error[0].value
        return
    assert standings(app)[1] == 50
    assert "data-patient='50'" in card(app)


def test_nobody_yet_then_step_back_and_on():
    app = open_live()
    assert "Patient 1 is next" in card(app)
    assert any("press Play" in piece for piece in pieces(app))
    for key, t in [("next", 1), ("next", 2), ("back", 1), ("back", 0), ("back", 0), ("next", 1)]:
        app.button(key=f"live {key}").click().run()
        assert standings(app)[1] == t == settings(app)["cursor"]
    app.button(key="live new seed").click().run()
    assert (settings(app)["seed"], standings(app)[1]) == (2, 0)


@pytest.fixture
def time(monkeypatch):
    """A clock that the test moves."""
    now = [100.0]
    monkeypatch.setattr(live_run, "clock", lambda: now[0])
    return now


def test_playing_goes_at_its_speed_and_pauses_at_once(time):
    app = open_live(speed=100)
    app.button(key="live play").click().run()
    for tick in range(1, 8):
        time[0] += 0.125
        app.run()
        assert standings(app)[1] == 25 * tick // 2
    app.button(key="live pause").click().run()
    time[0] += 10
    app.run()
    assert standings(app)[1] == 87 == settings(app)["cursor"]
    app.select_slider(key="live speed").set_value(1).run()
    app.button(key="live play").click().run()
    for _ in range(25):
        time[0] += 0.125
        app.run()
    assert standings(app)[1] == 90
    time[0] += 3600  # the laptop slept: no leap
    app.run()
    assert standings(app)[1] == 91


def test_playing_ends_with_the_run_and_can_begin_again(time):
    app = open_live(speed=3000, cursor=990)
    app.button(key="live play").click().run()
    time[0] += 0.5
    app.run()
    assert standings(app)[1] == 1000
    app.button(key="live play").click().run()
    time[0] += 0.125
    app.run()
    assert standings(app)[1] == 375


def test_playing_saves_every_other_second_only(time, monkeypatch):
    app = open_live(speed=10)
    app.button(key="live next").click().run()
    saved = []
    real = session.save
    monkeypatch.setattr(session, "save", lambda *a: (saved.append(1), real(*a)))
    app.button(key="live play").click().run()
    for _ in range(20):
        time[0] += 0.25
        app.run()
    assert len(saved) == 2
    app.button(key="live pause").click().run()
    kept = disc_store().load(app.session_state["workspace"].id)
    assert kept.settings["live"]["cursor"] == 51
    assert standings(open_page(PAGE, kept.id))[1] == 51


def test_a_run_ended_right_after_saving_is_in_no_conflict_with_itself(monkeypatch):
    app = open_live()
    app.button(key="live next").click().run()
    real, cut = session.take_up, []

    def ended(found):
        if not cut:
            cut.append(found)
            raise RuntimeError("as Streamlit ends a run")
        real(found)

    def saves_twice(t):
        with suppress(RuntimeError):
            live_run.change(cursor=t)
        live_run.change(cursor=t + 5)

    monkeypatch.setattr(session, "take_up", ended)
    monkeypatch.setattr(live_run, "move", saves_twice)
    app.button(key="live next").click().run()
    assert cut
    assert "conflict" not in app.session_state
    assert standings(app)[1] == 7
    assert disc_store().load(cut[0].id).settings["live"]["cursor"] == 7


def test_ticks_are_longer_when_many_play_at_once(time, monkeypatch):
    monkeypatch.setattr(live_run, "_playing", {})
    assert live_run.tick_length() == 0.1
    for n_people, seconds in ((8, 0.15), (20, 0.2), (50, 0.5)):
        live_run._playing.update({f"session {k}": time[0] for k in range(n_people)})
        assert live_run.tick_length() == seconds
    time[0] += 5  # all have closed their browsers
    assert live_run.tick_length() == 0.1


def test_policies_come_and_go_mid_run_on_the_same_patients():
    app = open_live(cursor=200)
    before = standings(app)[0]
    app.multiselect(key="live policies").set_value(["Thompson", "UCB1", "Random panel"]).run()
    shown = standings(app)[0]
    assert list(shown) == ["Thompson", "UCB1", "Random panel"]
    assert shown["Thompson"] == before["Thompson"]
    app.selectbox[-1].select("ucb1").run()
    app.number_input(key="live number ucb1").set_value(0.4).run()
    app.button(key="live add").click().run()
    assert "must be above 0.5" in app.error[0].value.replace("\\", "")
    app.number_input(key="live number ucb1").set_value(4.0).run()
    app.button(key="live add").click().run()
    assert "UCB1 (α = 4)" in standings(app)[0]
    app.multiselect(key="live policies").set_value([]).run()
    assert "Choose a policy" in app.info[0].value


def test_order_length_and_seed():
    app = open_live(cursor=150)
    app.selectbox(key="live order").select("study").run()
    assert "Row 150 of the study" in card(app)
    app.number_input(key="live seed").set_value(9).run()
    assert (settings(app)["seed"], standings(app)[1]) == (9, 0)
    app.number_input(key="live jump").set_value(900).run()
    app.selectbox(key="live n").select(200).run()
    assert standings(app)[1] == 200
    assert not app.exception


@pytest.mark.parametrize("mode", ["cascade", "subsets"])
def test_the_chart_shows_what_is_asked(mode):
    app, problem = open_live(mode=mode, cursor=100), problem_of(mode=mode)
    run = simulate(problem, LEARNING["Thompson"], 100, seed=1)
    for measure, value in (("money", run.money[-1]), ("misdiagnoses", run.misdiagnoses)):
        app.segmented_control(key="live measure").set_value(measure).run()
        assert figure(app, "live chart")["data"][0]["y"][-1] == pytest.approx(value)
    app.segmented_control(key="live measure").set_value("shares").run()
    areas = figure(app, "live chart")["data"]
    given = np.bincount(run.choices, minlength=problem.n_panels) / 100
    assert {a["name"]: a["y"][-1] for a in areas if a["y"][-1]} == pytest.approx(
        {problem.panels.names[i]: share for i, share in enumerate(given) if share}
    )
    app.segmented_control(key="live measure").set_value("regret").run()
    app.toggle(key="live band").set_value(True).run()
    bands = [trace for trace in figure(app, "live chart")["data"] if trace.get("fill") == "toself"]
    assert len(bands) == 3


def test_beliefs_follow_the_watched_policy():
    app = open_live(cursor=300, policies=rows(*LEARNING.values(), POLICIES["Full panel"]))
    assert figure(app, "live beliefs")["data"][0]["name"] == "Belief"
    app.segmented_control(key="live watched").set_value("kl-UCB").run()
    assert figure(app, "live beliefs")["data"][0]["name"] == "Possible"
    assert "<b>kl-UCB</b>" in card(app)
    app.segmented_control(key="live watched").set_value("Full panel").run()
    assert "learns nothing" in app.caption[0].value


def test_without_labels_all_but_what_needs_them():
    data = results().drop(columns="truth").to_csv(index=False).encode()
    study = {"source": "upload", "file": "r.csv", "patients": blob_ref(data), "results": True}
    tests = [{"name": f"test {k}", "columns": [f"test {k}"], "price": 10.0 * k, "fees": []}
             for k in (1, 2, 3)]  # fmt: skip
    live = {"cursor": 40, "n": 1000, "policies": rows(*POLICIES.values()), "measure": "regret"}
    made = {**DEFAULTS, "study": study, "tests": tests, "fees": {}, "lam": 0.004, "live": live}
    kept = disc_store().create("results", made, [data])
    app = open_page(PAGE, kept.id)
    shown = standings(app)[0]
    assert "Follow the labels" not in shown
    assert [len(cells) for cells in shown.values()] == [1] * 6
    assert "this study has no labels" in card(app)
    options = [option.content for option in app.segmented_control(key="live measure").proto.options]
    assert options == ["Money spent", "Share of each panel"]
    assert figure(app, "live chart")["layout"]["yaxis"]["title"]["text"] == "Money spent"
    assert "Follow the labels" not in app.multiselect(key="live policies").options


def test_names_and_values_are_shown_letter_by_letter():
    nasty = "<img src=x onerror=alert(1)>"
    tests = [{"name": nasty, "columns": ["Age"], "price": 5.0, "fees": []},
             {"name": "B", "columns": ["Glucose"], "price": 9.0, "fees": []}]  # fmt: skip
    app = open_page(PAGE, tests=tests, fees={}, lam=LAM, live={"cursor": 30})
    assert not any("<img" in piece for piece in pieces(app))
    assert escape(nasty) in card(app)
    assert "<img" not in json.dumps(figure(app, "live beliefs")["layout"])
    app.segmented_control(key="live measure").set_value("shares").run()
    assert "<img" not in "".join(a["name"] for a in figure(app, "live chart")["data"])


def test_the_download_has_one_row_a_patient():
    app = open_live(cursor=120)
    study, problem = load_bundled("diabetes"), problem_of()
    runs = tuple(simulate(problem, policy, 1000, 1) for policy in LEARNING.values())
    table = live_run.table(live_run.Live(study, problem, runs, runs[0], {}), 120)
    assert len(table) == 120
    assert list(table["regret (UCB1)"]) == list(run_table(runs[2])["regret"][:120])
    assert app.get("download_button")


def test_teaching_has_large_type_few_controls_and_prepared_situations():
    app = open_live(teaching=True)
    assert any("font-size: 20px" in piece for piece in pieces(app))
    keys = {button.key for button in app.button}
    assert keys == {"live back", "live play", "live next", "live new seed"}
    assert not app.number_input
    for name in SITUATIONS:
        app.segmented_control(key="live situation").set_value(name).run()
        app.button(key="live next").click().run()
        assert "Your own study is untouched" in app.caption[0].value.replace("\\", "")
    assert "best panel is History" in app.caption[0].value.replace("\\", "")


def test_a_class_guesses_and_a_tally_is_kept():
    app = open_live(teaching=True, guess=True, cursor=300)
    assert "live play" not in {button.key for button in app.button}
    run = simulate(problem_of(), LEARNING["Thompson"], 1000, seed=1)
    for k, guess in enumerate((1, 2, int(run.choices[302]))):
        assert f"Patient {301 + k} is next" in app.subheader[0].value.replace("\\", "")
        app.button(key=f"guess {guess}").click().run()
        assert standings(app)[1] == 301 + k
        assert bool(app.success) == (guess == run.choices[300 + k])
    right = int((run.choices[300:303] == [1, 2, run.choices[302]]).sum())
    assert settings(app)["tally"] == [right, 3]
    assert any(f"**{right} of 3**" in block.value for block in app.markdown)


def test_a_class_guesses_among_many_panels():
    app = open_live("hepatitis", "subsets", teaching=True, guess=True)
    app.button(key="guess").click().run()
    assert settings(app)["tally"][1] == 1
    assert not app.exception
