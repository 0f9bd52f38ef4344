"""Experiments in the browser: from the click to the charts, and what others notice meanwhile."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from app import chromium, server

_OTHERS = "/trade_off"

# Note when the button was pressed, and when the first chart had been painted.
_WATCH = """() => {
  window.began = null; window.painted = null;
  addEventListener('pointerup', () => { window.began = performance.now(); }, true);
  const look = () => {
    const there = document.querySelector('[data-testid=stPlotlyChart] .main-svg');
    if (there && window.began && !window.painted)
      requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
  };
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true});
}"""


def whole_paper(browser: Browser, address: str) -> None:
    """Play 5,800 runs of 10,000 patients: alone, then while somebody else opens pages."""
    page, other = (browser.new_context().new_page() for _ in range(2))
    page.goto(f"{address}/paper")
    _play_button(page).wait_for(timeout=90_000)
    _load(other, address)  # fits what that page needs, once
    before = [_load(other, address) for _ in range(5)]
    page.evaluate(_WATCH)
    _play_button(page).click()
    page.wait_for_function("window.painted", timeout=300_000)
    print(f"all of the paper's experiments, from click to charts: {_took(page):.1f} s (aim: 10 s)")
    meanwhile = _loads_meanwhile(page, other, address)
    print(
        f"another person's page load: median {statistics.median(before):.2f} s before, "
        f"{statistics.median(meanwhile):.2f} s meanwhile (longest {max(meanwhile):.2f} s)"
    )


def _loads_meanwhile(page: Page, other: Page, address: str) -> list[float]:
    """Open pages again and again while the paper is played with another seed."""
    page.get_by_label("Seed", exact=True).fill("1")
    page.get_by_label("Seed", exact=True).press("Enter")
    page.wait_for_function("!document.querySelector('[data-testid=stPlotlyChart]')")
    page.evaluate("window.painted = null")
    _play_button(page).click()
    page.get_by_role("button", name="Stop and keep what is done").wait_for(timeout=30_000)
    took = []
    while page.evaluate("window.painted") is None:
        took.append(_load(other, address))
    return took


def _play_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Play the paper's experiments")


def _took(page: Page) -> float:
    return float(page.evaluate("(window.painted - window.began) / 1000"))


def stopping(browser: Browser, address: str) -> None:
    """Stop an experiment of a minute, from the click to what is kept."""
    page = browser.new_page()
    page.goto(f"{address}/experiments")
    for label, value, seen in (
        ("Patients", 100_000, "100,000 patients each"), ("Repeats", 2000, "6,000 runs"),
    ):  # fmt: skip
        page.get_by_label(label, exact=True).fill(str(value))
        page.get_by_label(label, exact=True).press("Enter")
        page.get_by_text(seen).wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_text("of 6,000 runs, about").wait_for()
    began = time.perf_counter()
    page.get_by_role("button", name="Stop and keep what is done").click()
    page.get_by_text("Stopped early").wait_for()
    print(f"stop, from click to what was done: {time.perf_counter() - began:.2f} s (aim: 1 s)")


def _load(page: Page, address: str) -> float:
    """Seconds until the page's charts are drawn."""
    began = time.perf_counter()
    page.goto(f"{address}{_OTHERS}")
    page.wait_for_selector(".csmd-chart .main-svg", timeout=60_000)
    return time.perf_counter() - began


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as data,
        server(Path(data)) as address,
        chromium() as browser,
    ):
        whole_paper(browser, address)
        stopping(browser, address)


if __name__ == "__main__":
    main()
