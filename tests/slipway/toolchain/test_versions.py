from dataclasses import replace
from pathlib import Path

import pytest

from slipway.toolchain import versions
from slipway.toolchain.tools import Accepts, get
from tests.slipway.toolchain.conftest import WriteScript


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("v3.258.0\n", (3, 258, 0)),
        ("Kubernetes v1.36.3\n", (1, 36, 3)),
        ("etcd Version: 3.5.1\nGit SHA: e8732fb5f\nGo Version: go1.16.3\n", (3, 5, 1)),
        ("v3.22.0+gabcdef\n", (3, 22, 0)),
        ("3.270.0-alpha.1\n", (3, 270, 0)),
        ("devel\n", None),
    ],
)
def test_a_version_is_read_from_what_a_tool_prints(printed: str, version: versions.Version | None) -> None:
    assert versions.parse(printed) == version


@pytest.mark.parametrize(
    ("accepts", "found", "expected"),
    [
        (Accepts.SAME_MAJOR, "3.258.0", True),
        (Accepts.SAME_MAJOR, "3.270.1", True),
        (Accepts.SAME_MAJOR, "3.257.9", False),
        (Accepts.SAME_MAJOR, "4.0.0", False),
        (Accepts.SAME_MINOR, "3.258.9", True),
        (Accepts.SAME_MINOR, "3.259.0", False),
        (Accepts.SAME_MINOR, "nonsense", False),
    ],
)
def test_a_version_serves_as_the_row_says(accepts: Accepts, found: str, expected: bool) -> None:
    assert versions.acceptable(replace(get("pulumi"), accepts=accepts, version="3.258.0"), found) is expected


@pytest.mark.parametrize("body", ["exit 1", "echo no number here", "echo 1.2.3; exit 3"])
def test_a_binary_that_fails_or_prints_no_version_has_none(tmp_path: Path, script: WriteScript, body: str) -> None:
    assert versions.ask(script(tmp_path / "tool", body), ("version",)) is None


def test_a_binary_is_asked_with_the_arguments_of_its_row(tmp_path: Path, script: WriteScript) -> None:
    tool = script(tmp_path / "tool", '[ "$1 $2" = "version --short" ] && echo v3.22.0')
    assert versions.ask(tool, ("version", "--short")) == "3.22.0"
    assert versions.ask(tool, ()) is None
