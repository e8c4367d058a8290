"""Reading artifacts, whose content is untrusted, and calling `gh`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tools.ci.conftest import FakeApi, archive
from tools.ci.github import LARGEST, LONGEST, Api, files, member

ROOT = Path(__file__).parents[3]


def test_files_are_keyed_by_the_stack_in_the_artifacts_name(api: FakeApi) -> None:
    api.artifact(7, "preview-dev", {"comment.md": "of dev", "index.html": "no"})
    api.artifact(7, "preview-prod", {"comment.md": "of prod"})
    assert files(api, 7, "preview-", "comment.md") == {"dev": "of dev", "prod": "of prod"}


@pytest.mark.parametrize("name", ["other", "preview-", "preview-../x", "preview-Dev", "preview-dev\n", "xpreview-dev"])
def test_artifacts_with_other_names_are_ignored(api: FakeApi, name: str) -> None:
    api.artifact(7, name, {"comment.md": "x"})
    assert files(api, 7, "preview-", "comment.md") == {}


@pytest.mark.parametrize("more", [{"expired": True}, {"size_in_bytes": LARGEST + 1}])
def test_an_expired_or_too_large_artifact_is_not_downloaded(api: FakeApi, more: dict[str, Any]) -> None:
    api.artifact(7, "preview-dev", {"comment.md": "x"}, **more)
    api.files.clear()
    assert files(api, 7, "preview-", "comment.md") == {}


def test_a_zip_bomb_is_ignored() -> None:
    bomb = archive({"comment.md": b"0" * (50 * LONGEST)})
    assert len(bomb) < LONGEST
    assert member(bomb, "comment.md") is None


# With ids: an archive contains its creation time, and the workers of pytest-xdist must agree on every id.
@pytest.mark.parametrize(
    "data", [b"", b"PK", b"no archive", archive({"other.md": "x"})], ids=["empty", "truncated", "text", "another file"]
)
def test_an_invalid_archive_or_one_without_the_file_is_ignored(data: bytes) -> None:
    assert member(data, "comment.md") is None


def test_invalid_utf_8_is_replaced() -> None:
    assert member(archive({"comment.md": b"a\xffb"}), "comment.md") == "a\ufffdb"


@pytest.mark.parametrize("name", ["", "owner", "owner/name/more", "owner/na me", "owner/name?x"])
def test_an_invalid_repository_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="must be owner/name"):
        Api(name)


def test_values_are_separate_arguments_of_gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "gh"
    fake.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{tmp_path}/arguments\ncat >{tmp_path}/input\necho '[[1],[2]]'\n"
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
    assert json.loads((tmp_path / "input").read_text()) == {"title": "a 'title'"}


def test_the_scripts_need_only_the_standard_library() -> None:
    # -S: without the packages of any environment.
    subprocess.run([sys.executable, "-S", "-c", "import tools.ci.comment, tools.ci.drift"], cwd=ROOT, check=True)


def test_an_error_of_the_api_is_raised_with_its_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "gh"
    fake.write_text("#!/bin/sh\necho 'HTTP 403: no right' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(RuntimeError, match="HTTP 403: no right"):
        Api("owner/name").get("pulls")
