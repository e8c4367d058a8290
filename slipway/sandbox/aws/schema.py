"""Schemas of all types of pulumi_aws, from the installed package: no copy of AWS's provider schema is kept.

What the Python SDK does not say, and so is not known here: which change forces a new object, defaults, value ranges.
They are read from the SDK once a machine (`sdk_annotations`), after that from files of our own (`schema_files`): the
types of `MAPPINGS` take 1.1 s and 74 MB the one way, 0.01 s and 1 MB the other (2026-11).
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
"""Held while a schema is read: SDK modules load lazily, and imports that race hand out half-made modules."""

PACKAGE = "pulumi_aws"


@dataclass(frozen=True)
class Schema:
    """The inputs and outputs of a type."""

    type: str
    inputs: Mapping[str, Field]
    outputs: Mapping[str, Field]

    def check(self, inputs: Mapping[str, Any]) -> list[Failure]:
        """All that is wrong with the inputs, each with its path. Unknown values are skipped."""
        return list(check_object(self.inputs, inputs, (), self.type))


@functools.cache
def tokens() -> Mapping[str, tuple[str, str]]:
    """Type token -> (module, class). Read from the package's source, which lists them without importing them."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        msg = f"{PACKAGE} is not installed in {sys.prefix}"
        raise ImportError(msg)
    listing = re.search(r'resource_modules="""\s*(\[.*?\])\s*"""', Path(spec.origin).read_text(), re.DOTALL)
    if listing is None:
        msg = f"{spec.origin} has no resource_modules: this version of {PACKAGE} is laid out otherwise than 7.51"
        raise ImportError(msg)
    modules = json.loads(listing.group(1))
    return {token: (module["fqn"], name) for module in modules for token, name in module["classes"].items()}


def schema(type_token: str) -> Schema | None:
    """The schema of a type, None if pulumi_aws has no such type. Safe to call from any thread."""
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
