"""Keeps one issue for each stack that has drifted: opened, brought up to date, and closed when nothing is left of it.

Run by drift.yml after every stack was looked at, on the files that drift.sh wrote.

    GITHUB_REPOSITORY=owner/name RUN_ID=1 python3 -m tools.ci.drift
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from tools.ci import github
from tools.ci.comment import AUTHOR, LONGEST

LABEL: Final = "drift"
_WHAT_TO_DO: Final = """

Either the change is wanted: put it into the program or the stack file, and deploy. Or it is not: deploy, and the
program takes it back. `slipway refresh` alone takes it into the state, where the next preview shows it.
"""


def title(stack: str) -> str:
    """The title of a stack's issue, by which it is found again."""
    return f"Drift: stack {stack}"


def settle(api: github.Caller, stack: str, text: str | None, existing: Mapping[str, Any] | None, run: str) -> None:
    """Make the issue of a stack say what was found; None is no drift."""
    if text is None:
        if existing is not None:
            api.send("POST", f"issues/{existing['number']}/comments", {"body": f"No drift any more: {run}"})
            api.send("PATCH", f"issues/{existing['number']}", {"state": "closed"})
        return
    body = f"{text[:LONGEST]}{_WHAT_TO_DO}\nSeen by {run}\n"
    if existing is None:
        api.send("POST", "issues", {"title": title(stack), "body": body, "labels": [LABEL]})
    else:
        api.send("PATCH", f"issues/{existing['number']}", {"body": body})


def run(api: github.Caller, environment: Mapping[str, str]) -> list[str]:
    """Settle the issue of every stack that was looked at; names of those that have drifted."""
    # An artifact is there for each stack that could be looked at: of the others nothing is known, and nothing is said.
    number = int(environment["RUN_ID"])
    looked = github.files(api, number, "drift-", "verdict")
    texts = github.files(api, number, "drift-", "drift.md")
    issues = api.get("issues", state="open", labels=LABEL, per_page="100")
    existing = {
        one["title"]: one for one in issues if "pull_request" not in one and (one["user"] or {}).get("login") == AUTHOR
    }
    link = f"https://github.com/{environment['GITHUB_REPOSITORY']}/actions/runs/{number}"
    for stack in looked:
        settle(api, stack, texts.get(stack), existing.get(title(stack)), link)
    return sorted(texts)


def main() -> int:
    """Exit code 0: drift is told by the issue."""
    drifted = run(github.Api(os.environ["GITHUB_REPOSITORY"]), os.environ)
    print(f"drifted: {', '.join(drifted) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
