"""Chromium without a window, driven over the pipe of its DevTools protocol: no driver, no port, no package.

The protocol is JSON, a message ended by a zero byte, on file descriptors 3 and 4 of the browser
(chromium.googlesource.com, content/browser/devtools/devtools_pipe_handler.cc; `--remote-debugging-pipe`).
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WAIT: Final = 60.0
"""Seconds for one answer: a cold start on a busy machine takes ten."""
_FLAGS: Final = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb",
)  # fmt: skip
_TAB: Final = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}


def find() -> str | None:
    """The browser on PATH."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@dataclass
class Tab:
    """One page of a running browser, with what it complained of."""

    out: int
    back: int
    session: str = ""
    complaints: list[str] = field(default_factory=list)
    _number: int = 0
    _rest: bytes = b""
    _events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._number:
                assert "error" not in found, f"{method}: {found['error']}"
                answer: dict[str, Any] = found["result"]
                return answer
            self._note(found)

    def open(self, page: Path) -> None:
        """Load a page and wait until it is there."""
        self._events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._note(self._read())

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Make the window that large, and the system light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def tab(self) -> None:
        """Press the Tab key."""
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **_TAB)
        self.call("Input.dispatchKeyEvent", type="keyUp", **_TAB)

    def picture(self, path: Path) -> None:
        """A picture of the whole page."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def paper(self) -> bytes:
        """The page as a PDF on A4."""
        found = self.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(found["data"])

    def _note(self, found: dict[str, Any]) -> None:
        if "method" not in found:
            return
        self._events.append(found)
        about = found.get("params", {})
        if found["method"] == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"].get("text")))
        elif found["method"] == "Runtime.consoleAPICalled" and about["type"] in {"error", "warning"}:
            self.complaints.append(str(about["args"]))
        elif found["method"] == "Log.entryAdded" and about["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(about["entry"]["text"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.back], [], [], WAIT)
            assert ready, f"the browser says nothing for {WAIT:.0f} s"
            more = os.read(self.back, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def browser(program: str) -> Iterator[Tab]:
    """A browser with one page; it ends with the block."""
    # Above 9, so that none of them is a descriptor that the browser wants itself.
    reading, out = (_high(end) for end in os.pipe())
    back, writing = (_high(end) for end in os.pipe())
    profile = tempfile.mkdtemp(prefix="slipway-browser-")
    # Chromium's own sandbox refuses root, as whom containers of CI run; the page is ours and loads nothing.
    flags = [*_FLAGS, f"--user-data-dir={profile}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    quiet = os.open(os.devnull, os.O_RDWR)
    child = os.posix_spawn(
        program,
        [program, *flags, "about:blank"],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, quiet, 1),
            (os.POSIX_SPAWN_DUP2, quiet, 2),
            (os.POSIX_SPAWN_DUP2, reading, 3),
            (os.POSIX_SPAWN_DUP2, writing, 4),
        ],
        setpgroup=0,
    )
    for end in (reading, writing, quiet):
        os.close(end)
    tab = Tab(out, back)
    try:
        yield _attached(tab)
    finally:
        _end(child)
        for end in (out, back):
            os.close(end)
        shutil.rmtree(profile, ignore_errors=True)


def _attached(tab: Tab) -> Tab:
    target = tab.call("Target.createTarget", url="about:blank")["targetId"]
    tab.session = tab.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        tab.call(f"{domain}.enable")
    return tab


def _high(end: int) -> int:
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return moved


def _end(child: int) -> None:
    """The browser with its own children, which are one process group."""
    for way in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child, way)
        except ProcessLookupError:
            break
        for _ in range(50):
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
