"""Find a Chromium for the browser tests, or install one: `python tests/browser.py`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Path of a Chromium on this machine, or of the one Playwright brought."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def install() -> bool:
    """Ask Debian's package manager where there is one, else Playwright."""
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    apt = [*as_root, "apt-get", "-qq"]
    if shutil.which("apt-get") and all(
        subprocess.run([*apt, *words], check=False).returncode == 0
        for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium"])
    ):
        return True
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    if not find() and not (install() and find()):
        sys.exit("No Chromium found and none could be installed: install Chromium by hand.")
