"""Posts the results of a preview on its pull request: one comment, updated in place.

comment.yml runs this with permissions that the preview does not have, on untrusted text. So the text is only data: the
pull request is found through the API and not in the artifact, the first line is ours, links, images, HTML and mentions
are disabled, and none of the pull request's code is here.

    GITHUB_REPOSITORY=owner/name RUN_ID=1 RUN_CONCLUSION=success HEAD_SHA=... HEAD_BRANCH=... HEAD_REPOSITORY=owner/name
    python3 -m tools.ci.comment
"""

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
MOST: Final = 8
"""Stacks in a comment: the author of a pull request may upload any number of artifacts."""
MARKER: Final = "<!-- slipway-report -->"
"""The first line of the comment, which identifies it."""
_MARKERS: Final = re.compile(r"\A<!-- slipway-report:[a-z][a-z0-9-]{0,40} -->\n?")
_HIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of text."""
_ZERO_WIDTH: Final = "\u200b"
_ACTIVE: Final = (
    re.compile(r"@"),
    # References to issues, also in other repositories.
    re.compile(r"#(?=\d)|\bGH-(?=\d)", re.IGNORECASE),
    # Tags, comments and automatic links; the report ends with small print.
    re.compile(r"<(?!/?sub>)(?=[A-Za-z/!?])"),
    # Links, images and definitions of links.
    re.compile(r"\](?=[(\[:])"),
    re.compile(r"\bwww(?=\.)|:(?=[\\/])", re.IGNORECASE),
    # Entities, which may spell any of the above.
    re.compile(r"&(?!(?:amp|lt|gt);)(?=[#A-Za-z])"),
)
"""What GitHub renders as more than text; a zero-width space behind it is invisible, in code as well."""


def harmless(text: str) -> str:
    """A text of which GitHub renders headings, lists, tables, emphasis and code alone."""
    plain = _HIDDEN.sub("", _MARKERS.sub("", text))
    for pattern in _ACTIVE:
        plain = pattern.sub(lambda match: f"{match[0]}{_ZERO_WIDTH}", plain)
    return plain.strip()


def section(stack: str, text: str, longest: int = LONGEST) -> str:
    """The part of a comment on a stack, of a bounded length."""
    plain = harmless(text)
    if len(plain) > longest:
        plain = plain[:longest].rstrip()
        note = f"(Truncated; the full text is in the artifact preview-{stack}.)"
        return f"{_closed(plain)}\n\n{note}"
    return _closed(plain)


def _closed(text: str) -> str:
    """The text with its code blocks closed, so that the next part is none of them."""
    for fence in ("~~~~~", "```"):
        if len(re.findall(f"^{fence}", text, re.MULTILINE)) % 2:
            text = f"{text}\n{fence}"
    return text


def body(texts: Mapping[str, str]) -> str:
    """The comment from the untrusted text of each stack."""
    if not texts:
        return f"{MARKER}\nThis pull request affects no stack.\n"
    shown = dict(sorted(texts.items())[:MOST])
    parts = [section(stack, text, LONGEST // len(shown)) for stack, text in shown.items()]
    if len(texts) > MOST:
        parts.append(f"({len(texts) - MOST} more in the artifacts of the preview.)")
    return "\n\n".join([f"{MARKER}\n{parts[0]}", *parts[1:]]) + "\n"


def pull_request(candidates: Iterable[Mapping[str, Any]], sha: str, repository: str) -> int | None:
    """The number of the open pull request whose newest commit was previewed."""
    for one in candidates:
        # The head's repository may have been deleted since.
        where = one["head"]["repo"] or {}
        if one["head"]["sha"] == sha and where.get("full_name") == repository:
            return int(one["number"])
    return None


def ours(comments: Iterable[Mapping[str, Any]]) -> int | None:
    """The id of our own comment, the oldest if there are several."""
    for one in comments:
        if (one["body"] or "").startswith(MARKER) and (one["user"] or {}).get("login") == AUTHOR:
            return int(one["id"])
    return None


def update(api: github.Caller, number: int, texts: Mapping[str, str], *, complete: bool) -> None:
    """Write the comment, if there is anything to say: an incomplete run without any text says nothing."""
    existing = ours(api.get(f"issues/{number}/comments", per_page="100"))
    if not texts and (existing is None or not complete):
        return
    if existing is not None:
        api.send("PATCH", f"issues/comments/{existing}", {"body": body(texts)})
    else:
        api.send("POST", f"issues/{number}/comments", {"body": body(texts)})


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
