"""Driving the app in tests: a page by AppTest, or a real server for a real browser."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from streamlit.testing.v1 import AppTest

from browser import find

ROOT = Path(__file__).parent.parent


def open_page(page: str = "pages/home.py", link: str = "", **settings: Any) -> AppTest:
    """Run one page in a fresh session: of a linked workspace, or with these settings changed."""
    from studio.session import DEFAULTS  # noqa: PLC0415

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if link:
        app.query_params["w"] = link
    if settings:
        app.session_state["settings"] = {**DEFAULTS, **settings}
    app.run()
    if page != "pages/home.py":
        app.switch_page(page).run()
    assert not app.exception, app.exception
    return app


def bundled(name: str, grouping: str = "clinic") -> dict[str, Any]:
    return {"source": "bundled", "name": name, "grouping": grouping, "zero_missing": True}


def edit(app: AppTest, grid: str, cells: dict[int, dict[str, Any]], **rows: Any) -> None:
    """Change cells of a `studio.grid` as its editor reports them; rows: added or deleted_rows."""
    key = app.session_state[f"{grid} held"]["widget"]
    [editor] = [node for node in app._tree if _id_of(node).endswith(f"-{key}")]
    states = app._tree.get_widget_states()
    told = {"edited_rows": cells, "added_rows": [], "deleted_rows": [], **rows}
    states.widgets.add(id=_id_of(editor), string_value=json.dumps(told))
    app._run(states)
    assert not app.exception, app.exception


def _id_of(node: Any) -> str:
    return str(getattr(getattr(node, "proto", None), "id", ""))


@contextmanager
def server(data: Path, prefix: str = "") -> Iterator[str]:
    """Start the app as a user does, on a free port of loopback; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
               "--server.address", "127.0.0.1", "--server.baseUrlPath", prefix]  # fmt: skip
    log = (data / "server.log").open("ab")
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "CSMD_DATA": str(data)}, stdout=log, stderr=log
    )
    address = f"http://127.0.0.1:{port}/{prefix}".rstrip("/")
    try:
        _wait_until_up(address)
        yield address
    finally:
        process.terminate()
        process.wait(20)
        log.close()


def _wait_until_up(address: str) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(address)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find(),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync", "--no-first-run"],
        )  # fmt: skip
        yield browser
        browser.close()


def settled(page: Page) -> None:
    """Wait until the page is painted and the server idle."""
    page.wait_for_selector("h1")
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_timeout(200)
