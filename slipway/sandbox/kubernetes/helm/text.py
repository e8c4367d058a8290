"""Reading YAML like Kubernetes.

PyYAML converts texts that look like dates, and fails on a single `=`, which occurs in the CRDs of Prometheus. For
Kubernetes (sigs.k8s.io/yaml), which converts YAML to JSON, both are strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes.objects import Object

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
        yield from yaml.load_all(text, Loader=_Loader)
    except yaml.YAMLError as error:
        msg = f"{where} is not valid YAML: {error}"
        raise SandboxError(msg) from error
