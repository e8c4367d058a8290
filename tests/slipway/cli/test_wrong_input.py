"""Wrong arguments: refused before anything is started, with exit code 2, the value and the fix, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.cli import main, offline
from spec.errors import EXIT_REFUSED
from tests.slipway.engine.fake import FakePulumi
from tests.support import mocks

assert mocks  # it silences warnings that the SDK prints when it is first imported

CASES = [
    ("policies dev --manifests missing", "missing: manifests must be in a folder", "Name one of YAML"),
    ("policies dev --against nosuch", "--against nosuch: git has no policies", "Name a commit, branch or tag"),
    ("render dev --out /proc/x", "--out /proc/x: the folder must be writable (", "Choose another one"),
    ("report dev --out out --plan missing", "--plan missing: can't be read (No such file", "pulumi preview --json"),
    ("prices refresh --out missing", "--out missing: there is no such folder", "Create it first"),
    ("prices refresh --region mars", "--region mars: the catalog has no region", "one of af-south-1"),
    ("charts check --dir missing", "missing is not a folder", "slipway charts pull --dir"),
    ("charts pull", "no folder of charts", "give --dir DIR"),
    ("why missing.yaml --stack dev", "there is no file missing.yaml", "name one, or an object"),
    ("try missing --stack dev --sandbox", "missing is not a folder of manifests", "name one"),
    ("up dev --sandbox -- --stack prod", "`--stack` after `--` would select another stack", "pass the stack"),
    ("init Bad_Name --account 1", "environment.name", "It must start with a letter"),
]


@pytest.mark.parametrize(("line", "says", "fix"), CASES, ids=[line for line, *_ in CASES])
def test_a_wrong_argument_is_refused_with_its_value_and_the_fix(
    line: str, says: str, fix: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SLIPWAY_CHARTS", raising=False)
    monkeypatch.setattr(offline, "start", lambda *_, **__: pytest.fail("the sandbox was started"))
    assert main(line.split()) == EXIT_REFUSED
    error = capsys.readouterr().err
    assert says in error
    assert fix in error
    assert "Errno" not in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("line", "shows"),
    [
        ("up dev", "`slipway preview dev`"),
        ("refresh dev", "`slipway refresh dev -- --preview-only`"),
        ("destroy dev --sandbox", "`slipway destroy dev --sandbox -- --preview-only`"),
    ],
)
def test_a_change_that_nobody_confirms_names_the_command_that_only_shows_it(
    line: str, shows: str, checkout: Path, fake: FakePulumi, user: object, sandbox: offline.Sandbox,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert main(line.split()) == EXIT_REFUSED
    assert shows in capsys.readouterr().err
