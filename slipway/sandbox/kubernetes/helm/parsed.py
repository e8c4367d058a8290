"""Parsing the CRDs of a chart, with a cache on disk.

Parsing the YAML of the CRDs of all add-ons of stack prod takes 10 s of CPU, in every new sandbox; reading them as JSON
without descriptions takes less than one (2 cores, 2026-11).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from slipway.files import write_atomically
from slipway.sandbox.kubernetes.crds import without_descriptions
from slipway.sandbox.kubernetes.helm.text import documents
from slipway.sandbox.kubernetes.objects import Object, is_custom_resource_definition
from slipway.toolchain import cache

_FORM = "1"
"""Version of the cached form; change it with `without_descriptions`."""


def crds(files: Sequence[Path]) -> tuple[Object, ...]:
    """The CRDs in YAML files, without descriptions. Raises SandboxError for invalid YAML."""
    if not files:
        return ()
    kept = cache.root() / "definitions" / f"{_stamp(files)}.json"
    with suppress(OSError, ValueError):
        return tuple(json.loads(kept.read_text(encoding="utf-8")))
    parsed = tuple(
        without_descriptions(obj)
        for file in files
        for obj in documents(file.read_text(encoding="utf-8"), str(file))
        if is_custom_resource_definition(obj)
    )
    # If they can't be cached (no disk space, no permission), they are parsed again next time.
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps(parsed))
    return parsed


def _stamp(files: Sequence[Path]) -> str:
    """A digest that changes if any of the files changes."""
    states = [(file, file.stat()) for file in files]
    text = "\n".join([_FORM, *(f"{file.absolute()} {state.st_mtime_ns} {state.st_size}" for file, state in states)])
    return hashlib.sha256(text.encode()).hexdigest()
