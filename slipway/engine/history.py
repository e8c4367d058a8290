"""The settings of a stack's last update, from the history that the engine keeps.

The source is `pulumi stack history --json`, which every backend supports (pulumi v3.258.0, pkg/cmd/pulumi/stack/
stack_history.go). The state has resources without settings; the history has the settings of each update.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.engine.stackfiles import PROJECT
from spec.errors import SlipwayError

ARGUMENTS: Final = ("stack", "history", "--json", "--page-size", "50")
"""Arguments of the CLI; it prints the newest updates first."""
_KEY: Final = f"{PROJECT}:platform"


@dataclass(frozen=True)
class Remembered:
    """Settings of an update.

    Attributes:
        settings: The value of `slipway:platform`.
        settled: Whether the newest update succeeded. Otherwise the live resources are between these settings and newer
            ones.
    """

    settings: object
    settled: bool


def settings(document: str, *, skip: int = 0) -> Remembered | None:
    """The settings of the last successful update, or of the last attempt if none succeeded; None if the stack was never
    updated, or was destroyed since.

    Args:
        document: Output of `pulumi stack history --json`, newest first.
        skip: Newest updates to leave out: 1 gives what an update that just ran found deployed.

    Raises:
        SlipwayError: The document is not output of `pulumi stack history --json`.
    """
    tried: object | None = None
    settled = True
    try:
        updates: Iterable[Mapping[str, Any]] = json.loads(document) or ()
        for update in list(updates)[skip:]:
            succeeded = update["result"] == "succeeded"
            if update["kind"] == "destroy" and succeeded:
                break
            if update["kind"] != "update" or _KEY not in update["config"]:
                continue
            value = update["config"][_KEY]["value"]
            platform: object = json.loads(value) if isinstance(value, str) else value
            if succeeded:
                return Remembered(platform, settled)
            tried, settled = (platform if tried is None else tried), False
    except (ValueError, KeyError, TypeError) as error:
        msg = f"the output of `pulumi stack history` is not a history ({type(error).__name__}: {error})"
        raise SlipwayError(msg) from error
    return None if tried is None else Remembered(tried, settled)
