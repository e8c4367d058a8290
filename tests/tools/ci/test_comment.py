"""The comment on a pull request: on the right one, updated in place, and harmless whatever its text is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.ci.conftest import FakeApi
from tools.ci.comment import AUTHOR, body, marker, ours, pull_request, run

ENVIRONMENT = {
    "RUN_ID": "7",
    "RUN_CONCLUSION": "success",
    "HEAD_SHA": "a" * 40,
    "HEAD_BRANCH": "more-gpus",
    "HEAD_REPOSITORY": "someone/slipway",
}


def candidate(number: int, sha: str = "a" * 40, repository: str | None = "someone/slipway") -> dict[str, Any]:
    return {"number": number, "head": {"sha": sha, "repo": repository and {"full_name": repository}}}


def comment(number: int, text: str, author: str = AUTHOR) -> dict[str, Any]:
    return {"id": number, "body": text, "user": {"login": author}}


@pytest.fixture
def one(api: FakeApi) -> FakeApi:
    """A pull request of a fork, and a preview of dev."""
    api.lists["pulls"] = [candidate(11, sha="b" * 40), candidate(12)]
    api.artifact(7, "preview-dev", {"comment.md": f"{marker('dev')}\n## Stack dev\n"})
    return api


def test_the_first_preview_creates_a_comment(one: FakeApi) -> None:
    assert run(one, ENVIRONMENT) == 12
    assert one.asked[0] == (
        "pulls",
        {"state": "open", "head": "someone:more-gpus", "per_page": "100"},
    )
    assert one.sent == [("POST", "issues/12/comments", {"body": f"{marker('dev')}\n## Stack dev\n"})]


def test_the_next_preview_updates_the_comment(one: FakeApi) -> None:
    one.lists["issues/12/comments"] = [comment(100, "nice"), comment(101, f"{marker('dev')}\nold")]
    run(one, ENVIRONMENT)
    assert [(method, path) for method, path, _ in one.sent] == [("PATCH", "issues/comments/101")]


def test_each_stack_has_its_own_comment(one: FakeApi) -> None:
    one.artifact(7, "preview-prod", {"comment.md": "of prod"})
    one.lists["issues/12/comments"] = [comment(101, f"{marker('prod')}\nold")]
    run(one, ENVIRONMENT)
    assert [(method, path) for method, path, _ in one.sent] == [
        ("POST", "issues/12/comments"),
        ("PATCH", "issues/comments/101"),
    ]


@pytest.mark.parametrize(("conclusion", "reported"), [("success", True), ("failure", False)])
def test_only_a_complete_run_reports_that_a_stack_is_no_longer_affected(
    one: FakeApi, conclusion: str, reported: bool
) -> None:
    one.lists["issues/12/comments"] = [comment(101, f"{marker('prod')}\nold")]
    run(one, {**ENVIRONMENT, "RUN_CONCLUSION": conclusion})
    texts = [document["body"] for _, path, document in one.sent if path == "issues/comments/101"]
    assert texts == ([f"{marker('prod')}\nThis pull request no longer affects stack prod.\n"] if reported else [])


def test_a_pull_request_with_a_newer_commit_gets_no_comment(one: FakeApi) -> None:
    assert run(one, {**ENVIRONMENT, "HEAD_SHA": "c" * 40}) is None
    assert one.sent == []


def test_the_same_commit_in_another_repository_is_another_pull_request() -> None:
    candidates = [candidate(1, repository="other/slipway"), candidate(2, repository=None), candidate(3)]
    assert pull_request(candidates, "a" * 40, "someone/slipway") == 3


def test_comments_of_other_authors_are_ignored() -> None:
    comments = [
        comment(1, marker("dev"), author="someone"),
        comment(2, f"see {marker('dev')}"),
        comment(3, marker("dev")),
    ]
    assert ours(comments) == {"dev": 3}


def test_markers_of_other_stacks_are_removed_from_a_text() -> None:
    text = body("dev", f"{marker('prod')}\n<!--slipway-report:x-->\nall is well")
    assert text == f"{marker('dev')}\nall is well\n"


def test_mentions_are_disabled() -> None:
    assert "@everyone" not in body("dev", "hello @everyone and @org/team")


@pytest.mark.parametrize("fence", ["~~~~~", "```"])
def test_a_long_text_is_truncated_with_its_code_block_closed(fence: str) -> None:
    text = body("dev", f"{fence}text\n" + "line\n" * 20_000)
    assert len(text) < 65_536
    assert text.count(f"\n{fence}") == 2
    assert "the artifact preview-dev" in text
