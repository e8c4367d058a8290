from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.sandbox.cluster.supervisor import Supervisor
from slipway.sandbox.controllers.builds import Builds
from slipway.sandbox.kubernetes.waiting import until
from tests.slipway.sandbox.controllers.fake import gadget


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor()
    yield supervisor
    supervisor.stop_all()


def test_a_build_that_fails_gives_its_last_line(
    tmp_path: Path, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The toolchain has no tool of this name."""
    builds, row = Builds(supervisor, tmp_path), gadget(tmp_path)
    builds.want(row)
    until(lambda: builds.failure(row) or None, 30, "no failure")
    assert "gadget" in builds.failure(row)
    assert builds.log("gadget").is_file()
    assert supervisor.identities() == ()
    # Not again in the same sandbox.
    before = builds.log("gadget").stat().st_mtime_ns
    builds.want(row)
    assert builds.log("gadget").stat().st_mtime_ns == before


def test_a_build_is_a_child_that_may_end(
    tmp_path: Path, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "slow"
    go.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'import time; time.sleep(600)'\n")
    go.chmod(0o700)
    monkeypatch.setattr("slipway.sandbox.controllers.builds.sys.executable", str(go))
    builds, row = Builds(supervisor, tmp_path), gadget(tmp_path)
    builds.want(row)
    identity = until(lambda: next(iter(supervisor.identities()), None), 10, "no build")
    assert identity.transient
    assert identity.name == "build of gadget"
    builds.stop()
    until(lambda: supervisor.identities() == () or None, 10, "it goes on")


def test_what_is_built_is_not_built_again(tmp_path: Path, supervisor: Supervisor) -> None:
    builds, row = Builds(supervisor, tmp_path), gadget(tmp_path)
    row.build()
    builds.want(row)
    assert not builds.log("gadget").exists()
    assert builds.failure(row) == ""
