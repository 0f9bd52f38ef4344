"""Work beside the page: followed, stopped, its faults told."""

import threading

import pytest

from csmd_core.faults import BadInput, Fault
from studio import jobs


@pytest.fixture
def gate():
    """A step that waits until the test lets it go on."""
    opened = threading.Event()
    yield opened
    opened.set()


def ended(job):
    for _ in range(500):
        if not job.running:
            return job
        threading.Event().wait(0.01)
    raise TimeoutError


def test_progress_is_seen_and_the_same_work_is_not_started_twice(gate):
    def work(progress):
        progress(1, 4)
        gate.wait(5)
        progress(4, 4)

    job = jobs.start("seen", work)
    while not job.done:
        threading.Event().wait(0.01)
    assert (job.share, job.running) == (0.25, True)
    assert job.seconds_left >= 0
    assert jobs.start("seen", work) is job is jobs.find("seen")
    gate.set()
    assert ended(job).share == 1.0


def test_a_stop_reaches_the_work(gate):
    def work(progress):
        while progress(1, 2):
            gate.wait(0.01)

    job = jobs.start("stop", work)
    assert job.running
    job.stop()
    assert ended(job).faults == ()


def test_a_new_job_of_this_session_stops_its_former_one(gate):
    def endless(progress):
        while progress(0, 1):
            gate.wait(0.01)

    first = jobs.start("first", endless)
    second = jobs.start("second", endless)
    ended(first)
    assert second.running
    second.stop()
    ended(second)


def test_faults_are_told_and_the_unforeseen_too():
    fault = Fault("The label", "is odd.", "Mend it.")

    def bad(progress):
        raise BadInput(fault)

    def broken(progress):
        raise ZeroDivisionError

    assert ended(jobs.start("bad", bad)).faults == (fault,)
    [told] = ended(jobs.start("broken", broken)).faults
    assert "ZeroDivisionError" in str(told)
    assert jobs.find("nothing of the kind") is None
