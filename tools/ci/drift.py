"""Maintains one issue for each stack that has drifted: opens it, updates it, and closes it when the drift is gone.

drift.yml runs this after it has checked all stacks, on the files that drift.sh wrote.

    GITHUB_REPOSITORY=owner/name RUN_ID=1 python3 -m tools.ci.drift
"""

import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from tools.ci import github
from tools.ci.comment import AUTHOR, LONGEST

LABEL: Final = "drift"
_WHAT_TO_DO: Final = """

If the change is wanted, add it to the program or the stack file, and deploy. If it is not, deploy, which reverts it.
`slipway refresh` alone only updates the state; the next preview then shows the difference.
"""


def title(stack: str) -> str:
    """The title of a stack's issue, which identifies it."""
    return f"Drift: stack {stack}"


def settle(api: github.Caller, stack: str, text: str | None, existing: Mapping[str, Any] | None, run: str) -> None:
    """Open, update or close the issue of a stack; `text` None means no drift."""
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
    """Settle the issue of every checked stack; returns the names of those that have drifted."""
    # Only stacks that could be checked have an artifact; the issues of the others stay as they are.
    number = int(environment["RUN_ID"])
    checked = github.files(api, number, "drift-", "verdict")
    texts = github.files(api, number, "drift-", "drift.md")
    issues = api.get("issues", state="open", labels=LABEL, per_page="100")
    existing = {
        one["title"]: one for one in issues if "pull_request" not in one and (one["user"] or {}).get("login") == AUTHOR
    }
    link = f"https://github.com/{environment['GITHUB_REPOSITORY']}/actions/runs/{number}"
    for stack in checked:
        settle(api, stack, texts.get(stack), existing.get(title(stack)), link)
    return sorted(texts)


def main() -> int:
    """Exit code 0, also with drift, which the issue reports."""
    drifted = run(github.Api(os.environ["GITHUB_REPOSITORY"]), os.environ)
    print(f"drifted: {', '.join(drifted) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
