import threading
from pathlib import Path

import pytest

from slipway.toolchain import cache
from slipway.toolchain.tools import Tool


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SLIPWAY_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/slipway"),
        ({"HOME": "/c"}, "/c/.cache/slipway"),
    ],
)
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
        assert waiting.wait(5)
        order.append("first")
    thread.join(5)
    assert order == ["first", "second"]
