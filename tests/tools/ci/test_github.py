"""What is taken from an artifact that a stranger may have written, and how `gh` is called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tools.ci.conftest import FakeApi, archive
from tools.ci.github import LARGEST, LONGEST, Api, files, member

ROOT = Path(__file__).parents[3]


def test_files_are_told_by_the_stack_in_the_artifacts_name(api: FakeApi) -> None:
    api.artifact(7, "preview-dev", {"comment.md": "of dev", "index.html": "no"})
    api.artifact(7, "preview-prod", {"comment.md": "of prod"})
    assert files(api, 7, "preview-", "comment.md") == {"dev": "of dev", "prod": "of prod"}


@pytest.mark.parametrize("name", ["other", "preview-", "preview-../x", "preview-Dev", "preview-dev\n", "xpreview-dev"])
def test_an_artifact_of_another_name_is_not_looked_at(api: FakeApi, name: str) -> None:
    api.artifact(7, name, {"comment.md": "x"})
    assert files(api, 7, "preview-", "comment.md") == {}


@pytest.mark.parametrize("more", [{"expired": True}, {"size_in_bytes": LARGEST + 1}])
def test_an_artifact_that_is_gone_or_too_large_is_not_fetched(api: FakeApi, more: dict[str, Any]) -> None:
    api.artifact(7, "preview-dev", {"comment.md": "x"}, **more)
    api.files.clear()
    assert files(api, 7, "preview-", "comment.md") == {}


def test_a_file_that_swells_is_left_out() -> None:
    bomb = archive({"comment.md": b"0" * (50 * LONGEST)})
    assert len(bomb) < LONGEST
    assert member(bomb, "comment.md") is None


# Named: an archive holds the time at which it was made, and the workers of pytest-xdist must agree on every id.
@pytest.mark.parametrize(
    "data", [b"", b"PK", b"no archive", archive({"other.md": "x"})], ids=["empty", "cut", "text", "another file"]
)
def test_what_is_no_archive_or_lacks_the_file_is_nothing(data: bytes) -> None:
    assert member(data, "comment.md") is None


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert member(archive({"comment.md": b"a\xffb"}), "comment.md") == "a\ufffdb"


@pytest.mark.parametrize("name", ["", "owner", "owner/name/more", "owner/na me", "owner/name?x"])
def test_a_repository_has_an_owner_and_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="no owner/name"):
        Api(name)


def test_values_reach_gh_as_arguments_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "gh"
    fake.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{tmp_path}/arguments\ncat >{tmp_path}/given\necho '[[1],[2]]'\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert Api("owner/name").get("pulls", head="me:$(touch x)&state=all") == [1, 2]
    assert (tmp_path / "arguments").read_text().splitlines()[-3:] == [
        "--raw-field",
        "head=me:$(touch x)&state=all",
        "repos/owner/name/pulls",
    ]
    Api("owner/name").send("POST", "issues", {"title": "a 'title'"})
    assert json.loads((tmp_path / "given").read_text()) == {"title": "a 'title'"}


def test_the_scripts_need_nothing_but_python_itself() -> None:
    # -S: without the packages of any environment.
    subprocess.run([sys.executable, "-S", "-c", "import tools.ci.comment, tools.ci.drift"], cwd=ROOT, check=True)


def test_a_refusal_of_the_api_ends_the_run_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "gh"
    fake.write_text("#!/bin/sh\necho 'HTTP 403: no right' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(RuntimeError, match="HTTP 403: no right"):
        Api("owner/name").get("pulls")
