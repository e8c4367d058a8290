"""Locating a tool, and the version that it prints."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from sandbox.errors import ToolError
from sandbox.toolchain import cache, find, locate
from sandbox.toolchain.locate import search
from sandbox.toolchain.tools import Accepts, Tool, get
from tests.sandbox.toolchain.conftest import WriteScript
from tests.support.cases import beside

CASES: Final = beside(__file__)


def printing(version: str) -> str:
    return f"echo gadget v{version}"


def test_a_tool_that_is_not_installed_is_not_found(gadget: Tool) -> None:
    assert find(gadget.name) is None


def test_places_are_searched_in_order(
    gadget: Tool, machine: Path, script: WriteScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(cache.binary(gadget), "exit 1")  # not run: a cached binary was verified before it was recorded
    cache.record(cache.directory(gadget))
    assert (found := search(gadget)) is not None
    assert (found.source, found.version) == ("cache", "1.2.3")

    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(script(machine / "assets" / "gadget", printing("1.2.4")).parent))
    assert (found := search(gadget)) is not None
    assert (found.source, found.version) == ("KUBEBUILDER_ASSETS", "1.2.4")

    script(machine / "bin" / "gadget", printing("1.2.5"))
    assert (found := search(gadget)) is not None
    assert (found.source, found.version) == ("PATH", "1.2.5")

    monkeypatch.setenv("SLIPWAY_GADGET", str(script(machine / "own" / "thing", printing("1.2.6"))))
    assert (found := search(gadget)) is not None
    assert (found.source, found.version) == ("SLIPWAY_GADGET", "1.2.6")
    assert find(gadget.name) == machine / "own" / "thing"


@pytest.mark.parametrize("version", ["1.2.2", "2.0.0", ""])
def test_a_binary_of_a_wrong_version_is_skipped_and_reported_once(
    gadget: Tool, machine: Path, script: WriteScript, caplog: pytest.LogCaptureFixture, version: str
) -> None:
    wrong = script(machine / "bin" / "gadget", printing(version))
    script(cache.binary(gadget), printing("1.2.3"))
    cache.record(cache.directory(gadget))
    assert find(gadget.name) == cache.binary(gadget)
    assert find(gadget.name) == cache.binary(gadget)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"{wrong} (PATH)" in record.message
    assert "gadget 1.2.3 is wanted" in record.message
    assert "SLIPWAY_GADGET" in record.message


def test_a_variable_is_obeyed_and_a_wrong_version_reported(
    gadget: Tool, machine: Path, script: WriteScript, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = script(machine / "old", printing("0.9.0"))
    monkeypatch.setenv("SLIPWAY_GADGET", str(old))
    assert find(gadget.name) == old
    assert "is version 0.9.0; it is used because the variable names it" in caplog.text


def test_a_variable_that_names_no_binary_is_an_error(
    gadget: Tool, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_GADGET", str(machine))
    with pytest.raises(ToolError, match=r"SLIPWAY_GADGET=.* is not an executable file"):
        find(gadget.name)


def test_etcd_comes_from_its_python_package_without_the_console_script(machine: Path) -> None:
    found = search(get("etcd"))
    assert found is not None
    assert (found.version, found.path.parent.name) == ("3.5.1", "etcdbin")


@pytest.mark.parametrize(("printed", "version"), CASES["a version is read from what a tool prints"])
def test_a_version_is_read_from_what_a_tool_prints(printed: str, version: list[int] | None) -> None:
    assert locate.parse(printed) == (version and tuple(version))


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
    assert locate.acceptable(replace(get("pulumi"), accepts=accepts, version="3.258.0"), found) is expected


@pytest.mark.parametrize("body", ["exit 1", "echo no number here", "echo 1.2.3; exit 3"])
def test_a_binary_that_fails_or_prints_no_version_has_none(tmp_path: Path, script: WriteScript, body: str) -> None:
    assert locate.ask(script(tmp_path / "tool", body), ("version",)) is None


def test_a_binary_is_asked_with_the_arguments_of_its_row(tmp_path: Path, script: WriteScript) -> None:
    tool = script(tmp_path / "tool", '[ "$1 $2" = "version --short" ] && echo v3.22.0')
    assert locate.ask(tool, ("version", "--short")) == "3.22.0"
    assert locate.ask(tool, ()) is None
