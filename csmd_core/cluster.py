"""A cluster: the same experiments on Dask workers, through joblib.

Whatever runs inside `with on_cluster(...)` in the same thread goes to the workers; its results do
not depend on where it ran. Needs the extra `requirements-cluster.txt`.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import joblib

from csmd_core.faults import BadInput, Fault

LOCAL = "local"
_WAIT = 5  # seconds for a scheduler to answer


@contextmanager
def on_cluster(address: str = LOCAL, n_workers: int | None = None) -> Iterator[Any]:
    """Send joblib's work to the scheduler at an address (tcp://host:port), or to a cluster of
    processes started on this machine for as long as the block lasts; yields the Dask client.

    Where the cluster has one thread in all, joblib plays here instead: the result is the same.
    """
    distributed = _distributed()
    with ExitStack() as stack:
        stack.enter_context(distributed.utils.silence_logging_cmgr(logging.CRITICAL))
        if address == LOCAL:
            address = stack.enter_context(_local_cluster(distributed, n_workers)).scheduler_address
        _require_workers(distributed, address)
        client = stack.enter_context(
            distributed.Client(address, timeout=_WAIT, set_as_default=False)
        )
        stack.enter_context(joblib.parallel_config(backend="dask", client=client))
        try:
            yield client
        except (
            distributed.KilledWorker,
            distributed.comm.CommClosedError,
            CancelledError,
        ) as error:
            what = "was lost while it worked."
            mend = "Look after its scheduler and workers, then run it again."
            raise BadInput(Fault(f"The cluster '{address}'", what, mend)) from error


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError:
        raise BadInput(
            Fault(
                "Running on a cluster", "needs an extra that is not installed.",
                "Install it with: pip install -r requirements-cluster.txt",
            )
        ) from None  # fmt: skip
    return distributed


def _local_cluster(distributed: Any, n_workers: int | None) -> Any:
    try:
        with _interrupts_ignored():
            return distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True,
                dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
            )  # fmt: skip
    except (OSError, RuntimeError) as error:
        what = f"cannot be started: {error}"
        mend = "Run on this machine's cores instead, without a cluster."
        raise BadInput(Fault("A cluster on this machine", what, mend)) from error


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes started now ignore Ctrl-C, which a terminal sends to all: this one decides."""
    if threading.current_thread() is not threading.main_thread():  # where signals cannot be set
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _require_workers(distributed: Any, address: str) -> None:
    """Ask the scheduler who works for it, before a client is made that would try and try again."""

    async def identity() -> Any:
        async with asyncio.timeout(_WAIT), distributed.rpc(address) as scheduler:
            return await scheduler.identity()

    try:
        with ThreadPoolExecutor(1) as thread:  # this one may have a loop of its own (a notebook)
            told = thread.submit(asyncio.run, identity()).result()
    except Exception:  # whatever listens there, or nothing at all: it is no scheduler of ours
        told = {}
    if told.get("type") != "Scheduler":
        what, mend = "does not answer.", "Check that a Dask scheduler runs there, tcp://host:8786."
        raise BadInput(Fault(f"The cluster '{address}'", what, mend))
    if not told["workers"]:
        raise BadInput(
            Fault(f"The cluster '{address}'", "has no workers.", "Start one: dask worker ADDRESS")
        )
