"""Keep the tests' workspaces out of the user's: each test session has its own data folder."""

import os
import tempfile

import pytest
from hypothesis import settings

from app import chromium, server

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")
os.environ["CSMD_DATA"] = tempfile.mkdtemp(prefix="csmd-tests-")


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """A running app, one for all browser tests that do not restart it."""
    with server(tmp_path_factory.mktemp("data")) as url:
        yield url


@pytest.fixture(scope="session")
def browser():
    with chromium() as found:
        yield found
