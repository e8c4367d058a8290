"""One issue for each stack that has drifted."""

from typing import Any

from tests.tools.ci.conftest import FakeApi
from tools.ci.comment import AUTHOR
from tools.ci.drift import run

ENVIRONMENT = {"RUN_ID": "7", "GITHUB_REPOSITORY": "owner/slipway"}


def issue(number: int, title: str, author: str = AUTHOR, **more: Any) -> dict[str, Any]:
    return {"number": number, "title": title, "user": {"login": author}, **more}


def test_drift_opens_an_issue(api: FakeApi) -> None:
    api.artifact(7, "drift-dev", {"verdict": "drift\n", "drift.md": "~ a subnet"})
    api.artifact(7, "drift-prod", {"verdict": "same\n"})
    assert run(api, ENVIRONMENT) == ["dev"]
    ((method, path, document),) = api.sent
    assert (method, path, document["title"], document["labels"]) == ("POST", "issues", "Drift: stack dev", ["drift"])
    assert document["body"].startswith("~ a subnet")
    assert "https://github.com/owner/slipway/actions/runs/7" in document["body"]


def test_the_next_run_updates_the_issue(api: FakeApi) -> None:
    api.artifact(7, "drift-dev", {"verdict": "drift\n", "drift.md": "~ a subnet"})
    api.lists["issues"] = [issue(5, "Drift: stack dev", author="someone"), issue(6, "Drift: stack dev")]
    run(api, ENVIRONMENT)
    assert [(method, path) for method, path, _ in api.sent] == [("PATCH", "issues/6")]


def test_the_issue_is_closed_when_there_is_no_drift(api: FakeApi) -> None:
    api.artifact(7, "drift-dev", {"verdict": "same\n"})
    api.lists["issues"] = [issue(6, "Drift: stack dev")]
    run(api, ENVIRONMENT)
    assert [(method, path) for method, path, _ in api.sent] == [("POST", "issues/6/comments"), ("PATCH", "issues/6")]
    assert api.sent[1][2] == {"state": "closed"}


def test_the_issue_of_a_stack_that_was_not_checked_is_unchanged(api: FakeApi) -> None:
    api.artifact(7, "drift-dev", {"verdict": "same\n"})
    api.lists["issues"] = [issue(6, "Drift: stack prod"), issue(8, "Drift: stack dev", pull_request={})]
    run(api, ENVIRONMENT)
    assert api.sent == []
