"""Which values of a message are secret, and how the answer keeps them secret.

The engine can strip secrets for a provider and mark outputs of the same name as secret, but an output that repeats the
value under another name is then in clear text in the state: `tagsAll` repeats `tags` (seen, pulumi 3.258), and the
`data` of a Kubernetes Secret repeats `stringData` in base64. So our providers accept secrets, and every output at the
path of a secret input, or whose text contains the text of one, is marked as secret.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Mask: TypeAlias = "bool | dict[str, Mask]"

MIN_CONTAINED = 4
"""A secret text shorter than this counts only if a value equals it: "a" is contained in nearly everything."""

REDACTED = "[secret]"


@dataclass(frozen=True)
class Secrets:
    """The secrets of one message: `mask` by path, `texts` by value. Numbers and booleans are known by path only."""

    mask: Mask = False
    texts: frozenset[str] = field(default_factory=frozenset)

    def __or__(self, other: Secrets) -> Secrets:
        return Secrets(merge_masks(self.mask, other.mask), self.texts | other.texts)

    def taints(self, text: str) -> bool:
        """Whether the text repeats a secret."""
        return any(text == secret or (len(secret) >= MIN_CONTAINED and secret in text) for secret in self.texts)

    def redact(self, message: str) -> str:
        """The message without the secrets of at least MIN_CONTAINED characters: for errors that quote a value."""
        for secret in sorted(self.texts, key=len, reverse=True):
            if len(secret) >= MIN_CONTAINED:
                message = message.replace(secret, REDACTED)
        return message


NO_SECRETS = Secrets()


def merge_masks(left: Mask, right: Mask) -> Mask:
    """The paths that are secret in either mask."""
    if left is True or right is True:
        return True
    if not isinstance(left, dict):
        return right
    if not isinstance(right, dict):
        return left
    return {key: merge_masks(left.get(key, False), right.get(key, False)) for key in {**left, **right}}


def texts_of(value: Any) -> frozenset[str]:
    """Every text in a secret value, with the forms in which providers repeat it: JSON-escaped and base64."""
    if isinstance(value, dict):
        return frozenset().union(*(texts_of(item) for item in value.values()))
    if isinstance(value, list):
        return frozenset().union(*(texts_of(item) for item in value))
    if not isinstance(value, str) or not value:
        return frozenset()
    escaped = json.dumps(value)[1:-1]
    encoded = base64.b64encode(value.encode()).decode()
    return frozenset({value, escaped, encoded})
