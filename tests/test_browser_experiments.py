"""Experiments and Paper in a real browser: run, stop, reload, downloads, ways to Live."""

from __future__ import annotations

import io
import time

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong

CHART = "[data-testid=stPlotlyChart] .main-svg"


@pytest.fixture
def page(browser):
    made = browser.new_page(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    yield made
    made.close()


def fill(page: Page, label: str, value: int) -> None:
    box = page.get_by_label(label, exact=True)
    box.fill(str(value))
    box.press("Enter")


def button(page: Page, name: str):
    return page.get_by_role("button", name=name)


def downloaded(page: Page, name: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name, exact=True).first.click()
    with open(waiting.value.path(), "rb") as file:
        return file.read()


def test_an_experiment_from_start_to_a_run_in_live(address, page):
    page.goto(f"{address}/experiments")
    fill(page, "Patients", 400)
    expect(page.get_by_text("400 patients each")).to_be_visible()
    fill(page, "Repeats", 6)
    expect(page.get_by_text("18 runs: 3 policies × 1 λ × 6 repeats")).to_be_visible()
    button(page, "Start").click()
    expect(page.locator(CHART).first).to_be_visible()
    page.reload()
    expect(page.get_by_text("has the least regret")).to_be_visible()
    page.get_by_text("Tables: in summary, run by run, over time").click()
    summary = pd.read_csv(io.BytesIO(downloaded(page, "CSV")))
    assert summary["policy"].tolist() == ["Thompson", "kl-UCB", "UCB1"]
    assert (summary["n_runs"] == 6).all()
    workbook = pd.read_excel(io.BytesIO(downloaded(page, "Excel")), engine="calamine")
    assert workbook["regret"].tolist() == pytest.approx(summary["regret"].tolist())
    button(page, "Take the chart away").click()
    html = downloaded(page, "Interactive page (HTML)")
    assert b"Plotly" in html
    assert b'src="http' not in html
    page.keyboard.press("Escape")
    page.get_by_text("Watch a single run in Live").click()
    button(page, "Open in Live").click()
    expect(page.get_by_role("heading", name="Live", level=1)).to_be_visible()
    expect(page.get_by_text("of 400").first).to_be_visible()


def test_a_stop_is_seen_soon_and_keeps_what_is_done(address, page):
    page.goto(f"{address}/experiments")
    fill(page, "Patients", 100_000)
    expect(page.get_by_text("100,000 patients each")).to_be_visible()
    fill(page, "Repeats", 1000)
    expect(page.get_by_text("3,000 runs")).to_be_visible()
    button(page, "Start").click()
    expect(page.get_by_text("of 3,000 runs, about")).to_be_visible()
    began = time.monotonic()
    button(page, "Stop and keep what is done").click()
    expect(page.get_by_text("Stopped early")).to_be_visible()
    assert time.monotonic() - began < 10  # within a second on a quiet machine: see bench
    expect(page.locator(CHART).first).to_be_visible()


def test_the_paper_again_and_one_case_in_trade_off(address, page):
    page.goto(f"{address}/paper")
    fill(page, "Patients", 500)
    expect(page.get_by_text("5,800 runs of 500 patients")).to_be_visible()
    button(page, "Play the paper's experiments").click()
    expect(page.locator(CHART).first).to_be_visible()
    assert page.locator("[data-testid=stPlotlyChart] .subplot.xy").count() == 1
    page.get_by_role("radio", name="Figure 3: subsets").click()
    expect(page.get_by_text("Diabetes, λ = 0.0306 (weak dominance holds)").first).to_be_visible()
    button(page, "Trade-off").nth(6).click()  # heart, case 2
    expect(page.get_by_role("heading", name="Trade-off", level=1)).to_be_visible()
    expect(page.get_by_text("297 patients")).to_be_visible()
    expect(page.get_by_text("Workspace: Paper: heart, case 2")).to_be_visible()
