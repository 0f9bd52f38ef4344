"""Watching the Live page in a browser: updates a second, blank frames, remounts, pauses.

Used by the benchmark, which prints, and by the browser test, which asserts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

CHART = ".csmd-chart >> nth=0"
SHOWN = "Number(document.querySelector('[data-shown]').dataset.shown)"

_WATCH = """() => {
  const plot = document.querySelector(".csmd-chart");
  const seen = (window.csmdSeen = { plot, updates: 0, frames: 0, blank: 0, remounted: 0 });
  plot.on("plotly_afterplot", () => seen.updates++);
  const look = () => {
    const now = document.querySelector(".csmd-chart");
    seen.frames++;
    if (now !== seen.plot || !now.isConnected) seen.remounted++;
    const lines = now ? [...now.querySelectorAll(".scatterlayer .js-line")] : [];
    const box = now?.getBoundingClientRect();
    if (!lines.some((line) => line.getAttribute("d")) || !(box.height > 100)) seen.blank++;
    if (!seen.over) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
_END = """() => {
  const { updates, frames, blank, remounted } = Object.assign(window.csmdSeen, { over: true });
  return { updates, frames, blank, remounted };
}"""
_PAUSE = """() => new Promise((done) => {
  const began = performance.now();
  const named = (name) => [...document.querySelectorAll("button")].find(
    (button) => button.textContent.includes(name));
  const look = () => named("Play") ? done(performance.now() - began) : requestAnimationFrame(look);
  named("Pause").click();
  look();
})"""


@dataclass(frozen=True)
class Watched:
    """What was seen in a stretch of playing."""

    seconds: float
    updates: int
    frames: int
    blank: int
    remounted: int

    @property
    def rate(self) -> float:
        return self.updates / self.seconds


def open_live(page: Page, address: str) -> None:
    """Open the page and wait for its chart."""
    page.goto(f"{address}/live")
    page.wait_for_selector(".csmd-chart .main-svg", timeout=60_000)
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")


def play(page: Page) -> None:
    """Press Play and wait until it goes."""
    before = shown(page)
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.wait_for_function(f"{SHOWN} > {before}")


def pause(page: Page) -> float:
    """Press Pause; return the seconds until it is seen, by the driver that pressed."""
    button = page.get_by_role("button", name="Pause")
    began = time.perf_counter()
    button.click()
    page.get_by_role("button", name="Play").wait_for()
    return time.perf_counter() - began


def pause_inside(page: Page) -> float:
    """Press Pause; return the seconds until it is seen, by the page's own clock."""
    return float(page.evaluate(_PAUSE)) / 1000


def watch(page: Page, what: Callable[[], object]) -> Watched:
    """Watch every frame of the page while something is done."""
    page.evaluate(_WATCH)
    began = time.perf_counter()
    what()
    seen: dict[str, Any] = page.evaluate(_END)
    return Watched(time.perf_counter() - began, **seen)


def pauses(page: Page, n: int) -> list[float]:
    """Pause a page that plays so many times; return the seconds until each was seen."""
    waits = [pause(page)]
    while len(waits) < n:
        play(page)
        waits.append(pause(page))
    return waits


def shown(page: Page) -> int:
    return int(page.evaluate(SHOWN))
