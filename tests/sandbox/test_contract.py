"""The tables of docs/guides/sandbox-reference.md, "Interface", against the code: what another program may rely on."""

import dataclasses
import os
import re
from pathlib import Path

import pytest

from sandbox import environment, state
from sandbox.identity import ProcessIdentity
from sandbox.state import SandboxState

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "sandbox-reference.md").read_text(encoding="utf-8")
OURS = {"logs"}
"""What a stop leaves in the home."""


def names(heading: str) -> set[str]:
    """The names in code spans in the first column of the table below a heading."""
    section = PAGE.partition(f"### {heading}\n")[2].partition("\n#")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")][1:]
    return {name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_page_lists_every_field_of_the_state_file() -> None:
    assert names("State file") == {"format", *(field.name for field in dataclasses.fields(SandboxState))}
    assert f"`format` | {state.FORMAT};" in PAGE
    process = PAGE.partition("| `daemon` | its process: ")[2].partition("|")[0]
    assert set(re.findall(r"`(\w+)`", process)) == {field.name for field in dataclasses.fields(ProcessIdentity)}


def test_the_page_lists_every_file_of_the_home() -> None:
    assert names("Files") == {*state.WIPED, *OURS}


@pytest.mark.parametrize("official", [None, "/provider"])
def test_the_page_lists_every_variable(official: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    ready = SandboxState(
        tmp_path, ProcessIdentity.of("daemon", os.getpid()), "http://localhost:1", 2, 3, official=official
    )
    listed = names("Variables") - (set() if official else {environment.CLIENT_TIMEOUT})
    assert set(environment.environment(ready)) == listed
