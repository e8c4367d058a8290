"""The file in which a folder backend keeps a stack's state: whether it is whole, and what is left of a cut one.

The CLI writes it as `{"version": 3, "checkpoint": {"stack": ..., "latest": {...}}}`, `latest` being what `pulumi stack
export` prints as `deployment` (pulumi v3.258.0, sdk/go/common/apitype/core.go, VersionedCheckpoint).
"""

import gzip
import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from slipway.engine.pending import CREATING

GZIP: Final = ".gz"
_MAGIC: Final = b"\x1f\x8b"
_RESOURCES: Final = '"resources":['


class CutError(ValueError):
    """A file that is not a whole state. The text says what is wrong with it."""


@dataclass(frozen=True)
class Checkpoint:
    """A whole state.

    Attributes:
        path: Its file.
        content: The file's bytes.
        document: The same as JSON.
    """

    path: Path
    content: bytes
    document: dict[str, Any]

    @property
    def latest(self) -> dict[str, Any]:
        """The deployment; empty for a stack that was never updated."""
        latest: dict[str, Any] = self.document["checkpoint"].get("latest") or {}
        return latest

    @property
    def time(self) -> str:
        """When the engine made it, by its own clock (RFC 3339); empty for a stack that was never updated."""
        return str((self.latest.get("manifest") or {}).get("time") or "")

    @property
    def moment(self) -> float:
        """The same in seconds since the epoch; 0 for a stack that was never updated."""
        return datetime.fromisoformat(self.time).timestamp() if self.time else 0.0

    @property
    def holds(self) -> str:
        """What it holds, in a few words."""
        pending = len(self.latest.get("pending_operations") or ())
        text = f"{len(self.latest.get('resources') or ())} resources"
        return f"{text} and {pending} open operations" if pending else text


def read(path: Path) -> Checkpoint:
    """The state in a file.

    Raises:
        CutError: It is not a whole state.
        OSError: It can't be read.
    """
    content = path.read_bytes()
    if not content:
        msg = "it is empty"
        raise CutError(msg)
    try:
        document = json.loads(gzip.decompress(content) if content.startswith(_MAGIC) else content)
    except (ValueError, EOFError, OSError, zlib.error) as error:
        msg = f"it is cut or damaged after {len(content)} bytes ({error})"
        raise CutError(msg) from error
    if not _is_state(document):
        msg = "it is JSON, but not a stack's state"
        raise CutError(msg)
    return Checkpoint(path, content, document)


@dataclass(frozen=True)
class Rest:
    """What is left of a cut state.

    Attributes:
        latest: The deployment up to its resources, without them; empty if the cut is before.
        resources: Those that are whole, in the state's order.
    """

    latest: dict[str, Any]
    resources: tuple[dict[str, Any], ...] = ()


def rest(path: Path) -> Rest:
    """What is left of a cut state; nothing if it is damaged in another way."""
    try:
        content = path.read_bytes()
        # A decompressor gives as much of a cut stream as there is.
        content = zlib.decompressobj(wbits=31).decompress(content) if content.startswith(_MAGIC) else content
        text = content.decode(errors="replace")
        at = text.index(_RESOURCES) + len(_RESOURCES)
        latest: dict[str, Any] = json.loads(text[:at] + "]}}}")["checkpoint"]["latest"]
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return Rest({})
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder()
    while text[at : at + 1] == "{":
        try:
            resource, at = decoder.raw_decode(text, at)
        except ValueError:
            break
        found.append(resource)
        at += 1  # the comma, or the end of the list
    return Rest(latest, tuple(found))


def reopened(base: Checkpoint, left: Rest) -> tuple[str, int]:
    """An older state in which resources that only a cut newer one has are operations that were left open, and their
    number: `slipway state repair` then adopts them with their ids, as it does after a killed run."""
    document: dict[str, Any] = json.loads(json.dumps(base.document))
    checkpoint = document["checkpoint"]
    if not checkpoint.get("latest") and left.latest:
        checkpoint["latest"] = dict(left.latest)
    latest = checkpoint.get("latest") or {}
    known = {(resource["urn"], resource.get("id")) for resource in latest.get("resources") or ()}
    found = [one for one in left.resources if _finished(one) and (one["urn"], one.get("id")) not in known]
    if found:
        urns = {one["urn"] for one in found}
        pending = [one for one in latest.get("pending_operations") or () if one["resource"]["urn"] not in urns]
        latest["pending_operations"] = [*pending, *({"resource": one, "type": CREATING} for one in found)]
    return json.dumps(document), len(found)


def _is_state(document: Any) -> bool:
    checkpoint = document.get("checkpoint") if isinstance(document, dict) else None
    if not isinstance(checkpoint, dict) or "version" not in document:
        return False
    latest = checkpoint.get("latest")
    if not isinstance(latest, dict):
        return latest is None
    resources = latest.get("resources") or []
    return isinstance(resources, list) and all(isinstance(one, dict) and "urn" in one for one in resources)


def _finished(resource: dict[str, Any]) -> bool:
    """Whether it exists, and is known: a component, or a resource with an id that no later one replaces."""
    known = not resource.get("custom") or bool(resource.get("id"))
    return known and "urn" in resource and "type" in resource and not resource.get("delete")
