"""What a stack was last brought up with: the settings that the engine remembers of every update.

The source is `pulumi stack history --json`, which every backend keeps (pulumi v3.258.0, pkg/cmd/pulumi/stack/
stack_history.go). A state has resources and no settings; its history has the settings that made them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.engine.stackfiles import PROJECT
from spec.errors import SlipwayError

ARGUMENTS: Final = ("stack", "history", "--json", "--page-size", "50")
"""What the CLI is asked; the newest updates come first."""
_KEY: Final = f"{PROJECT}:platform"


@dataclass(frozen=True)
class Remembered:
    """Settings of an update.

    Attributes:
        settings: The value of `slipway:platform`.
        settled: Whether the newest update ended well. Otherwise what stands is between these settings and others.
    """

    settings: object
    settled: bool


def settings(document: str) -> Remembered | None:
    """The settings of the last update that ended well, or of the last that was tried where none ever did; None where
    nothing was brought up, or everything was destroyed since.

    Raises:
        SlipwayError: The document is not one of `pulumi stack history --json`.
    """
    tried: object | None = None
    settled = True
    try:
        updates: Iterable[Mapping[str, Any]] = json.loads(document) or ()
        for update in updates:
            well = update["result"] == "succeeded"
            if update["kind"] == "destroy" and well:
                break
            if update["kind"] != "update" or _KEY not in update["config"]:
                continue
            value = update["config"][_KEY]["value"]
            found: object = json.loads(value) if isinstance(value, str) else value
            if well:
                return Remembered(found, settled)
            tried, settled = (found if tried is None else tried), False
    except (ValueError, KeyError, TypeError) as error:
        msg = f"`pulumi stack history` gave something that is not a history ({type(error).__name__}: {error})"
        raise SlipwayError(msg) from error
    return None if tried is None else Remembered(tried, settled)
