"""The Live page: how smooth for one person, for twenty at once, and whether memory grows.

`python -m bench.live 600` plays for ten minutes instead of one.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from app import chromium, server
from person import Person, person
from watch import open_live, pause_inside, pauses, play, watch

PEOPLE = 20


def one_person(address: str) -> None:
    """Three policies in a browser: updates, blank frames, pauses."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1300})
        open_live(page, address)
        play(page)
        seen = watch(page, lambda: page.wait_for_timeout(10_000))
        waits, inside = pauses(page, 20), []
        for _ in range(20):
            play(page)
            inside.append(pause_inside(page))
    print(
        f"one person, 3 policies, {seen.seconds:.0f} s: {seen.rate:.1f} updates/s, "
        f"{seen.blank} blank of {seen.frames} frames, {seen.remounted} remounts"
    )
    print(
        f"pause seen after {1e3 * median(waits):.0f} ms (median of {len(waits)}, test driver "
        f"included), {1e3 * median(inside):.0f} ms by the page's own clock"
    )


async def many_people(address: str, process: psutil.Process, seconds: float = 10) -> None:
    """Twenty people play at once: updates and pauses of each, memory of each."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(person(address))
        await first.open()
        await first.play()
        await asyncio.sleep(2)
        before = _megabytes(process)
        people = [first]
        for _ in range(PEOPLE - 1):
            people.append(await stack.enter_async_context(person(address)))
            await people[-1].open()
            await people[-1].play()
        await asyncio.sleep(2)
        rates, busy = await _rates(people, process, seconds)
        waits = []
        for one in people:
            waits.append(await one.pause())
            await one.play()
        each = (_megabytes(process) - before) / (PEOPLE - 1)
    print(
        f"{PEOPLE} people at once: {min(rates):.1f} to {max(rates):.1f} updates/s each, pause seen "
        f"after {1e3 * median(waits):.0f} ms (median), {1e3 * max(waits):.0f} ms (longest), "
        f"{each:.1f} MB a session, the server uses {busy:.0f}% of a core"
    )


async def _rates(
    people: list[Person], process: psutil.Process, seconds: float
) -> tuple[list[float], float]:
    counts = [len(one.updates) for one in people]
    process.cpu_percent()
    await asyncio.sleep(seconds)
    busy = process.cpu_percent()
    pairs = zip(people, counts, strict=True)
    return [(len(one.updates) - count) / seconds for one, count in pairs], busy


async def memory(address: str, process: psutil.Process, seconds: float) -> None:
    """Three people play on and on: the server's memory by and by."""
    async with AsyncExitStack() as stack:
        for _ in range(3):
            one = await stack.enter_async_context(person(address))
            await one.open()
            await one.play()
        await asyncio.sleep(min(30, seconds / 2))
        taken = [_megabytes(process)]
        for _ in range(5):
            await asyncio.sleep(seconds / 5)
            taken.append(_megabytes(process))
    told = ", ".join(f"{megabytes:.0f}" for megabytes in taken)
    print(f"memory over {seconds:.0f} s of 3 people playing: {told} MB")


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 2**20


def _server_process() -> psutil.Process:
    found = [p for p in psutil.Process().children() if "streamlit" in " ".join(p.cmdline())]
    return found[-1]


def main(seconds: float = 60) -> None:
    load = psutil.getloadavg()[0]
    print(f"load of the machine before: {load:.1f} on {psutil.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as address:
        process = _server_process()
        one_person(address)
        asyncio.run(many_people(address, process))
        asyncio.run(memory(address, process, seconds))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
