import logging
from pathlib import Path

import pytest

from slipway.errors import ToolError
from slipway.toolchain import cache, find
from slipway.toolchain.locate import search
from slipway.toolchain.tools import Tool, get
from tests.slipway.toolchain.conftest import WriteScript


def printing(version: str) -> str:
    return f"echo gadget v{version}"


def test_a_tool_that_is_not_installed_is_not_found(gadget: Tool) -> None:
    assert find(gadget.name) is None


def test_places_are_searched_in_order(
    gadget: Tool, machine: Path, script: WriteScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = []
    script(cache.binary(gadget), "exit 1")  # never run: a cached binary was verified before it was cached
    places.append("cache")
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
