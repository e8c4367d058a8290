"""What a stack was last brought up with: the settings that the engine remembers of every update.

The source is `pulumi stack history --json`, which every backend keeps (pulumi v3.258.0, pkg/cmd/pulumi/stack/
stack_history.go). A state has resources and no settings; its history has the settings that made them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from slipway.engine.errors import SlipwayError
from slipway.engine.stackfiles import PROJECT

ARGUMENTS: Final = ("stack", "history", "--json", "--page-size", "50")
"""What the CLI is asked; the newest updates come first."""
_KEY: Final = f"{PROJECT}:platform"


def settings(document: str) -> object | None:
    """The settings of the last update that went well; None where nothing stands, or everything was destroyed since.

    Raises:
        SlipwayError: The document is not one of `pulumi stack history --json`.
    """
    try:
        updates: Iterable[Mapping[str, Any]] = json.loads(document) or ()
        for update in updates:
            if update["result"] == "succeeded" and update["kind"] == "destroy":
                return None
            if update["result"] == "succeeded" and update["kind"] == "update" and _KEY in update["config"]:
                value = update["config"][_KEY]["value"]
                found: object = json.loads(value) if isinstance(value, str) else value
                return found
    except (ValueError, KeyError, TypeError) as error:
        msg = f"`pulumi stack history` gave something that is not a history ({type(error).__name__}: {error})"
        raise SlipwayError(msg) from error
    return None
