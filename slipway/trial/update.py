"""An update of the stack while a scenario runs: `slipway up` in the sandbox, with settings that differ."""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.engine.project import Project
from slipway.engine.stacks import STACKS, stack_file
from spec import strict_yaml
from spec.errors import fail
from spec.naming import PROJECT
from spec.settings.load import KEY
from spec.settings.parts import overlay

COMMAND: Final = (sys.executable, "-m", "slipway", "up")
_SHOWN: Final = 12  # lines of an update that failed


@dataclass
class Update:
    """An update of one stack, or none yet; each begins with the changes of those before it."""

    project: Project
    stack: str
    _change: Mapping[str, Any] = field(default_factory=dict, init=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _log: Path = field(default=Path(), init=False)
    _held: ExitStack = field(default_factory=ExitStack, init=False)

    @property
    def works(self) -> bool:
        """Whether one is under way."""
        return self._process is not None

    def done(self, change: Mapping[str, Any]) -> bool:
        """Begin it, or look whether it has ended. Raises SlipwayError with its last lines if it failed."""
        if self._process is None:
            self._change = overlay(self._change, change)
            self._begin()
            return False
        if (code := self._process.poll()) is None:
            return False
        text = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        self.end()
        if code:
            fail("\n".join([f"`slipway up {self.stack} --sandbox` ended with {code}:", *text[-_SHOWN:]]))
        return True

    def end(self) -> None:
        """Cancel it, and wait until the engine has written its state."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            # As Ctrl-C does (`slipway.engine.process`), also where the parent, in a background, ignores SIGINT.
            process.send_signal(signal.SIGTERM)
            process.wait()
        self._held.close()

    def _begin(self) -> None:
        """In a folder that is the project but for the stack's file."""
        folder = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="slipway-rehearsal-")))
        root, stacks = folder / "project", folder / "project" / STACKS
        stacks.mkdir(parents=True)
        own = stack_file(self.project.stacks, self.stack)
        for there, kept in ((root, self.project.root), (stacks, self.project.stacks)):
            for path in kept.iterdir():
                if path not in (own, self.project.stacks):
                    (there / path.name).symlink_to(path)
        document = overlay(strict_yaml.documents(own)[0], {"config": {f"{PROJECT}:{KEY}": self._change}})
        stack_file(stacks, self.stack).write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        self._log = folder / "log"
        command = [*COMMAND, self.stack, "--sandbox", "--yes"]
        log = self._held.enter_context(self._log.open("wb"))
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
