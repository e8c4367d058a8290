"""Tests that share one API server stay on one worker, or each worker starts a sandbox of its own."""

import os

import pytest


@pytest.mark.sandbox
def test_tests_that_share_a_sandbox_share_a_worker(request: pytest.FixtureRequest) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("one process runs all tests: there is nothing to keep together")
    # pytest-xdist 3.8 sends what ends in the same `@group` to the same worker; with pytest 9.2 it silently did not.
    assert request.node.nodeid.endswith("@sandbox")
