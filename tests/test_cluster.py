"""Experiments on a real Dask cluster: a scheduler and workers in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import distributed
import pandas as pd
import pytest

from csmd_core.cli import main
from csmd_core.cluster import on_cluster
from csmd_core.experiment import experiment
from csmd_core.faults import BadInput
from csmd_core.policies import LEARNING
from tests.problems import cascade_problem, random_problem

PROBLEMS = {
    "cascade": cascade_problem([0.3, 0.15, 0.1], [0.1, 0.05, 0.3], lam=1.0),
    "subsets": random_problem(26, "subsets", n_tests=3),
}


def start(part: str, *options: str) -> subprocess.Popen:
    command = [sys.executable, "-m", f"distributed.cli.dask_{part}", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()


class Cluster:
    """A scheduler and as many workers as are asked for, without nannies: a dead one stays dead."""

    def __init__(self, folder) -> None:
        self.file = folder / "scheduler.json"
        options = ["--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
        self.scheduler = start("scheduler", *options, "--scheduler-file", str(self.file))
        self.workers: list[subprocess.Popen] = []

    @property
    def address(self) -> str:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                return json.loads(self.file.read_text())["address"]
            except (OSError, ValueError):
                time.sleep(0.05)
        raise TimeoutError("no scheduler")

    def grow(self, n: int) -> None:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        self.workers += [start("worker", self.address, *options) for _ in range(n)]
        until = time.monotonic() + 60
        while n_workers(self.address) != len(self.alive):
            if time.monotonic() > until:
                raise TimeoutError("no workers")
            time.sleep(0.1)

    @property
    def alive(self) -> list[subprocess.Popen]:
        return [worker for worker in self.workers if worker.poll() is None]

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            end(process)


def n_workers(address: str) -> int:
    with distributed.Client(address, set_as_default=False) as client:
        return len(client.scheduler_info()["workers"])


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A place for the one cluster of all tests, started when it is needed or dead."""
    place: list[Cluster] = []

    def alive() -> Cluster:
        if not place or place[-1].scheduler.poll() is not None:
            place.append(Cluster(tmp_path_factory.mktemp("dask")))
            with pytest.raises(BadInput, match="has no workers"), on_cluster(place[-1].address):
                pass
        return place[-1]

    yield alive
    for made in place:
        made.close()


@pytest.fixture
def cluster(scheduler):
    """A cluster of two workers, whatever the test before did to them."""
    made = scheduler()
    made.grow(2 - len(made.alive))
    return made


def assert_equal(a, b) -> None:
    pd.testing.assert_frame_equal(a.runs, b.runs, check_exact=True)
    pd.testing.assert_frame_equal(a.curves, b.curves, check_exact=True)


def test_the_cluster_s_result_is_the_local_one(cluster):
    here = experiment(PROBLEMS, LEARNING, 1500, 10, seed=3)
    seen = []
    with on_cluster(cluster.address) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        there = experiment(
            PROBLEMS, LEARNING, 1500, 10, seed=3, progress=lambda done, total: seen.append(done)
        )
        ran = client.run(os.getpid)
    assert_equal(here, there)
    assert seen == sorted(seen)
    assert seen[-1] == 60
    assert len(set(seen)) > 3  # progress came piece by piece
    assert set(ran.values()) == {worker.pid for worker in cluster.alive}


def test_the_work_runs_on_the_workers(cluster):
    """CPU time is spent there, not here."""
    with on_cluster(cluster.address) as client:
        before = sum(client.run(time.process_time).values())
        experiment({"cascade": PROBLEMS["cascade"]}, LEARNING, 10_000, 100)
        spent = sum(client.run(time.process_time).values()) - before
    began = time.process_time()
    experiment({"cascade": PROBLEMS["cascade"]}, LEARNING, 10_000, 100)
    assert spent > 0.5 * (time.process_time() - began)


def test_stop_keeps_what_is_done(cluster):
    with on_cluster(cluster.address):
        result = experiment(
            PROBLEMS, LEARNING, 5000, 40, progress=lambda done, total: False if done else None
        )
    assert result.stopped
    assert 0 < result.n_done < 240


def test_a_worker_killed_amid_the_experiment_is_survived(cluster):
    problems = {"cascade": PROBLEMS["cascade"]}
    victim = cluster.alive[0]
    done_at_kill = []

    def kill_one(done: int, total: int) -> None:
        if done and not done_at_kill:
            done_at_kill.append(done)
            os.kill(victim.pid, signal.SIGKILL)

    with on_cluster(cluster.address):
        there = experiment(problems, LEARNING, 10_000, 120, seed=7, progress=kill_one)
    assert victim.wait(10) == -signal.SIGKILL
    assert done_at_kill[0] < there.n_total == there.n_done
    assert_equal(experiment(problems, LEARNING, 10_000, 120, seed=7), there)


def test_the_command_line_gives_the_same_on_the_cluster(cluster, capsys):
    options = ["experiment", "diabetes", "--n-patients", "300", "--n-repeats", "3", "--json"]
    assert main(options) == 0
    here = capsys.readouterr().out
    assert main([*options, "--cluster", cluster.address]) == 0
    assert capsys.readouterr().out == here


def test_a_cluster_of_this_machine_s_processes():
    here = experiment(PROBLEMS, LEARNING, 200, 4, seed=5)
    with on_cluster("local", n_workers=2) as client:
        assert set(client.run(os.getpid).values()) != {os.getpid()}
        there = experiment(PROBLEMS, LEARNING, 200, 4, seed=5)
    assert_equal(here, there)


def test_a_scheduler_that_dies_is_reported(cluster):
    def kill_scheduler(done: int, total: int) -> None:
        if done:
            end(cluster.scheduler)

    with pytest.raises(BadInput, match="was lost"), on_cluster(cluster.address):
        experiment(PROBLEMS, LEARNING, 20_000, 120, progress=kill_scheduler)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", ""])
def test_a_cluster_that_is_not_there_gets_a_sentence(address, monkeypatch):
    monkeypatch.setattr("csmd_core.cluster._WAIT", 1)
    with pytest.raises(BadInput, match="does not answer"), on_cluster(address):
        pass


def test_a_missing_extra_gets_a_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadInput, match=r"requirements-cluster\.txt"), on_cluster():
        pass
    assert main(["paper", "--cluster", "local"]) == 2
    assert "requirements-cluster.txt" in capsys.readouterr().err
