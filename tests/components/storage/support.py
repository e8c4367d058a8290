"""Recordings of the Storage component, on a sample network and cluster."""

import json
from functools import cache
from typing import Any

import pulumi

from components.storage import Storage
from infra.facts import of_storage
from spec.settings import Platform
from tests.spec.settings.stack import loaded
from tests.support.mocks import Recording, providers, run
from tests.support.outputs import cluster_outputs, network_outputs


def platform(changes: dict[str, Any] | None = None) -> Platform:
    """The base stack of the settings tests, changed at dotted paths."""
    return loaded(changes or {}).platform


def record(changes: dict[str, Any] | None = None, *, preview: bool = False) -> Recording:
    """Storage of a stack; `returned` are its StorageClasses and the dependencies of its volumes."""
    return _record(json.dumps(changes or {}, sort_keys=True), preview)


@cache
def _record(changes: str, preview: bool) -> Recording:
    settings = platform(json.loads(changes))

    def build() -> dict[str, Any]:
        both = providers()
        args = of_storage(settings, cluster_outputs(both[0]), network_outputs())
        outputs = Storage("storage", args, pulumi.ResourceOptions(providers=both)).outputs
        return {"classes": dict(outputs.classes), "ready": [resource.urn for resource in outputs.ready]}

    return run(build, preview=preview)
