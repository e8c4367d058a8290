"""The comment on a pull request: one, on the right one, updated in place, and harmless whatever its text is."""

import fnmatch
import re
from typing import Any, Final

import pytest

from policies import review
from tests.support.cases import beside
from tests.tools.ci.conftest import FakeApi
from tools.ci.comment import (
    AUTHOR,
    LONGEST,
    MARKER,
    MOST,
    MOST_FILES,
    UNNAMED,
    body,
    harmless,
    judging,
    ours,
    pull_request,
    run,
    section,
)

CASES: Final = beside(__file__)

ENVIRONMENT = {
    "RUN_ID": "7",
    "JUDGE_RUN_ID": "8",
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
    api.lists["pulls/12/files"] = [{"filename": "stacks/Pulumi.dev.yaml"}, {"filename": "docs/x.md"}]
    api.lists["actions/runs/8/artifacts"] = [{"artifacts": []}]
    api.lists["pulls"] = [candidate(11, sha="b" * 40), candidate(12)]
    api.artifact(7, "preview-dev", {"comment.md": "<!-- slipway-report:dev -->\n## Stack dev\n"})
    return api


def test_the_first_preview_creates_a_comment(one: FakeApi) -> None:
    assert run(one, ENVIRONMENT) == 12
    assert one.asked[0] == ("pulls", {"state": "open", "head": "someone:more-gpus", "per_page": "100"})
    assert one.sent == [("POST", "issues/12/comments", {"body": f"{MARKER}\n## Stack dev\n"})]


def test_the_next_preview_updates_the_comment(one: FakeApi) -> None:
    one.lists["issues/12/comments"] = [comment(100, "nice"), comment(101, f"{MARKER}\nold")]
    run(one, ENVIRONMENT)
    assert [(method, path) for method, path, _ in one.sent] == [("PATCH", "issues/comments/101")]


def test_all_stacks_are_in_one_comment(one: FakeApi) -> None:
    one.artifact(7, "preview-prod", {"comment.md": "of prod"})
    one.lists["issues/12/comments"] = [comment(101, f"{MARKER}\nold")]
    run(one, ENVIRONMENT)
    assert one.sent == [("PATCH", "issues/comments/101", {"body": f"{MARKER}\n## Stack dev\n\nof prod\n"})]


def test_any_number_of_artifacts_makes_one_comment_of_bounded_size(one: FakeApi) -> None:
    for number in range(60):
        one.artifact(7, f"preview-x{number}", {"comment.md": "~~~~~text\n" + "line\n" * 20_000})
    run(one, ENVIRONMENT)
    ((_, _, document),) = one.sent
    assert len(document["body"]) < 65_536
    assert document["body"].count("## Stack") + document["body"].count("the artifact preview-x") == MOST
    assert "(53 more in the artifacts of the preview.)" in document["body"]


@pytest.mark.parametrize(("conclusion", "reported"), [("success", True), ("failure", False)])
def test_only_a_complete_run_reports_that_no_stack_is_affected(one: FakeApi, conclusion: str, reported: bool) -> None:
    one.lists["actions/runs/7/artifacts"] = []
    one.lists["issues/12/comments"] = [comment(101, f"{MARKER}\nold")]
    run(one, {**ENVIRONMENT, "RUN_CONCLUSION": conclusion})
    texts = [document["body"] for _, path, document in one.sent if path == "issues/comments/101"]
    assert texts == ([f"{MARKER}\nThis pull request affects no stack.\n"] if reported else [])


def test_a_pull_request_that_never_affected_a_stack_gets_no_comment(one: FakeApi) -> None:
    one.lists["actions/runs/7/artifacts"] = []
    run(one, ENVIRONMENT)
    assert one.sent == []


def test_a_pull_request_with_a_newer_commit_gets_no_comment(one: FakeApi) -> None:
    assert run(one, {**ENVIRONMENT, "HEAD_SHA": "c" * 40}) is None
    assert one.sent == []


def test_the_same_commit_in_another_repository_is_another_pull_request() -> None:
    candidates = [candidate(1, repository="other/slipway"), candidate(2, repository=None), candidate(3)]
    assert pull_request(candidates, "a" * 40, "someone/slipway") == 3


def test_comments_of_other_authors_are_ignored() -> None:
    comments = [
        comment(1, MARKER, author="someone"),
        comment(2, f"see {MARKER}"),
        comment(3, MARKER),
        comment(4, MARKER),
    ]
    assert ours(comments) == 3
    assert ours(comments[:2]) is None


@pytest.mark.parametrize("text", CASES["nothing in a text is a link an image html or a mention"])
def test_nothing_in_a_text_is_a_link_an_image_html_or_a_mention(text: str) -> None:
    safe = harmless(f"a\n{text}")
    assert safe != f"a\n{text}"
    assert safe.replace("\u200b", "") == f"a\n{text}", "readers see the same text"
    for active in CASES["what would be active"]:
        assert active not in safe
    assert "@e" not in safe
    assert "@o" not in safe


def test_characters_that_hide_or_turn_text_are_removed() -> None:
    assert harmless("a\x1b[31mb\u202ec\u2066d\0\re") == "a[31mbcde"


def test_what_the_report_has_stays_as_it_is() -> None:
    text = "## Stack dev\n\n- **replace `a[0]`**: b &lt; c\n\n| a | b |\n|---|--:|\n\n~~~~~text\n[x] 1: 2\n~~~~~"
    text += "\n\n<details><summary>2 to update</summary>\n\n- b\n\n</details>\n\n<sub>ok</sub>"
    assert harmless(f"<!-- slipway-report:dev -->\n{text}\n") == text


@pytest.mark.parametrize("fence", ["~~~~~", "```"])
def test_a_long_text_is_truncated_with_its_code_block_closed(fence: str) -> None:
    text = body({"dev": f"{fence}text\n" + "line\n" * 20_000})
    assert LONGEST < len(text) < 65_536
    assert text.count(f"\n{fence}") == 2
    assert "the artifact preview-dev" in text


def test_a_fold_that_is_open_at_the_end_holds_nothing_of_the_next_stack() -> None:
    text = body({"dev": "<details><summary>x</summary>\n\n```\n</details>\n", "prod": "shown"})
    assert re.search(r"```\n\n</details>\n\nshown", text)


@pytest.mark.parametrize("text", ["````\nx", "`````text\n```\nx", "~~~~\n~~~\nx", " ~~~ a\n``` b\nx", "```\n```x\nx"])
def test_a_code_block_of_any_length_ends_with_its_section(text: str) -> None:
    fence = text.strip().split("\n")[0].split(" ")[0].removesuffix("text")
    assert section("dev", text) == f"{text.strip()}\n{fence}"


@pytest.mark.parametrize("text", ["````\nx\n````", "~~~\n```\n~~~~", "``` a`\nx", "    ```\nx", "``\nx"])
def test_a_code_block_that_is_closed_or_none_stays(text: str) -> None:
    assert section("dev", f"a\n{text}") == f"a\n{text}"


def test_files_that_judge_are_named_by_githubs_list_and_above_what_the_change_says(one: FakeApi) -> None:
    one.lists["pulls/12/files"] = [
        {"filename": "docs/x.py", "previous_filename": "policies/rules/pods.py"}, {"filename": "infra/__main__.py"},
        {"filename": "stacks/Pulumi.dev.yaml"}, {"filename": "a`\n## [x](y)@z"},
    ]  # fmt: skip
    one.artifact(8, "judged-stacks", {"judged.md": "### Stack dev, by trusted code\n"})
    run(one, ENVIRONMENT)
    ((_, _, document),) = one.sent
    found = [line for line in document["body"].splitlines() if line.startswith("- `")]
    assert found[1:] == ["- `infra/__main__.py`", "- `policies/rules/pods.py`"]
    assert "`a'" in found[0]
    assert document["body"].index("by trusted code") < document["body"].index("## Stack dev\n")


def test_a_list_that_github_cuts_off_says_so() -> None:
    assert "review all" in judging([{"filename": f"docs/{one}"} for one in range(MOST_FILES)])
    assert "- 9 more" in judging([{"filename": f"infra/{one}.py"} for one in range(59)])


@pytest.mark.parametrize("file", [
    "a/b.md", "README.md", "docs/x.py", "examples/a/b.py", "tests/x", "stacks/Pulumi.dev.yaml", "stacks/x.py",
    "policies/levels/dev.json", "policies/suppressions.yaml", "policies/review.py", "infra/__main__.py", "yaml.py",
    "Makefile", ".github/workflows/preview.yml", "tools/ci/page.sh",
])  # fmt: skip
def test_the_preview_and_the_comment_name_the_same_files(file: str) -> None:
    unnamed = any(fnmatch.fnmatch(file, one) or file.startswith(f"{one}/") for one in review.UNNAMED)
    assert bool(UNNAMED.fullmatch(file)) == unnamed


def test_a_preview_that_says_nothing_hides_no_file_that_judges(one: FakeApi) -> None:
    one.lists["pulls/12/files"] = [{"filename": "tools/ci/page.sh"}]
    one.lists["actions/runs/7/artifacts"] = []
    run(one, {**ENVIRONMENT, "RUN_CONCLUSION": "failure"})
    ((_, _, document),) = one.sent
    assert "- `tools/ci/page.sh`\n\nThe preview has no result." in document["body"]
