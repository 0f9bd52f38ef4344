"""The Live page in a real browser: smooth while playing, and every control does what it says."""

from __future__ import annotations

import os
import re
from statistics import median

import pytest
from playwright.sync_api import expect

from app import server, settled
from watch import SHOWN, open_live, pause, pauses, play, shown, watch

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong

CORES = os.cpu_count() or 1


def slack() -> float:
    """How many times slower this machine may be just now: 1 unless others keep it busy."""
    return max(1.0, os.getloadavg()[0] / CORES)


@pytest.fixture
def page(address, browser):
    opened = browser.new_page(viewport={"width": 1280, "height": 1300})
    open_live(opened, address)
    yield opened
    opened.close()


def at(page, t):
    """Wait until the page shows patient t everywhere."""
    page.wait_for_function(f"{SHOWN} === {t}")
    expect(page.locator(f"[data-patient='{t}']" if t else "[data-next='1']")).to_have_count(1)
    assert page.locator(".csmd-scrub input").input_value() == str(t)


def jump(page, t):
    page.get_by_label("Jump to patient").fill(str(t))
    page.keyboard.press("Enter")
    at(page, t)


def test_playing_is_smooth_and_pause_answers_at_once(page):
    play(page)
    seen = watch(page, lambda: page.wait_for_timeout(10_000))
    assert (seen.remounted, seen.blank) == (0, 0)
    assert seen.frames > 50
    assert seen.rate >= 9 / slack()
    waits = []
    seen = watch(page, lambda: waits.extend(pauses(page, 20)))
    assert (seen.remounted, seen.blank) == (0, 0)
    assert median(waits) <= 0.25 * slack()
    stopped = shown(page)
    page.wait_for_timeout(500)
    assert shown(page) == stopped


def test_zoom_survives_updates(page):
    jump(page, 100)
    plot = page.locator(".csmd-chart").first
    box = plot.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.8 * box["height"], steps=5)
    page.mouse.up()
    zoomed = plot.evaluate("plot => plot._fullLayout.xaxis.range.map(Number)")
    assert zoomed[0] > 5
    play(page)
    page.wait_for_function(f"{SHOWN} > 130")
    pause(page)
    assert plot.evaluate("plot => plot._fullLayout.xaxis.range.map(Number)") == zoomed


def test_step_back_jump_scrub_restart_and_speed(page):
    at(page, 0)
    page.get_by_role("button", name="Next").click()
    at(page, 1)
    page.locator("h1").click()
    for t in (2, 3, 4):
        page.keyboard.press("l")
        at(page, t)
    page.keyboard.press("j")
    at(page, 3)
    page.get_by_role("button", name="Back").click()
    at(page, 2)
    jump(page, 4321)
    page.locator(".csmd-scrub input").fill("2000")
    at(page, 2000)
    page.get_by_role("slider", name="Patients a second").press("End")
    page.wait_for_function("document.body.innerText.includes('3,000')")
    page.locator("h1").click()
    page.keyboard.press("k")
    page.wait_for_function(f"{SHOWN} > 4000")
    page.keyboard.press("k")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("n")
    at(page, 0)


def test_policies_come_and_go_and_a_page_switch_and_a_reload_lose_nothing(page, address):
    jump(page, 250)
    page.get_by_role("button", name="Policies").click()
    before = page.locator("[data-shown] tr").nth(1).inner_text()
    page.get_by_role("button", name=re.compile("Remove UCB1|Delete UCB1|UCB1, close")).or_(
        page.locator("[data-baseweb=tag]", has_text="UCB1").locator("[role=presentation], svg")
    ).first.click()
    expect(page.locator("[data-shown] tr")).to_have_count(3)
    page.get_by_label("Policies, on the same patients").fill("Random")
    page.get_by_role("option", name="Random panel").click()
    expect(page.locator("[data-shown]")).to_contain_text("Random panel")
    assert page.locator("[data-shown] tr").nth(1).inner_text() == before
    page.keyboard.press("Escape")
    page.locator("h1").click()
    play(page)
    page.get_by_role("link", name="Data", exact=True).click()
    expect(page.locator("h1")).to_have_text("Data")
    page.get_by_role("link", name="Live", exact=True).click()
    page.wait_for_selector("[data-shown]")
    page.wait_for_function(f"{SHOWN} > 250")
    if page.get_by_role("button", name="Pause").is_visible():
        pause(page)
    here = shown(page)
    page.reload()
    page.wait_for_selector(".csmd-chart .main-svg")
    at(page, here)
    expect(page.locator("[data-shown]")).to_contain_text("Random panel")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the run so far").click()
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert len(lines) == here + 1
    assert lines[0].startswith("patient,study_row,panel (Thompson),cost (Thompson)")


def test_a_class_guesses_on_a_phone_in_the_dark(browser, address):
    page = browser.new_page(viewport={"width": 400, "height": 1600}, color_scheme="dark")
    open_live(page, address)
    page.get_by_text("Teaching mode").click()
    page.get_by_text("It fails").click()
    page.get_by_text("Guess first").click()
    page.get_by_role("button", name="History", exact=True).click()
    expect(page.get_by_text("Guessed right:")).to_contain_text("of 1")
    settled(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 400
    light = page.locator(".csmd-chart .xtick text").first.evaluate("text => text.style.fill")
    assert min(int(part) for part in re.findall(r"\d+", light)[:3]) > 200
    page.close()


def test_charts_are_drawn_behind_a_path_prefix(browser, tmp_path):
    with server(tmp_path, "clinic/csmd") as address:
        page = browser.new_page()
        outside = []
        page.on("request", lambda request: outside.append(request.url))
        open_live(page, address)
        page.close()
    scripts = [url for url in outside if url.endswith(".js")]
    assert any("/clinic/csmd/app/static/plotly-" in url for url in scripts)
    assert all(url.startswith(address) for url in scripts)
