"""The engine's binary, for the tests that run it."""

from pathlib import Path

import pytest

from sandbox.toolchain import locate


@pytest.fixture(scope="session")
def binary() -> Path:
    found = locate.find("replay")
    if found is None:
        pytest.skip("not built: run `python -m sandbox.toolchain ensure replay`")
    return found
