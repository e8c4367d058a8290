"""Posts the result of a preview on its pull request: one comment per stack, updated in place.

comment.yml runs this with permissions that the preview does not have, on untrusted text. So the text is only data: the
pull request is found through the API and not in the artifact, the first line is ours, mentions are disabled, and none
of the pull request's code is here.

    GITHUB_REPOSITORY=owner/name RUN_ID=1 RUN_CONCLUSION=success HEAD_SHA=... HEAD_BRANCH=... HEAD_REPOSITORY=owner/name
    python3 -m tools.ci.comment
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tools.ci import github

AUTHOR: Final = "github-actions[bot]"
"""The author of GITHUB_TOKEN's comments; comments of other authors are never changed."""
LONGEST: Final = 60_000
"""Characters; GitHub accepts 65,536."""
_MARKER: Final = re.compile(r"<!--\s*slipway-report:.*?-->\n?", re.DOTALL)
_OURS: Final = re.compile(r"<!-- slipway-report:([a-z][a-z0-9-]{0,40}) -->")
_ZERO_WIDTH: Final = "\u200b"


def marker(stack: str) -> str:
    """The first line of the comment on a stack, which identifies it."""
    return f"<!-- slipway-report:{stack} -->"


def body(stack: str, text: str) -> str:
    """A comment from untrusted text: with only our own first line, without mentions, within GitHub's size limit."""
    plain = _MARKER.sub("", text).replace("\0", "").replace("@", f"@{_ZERO_WIDTH}").strip()
    if len(plain) > LONGEST:
        plain = plain[:LONGEST].rstrip()
        for fence in ("~~~~~", "```"):
            if len(re.findall(f"^{fence}", plain, re.MULTILINE)) % 2:
                plain = f"{plain}\n{fence}"
        plain = f"{plain}\n\n(Truncated; the full text is in the artifact preview-{stack}.)"
    return f"{marker(stack)}\n{plain}\n"


def unaffected(stack: str) -> str:
    """The comment on a stack that the pull request no longer affects."""
    return f"{marker(stack)}\nThis pull request no longer affects stack {stack}.\n"


def pull_request(candidates: Iterable[Mapping[str, Any]], sha: str, repository: str) -> int | None:
    """The number of the open pull request whose newest commit was previewed."""
    for one in candidates:
        # The head's repository may have been deleted since.
        where = one["head"]["repo"] or {}
        if one["head"]["sha"] == sha and where.get("full_name") == repository:
            return int(one["number"])
    return None


def ours(comments: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Ids of our own comments by stack; the oldest if there are several."""
    ids: dict[str, int] = {}
    for one in comments:
        match = _OURS.match(one["body"] or "")
        if match is not None and (one["user"] or {}).get("login") == AUTHOR:
            ids.setdefault(match[1], int(one["id"]))
    return ids


def update(api: github.Caller, number: int, texts: Mapping[str, str], *, complete: bool) -> None:
    """Write a comment for each stack; after a complete run, also for stacks that are no longer affected."""
    existing = ours(api.get(f"issues/{number}/comments", per_page="100"))
    wanted = {stack: body(stack, text) for stack, text in sorted(texts.items())}
    if complete:
        wanted |= {stack: unaffected(stack) for stack in existing if stack not in texts}
    for stack, text in wanted.items():
        if stack in existing:
            api.send("PATCH", f"issues/comments/{existing[stack]}", {"body": text})
        else:
            api.send("POST", f"issues/{number}/comments", {"body": text})


def run(api: github.Caller, environment: Mapping[str, str]) -> int | None:
    """Find the pull request and comment on it; returns its number, None if it is closed or has a newer commit."""
    repository = environment["HEAD_REPOSITORY"]
    head = f"{repository.partition('/')[0]}:{environment['HEAD_BRANCH']}"
    candidates = api.get("pulls", state="open", head=head, per_page="100")
    number = pull_request(candidates, environment["HEAD_SHA"], repository)
    if number is not None:
        texts = github.files(api, int(environment["RUN_ID"]), "preview-", "comment.md")
        update(api, number, texts, complete=environment["RUN_CONCLUSION"] == "success")
    return number


def main() -> int:
    """Exit code 0, also if there is no pull request to comment on."""
    number = run(github.Api(os.environ["GITHUB_REPOSITORY"]), os.environ)
    print(f"pull request {number}" if number else "this commit is not the newest of an open pull request")
    return 0


if __name__ == "__main__":
    sys.exit(main())
