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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tools.ci import github

AUTHOR: Final = "github-actions[bot]"
"""The author of GITHUB_TOKEN's comments; comments of other authors are never changed."""
LONGEST: Final = 60_000  # characters; GitHub accepts 65,536
MOST: Final = 8  # stacks in a comment: the author of a pull request may upload any number of artifacts
MARKER: Final = "<!-- slipway-report -->"  # the first line of the comment, which identifies it
_MARKERS: Final = re.compile(r"\A<!-- slipway-report:[a-z][a-z0-9-]{0,40} -->\n?")
_HIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of text."""
_ZERO_WIDTH: Final = "\u200b"
_ACTIVE: Final = (
    re.compile(r"@"),
    # References to issues, also in other repositories.
    re.compile(r"#(?=\d)|\bGH-(?=\d)", re.IGNORECASE),
    # Tags, comments and automatic links; the report folds what follows from a change, and ends with small print.
    re.compile(r"<(?!/?(?:sub|summary|details)>)(?=[A-Za-z/!?])"),
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


_FENCE: Final = re.compile(r" {0,3}(?P<fence>(?P<of>[`~])(?P=of){2,})(?P<rest>.*)")
"""A line that may open or close a block of code (spec.commonmark.org 0.31.2, "Fenced code blocks")."""


def _closed(text: str) -> str:
    """The text with its code block and folds closed, if they are open at its end, so that the next part is in none."""
    opened, folds = "", 0
    for line in text.splitlines():
        folds += 0 if opened else line.startswith("<details>") - (line == "</details>")
        found = _FENCE.match(line)
        if found and not opened and not (found["of"] == "`" and "`" in found["rest"]):
            opened = found["fence"]
        elif found and opened and found["fence"].startswith(opened) and not found["rest"].strip():
            opened = ""
    return text + f"\n{opened}" * bool(opened) + "\n\n</details>" * max(folds, 0)


UNNAMED: Final = re.compile(
    r"(?:[^/]+/)*[^/]+\.md|(?:docs|examples|tests)/.*|stacks/Pulumi\.[^/]+\.yaml|policies/(?:levels/.*|suppressions\.yaml)"
)
"""Files that neither judge a change nor run in a deployment; a test compares them with policies/review.py."""
SHOWN: Final = 50  # files that are listed; the rest is a number
MOST_FILES: Final = 3000
"""Files that the API lists of a pull request (docs.github.com, REST, "List pull requests files", 2026-11-29)."""


def judging(files: Sequence[Mapping[str, Any]]) -> str:
    """What the API says of the changed files: which judge a change, or run where it is deployed. The preview ran them,
    so what it says of itself is no proof."""
    paths = {str(one[key]) for one in files for key in ("filename", "previous_filename") if one.get(key)}
    names = sorted(one for one in paths if not UNNAMED.fullmatch(one))
    if len(files) >= MOST_FILES:
        return f"**{MOST_FILES} files or more are changed, and GitHub lists no more of them: review all.**"
    if not names:
        return ""
    lines = (" ".join(harmless(one).replace("`", "'").split())[:200] for one in names[:SHOWN])
    shown = [f"- `{one}`" for one in lines]
    more = [f"- {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    head = "**Changed files judge changes or run in a deployment**, so what follows is what they say of themselves:"
    return "\n".join([head, "", *shown, *more])


def body(texts: Mapping[str, str], trusted: str = "") -> str:
    """The comment: what trusted code and the API say, then the untrusted text of each stack."""
    head = f"{MARKER}\n{trusted}\n\n" if trusted else f"{MARKER}\n"
    if not texts:
        return f"{head}This pull request affects no stack.\n"
    shown = dict(sorted(texts.items())[:MOST])
    parts = [section(stack, text, (LONGEST - len(head)) // len(shown)) for stack, text in shown.items()]
    if len(texts) > MOST:
        parts.append(f"({len(texts) - MOST} more in the artifacts of the preview.)")
    return head + "\n\n".join(parts) + "\n"


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


def update(api: github.Caller, number: int, texts: Mapping[str, str], trusted: str, *, complete: bool) -> None:
    """Write the comment, if there is anything to say: an incomplete run without any text says nothing itself."""
    existing = ours(api.get(f"issues/{number}/comments", per_page="100"))
    if not (texts or trusted) and (existing is None or not complete):
        return
    text = body(texts, trusted) if texts or complete else f"{MARKER}\n{trusted}\n\nThe preview has no result.\n"
    if existing is not None:
        api.send("PATCH", f"issues/comments/{existing}", {"body": text})
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
        judged = github.files(api, int(environment["JUDGE_RUN_ID"]), "judged-", "judged.md")
        parts = [judging(api.get(f"pulls/{number}/files", per_page="100"))]
        parts += [section(artifact, text, LONGEST // 4) for artifact, text in judged.items()]
        update(
            api, number, texts, "\n\n".join(filter(None, parts)), complete=environment["RUN_CONCLUSION"] == "success"
        )
    return number


def main() -> int:
    """Exit code 0, also if there is no pull request to comment on."""
    number = run(github.Api(os.environ["GITHUB_REPOSITORY"]), os.environ)
    print(f"pull request {number}" if number else "this commit is not the newest of an open pull request")
    return 0


if __name__ == "__main__":
    sys.exit(main())
