"""Tests that share one API server run on one worker; otherwise each worker starts its own sandbox."""

import os

import pytest


@pytest.mark.sandbox
def test_tests_that_share_a_sandbox_share_a_worker(request: pytest.FixtureRequest) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("one process runs all tests: there are no groups")
    # pytest-xdist 3.8 sends tests with the same suffix `@group` to one worker; with pytest 9.2 it silently did not.
    assert request.node.nodeid.endswith("@sandbox")
