"""YAML as Kubernetes reads it.

PyYAML makes dates of what looks like one, and has no value for a lone `=`, which stands in the CRDs of Prometheus. To
Kubernetes (sigs.k8s.io/yaml) both are text: whatever it reads must have a form in JSON.
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
    """The safe loader with the two kinds of scalars left as text."""


for _tag in ("timestamp", "value"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", lambda loader, node: loader.construct_scalar(node))


def documents(text: str, where: str) -> Iterator[Object]:
    """The objects of a YAML text, each with a kind. Raises SandboxError, naming the place, when it is none."""
    for document in _load(text, where):
        if isinstance(document, dict) and document.get("kind"):
            yield document


def mapping(text: str, where: str) -> Object:
    """The map of a YAML text; empty where it holds something else. Raises SandboxError when it is no YAML."""
    found = next(iter(_load(text, where)), None)
    return found if isinstance(found, dict) else {}


def _load(text: str, where: str) -> Iterator[Any]:
    try:
        yield from yaml.load_all(text, Loader=_Loader)
    except yaml.YAMLError as error:
        msg = f"{where} is no YAML: {error}"
        raise SandboxError(msg) from error
