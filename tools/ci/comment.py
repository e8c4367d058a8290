"""Puts what a preview found under its pull request: one comment a stack, changed in place.

Run by comment.yml, with rights that the preview does not have, on text that a stranger may have written. So the text is
data and nothing else: the pull request is found through the API and not in the artifact, the first line is ours, nobody
is called by a mention, and none of the pull request's code is here.

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
"""Who GITHUB_TOKEN writes as; a comment of anybody else is never touched, whatever it says."""
LONGEST: Final = 60_000
"""Characters; GitHub takes 65,536."""
_MARKER: Final = re.compile(r"<!--\s*slipway-report:.*?-->\n?", re.DOTALL)
_OURS: Final = re.compile(r"<!-- slipway-report:([a-z][a-z0-9-]{0,40}) -->")
_ZERO_WIDTH: Final = "\u200b"


def marker(stack: str) -> str:
    """The first line of the comment on a stack, by which it is found again."""
    return f"<!-- slipway-report:{stack} -->"


def body(stack: str, text: str) -> str:
    """A comment of somebody's text: with our first line alone, without mentions, and not longer than GitHub takes."""
    plain = _MARKER.sub("", text).replace("\0", "").replace("@", f"@{_ZERO_WIDTH}").strip()
    if len(plain) > LONGEST:
        plain = plain[:LONGEST].rstrip()
        for fence in ("~~~~~", "```"):
            if len(re.findall(f"^{fence}", plain, re.MULTILINE)) % 2:
                plain = f"{plain}\n{fence}"
        plain = f"{plain}\n\n(Cut here; the whole of it is in the artifact preview-{stack}.)"
    return f"{marker(stack)}\n{plain}\n"


def gone(stack: str) -> str:
    """The comment on a stack that the pull request touched before."""
    return f"{marker(stack)}\nThis pull request no longer touches stack {stack}.\n"


def pull_request(candidates: Iterable[Mapping[str, Any]], sha: str, repository: str) -> int | None:
    """The number of the open pull request whose newest commit was previewed."""
    for one in candidates:
        # The repository of a head may have been deleted since.
        where = one["head"]["repo"] or {}
        if one["head"]["sha"] == sha and where.get("full_name") == repository:
            return int(one["number"])
    return None


def ours(comments: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Ids of our own comments by stack; the oldest, should there be two."""
    found: dict[str, int] = {}
    for one in comments:
        match = _OURS.match(one["body"] or "")
        if match is not None and (one["user"] or {}).get("login") == AUTHOR:
            found.setdefault(match[1], int(one["id"]))
    return found


def update(api: github.Caller, number: int, texts: Mapping[str, str], *, complete: bool) -> None:
    """Write a comment for each stack; where the run looked at all it had to, say of the others that they are left."""
    existing = ours(api.get(f"issues/{number}/comments", per_page="100"))
    wanted = {stack: body(stack, text) for stack, text in sorted(texts.items())}
    if complete:
        wanted |= {stack: gone(stack) for stack in existing if stack not in texts}
    for stack, text in wanted.items():
        if stack in existing:
            api.send("PATCH", f"issues/comments/{existing[stack]}", {"body": text})
        else:
            api.send("POST", f"issues/{number}/comments", {"body": text})


def run(api: github.Caller, environment: Mapping[str, str]) -> int | None:
    """Find the pull request and comment on it; its number, None where it is closed or has moved on."""
    repository = environment["HEAD_REPOSITORY"]
    head = f"{repository.partition('/')[0]}:{environment['HEAD_BRANCH']}"
    candidates = api.get("pulls", state="open", head=head, per_page="100")
    number = pull_request(candidates, environment["HEAD_SHA"], repository)
    if number is not None:
        texts = github.files(api, int(environment["RUN_ID"]), "preview-", "comment.md")
        update(api, number, texts, complete=environment["RUN_CONCLUSION"] == "success")
    return number


def main() -> int:
    """Exit code 0, also where there is nothing to comment on."""
    number = run(github.Api(os.environ["GITHUB_REPOSITORY"]), os.environ)
    print(f"pull request {number}" if number else "no open pull request has this commit as its newest")
    return 0


if __name__ == "__main__":
    sys.exit(main())
