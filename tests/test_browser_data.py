"""Journeys in a real browser: a newcomer, a clinic's own files, links, restarts, a path prefix."""

from __future__ import annotations

import re
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from app import ROOT, server, settled
from studio.shell import MENU
from uploads import PRICES_WITH_TWO_FAULTS, clinic, semicolons

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong

VERDICT = re.compile("Weak dominance (holds|fails)")
PAGES = {
    path.removeprefix("pages/").removesuffix(".py"): title
    for path, (title, _) in MENU.items()
    if (ROOT / path).exists() and path != "pages/home.py"
    and "shell.header" in (ROOT / path).read_text()
}  # fmt: skip


@contextmanager
def visit(browser, url, width=1280):
    """Open a page as a newcomer: no storage of earlier visits."""
    context = browser.new_context(viewport={"width": width, "height": 1000})
    page = context.new_page()
    page.requested = []
    page.on("request", lambda request: page.requested.append(request.url))
    page.goto(url)
    settled(page)
    yield page
    context.close()


def outside(page):
    """What the page asked of anyone but this machine."""
    return [u for u in page.requested if urlsplit(u).hostname not in {"127.0.0.1", None, ""}]


def no_trouble(page):
    expect(page.get_by_test_id("stException")).to_have_count(0)


def give(page, label, name, data):
    """Choose a file in the uploader of this label."""
    box = page.get_by_test_id("stFileUploader").filter(has_text=label)
    box.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )


def type_price(page, row, price):
    """Write a price into the grid of tests as a user does: by mouse and keyboard."""
    grid = page.get_by_test_id("stDataFrame").filter(has=page.locator("th", has_text="Price"))
    settled(page)  # what stands above the grid may move it
    grid.scroll_into_view_if_needed()
    cell = grid.get_by_test_id(f"glide-cell-3-{row}")
    expect(cell).to_have_count(1)
    corner = grid.bounding_box()
    page.mouse.click(corner["x"] + 60, corner["y"] + 35 * (row + 1) + 17)
    for key in ("ArrowRight", "ArrowRight"):  # from the number over the name to the price
        page.keyboard.press(key)
    expect(cell).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    editor = page.locator("#portal").locator("input, textarea").first
    expect(editor).to_be_focused()
    editor.fill(price)
    page.keyboard.press("Enter")


def tick_zeros(page, *rows):
    """Say of some columns that a 0 means "not measured", one after the other."""
    for row in rows:
        settled(page)
        columns_grid(page).scroll_into_view_if_needed()
        corner = columns_grid(page).bounding_box()
        page.mouse.click(corner["x"] + 370, corner["y"] + 35 * (row + 1) + 17)
        expect(columns_grid(page).get_by_test_id(f"glide-cell-3-{row}")).to_have_text("true")


def columns_grid(page):
    return page.get_by_test_id("stDataFrame").filter(has=page.locator("th", has_text="Read as"))


def zeros(page):
    cells = [columns_grid(page).get_by_test_id(f"glide-cell-3-{row}") for row in range(5)]
    expect(cells[-1]).to_have_count(1)
    return [row for row, cell in enumerate(cells) if cell.inner_text() == "true"]


def test_a_newcomer_reaches_a_verdict_for_heart_within_four_clicks(address, browser):
    with visit(browser, address) as page:
        clicks = [
            page.get_by_role("link", name="Use another study, or your own"),
            page.get_by_test_id("stColumn").filter(has_text="Heart disease").get_by_role(
                "button", name="Use this study"
            ),
        ]  # fmt: skip
        for click in clicks:
            click.click()
        sidebar = page.get_by_test_id("stSidebar")
        expect(sidebar).to_contain_text("Heart disease")
        expect(sidebar).to_contain_text(VERDICT)
        assert len(clicks) <= 4
        no_trouble(page)


def test_a_clinic_uploads_mends_two_faults_and_finds_all_of_it_after_a_reload(address, browser):
    with visit(browser, f"{address}/data") as page:
        page.get_by_text("My own patients").click()
        give(page, "Patients: one row each", "clinic.csv", semicolons(clinic()))
        expect(page.get_by_text("decimal comma")).to_be_visible()
        give(page, "Prices: one row a test", "prices.csv", PRICES_WITH_TWO_FAULTS)
        expect(page.get_by_text("3 tests from the price table")).to_be_visible()
        page.get_by_role("button", name="Use these patients").click()
        alerts = page.get_by_test_id("stAlertContentError")
        expect(alerts).to_have_count(2)
        expect(alerts.first).to_contain_text("the price 'fifteen', which is not a number")
        type_price(page, 1, "15.51")
        expect(alerts).to_have_count(1)
        type_price(page, 2, "20.68")
        expect(alerts).to_have_count(0)
        page.get_by_role("button", name="Leave out").click()
        expect(page.get_by_test_id("stAlertContentWarning")).to_have_count(0)
        tick_zeros(page, 3, 4)
        sidebar = page.get_by_test_id("stSidebar")
        expect(sidebar).to_contain_text(VERDICT)
        settled(page)
        lam, verdict = sidebar.get_by_text("λ =").inner_text(), sidebar.get_by_text(VERDICT)
        verdict, link = verdict.inner_text(), page.url
        assert "w=" in link
        page.reload()
        settled(page)
        expect(sidebar.get_by_text("λ =")).to_have_text(lam)
        expect(sidebar.get_by_text(VERDICT)).to_have_text(verdict, use_inner_text=True)
        assert page.url == link
        expect(alerts).to_have_count(0)
        expect(page.get_by_role("heading", name="clinic.csv")).to_be_visible()
        expect(page.get_by_test_id("glide-cell-3-1").filter(has_text="15.51")).to_have_count(1)
        assert zeros(page) == [3, 4]
        no_trouble(page)


@pytest.mark.parametrize("path", PAGES)
def test_a_cold_deep_link_opens_every_page(address, browser, path):
    with visit(browser, f"{address}/{path}") as page:
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page).to_have_title(f"{PAGES[path]} · CSMD Studio")
        expect(page.get_by_test_id("stSidebar")).to_contain_text("768 patients")
        no_trouble(page)
        assert not outside(page)


def test_the_same_link_goes_on_after_a_restart_even_on_a_deep_page(tmp_path, browser):
    with server(tmp_path) as address, visit(browser, f"{address}/data") as page:
        page.get_by_test_id("stColumn").filter(has_text="Hepatitis").get_by_role(
            "button", name="Use this study"
        ).click()
        expect(page.get_by_test_id("stSidebar")).to_contain_text("155 patients")
        link = urlsplit(page.url)
        assert link.query.startswith("w=")
    with server(tmp_path) as address, visit(browser, f"{address}{link.path}?{link.query}") as page:
        expect(page.get_by_test_id("stSidebar")).to_contain_text("155 patients")
        expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible()
        page.get_by_test_id("stSidebar").get_by_role("link", name="Start").click()
        expect(page.get_by_role("heading", name="Hepatitis")).to_be_visible()
        assert urlsplit(page.url).query == link.query
        no_trouble(page)


def test_it_works_behind_a_path_prefix(tmp_path, browser):
    with (
        server(tmp_path, "csmd") as address,
        visit(browser, f"{address}/data") as page,
    ):
        page.get_by_test_id("stColumn").filter(has_text="Hepatitis").get_by_role(
            "button", name="Use this study"
        ).click()
        expect(page.get_by_test_id("stSidebar")).to_contain_text("155 patients")
        page.get_by_test_id("stSidebar").get_by_role("link", name="Workspaces").click()
        link = page.get_by_test_id("stCode").inner_text().strip()
        assert urlsplit(address).path == "/csmd"
        assert link.startswith(f"{address}/?w=")
        page.goto(link)
        settled(page)
        expect(page.get_by_test_id("stSidebar")).to_contain_text("155 patients")
        no_trouble(page)


def test_names_are_shown_letter_by_letter_and_no_request_leaves_this_machine(address, browser):
    image, formula, bold = "![](http://x.invalid/y.png)", "$a$", "<b>x</b>"
    frame = clinic().rename(columns={"age": image, "glucose": formula, "lactate": bold})
    with visit(browser, f"{address}/data") as page:
        page.get_by_text("My own patients").click()
        give(page, "Patients: one row each", f"{formula} <i>y<i>.csv", semicolons(frame))
        page.get_by_role("button", name="Use these patients").click()
        alerts = page.get_by_test_id("stAlertContentError")
        expect(alerts).to_contain_text("5 tests have no price yet")
        shown = alerts.inner_text().replace("\u2060", "")
        assert all(f"'{name}'" in shown for name in (image, formula, bold))
        expect(page.get_by_role("heading", name=f"{formula} <i>y<i>.csv")).to_be_visible()
        for row, n_alerts in enumerate([1, 3, 2, 1, 0]):
            type_price(page, row, str(row + 1))
            expect(alerts).to_have_count(n_alerts)
        page.get_by_test_id("stSelectbox").filter(has_text="Column to look at").locator(
            "input"
        ).click()
        page.get_by_role("option", name=image).click()
        expect(page.get_by_test_id("stPlotlyChart").nth(1)).to_contain_text(image)
        for name in PAGES.values():
            page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
            expect(page).to_have_title(f"{name} · CSMD Studio")
            settled(page)
            no_trouble(page)
        expect(page.locator("main img")).to_have_count(0)
        assert not outside(page)


def test_the_browser_remembers_its_workspaces_and_forgets_a_deleted_one(address, browser):
    with visit(browser, f"{address}/data") as page:
        page.get_by_test_id("stColumn").filter(has_text="Hepatitis").get_by_role(
            "button", name="Use this study"
        ).click()
        expect(page.get_by_test_id("stSidebar")).to_contain_text("Workspace: Hepatitis")
        page.wait_for_function("localStorage.getItem('csmd-workspaces')")
        page.goto(f"{address}/workspaces")  # a fresh visit, without the link
        settled(page)
        expect(page.get_by_text("Nothing to save yet")).to_be_visible()
        page.get_by_role("button", name="Open", exact=True).click()
        expect(page.get_by_test_id("stSidebar")).to_contain_text("Workspace: Hepatitis")
        expect(page.get_by_role("button", name="Open", exact=True)).to_have_count(0)
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").first.click()
        assert download.value.suggested_filename == "Hepatitis.zip"
        page.get_by_role("button", name="Delete").first.click()
        page.get_by_role("button", name="Delete for good").click()
        expect(page.get_by_text("None yet.")).to_be_visible()
        page.goto(f"{address}/workspaces")
        settled(page)
        expect(page.get_by_text("None yet.")).to_be_visible()
        remembered = page.evaluate("localStorage.getItem('csmd-workspaces')")
        assert remembered == "[]"
        no_trouble(page)
