"""The CRDs of a chart, kept as JSON once they were parsed.

The YAML of the CRDs of all add-ons of stack prod takes 10 s of CPU to parse, and every fresh sandbox would do so anew;
as JSON without descriptions they are read in less than one (2 cores, 2026-11).
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
"""Changes with what is kept of a CRD."""


def definitions(files: Sequence[Path]) -> tuple[Object, ...]:
    """The CRDs in YAML files, without descriptions. Raises SandboxError for what is no YAML."""
    if not files:
        return ()
    kept = cache.root() / "definitions" / f"{_stamp(files)}.json"
    with suppress(OSError, ValueError):
        return tuple(json.loads(kept.read_text(encoding="utf-8")))
    found = tuple(
        without_descriptions(obj)
        for file in files
        for obj in documents(file.read_text(encoding="utf-8"), str(file))
        if is_custom_resource_definition(obj)
    )
    # Without room or rights for it, they are parsed again next time.
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps(found))
    return found


def _stamp(files: Sequence[Path]) -> str:
    """Changes when any of the files does."""
    states = [(file, file.stat()) for file in files]
    text = "\n".join([_FORM, *(f"{file.absolute()} {state.st_mtime_ns} {state.st_size}" for file, state in states)])
    return hashlib.sha256(text.encode()).hexdigest()
