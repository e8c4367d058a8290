"""What a command line gives, a Pulumi CLI that records its calls, and the engine of replays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sandbox.toolchain import locate
from slipway.cli import main
from slipway.cli.commands import COMMANDS, SHARED
from tests.slipway.engine.fake import FakePulumi
from tests.support.mocks import UNKNOWN as _UNKNOWN  # noqa: F401 - imports, for all tests here, what emits warnings of the SDK


class Ran(NamedTuple):
    """What a command line has printed."""

    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON on standard output, which nothing accompanies on the other stream."""
        assert self.err == ""
        return json.loads(self.out)


Slipway = Callable[..., Ran]
"""`slipway("check dev", path, code=2)`: words of a line, then arguments that may have spaces, and its exit code."""


def choices(command: str, option: str) -> list[str]:
    """The values of an option."""
    (arguments,) = (each.arguments for each in COMMANDS if each.name == command)
    groups = [row["arguments"] for row in arguments.values() if isinstance(row, dict) and "arguments" in row]
    rows = (SHARED["jobs"]["arguments"], arguments, *groups)
    found: list[str] = next(row[option]["choices"] for row in rows if option in row)
    return found


@pytest.fixture
def slipway(capsys: pytest.CaptureFixture[str]) -> Slipway:
    def run(line: str, *more: object, code: int = 0) -> Ran:
        capsys.readouterr()
        ended: Any
        try:
            ended = main([*line.split(), *map(str, more)])
        except SystemExit as end:
            ended = end.code
        shown = Ran(*capsys.readouterr())
        assert ended == code, shown
        return shown

    return run


@pytest.fixture
def fake(tmp_path: Path) -> FakePulumi:
    return FakePulumi.make(tmp_path / "bin")


@pytest.fixture(scope="session")
def binary() -> Path:
    """The engine of replays."""
    found = locate.find("replay")
    if found is None:
        pytest.skip("not built: run `python -m sandbox.toolchain ensure replay`")
    return found
