"""Parsing the CRDs of a chart, with a cache on disk.

Parsing the YAML of the CRDs of all add-ons of stack prod takes 10 s of CPU, in every new sandbox; reading them as JSON
without descriptions takes less than one (2 cores, 2026-11).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from slipway.files import write_atomically
from slipway.sandbox.kubernetes.crd_forms import without_descriptions
from slipway.sandbox.kubernetes.helm.text import documents
from slipway.sandbox.kubernetes.objects import Object, is_custom_resource_definition
from slipway.toolchain import cache

_FORM = "5"
"""Version of the cached forms; change it with `without_descriptions` and `unserved.left_out`."""


def crds(files: Sequence[Path]) -> tuple[Object, ...]:
    """The CRDs in YAML files, without descriptions. Raises SandboxError for invalid YAML."""
    if not files:
        return ()

    def parse() -> list[Object]:
        return [
            without_descriptions(obj)
            for file in files
            for obj in documents(file.read_text(encoding="utf-8"), str(file))
            if is_custom_resource_definition(obj)
        ]

    return tuple(remembered(_stamp(files), parse))


def remembered(key: str, parse: Callable[[], Any]) -> Any:
    """What `parse` returns for a key, as JSON; from the cache if it is there."""
    kept = cache.root() / "definitions" / f"{hashlib.sha256(f'{_FORM} {key}'.encode()).hexdigest()}.json"
    with suppress(OSError, ValueError):
        return json.loads(kept.read_text(encoding="utf-8"))
    parsed = parse()
    # If it can't be cached (no disk space, no permission), it is parsed again next time.
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps(parsed))
    return parsed


def _stamp(files: Sequence[Path]) -> str:
    """A text that changes if any of the files changes."""
    states = [(file, file.stat()) for file in files]
    return "\n".join(f"{file.absolute()} {state.st_mtime_ns} {state.st_size}" for file, state in states)
