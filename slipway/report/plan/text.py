"""Formats property values of a plan for readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from slipway.sandbox.rpc.paths import Path
from slipway.sandbox.rpc.secrets import REDACTED
from slipway.sandbox.rpc.wire import UNKNOWN

LONGEST: Final = 160
LATER: Final = "known after the update"
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""Key of a special value, such as a secret, in the engine's JSON (sdk/go/common/resource/sig/sig.go)."""
_MISSING: Final = object()


def at(values: Mapping[str, Any], path: Path) -> Any:
    """The value at a path; a sentinel that `shown` formats as empty if there is none."""
    value: Any = values
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return value


def shown(value: Any) -> str:
    """A value as short text: JSON, strings without quotes, truncated if it is long; empty if missing.

    Secrets are masked at any depth.
    """
    if value is _MISSING:
        return ""
    plain = _plain(value)
    text = plain if isinstance(plain, str) else json.dumps(plain, sort_keys=True, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(value: Any) -> Any:
    if value == UNKNOWN:
        return LATER
    if isinstance(value, Mapping):
        return REDACTED if _SIGNATURE in value else {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
