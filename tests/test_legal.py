"""License, code owners and the way to report a vulnerability."""

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.support.cases import beside
from tests.support.code_owners import owner

CASES: Final = beside(__file__)

ROOT: Final = Path(__file__).resolve().parents[1]
APACHE: Final = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of the text as Debian has it in /usr/share/common-licenses (base-files 12.4), and s3transfer 0.19.3 too."""
OWNED: Final = re.compile(r"(\*|/\S+?/?)(?:\s+@(\S+)/(\S+))?")
LINES: Final = [
    line for line in (ROOT / ".github" / "CODEOWNERS").read_text().splitlines() if line and not line.startswith("#")
]


def owned() -> list[tuple[str, str | None, str | None]]:
    """Pattern, organisation and team of each line; no team if the pattern takes it away."""
    found = [match.groups() for line in LINES if (match := OWNED.fullmatch(line))]
    assert len(found) == len(LINES), "a line of CODEOWNERS is neither `/path @OWNER/team` nor `/path`"
    return [(pattern, organisation, team) for pattern, organisation, team in found]


def test_the_license_is_the_whole_of_apache_2_with_one_line_filled_in() -> None:
    text = (ROOT / "LICENSE").read_text()
    (holder,) = re.findall(r"^ {3}Copyright \d{4} The Slipway authors$", text, re.MULTILINE)
    template = text.replace(holder, "   Copyright [yyyy] [name of copyright owner]")
    assert hashlib.sha256(template.encode()).hexdigest() == APACHE
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE"])


def test_code_owners_are_one_placeholder_that_the_stacks_name() -> None:
    """An organisation's name would be somebody's; the team is the example of the stack files and suppressions."""
    named = {
        yaml.safe_load(path.read_text())["config"]["slipway:platform"]["environment"]["owner"]
        for path in (ROOT / "stacks").glob("Pulumi.*.yaml")
    }
    named |= {each["owner"] for each in yaml.safe_load((ROOT / "policies" / "suppressions.yaml").read_text())}
    teams = {(organisation, team) for _, organisation, team in owned() if team}
    assert teams == {("OWNER", name) for name in named}


def test_every_pattern_of_code_owners_matches_a_file() -> None:
    """GitHub ignores one that matches nothing, so a folder that was renamed would lose its owners."""
    patterns = [pattern for pattern, _, _ in owned() if pattern != "*"]
    assert [pattern for pattern in patterns if not (ROOT / pattern.lstrip("/")).exists()] == []
    folders = [pattern for pattern in patterns if (ROOT / pattern.lstrip("/")).is_dir()]
    assert [pattern for pattern in folders if not pattern.endswith("/")] == []


@pytest.mark.parametrize("path", CASES["what decides has an owner"])
def test_what_decides_has_an_owner(path: str) -> None:
    assert (ROOT / path).is_file()
    assert owner(path)


@pytest.mark.parametrize("path", ["yaml.py", "components/storage/new.py", "tests/conftest.py"])
def test_what_nobody_has_thought_of_has_an_owner(path: str) -> None:
    assert owner(path)


@pytest.mark.parametrize("path", ["docs/security.md", "examples/notebook/README.md"])
def test_documentation_has_none(path: str) -> None:
    assert not owner(path)


def test_the_readme_leads_to_license_and_security() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "](LICENSE)" in readme
    assert "](SECURITY.md)" in readme
    assert "Report a vulnerability" in (ROOT / "SECURITY.md").read_text()
