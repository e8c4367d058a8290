"""Schemas of all types of pulumi_aws, from the installed package: the repository has no copy of the provider's schema.

The Python SDK does not contain, so these are unknown here: changes that force a replacement, defaults, value ranges.
Schemas are read from the SDK once per machine (`sdk_annotations`), afterwards from our own files (`schema_files`): the
types of `MAPPINGS` take 1.1 s and 74 MB from the SDK, 0.01 s and 1 MB from the files (2026-11).
"""

from __future__ import annotations

import functools
import importlib.util
import json
import re
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.sandbox.aws import schema_files, sdk_annotations
from slipway.sandbox.aws.checking import check_object
from slipway.sandbox.aws.kinds import INPUTS, OUTPUTS, Field
from slipway.sandbox.rpc.hooks import Failure

LOCK = threading.RLock()
"""Held while a schema is read: SDK modules load lazily, and concurrent imports may see incomplete modules."""

PACKAGE = "pulumi_aws"


@dataclass(frozen=True)
class Schema:
    """The inputs and outputs of a type."""

    type: str
    inputs: Mapping[str, Field]
    outputs: Mapping[str, Field]

    def check(self, inputs: Mapping[str, Any]) -> list[Failure]:
        """All problems with the inputs, each with its path. Unknown values are skipped."""
        return list(check_object(self.inputs, inputs, (), self.type))


@functools.cache
def tokens() -> Mapping[str, tuple[str, str]]:
    """Type token -> (module, class). Read from the package's source, which lists all without importing them."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        msg = f"{PACKAGE} is not installed in {sys.prefix}"
        raise ImportError(msg)
    listing = re.search(r'resource_modules="""\s*(\[.*?\])\s*"""', Path(spec.origin).read_text(), re.DOTALL)
    if listing is None:
        msg = f"{spec.origin} has no resource_modules: this version of {PACKAGE} has another layout than 7.51"
        raise ImportError(msg)
    modules = json.loads(listing.group(1))
    return {token: (module["fqn"], name) for module in modules for token, name in module["classes"].items()}


def schema(type_token: str) -> Schema | None:
    """The schema of a type; None if pulumi_aws has no such type. Thread-safe."""
    with LOCK:
        return _schema(type_token)


@functools.cache
def _schema(type_token: str) -> Schema | None:
    if type_token not in tokens():
        return None
    objects = schema_files.load(type_token)
    if objects is None:
        objects = sdk_annotations.read(*tokens()[type_token])
        schema_files.save(type_token, objects)
    return Schema(type_token, objects[INPUTS], objects[OUTPUTS])
