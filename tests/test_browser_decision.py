"""The decision pages in a real browser: λ by pointer, λ typed for each panel, nothing cut off."""

from __future__ import annotations

import re
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from app import bundled, server, settled
from csmd_core.dominance import bootstrap_margin, judge
from csmd_core.paper import CASES, paper_problem
from csmd_core.verdict import in_words
from studio.session import DEFAULTS
from studio.store import Store

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)

HEART = {"study": bundled("heart"), "mode": "subsets", "lam": 0.0004}
PAPER = {
    "study": {**bundled("diabetes", "paper"), "zero_missing": False},
    "shared_fees": False,
    "fitting": {"classifier": "as in the paper", "folds": 10, "threshold": 0.5, "seed": 0},
    "lam": [0.001, 0.001, 0.001],
}
NASTY = [
    ("$History$ and <b>physical</b> examination by the attending physician", ["age", "sex"], 4.0),
    ("![](http://127.0.0.1:1/x.png) blood", ["chol", "fbs"], 9.0),
    ("Resting_ECG *with* stars", ["restecg"], 15.5),
    ("[Exercise](http://127.0.0.1:1/) test, with a name as long as catalogues like", ["exang"], 87),
    ("Thallium scan", ["thal"], 102.9),
    ("Fluoroscopy", ["ca"], 100.9),
]
ODD = {
    **HEART,
    "tests": [
        {"name": name, "columns": columns, "price": price, "fees": []}
        for name, columns, price in NASTY
    ],
    "fees": {},
}
CUT_OFF = """() => [...document.querySelectorAll('.csmd-chart text')].filter((text) => {
  const a = text.getBoundingClientRect();
  const b = text.closest('.csmd-chart').getBoundingClientRect();
  return a.width && (a.left < b.left - 1 || a.right > b.right + 1
                     || a.top < b.top - 1 || a.bottom > b.bottom + 1);
}).map((text) => text.textContent)"""
WIDER = """() => { const main = document.querySelector('[data-testid=stMain]');
                   return main.scrollWidth - main.clientWidth; }"""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """A server of its own, and how to give it a workspace with these settings."""
    data = tmp_path_factory.mktemp("decision")
    with server(data) as address:
        store = Store.open(f"sqlite:///{data / 'workspaces.db'}")

        def link(page, settings):
            made = store.create("Decision", {**DEFAULTS, **settings})
            return f"{address}/{page}?w={made.id}"

        yield link
        store.close()


@contextmanager
def visit(browser, url, width=1280, theme="light"):
    context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=theme)
    page = context.new_page()
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(url)
    page.wait_for_selector(".csmd-chart .main-svg", timeout=60_000)
    settled(page)
    yield page
    context.close()


def lam(page):
    return float(page.get_by_role("spinbutton", name="λ", exact=True).input_value())


def plot_box(page):
    return page.locator(".csmd-chart .nsewdrag").first.bounding_box()


def lam_at(page, share):
    """The λ so far along the axis of the first chart."""
    low, high = page.evaluate(
        "document.querySelector('.csmd-chart')._fullLayout.xaxis.range.map(Number)"
    )
    return 10 ** (low + share * (high - low))


def drawn(page):
    return int(page.locator(".csmd-chart").first.get_attribute("data-drawn"))


def test_a_click_and_a_drag_on_the_chart_set_lambda_and_the_chart_stays(app, browser):
    with visit(browser, app("trade_off", HEART)) as page:
        page.reload()  # the first visit fitted; now nothing above the charts comes and goes
        page.wait_for_selector(".csmd-chart .main-svg")
        settled(page)
        page.evaluate("document.querySelector('.csmd-chart').dataset.same = 'yes'")
        box, before = plot_box(page), drawn(page)
        middle = box["y"] + box["height"] / 2
        page.mouse.click(box["x"] + 0.6 * box["width"], middle)
        page.wait_for_function(f"document.querySelector('.csmd-chart').dataset.drawn > {before}")
        wanted = lam_at(page, 0.6)
        expect(page.get_by_test_id("stSidebar")).to_contain_text("CA$")
        assert lam(page) == pytest.approx(wanted, rel=0.02)
        worth = page.get_by_role("spinbutton", name=re.compile("Avoiding one misdiagnosis"))
        assert float(worth.input_value()) == pytest.approx(1 / lam(page), rel=1e-4)

        before = drawn(page)
        page.mouse.move(box["x"] + 0.6 * box["width"], middle)
        page.mouse.down()
        for share in (0.5, 0.4, 0.3):
            page.mouse.move(box["x"] + share * box["width"], middle)
        line = (
            "document.querySelector('.csmd-chart').layout.shapes.find((s) => s.name === 'now').x0"
        )
        assert page.evaluate(line) == pytest.approx(lam_at(page, 0.3), rel=0.02)  # before release
        page.mouse.up()
        page.wait_for_function(f"document.querySelector('.csmd-chart').dataset.drawn > {before}")
        assert lam(page) == pytest.approx(lam_at(page, 0.3), rel=0.02)
        assert page.locator(".csmd-chart").first.get_attribute("data-same") == "yes"


def test_the_slider_moves_by_key_and_moves_the_line(app, browser):
    with visit(browser, app("trade_off", HEART)) as page:
        slider = page.get_by_role("slider").first
        slider.focus()
        before = lam(page)
        page.keyboard.press("ArrowRight")
        number = page.get_by_role("spinbutton", name="λ", exact=True)
        expect(number).not_to_have_value(f"{before:g}")
        assert lam(page) == pytest.approx(before * 10 ** (1 / 20), rel=0.03)
        page.wait_for_function(
            "Math.abs(document.querySelector('.csmd-chart').layout.shapes"
            f".find((s) => s.name === 'now').x0 / {lam(page)} - 1) < 1e-6"
        )


def type_lam(page, row, value):
    """Write λ into a row of the table as a user does: by mouse and keyboard."""
    grid = page.get_by_test_id("stDataFrame").first
    cell = grid.get_by_test_id(f"glide-cell-2-{row}")
    expect(cell).to_have_count(1)
    corner = grid.bounding_box()
    page.mouse.click(corner["x"] + 60, corner["y"] + 35 * (row + 1) + 17)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(cell).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    editor = page.locator("#portal").locator("input, textarea").first
    expect(editor).to_be_focused()
    editor.fill(f"{value:g}")
    page.keyboard.press("Enter")
    expect(cell).to_have_text(re.compile(re.escape(f"{value:g}")))
    settled(page)


@pytest.mark.parametrize("number", [2, 5])
def test_the_papers_lambdas_typed_for_each_panel_give_the_cores_verdict(app, browser, number):
    case = next(c for c in CASES if c.study == "diabetes" and c.number == number)
    problem = paper_problem(case)
    told = in_words(problem, judge(problem), bootstrap_margin(problem))
    with visit(browser, app("weak_dominance", PAPER)) as page:
        for row, value in enumerate(case.lam):
            type_lam(page, row, value)
        expect(page.get_by_test_id("stAlert").first).to_have_text(
            re.compile(re.escape(told.sentence))
        )


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (400, "dark")])
@pytest.mark.parametrize("name", ["trade_off", "weak_dominance"])
def test_nothing_is_cut_off_or_fetched_whatever_the_names(app, browser, name, width, theme):
    with visit(browser, app(name, ODD), width, theme) as page:
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(WIDER) <= 0
        expect(page.get_by_text("<b>physical</b>").first).to_be_visible()
        assert page.locator("[data-testid=stMain] b", has_text="physical").count() == 0
        assert page.locator("[data-testid=stMain] a[href*='127.0.0.1:1']").count() == 0
        hosts = {urlsplit(url).netloc for url in page.asked if url.startswith("http")}
        assert len(hosts) == 1  # the app itself: no image of a name, no outside server
        expect(page.get_by_test_id("stException")).to_have_count(0)
