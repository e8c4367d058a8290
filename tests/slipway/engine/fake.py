"""A `pulumi` for tests: records its calls, keeps stacks as the file backend does, and behaves as `tell` prescribes.

Files beside it control it, so that a test needs no environment of its own: `exit` (a code), `export` (the output of
`stack export`), `events` (the content of an event log), `hang` (wait for interrupts), `says` (text for stdout),
`writes` (the state of stack dev in the folder `backend` beside its own).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = """#!{python}
import json, os, pathlib, re, signal, sys, time
here = pathlib.Path(__file__).resolve().parent
arguments = sys.argv[1:]
def setting(name):
    path = here / name
    return path.read_text() if path.exists() else ""
received = []
def interrupted(number, frame):
    received.append(number)
    draft = here / "received.new"
    draft.write_text(json.dumps(received))
    draft.replace(here / "received")
    if setting("hang") == "until interrupted":
        time.sleep(0.3)  # long enough for a second delivery of the same interrupt to be seen
        print("cancelled", flush=True); sys.exit(255)
if setting("hang"):
    # Before the call is recorded: a test that reads it may send a signal at once.
    signal.signal(signal.SIGINT, interrupted); signal.signal(signal.SIGTERM, interrupted)
call = {{"arguments": arguments, "environment": dict(os.environ), "directory": os.getcwd(), "pid": os.getpid()}}
with (here / "calls").open("a") as calls:
    calls.write(json.dumps(call) + "\\n")
def value(option):
    return arguments[arguments.index(option) + 1]
if arguments[:1] == ["version"]:
    print("v3.258.0"); sys.exit(0)
if arguments[:1] == ["stack"] and setting("stack-fails"):
    print("error: " + setting("stack-fails"), file=sys.stderr); sys.exit(255)
if arguments[:2] == ["stack", "select"]:
    backend = pathlib.Path(os.environ["PULUMI_BACKEND_URL"].removeprefix("file://").partition("?")[0])
    stack = backend / ".pulumi/stacks/slipway" / (value("--stack") + ".json")
    stack.parent.mkdir(parents=True, exist_ok=True)
    stack.write_text('{{"version":3,"checkpoint":{{"stack":"organization/slipway/x"}}}}')
    file = pathlib.Path("stacks/Pulumi." + value("--stack") + ".yaml")
    if "encryptionsalt" not in file.read_text():
        file.write_text(file.read_text() + "encryptionsalt: v1:fake\\n")
    sys.exit(0)
if arguments[:2] == ["stack", "export"]:
    print(setting("export") or '{{"version": 3, "deployment": {{}}}}'); sys.exit(0)
if arguments[:2] == ["stack", "--show-name"]:
    print(setting("selected")); sys.exit(0 if setting("selected") else 255)
if arguments[:1] == ["cancel"]:
    backend = pathlib.Path(os.environ["PULUMI_BACKEND_URL"].removeprefix("file://").partition("?")[0])
    for lock in (backend / ".pulumi/locks/organization/slipway" / value("--stack")).glob("*.json"):
        lock.unlink()
    sys.exit(0)
if setting("writes"):
    (here.parent / "backend/.pulumi/stacks/slipway/dev.json").write_text(setting("writes"))
if setting("hang"):
    print("working", flush=True)
    for _ in range(12000):  # ten minutes, in case nobody interrupts it
        time.sleep(0.05)
if "--event-log" in arguments and setting("events"):
    pathlib.Path(value("--event-log")).write_text(setting("events"))
print(setting("says") or "done by the engine", flush=True)
print("a warning of the engine", file=sys.stderr, flush=True)
sys.exit(int(setting("exit") or 0))
"""


@dataclass(frozen=True)
class FakePulumi:
    """The fake in a directory."""

    directory: Path

    @classmethod
    def make(cls, directory: Path) -> FakePulumi:
        """Write it."""
        directory.mkdir(parents=True, exist_ok=True)
        fake = cls(directory)
        fake.path.write_text(SCRIPT.format(python=sys.executable))
        fake.path.chmod(0o755)
        return fake

    @property
    def path(self) -> Path:
        return self.directory / "pulumi"

    def tell(self, name: str, text: str) -> None:
        """Prescribe its behaviour."""
        (self.directory / name).write_text(text)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """All calls so far, oldest first."""
        path = self.directory / "calls"
        # Without one of which only a part is written yet.
        return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []

    @contextmanager
    def running(self) -> Iterator[int]:
        """Its pid while it works, until the end of the block."""
        self.tell("hang", "for good")
        with subprocess.Popen([self.path, "up"], stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == b"working\n"
                yield process.pid
            finally:
                process.kill()

    @property
    def received(self) -> list[int]:
        """Signals that it received while it hung."""
        path = self.directory / "received"
        return json.loads(path.read_text()) if path.exists() else []


def exported(*resources: dict[str, Any], pending: list[dict[str, Any]] | None = None) -> str:
    """The output of `pulumi stack export`."""
    deployment = {"resources": list(resources), "pending_operations": pending or []}
    return json.dumps({"version": 3, "deployment": deployment})


def resource(kind: str, name: str, **more: Any) -> dict[str, Any]:
    """A provider's resource, as in an export."""
    return {"urn": f"urn:pulumi:dev::slipway::{kind}::{name}", "type": kind, "custom": True, **more}
