import io

import pytest

from slipway.toolchain.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("slipway.toolchain.progress.time.monotonic", lambda: self.now)


def test_a_log_gets_a_line_every_quarter_of_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, stream = Clock(monkeypatch), io.StringIO()
    progress = Progress("gadget 1.2.3", stream)
    for second in range(32):
        clock.now = 100.0 + second
        progress.update(f"{second} packages")
    assert stream.getvalue().splitlines() == ["gadget 1.2.3: 15 s, 15 packages", "gadget 1.2.3: 30 s, 30 packages"]


def test_a_terminal_gets_one_line_that_rewrites_itself_and_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, stream = Clock(monkeypatch), Terminal()
    monkeypatch.setenv("COLUMNS", "40")
    progress = Progress("gadget", stream)
    clock.now += 75
    progress.update("x" * 100)
    progress.finish("installed")
    first, last = stream.getvalue().split("\r\x1b[K")[1:]
    assert first == "gadget: 1 min 15 s, " + "x" * 19
    assert last == "gadget: installed after 1 min 15 s\n"
