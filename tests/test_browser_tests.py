"""The Tests page in a real browser: the grid is a canvas, which only a browser can edit."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError, expect

from app import settled

pytestmark = pytest.mark.browser
PATIENCE = 90_000  # milliseconds: a busy machine is slow, not wrong
expect.set_options(timeout=PATIENCE)

ROW, HEADING, MARKER = 35, 35, 33  # pixels of the grid's rows, heading and row marks
WIDTHS = {"No.": 60, "Test": 150, "Price (CA$)": 95}


@pytest.fixture
def page(address, browser):
    opened = browser.new_page(viewport={"width": 1280, "height": 1700})
    opened.set_default_timeout(PATIENCE)
    opened.goto(f"{address}/tests")
    settled(opened)
    yield opened
    opened.close()


def write(page, row, column, text):
    """Write into a cell of the grid of tests as a user does: double click, type, Enter."""
    mark = page.get_by_label("Add row: Tests with their order")
    grid = page.get_by_test_id("stDataFrame").filter(has=mark)
    expect(grid.locator("canvas").first).to_be_visible()
    box, names = grid.bounding_box(), list(WIDTHS)
    left = MARKER + sum(WIDTHS[name] for name in names[: names.index(column)])
    x, y = box["x"] + left + WIDTHS[column] / 2, box["y"] + HEADING + ROW * (row + 0.5)
    editor = page.locator("#portal").locator("input, textarea").first
    for _ in range(20):  # the first click on a fresh grid may only wake it up
        page.mouse.dblclick(x, y)
        with suppress(TimeoutError):
            editor.wait_for(timeout=2_000)
            break
    editor.fill(text)
    editor.press("Enter")


def metric(page, label):
    """A key figure; while the page is drawn anew there may be an old one besides."""
    shown = page.get_by_test_id("stMetric").filter(has_text=label)
    return shown.get_by_test_id("stMetricValue").first


def test_edits_in_the_grid_reach_the_panels_and_outlive_a_reload(page):
    expect(metric(page, "Dearest panel")).to_have_text("CA$44.29")
    write(page, 1, "Price (CA$)", "100")
    expect(metric(page, "Dearest panel")).to_have_text("CA$128.78")
    write(page, 2, "Price (CA$)", "1.5")  # the second edit in a row is not lost either
    expect(metric(page, "Dearest panel")).to_have_text("CA$109.60")
    write(page, 0, "Test", "Anamnesis")
    expect(page.get_by_text("Anamnesis + Glucose + Insulin").first).to_be_visible()
    page.reload()
    expect(metric(page, "Dearest panel")).to_have_text("CA$109.60")
    expect(page.get_by_text("Anamnesis + Glucose + Insulin").first).to_be_visible()
    page.get_by_role("button", name="Back to the bundled prices").click()
    expect(metric(page, "Dearest panel")).to_have_text("CA$44.29")
    write(page, 0, "Price (CA$)", "7")  # the grid shows the bundled prices again
    expect(metric(page, "Dearest panel")).to_have_text("CA$45.29")


def test_a_new_number_moves_the_test_in_the_cascade(page):
    write(page, 2, "No.", "1")
    expect(metric(page, "Cheapest panel")).to_have_text("CA$22.78")


def test_a_large_fit_shows_its_progress_and_can_be_stopped(page):
    page.get_by_label("Classifier").click()
    page.get_by_role("option", name="Random forest").click()
    page.get_by_text("Any subset").click()
    page.get_by_role("button", name="Fit 7 panels").click()
    expect(page.get_by_text(re.compile(r"Fitted \d+ of 70, about .* left"))).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped before the end").first).to_be_visible()
    expect(page.get_by_role("button", name="Fit 7 panels").first).to_be_visible()


def test_the_table_can_be_taken_away(page):
    with page.expect_download() as taken:
        page.get_by_role("button", name="CSV", exact=True).click()
    assert taken.value.suggested_filename == "panels.csv"
    lines = taken.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("panel,tests,cost (CA$),error_rate,error_low")
    assert len(lines) == 4
