"""Headless Chromium, driven over a pipe with the DevTools protocol: no driver, no port, no package.

Messages are JSON, terminated by a zero byte, on file descriptors 3 and 4 of the browser
(chromium.googlesource.com, content/browser/devtools/devtools_pipe_handler.cc; `--remote-debugging-pipe`).
"""

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
"""Timeout of a response in seconds: a cold start on a busy machine takes ten."""
_FLAGS: Final = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb",
)  # fmt: skip
_TAB: Final = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}


def find() -> str | None:
    """Path of the browser, if one is on PATH."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@dataclass
class Tab:
    """A page of a running browser; `complaints` are its errors and warnings."""

    out: int
    back: int
    session: str = ""
    complaints: list[str] = field(default_factory=list)
    _number: int = 0
    _rest: bytes = b""
    _events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its response."""
        self._number += 1
        request: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._number:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def open(self, page: Path) -> None:
        """Load a page and wait until it is loaded."""
        self._events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._note(self._read())

    def ask(self, expression: str) -> Any:
        """Evaluate an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Set the window size, and the light or dark color scheme of the system."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def tab(self) -> None:
        """Press the Tab key."""
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **_TAB)
        self.call("Input.dispatchKeyEvent", type="keyUp", **_TAB)

    def screenshot(self, path: Path) -> None:
        """Save a screenshot of the whole page."""
        result = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(result["data"]))

    def pdf(self) -> bytes:
        """The page as a PDF on A4."""
        result = self.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(result["data"])

    def _note(self, event: dict[str, Any]) -> None:
        if "method" not in event:
            return
        self._events.append(event)
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"].get("text")))
        elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning"}:
            self.complaints.append(str(params["args"]))
        elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(params["entry"]["text"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self.back], [], [], WAIT)
            assert ready, f"the browser did not respond for {WAIT:.0f} s"
            more = os.read(self.back, 1 << 20)
            assert more, "the browser has exited"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message


@contextmanager
def browser(program: str) -> Iterator[Tab]:
    """A browser with one page, which exits at the end of the block."""
    # Above 9, so that none of them is a descriptor that the browser itself uses.
    reading, out = (_high(end) for end in os.pipe())
    back, writing = (_high(end) for end in os.pipe())
    profile = tempfile.mkdtemp(prefix="slipway-browser-")
    # Chromium's own sandbox refuses root, the user of CI containers; the page is trusted and loads nothing.
    flags = [*_FLAGS, f"--user-data-dir={profile}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    null = os.open(os.devnull, os.O_RDWR)
    child = os.posix_spawn(
        program,
        [program, *flags, "about:blank"],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, null, 1),
            (os.POSIX_SPAWN_DUP2, null, 2),
            (os.POSIX_SPAWN_DUP2, reading, 3),
            (os.POSIX_SPAWN_DUP2, writing, 4),
        ],
        setpgroup=0,
    )
    for end in (reading, writing, null):
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
    """Terminate the browser and its child processes, which are one process group."""
    for way in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child, way)
        except ProcessLookupError:
            break
        for _ in range(50):
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
