"""Runs a real Pulumi engine with providers served by the test, and its state in a temporary directory."""

import atexit
import datetime
import importlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pulumi import automation as auto

from sandbox import environment


def pulumi_binary() -> Path:
    """The engine, from the project's toolchain or PATH; the test is skipped if there is none."""
    try:
        found = importlib.import_module("sandbox.toolchain").find("pulumi")
    except (ImportError, AttributeError):
        found = None
    found = found or shutil.which("pulumi")
    if not found:
        pytest.skip("needs the pulumi CLI: not on PATH and not in the cache of slipway")
    return Path(found)


PROJECT = "slipway-test"
_NO_HISTORY = auto.UpdateSummary("", datetime.datetime.now(datetime.UTC), "", {}, {}, "")
_CHANGE = re.compile(r"^ +(?:\S+ )?(\d+) (created|updated|deleted|replaced|imported)\b", re.MULTILINE)


def changes(result: auto.UpResult | auto.RefreshResult | auto.PreviewResult) -> dict[str, int]:
    """The numbers of created, updated, ... resources, from the CLI's summary below `Resources:`."""
    return {verb: int(count) for count, verb in _CHANGE.findall(result.stdout.split("Resources:")[-1])}


@cache
def _command(binary: Path) -> auto.PulumiCommand:
    """Created once: each asks the CLI for its version."""
    # The SDK looks for `bin/pulumi` in a directory and nowhere else.
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root)
    (root / "bin").mkdir()
    (root / "bin" / "pulumi").symlink_to(binary)
    return auto.PulumiCommand(root=str(root), skip_version_check=True)


class Engine:
    """One Pulumi backend and the providers it attaches to."""

    def __init__(self, directory: Path, ports: Mapping[str, int]) -> None:
        self.command = _command(pulumi_binary())
        self.state = directory / "state"
        self.state.mkdir(parents=True)
        environment.prepare_engine_home(directory / "home")
        self.environment = {
            "PULUMI_DEBUG_PROVIDERS": ",".join(f"{name}:{port}" for name, port in ports.items()),
            "PULUMI_BACKEND_URL": f"file://{self.state}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_HOME": str(directory / "home"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_SKIP_CHECKPOINTS": "true",
        }
        self._stacks: dict[str, auto.Stack] = {}

    def stack(self, program: Callable[[], None], name: str = "test") -> auto.Stack:
        """A stack of the program; a second call with another program continues the same stack.

        Each start of the CLI takes 0.2 to 0.4 s of CPU (2026-11): none looks for a stack that this engine knows.
        """
        if name not in self._stacks:
            self._stacks[name] = self._new_stack(name)
        self._stacks[name].workspace.program = program
        return self._stacks[name]

    def _new_stack(self, name: str) -> auto.Stack:
        options = auto.LocalWorkspaceOptions(pulumi_command=self.command, env_vars=dict(self.environment))
        stack = auto.create_stack(name, project_name=PROJECT, program=lambda: None, opts=options)
        # Otherwise each operation starts the CLI three times more, for outputs and history.
        stack.outputs = dict  # type: ignore[method-assign]
        stack.info = lambda *_: _NO_HISTORY  # type: ignore[method-assign]
        return stack

    def state_text(self) -> str:
        """The stacks as stored: secrets are ciphertext, and what is clear text here is clear text on disk."""
        files = sorted((self.state / ".pulumi" / "stacks").rglob("*.json"))
        assert files, "no stack is stored"
        return "".join(file.read_text() for file in files)


def resources(stack: auto.Stack) -> dict[str, dict[str, Any]]:
    """The resources in the stack's state by logical name, with secrets as ciphertext. `stack export` reads no more."""
    state = Path(stack.workspace.env_vars["PULUMI_BACKEND_URL"].removeprefix("file://"))
    stored = json.loads((state / ".pulumi" / "stacks" / PROJECT / f"{stack.name}.json").read_text())
    return {item["urn"].split("::")[-1]: item for item in stored["checkpoint"]["latest"].get("resources", [])}
