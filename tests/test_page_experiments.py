"""The Experiments page: chosen, refused, run, stopped, kept, compared, opened in Live."""

from __future__ import annotations

import time

import pandas as pd
import pytest

from app import bundled, open_page
from csmd_core import cluster
from csmd_core.bundled import bundled_names, load_bundled
from csmd_core.experiment import experiment, paired_differences
from csmd_core.panels import cascade
from csmd_core.plan import problems_at
from csmd_core.policies import LEARNING
from csmd_core.predictions import fit_evidence
from csmd_core.simulation import simulate
from csmd_core.summary import summary_table
from studio import jobs, results, session
from studio.experiment_results import CHARTS
from uploads import results as brought_results
from uploads import semicolons

PAGE = "pages/experiments.py"
SMALL = {"n_patients": 300, "n_repeats": 4, "lams": ["0.001", "0.01"]}


def open_small(**choices):
    return open_page(PAGE, experiment={**SMALL, **choices})


def settings(app):
    return app.session_state["settings"]


def words(app):
    return unescaped("\n".join(block.value for block in [*app.markdown, *app.caption]))


def errors(app):
    return unescaped(" ".join(box.value for box in app.error))


def unescaped(text):
    """Take away what `plain` put in."""
    return text.replace("\\", "").replace("\u2060", "")


def keys(widgets):
    return [widget.key for widget in widgets]


def play(app):
    """Start, and wait for the page with the result."""
    app.button(key="start experiment").click().run()
    wait(app)
    return app


def wait(app):
    key = f"experiment {app.session_state['workspace'].id}"
    for _ in range(600):
        job = jobs.find(key)
        if job is None or not job.running:
            break
        time.sleep(0.05)
    app.run()
    assert not app.exception, app.exception


def tables(app, k=0):
    """Runs, curves and summary of a kept result, as they lie in the store."""
    entry, held = settings(app)["experiments"][k], app.session_state["workspace"]
    store = session.disc_store()
    return [results._read(store.get_blob(held.id, entry[part])) for part in results._PARTS]


@pytest.fixture(scope="module")
def problems():
    study = load_bundled("diabetes")
    panels = cascade(study.tests, study.fees)
    return problems_at(panels, fit_evidence(study, panels), SMALL["lams"])


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_study_says_how_large_it_is(name):
    app = open_page(PAGE, study=bundled(name))
    assert "300 runs: 3 policies × 1 λ × 100 repeats, 10,000 patients each" in words(app)
    assert "of this machine" in words(app)
    assert not app.error
    assert "start experiment" in keys(app.button)


def test_the_numbers_are_the_core_s(problems):
    app = play(open_small(seed=5))
    same = experiment(problems, LEARNING, 300, 4, 5)
    expected = summary_table(same, problems)
    for shown, computed in zip(tables(app), [same.runs, same.curves, expected], strict=True):
        pd.testing.assert_frame_equal(shown, computed, check_dtype=False)
    first = expected[expected["problem"] == "λ = 0.001"].sort_values("regret").iloc[0]
    told = f"On **λ = 0.001**: After 300 patients **{first['policy']}** has the least regret: "
    assert f"{told}{first['regret']:.1f} (95% interval {first['regret_low']:.1f} to" in words(app)


def test_every_chart_and_the_differences(problems):
    app = play(open_small(policies=["thompson", "ucb1", "full"], ucb1=["0.51", "2"]))
    for chart in CHARTS:
        app.segmented_control(key="experiment chart").select(chart).run()
        assert not app.exception, app.exception
        assert len(app.get("plotly_chart")) == 1
    app.segmented_control(key="experiment chart").select("Regret at the end").run()
    app.selectbox(key="experiment baseline").select("Full panel").run()
    shown = app.dataframe[0].value
    policies = LEARNING | {p: results.policies_of(settings(app)["experiments"][0])[p]
                           for p in ("UCB1 (α = 2)", "Full panel")}  # fmt: skip
    policies.pop("kl-UCB")
    expected = paired_differences(experiment(problems, policies, 300, 4), "Full panel")
    assert shown["mean"].tolist() == pytest.approx(expected["mean"].tolist())
    app.selectbox(key="experiment problem").select("λ = 0.01").run()
    assert set(app.dataframe[0].value["problem"]) == {"λ = 0.01"}


def test_subsets_of_many_panels():
    app = open_page(
        PAGE, study=bundled("heart"), mode="subsets", experiment={"n_patients": 50, "n_repeats": 2}
    )
    play(app)
    assert "has the least regret" in words(app)
    assert settings(app)["experiments"][0]["of"]["mode"] == "subsets"


def test_every_control_is_kept():
    app = open_page(PAGE)
    app.multiselect(key="experiment policies").set_value(["thompson", "ucb1"]).run()
    app.multiselect(key="experiment ucb1").set_value(["0.51", "1"]).run()
    app.number_input(key="experiment n_patients").set_value(500).run()
    app.number_input(key="experiment n_repeats").set_value(7).run()
    app.number_input(key="experiment seed").set_value(9).run()
    app.selectbox(key="experiment order").set_value("study").run()
    suggested = app.multiselect(key="experiment lams").options
    app.multiselect(key="experiment lams").set_value(suggested[:3]).run()
    assert not app.exception
    kept = settings(app)["experiment"]
    assert (kept["n_patients"], kept["n_repeats"], kept["seed"]) == (500, 7, 9)
    assert kept["order"] == "study"
    assert "63 runs: 3 policies × 3 λ × 7 repeats, 500 patients each" in words(app)
    again = open_page(PAGE, link=app.session_state["workspace"].id)
    assert again.multiselect(key="experiment ucb1").value == ["0.51", "1"]
    assert again.number_input(key="experiment n_patients").value == 500


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"n_repeats": 0}, "The number of repeats is 0; it must be 1 or more."),
        ({"n_patients": 0}, "The number of patients is 0"),
        ({"n_patients": 10**9}, "of memory"),
        ({"n_repeats": 10**12}, "of memory"),
        ({"ucb1": ["0.5"]}, "UCB1's α must be above 0.5"),
        ({"kl-ucb": ["-2"]}, "kl-UCB's a must be 0 or more"),
        ({"ucb1": ["[x](http://y) $a$"]}, "cannot be '[x](http://y) $a$'"),
        ({"lams": ["0"]}, "λ must be a number above 0."),
        ({"lams": []}, "has no λ"),
        ({"policies": []}, "has no policy"),
        ({"seed": -1}, "The seed is -1"),
        ({"n_patients": 1_000_000, "n_repeats": 3000, "lams": ["1", "2", "3"]}, "hours"),
        ({"cluster": " "}, "The cluster has no address."),
    ],
)
def test_bad_settings_get_a_sentence(choices, said, monkeypatch):
    monkeypatch.setattr("csmd_core.plan.MOST_SECONDS", 60)
    app = open_small(**choices)
    assert said in errors(app)
    assert "start experiment" not in keys(app.button)


def test_settings_of_an_unknown_kind_are_passed_over():
    app = open_page(
        PAGE, experiment={"n_patients": "many", "policies": ["who"], "order": 3, "x": 1},
        experiments=["broken", {"name": 5}],
    )  # fmt: skip
    assert "300 runs" in words(app)
    assert "No results yet" in app.info[0].value


def test_a_cluster_that_is_not_there(monkeypatch):
    monkeypatch.setattr(cluster, "_WAIT", 0.3)
    app = open_small(cluster="tcp://127.0.0.1:9")
    assert "How long the cluster takes is seen once it runs." in words(app)
    play(app)
    assert "The cluster 'tcp://127.0.0.1:9' does not answer." in errors(app)
    assert settings(app)["experiments"] == []


def test_only_clusters_that_are_allowed(monkeypatch):
    monkeypatch.setenv("CSMD_CLUSTERS", "tcp://a:1 tcp://b:2")
    app = open_small(cluster="tcp://c:3")
    assert "is not open to this server. Choose one of: tcp://a:1, tcp://b:2." in errors(app)


def test_the_switch_to_a_cluster_and_back():
    app = open_small()
    app.toggle(key="experiment on cluster").set_value(True).run()
    app.text_input(key="experiment cluster").set_value("tcp://10.0.0.5:8786").run()
    assert settings(app)["experiment"]["cluster"] == "tcp://10.0.0.5:8786"
    app.toggle(key="experiment on cluster").set_value(False).run()
    assert settings(app)["experiment"]["cluster"] is None
    assert not app.exception


def test_a_stop_is_quick_and_keeps_whole_repeats():
    app = open_small(n_patients=200_000, n_repeats=400)
    app.button(key="start experiment").click().run()
    key = f"experiment {app.session_state['workspace'].id}"
    job = jobs.find(key)
    while not job.done:
        time.sleep(0.02)
    began = time.monotonic()
    app.button(key=f"stop {key}").click().run()
    while job.running:
        time.sleep(0.01)
    assert time.monotonic() - began < 1
    app.run()
    [entry] = settings(app)["experiments"]
    assert 0 < entry["n_done"] < entry["n_total"] == 2400
    assert "Stopped early" in app.warning[0].value
    runs = tables(app)[0]
    assert (runs.groupby(["problem", "repeat"]).size() == 3).all()


def test_results_are_reopened_renamed_compared_and_deleted():
    app = play(play(open_small()))
    link = app.session_state["workspace"].id
    names = [entry["name"] for entry in settings(app)["experiments"]]
    assert names == ["Diabetes (Pima) (2)", "Diabetes (Pima)"]
    again = open_page(PAGE, link=link)
    assert "has the least regret" in words(again)
    first, second = (entry["when"] for entry in settings(again)["experiments"])
    again.multiselect(key="experiments shown").set_value([first, second]).run()
    assert not again.exception
    assert "On **Diabetes (Pima) (2): λ = 0.001**" in words(again)
    again.text_input(key=f"name {first}").set_value("  mine $x$ ").run()
    assert settings(again)["experiments"][0]["name"] == "mine $x$"
    again.text_input(key=f"name {second}").set_value("mine $x$").run()
    assert settings(again)["experiments"][1]["name"] == "mine $x$ (2)"
    again.button(key=f"delete {first}").click().run()
    assert [entry["when"] for entry in settings(again)["experiments"]] == [second]
    assert not again.exception


def test_a_run_opens_in_live_as_it_was_played(problems):
    app = play(open_small(policies=["ucb1", "thompson"], ucb1=["2"], order="shuffled"))
    app.selectbox(key="run problem").select("λ = 0.01")
    app.selectbox(key="run policy").select("UCB1 (α = 2)")
    app.selectbox(key="run repeat").select(3).run()
    app.button(key="open run").click().run()
    assert not app.exception, app.exception
    assert app.title[0].value == "Live"
    live = settings(app)["live"]
    assert settings(app)["lam"] == 0.01
    assert (live["policies"], live["watched"]) == ([["ucb1", 2.0]], "UCB1 (α = 2)")
    assert (live["order"], live["n"]) == ("shuffled", 300)
    runs = tables(app)[0].query("problem == 'λ = 0.01' and policy == 'UCB1 (α = 2)'")
    row = runs[runs["repeat"] == 2].iloc[0]
    policy = results.policies_of(settings(app)["experiments"][0])["UCB1 (α = 2)"]
    run = simulate(problems["λ = 0.01"], policy, 300, live["seed"], "shuffled")
    assert run.regret[-1] == pytest.approx(row["regret"])


def test_a_result_of_a_bundled_study_brings_it_back_for_live():
    app = play(open_small())
    app.session_state["settings"] = {**settings(app), "study": bundled("heart"), "lam": 0.5}
    app.run()
    app.button(key="open run").click().run()
    assert settings(app)["study"]["name"] == "diabetes"
    assert settings(app)["lam"] == 0.001
    assert not app.exception


def test_without_labels_only_money_is_shown():
    frame = brought_results().drop(columns="truth")
    study = {**session.UPLOAD, "file": "r.csv", "results": True}
    data = semicolons(frame)
    study["patients"] = results.blob_ref(data)
    tests = [{"name": c, "columns": [c], "price": 5.0, "fees": []} for c in frame.columns]
    held = session.disc_store().create(
        "no labels", {**session.DEFAULTS, "study": study, "tests": tests, "fees": {},
                      "experiment": {"n_patients": 200, "n_repeats": 3}}, [data],
    )  # fmt: skip
    app = play(open_page(PAGE, link=held.id))
    assert app.segmented_control(key="experiment chart").options == ["Money over time"]
    assert "Against giving everyone every test" in words(app)
    app.multiselect(key="experiment policies").set_value(["thompson", "follow"]).run()
    assert "needs labels" in errors(app)
