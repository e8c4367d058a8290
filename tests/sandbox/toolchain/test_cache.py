"""The cache of binaries, and the list of what a directory of it contains."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.toolchain import cache, ensure, find
from sandbox.toolchain.__main__ import main
from sandbox.toolchain.tools import Tool
from tests.sandbox.toolchain.conftest import FakeGo
from tests.support.patience import SECONDS


@pytest.mark.parametrize(("environment", "expected"), [
    ({"SLIPWAY_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
    ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/slipway"),
    ({"HOME": "/c"}, "/c/.cache/slipway"),
])  # fmt: skip
def test_the_cache_directory_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str
) -> None:
    for name in ("SLIPWAY_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache.root() == Path(expected)


def test_a_directory_appears_only_when_it_is_complete(gadget: Tool) -> None:
    with cache.filling(gadget) as directory:
        (directory / "bin" / gadget.name).write_text("whole")
        assert not cache.directory(gadget).exists()
    assert cache.binary(gadget).read_text() == "whole"


def test_a_failure_leaves_no_partial_directory_and_keeps_the_previous_binary(gadget: Tool) -> None:
    with cache.filling(gadget) as directory:
        (directory / "bin" / gadget.name).write_text("old")

    def interrupted() -> None:
        with cache.filling(gadget) as directory:
            (directory / "bin" / gadget.name).write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert cache.binary(gadget).read_text() == "old"
    assert [path.name for path in cache.directory(gadget).parent.iterdir()] == [cache.directory(gadget).name]


def test_a_partial_directory_of_a_killed_process_is_emptied(gadget: Tool) -> None:
    left = cache.directory(gadget).with_name(f".{cache.directory(gadget).name}.partial") / "bin" / "rubbish"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    with cache.filling(gadget) as directory:
        assert list((directory / "bin").iterdir()) == []


def test_only_one_holds_the_lock_and_the_other_reports_that_it_waits(gadget: Tool) -> None:
    order: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        with cache.locked(gadget, waiting.set):
            order.append("second")

    with cache.locked(gadget, lambda: order.append("waited alone")):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(SECONDS)
        order.append("first")
    thread.join(SECONDS)
    assert order == ["first", "second"]


# A binary of the cache that is damaged is not used, and is made anew.


@pytest.fixture
def built(gadget: Tool, fake_go: FakeGo, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The binary of a tool that has been built once; the compiler writes the same again."""
    monkeypatch.setattr("sandbox.toolchain.__main__.TOOLS", {gadget.name: gadget})
    fake_go("")
    return ensure(gadget.name)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"?")


@pytest.mark.parametrize("damage", [truncate, change])
def test_make_builds_a_damaged_binary_anew(built: Path, gadget: Tool, damage: object) -> None:
    whole = built.read_bytes()
    assert callable(damage)
    damage(built)
    assert main(["ensure", gadget.name]) == 0
    assert built.read_bytes() == whole
    assert cache.damage(cache.directory(gadget), read=True) is None


def test_a_binary_that_is_incomplete_is_found_nowhere(
    built: Path, gadget: Tool, caplog: pytest.LogCaptureFixture
) -> None:
    size = built.stat().st_size
    truncate(built)
    assert find(gadget.name) is None
    assert find(gadget.name, pinned=True) is None
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"{built} has {size - 1} bytes instead of {size} and is not used" in record.message
    assert f"ensure {gadget.name}" in record.message


def test_what_was_installed_beside_the_binary_belongs_to_it(built: Path, gadget: Tool) -> None:
    beside = built.with_name("gadget-language-python")
    beside.write_text("#!/bin/sh\n")
    cache.record(cache.directory(gadget))
    beside.unlink()
    assert cache.damage(cache.directory(gadget)) == f"{beside} is missing"
    assert find(gadget.name) is None


@pytest.mark.parametrize("damage", [lambda record: record.write_text("0f3a"), Path.unlink])
def test_a_record_that_is_damaged_or_missing_is_damage(
    built: Path, gadget: Tool, damage: Callable[[Path], object]
) -> None:
    damage(cache.directory(gadget) / "contents")
    assert find(gadget.name) is None
    assert ensure(gadget.name) == built
