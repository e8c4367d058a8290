"""Reading the YAML of charts like Kubernetes, and their CRDs from a cache."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from sandbox.errors import SandboxError
from sandbox.files import write_atomically
from sandbox.kubernetes.objects import Object, is_custom_resource_definition, without_descriptions
from sandbox.toolchain import cache
from spec import strict_yaml

# The C loader reads the 1.4 MB of Kueue's Workload CRD in 0.36 s, the Python one in 3.6 s (2 cores, 2026-11).
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """The safe loader, which leaves these two kinds of scalars as strings."""


for _tag in ("timestamp", "value"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", lambda loader, node: loader.construct_scalar(node))


def documents(text: str, where: str) -> Iterator[Object]:
    """The objects of a YAML text that have a kind. Raises SandboxError, with `where`, for invalid YAML."""
    for document in _load(text, where):
        if isinstance(document, dict) and document.get("kind"):
            yield document


def mapping(text: str, where: str) -> Object:
    """The map of a YAML text; empty if it is something else. Raises SandboxError, with `where`, for invalid YAML."""
    document = next(iter(_load(text, where)), None)
    return document if isinstance(document, dict) else {}


def _load(text: str, where: str) -> Iterator[Any]:
    try:
        yield from yaml.load_all(strict_yaml.bounded(text), Loader=_Loader)  # noqa: TID251 - a SafeLoader
    except yaml.YAMLError as error:
        msg = f"{where} is not valid YAML: {error}"
        raise SandboxError(msg) from error


# Parsing the CRDs of a chart, with a cache on disk.
#
# Parsing the YAML of the CRDs of all add-ons of stack prod takes 10 s of CPU, in every new sandbox; reading them as
# JSON without descriptions takes less than one (2 cores, 2026-11).

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
