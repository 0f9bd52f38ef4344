"""The command line: what it prints, writes and exits with."""

from __future__ import annotations

import json
import math
import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from csmd_core.bundled import bundled_names
from csmd_core.cli import main
from csmd_core.cli.opening import policy_named
from csmd_core.cli.output import Line, plain
from csmd_core.cli.parser import make_parser
from csmd_core.dominance import judge
from csmd_core.faults import BadInput
from csmd_core.policies import LEARNING, kl_ucb, thompson, ucb1
from csmd_core.problem import make_problem
from csmd_core.report import paper_record
from csmd_core.reproduce import Settings, paper_experiments, paper_table
from csmd_core.simulation import simulate
from csmd_core.windows import dominance_windows
from tests.made import bundled_case

SMALL = ["--n-patients", "200", "--n-repeats", "3"]


def run_json(capsys, *argv: str, code: int = 0):
    assert main([*argv, "--json"]) == code
    out = capsys.readouterr().out
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def fails(capsys, *argv: str) -> str:
    """Expect exit code 2, nothing on standard output, and return the sentence."""
    assert main(list(argv)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    ill = rng.random(120) < 0.4
    frame = pd.DataFrame(
        {
            "temp": rng.normal(37, 1, 120) + ill,
            "scan": rng.normal(0, 1, 120) + 2 * ill,
            "quick": (ill ^ (rng.random(120) < 0.2)).astype(int),
            "slow": (ill ^ (rng.random(120) < 0.05)).astype(int),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    frame.to_csv(folder / "patients.csv", index=False)
    both = pd.DataFrame({"test": ["temp", "scan"], "price": [1.0, 90.0]})
    both.to_csv(folder / "prices.csv", index=False)
    results = pd.DataFrame({"test": ["quick", "slow"], "price": [2.0, 30.0]})
    results.to_csv(folder / "results.csv", index=False)
    with pd.ExcelWriter(folder / "book.xlsx") as book:
        frame.to_excel(book, sheet_name="patients", index=False)
        both.to_excel(book, sheet_name="tests", index=False)
    return folder


def test_help_is_quick_and_has_examples():
    began = time.process_time()
    for command in ("studies", "check", "simulate", "experiment", "paper"):
        with pytest.raises(SystemExit) as done:
            main([command, "--help"])
        assert done.value.code == 0
    assert time.process_time() - began < 1
    code = "import sys, csmd_core.cli; print([m for m in ('numpy', 'pandas') if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


@pytest.mark.parametrize("command", ["check", "simulate", "experiment", "paper"])
def test_help_shows_an_example_that_parses(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert "exit codes" in text
    example = text.split("example:")[1].split("python -m csmd_core ")[1]
    words = example.replace("\\\n", " ").splitlines()[0].split()
    assert make_parser().parse_args(words).command == command


def test_studies(capsys):
    told = run_json(capsys, "studies")["studies"]
    assert [row["study"] for row in told] == list(bundled_names())
    assert told[0]["patients"] == 303
    assert main(["studies"]) == 0
    assert "Thallium scan" in capsys.readouterr().out


def test_check_equals_the_core(capsys):
    panels, evidence = bundled_case("heart", "subsets")
    told = run_json(
        capsys, "check", "heart", "--mode", "subsets", "--folds", "5", "--lam", "0.001", code=1
    )
    problem = make_problem(panels, evidence, 0.001)
    (verdict,) = told["verdicts"]
    assert verdict["best"] == panels.names[problem.best]
    assert verdict["margin"] == pytest.approx(judge(problem).margin)
    assert verdict["holds"] is False
    low, high = verdict["margin_interval"]
    assert low < verdict["margin"] < high
    windows = dominance_windows(panels, evidence)
    assert [w["lam_above"] for w in told["windows"]] == pytest.approx([w.low for w in windows])
    assert told["windows"][-1]["lam_up_to"] is None  # ∞


def test_check_s_exit_code_is_the_verdict(capsys):
    assert main(["check", "diabetes", "--lam", "0.001"]) == 0
    assert "policy can learn" in capsys.readouterr().out
    assert main(["check", "diabetes", "--lam", "0.001", "--lam", "0.005"]) == 1
    assert "cannot learn" in capsys.readouterr().out
    assert main(["check", "diabetes", "--lam", "0.00001"]) == 0
    assert "nothing to check" in capsys.readouterr().out


def test_check_takes_one_lam_for_each_panel(capsys):
    lams = "0.01,0.004,0.0038"
    told = run_json(
        capsys, "check", "diabetes", "--grouping", "paper", "--separate-fees", "--lam", lams
    )
    assert told["verdicts"][0]["lam"] == [0.01, 0.004, 0.0038]
    assert told["verdicts"][0]["holds"] is True


def test_files_of_one_s_own(files, capsys):
    own = ["--label", "ill", "--positive", "yes", "--lam", "0.001"]
    csv = ["--patients", str(files / "patients.csv"), "--prices", str(files / "prices.csv")]
    told = run_json(capsys, "check", *csv, *own)
    assert told["verdicts"][0]["panel"] in {"temp", "temp + scan"}
    book = run_json(capsys, "check", "--patients", str(files / "book.xlsx"), *own)
    assert book["verdicts"] == told["verdicts"]
    assert main(["check", *csv, *own, "--tests", "scan", "--mode", "subsets"]) == 0


def test_results_need_no_learning_and_no_labels(files, capsys):
    patients, prices = str(files / "patients.csv"), str(files / "results.csv")
    base = ["--patients", patients, "--prices", prices, "--results"]
    labelled = run_json(
        capsys, "check", *base, "--label", "ill", "--positive", "yes", "--lam", "0.01"
    )
    assert labelled["verdicts"][0]["holds"] is True
    unlabelled = run_json(capsys, "check", *base, "--lam", "0.01")
    assert unlabelled["verdicts"][0]["best"] is None
    assert unlabelled["verdicts"][0]["panel"] == labelled["verdicts"][0]["panel"]
    assert unlabelled["windows"] == []
    run = run_json(capsys, "simulate", *base, "--lam", "0.01", "--n-patients", "50")
    assert (run["regret"], run["misdiagnoses"]) == (None, None)
    assert run["money"] > 0


def test_simulate_equals_the_core(tmp_path, capsys):
    out = tmp_path / "run.csv"
    told = run_json(
        capsys, "simulate", "diabetes", "--folds", "5", "--lam", "0.002", "--policy", "ucb1:0.7",
        "--n-patients", "500", "--seed", "9", "--order", "shuffled", "--out", str(out),
    )  # fmt: skip
    panels, evidence = bundled_case("diabetes", "cascade")
    run = simulate(make_problem(panels, evidence, 0.002), ucb1(0.7), 500, 9, "shuffled")
    assert told["regret"] == pytest.approx(run.regret[-1])
    assert told["misdiagnoses"] == run.misdiagnoses
    assert told["money_saved"] == run.money_saved
    assert told["policy"] == "UCB1 (α = 0.7)"
    assert sum(row["patients"] for row in told["panels"]) == 500
    written = pd.read_csv(out)
    assert written["panel"].tolist() == [panels.names[i] for i in run.choices]


def test_experiment_writes_everything(tmp_path, capsys):
    out = tmp_path / "new" / "folder"
    options = ["--lam", "0.001", "--lam", "0.003", "--policies", "thompson", "full", *SMALL]
    told = run_json(capsys, "experiment", "diabetes", *options, "--out", str(out))
    assert told["n_runs"] == told["n_total"] == 12
    summary = pd.read_csv(out / "summary.csv")
    assert [row["regret"] for row in told["summary"]] == pytest.approx(summary["regret"].tolist())
    assert set(summary["problem"]) == {"λ = 0.001", "λ = 0.003"}
    runs = pd.read_csv(out / "runs.csv")
    assert runs["seed"].nunique() == 6
    assert len(pd.read_csv(out / "curves.csv")) == 4 * 200 * 4
    page = (out / "experiment.html").read_text(encoding="utf-8")
    assert page.count("plotly-graph-div") >= 5
    assert main(["experiment", "diabetes", *options]) == 0
    assert "12 of 12 runs" in capsys.readouterr().out


def test_paper_equals_the_core_and_writes_one_page(tmp_path, capsys):
    told = run_json(capsys, "paper", *SMALL, "--seed", "4", "--out", str(tmp_path))
    settings = Settings(200, 3, 4)
    record = paper_record(paper_experiments(settings), paper_table(settings))
    assert told == json.loads(json.dumps(plain(record)))
    assert told["contradiction"]["holds_below"] == pytest.approx(0.0588)
    table = pd.read_csv(tmp_path / "table_one.csv")
    assert table["cost_2"].tolist() == [23.61] * 5 + [396.77] * 5
    assert table["lam_3"].iloc[0] == 0.015
    for part in ("cascades", "policies", "subsets"):
        assert len(pd.read_csv(tmp_path / f"{part}_summary.csv")) == len(told["figures"][part])
        assert (tmp_path / f"{part}_curves.csv").exists()
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    for words in ("Table I", "Figure 2", "Figure 3", "0.0038 × 46 − 0.004 × 29 = 0.0588"):
        assert words in page
    assert "<script src=" not in page
    assert "0.00001, 0.00004, 0.0001" in page
    assert "+0.008" in page
    shared = run_json(capsys, "paper", *SMALL, "--shared-fees")
    assert shared["table_one"][5]["cost"][2] < 600.57


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["check", "liver"], "does not come with the product"),
        (["check"], "not named"),
        (["check", "heart", "--patients", "x.csv"], "named twice"),
        (["check", "--patients", "no-such-file.csv"], "cannot be opened"),
        (["check", "heart", "--grouping", "none"], "no grouping"),
        (["check", "diabetes", "--lam", "many"], "'many' is not a number"),
        (["check", "diabetes", "--lam", "0"], "above 0"),
        (["check", "diabetes", "--lam", "0.1,0.2"], "2 values for 3 panels"),
        (["check", "diabetes", "--classifier", "oracle"], "is not known"),
        (["check", "diabetes", "--folds", "1"], "folds"),
        (["check", "diabetes", "--tests", "Biopsy"], "'Biopsy' does not exist"),
        (["check", "diabetes", "--mode", "subsets", "--at-most", "0"], "1 or more"),
        (["check", "diabetes", "--resamples", "0"], "1 or more"),
        (["check", "diabetes", "--results", "coin"], "cannot be 'coin'"),
        (["check", "diabetes", "--results"], "several columns"),
        (["simulate", "diabetes", "--policy", "magic"], "'magic' does not exist"),
        (["simulate", "diabetes", "--policy", "ucb1:0.5"], "above 0.5"),
        (["simulate", "diabetes", "--policy", "kl-ucb:x"], "'x' is not a number"),
        (["simulate", "diabetes", "--n-patients", "-1"], "cannot be -1"),
        (["simulate", "diabetes", "--n-patients", "99999999999"], "cannot be 99,999,999,999"),
        (["simulate", "diabetes", "--seed", "-1"], "seed"),
        (["simulate", "diabetes", "--lam", "0.1", "--lam", "0.2"], "more than once"),
        (["simulate", "diabetes", "--out", "/no/such/folder/run.csv"], "cannot be used"),
        (["experiment", "diabetes", "--n-repeats", "0"], "1 or more"),
        (["experiment", "diabetes", "--n-patients", "99999999999"], "cannot be"),
        (["paper", "--n-repeats", "0"], "1 or more"),
        (["paper", *SMALL, "--out", "/proc/none"], "cannot be used"),
    ],
)
def test_bad_input_gets_a_sentence_and_code_2(argv, words, capsys):
    assert words in fails(capsys, *argv)


def test_every_fault_of_a_file_is_told(files, tmp_path, capsys):
    bad = tmp_path / "bad.csv"
    bad.write_text("test,price\ntemp,-1\nscan,cheap\n")
    patients = ["--patients", str(files / "patients.csv")]
    told = fails(capsys, "check", *patients, "--prices", str(bad), "--label", "ill")
    assert "temp" in told
    assert "scan" in told
    assert "positive" in told or "disease" in told


def test_no_labels_cannot_suggest_a_lam(files, capsys):
    argv = ["--patients", str(files / "patients.csv"), "--prices", str(files / "results.csv")]
    assert "Give --lam" in fails(capsys, "check", *argv, "--results")


def test_policies_by_name():
    assert [policy_named(text) for text in ("thompson", "kl-ucb", "ucb1")] == [*LEARNING.values()]
    assert policy_named("kl-ucb:3") == kl_ucb(3)
    assert policy_named("thompson") == thompson()
    with pytest.raises(BadInput):
        policy_named("thompson:1")


def test_json_has_no_endless_numbers():
    value = plain({"a": math.inf, "b": [np.float64("nan"), np.bool_(True)], "c": (np.int64(3),)})
    assert value == {"a": None, "b": [None, True], "c": [3]}


def in_terminal(*argv: str) -> tuple[int, str]:
    """Run with standard error on a terminal, standard output elsewhere."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "csmd_core", *argv]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the terminal closes with the process
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return process.wait(60), shown.decode()


def test_progress_is_for_terminals_only(capsys):
    code, shown = in_terminal("experiment", "diabetes", *SMALL)
    assert code == 0
    assert "Runs: 9 of 9" in shown
    assert main(["experiment", "diabetes", *SMALL]) == 0
    assert capsys.readouterr().err == ""


def test_interrupted_it_keeps_what_is_done(tmp_path):
    argv = ["experiment", "diabetes", "--n-patients", "100000", "--n-repeats", "5000", "--json"]
    command = [sys.executable, "-m", "csmd_core", *argv, "--out", str(tmp_path)]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"Runs: 1" not in shown and b"Runs: 3" not in shown:  # the first pieces are done
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    told = json.loads(out)
    assert process.returncode == 130
    assert told["stopped"] is True
    assert 0 < told["n_runs"] < told["n_total"] == 15_000
    assert len(pd.read_csv(tmp_path / "runs.csv")) == told["n_runs"]


def test_a_second_interrupt_ends_it_at_once():
    line = Line("Runs")
    assert line(1, 2) is True
    line.stopped = True
    assert line(1, 2) is False


def test_a_reader_that_stops_reading_is_no_error():
    command = f"{sys.executable} -m csmd_core studies --json | head -1; echo ${{PIPESTATUS[0]}}"
    shell = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert shell.stdout.splitlines() == ["{", "0"]
    assert shell.stderr == ""
