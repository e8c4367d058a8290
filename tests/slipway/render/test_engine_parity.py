"""The recorder and the real engine agree on a program: the same resources with the same options."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.rpc.provider import serve
from slipway.render.recorder import record
from slipway.render.recording import RecordedResource
from tests.sandbox.rpc.engine import Engine
from tests.sandbox.rpc.toy import ToyProvider
from tests.slipway.render.programs import everything

pytestmark = pytest.mark.sandbox

PROJECT = "slipway-test"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    served = serve(ToyProvider())
    try:
        yield Engine(tmp_path, {"toy": served.port})
    finally:
        served.stop()


def provider_urn(reference: str) -> str | None:
    return reference.rpartition("::")[0] or None


def of_state(item: dict[str, Any]) -> dict[str, Any]:
    by_property = {key: sorted(urns) for key, urns in item.get("propertyDependencies", {}).items() if urns}
    return {
        "urn": item["urn"],
        "type": item["type"],
        "parent": item.get("parent"),
        "protect": item.get("protect", False),
        "retainOnDelete": item.get("retainOnDelete", False),
        "deletedWith": item.get("deletedWith"),
        "provider": provider_urn(item.get("provider", "")) if item["custom"] else None,
        "ignoreChanges": sorted(item.get("ignoreChanges", [])),
        "dependencies": sorted(item.get("dependencies", [])),
        "propertyDependencies": by_property,
    }


def of_recording(resource: RecordedResource) -> dict[str, Any]:
    options = resource.options
    return {
        "urn": resource.urn,
        "type": resource.type,
        "parent": resource.parent,
        "protect": options.protect,
        "retainOnDelete": options.retain_on_delete,
        "deletedWith": options.deleted_with,
        "provider": options.provider,
        "ignoreChanges": list(options.ignore_changes),
        "dependencies": list(options.dependencies),
        "propertyDependencies": {key: list(urns) for key, urns in options.property_dependencies.items()},
    }


def test_a_recording_matches_the_engines_state(engine: Engine) -> None:
    stack = engine.stack(everything, "dev")
    stack.up()
    stored = (stack.export_stack().deployment or {})["resources"]
    recording = record(everything, project=PROJECT, stack="dev")
    assert {item["urn"]: of_state(item) for item in stored} == {one.urn: of_recording(one) for one in recording}
