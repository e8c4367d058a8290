"""Resource requests of controllers compared with the system pools."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.addons.demand import NOTHING, Demand, of_values
from slipway.render.program import record_platform
from spec.pools import keys
from spec.settings import load, read_stack
from tests.support.stacks import FOLDER, NAMES, recorded

SYSTEM = {"nodeSelector": {keys.ROLE: "system"}}
REQUESTS = {"resources": {"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}}


def test_requests_on_system_nodes_are_multiplied_by_replicas() -> None:
    assert of_values({**SYSTEM, "replicas": 2, **REQUESTS}) == Demand(cpu_millis=500, memory_mib=2048, largest_mib=1024)


def test_a_part_inherits_selector_and_replicas_of_the_enclosing_part() -> None:
    nested = {"controller": {**SYSTEM, "replicaCount": 3, "manager": REQUESTS, "sidecars": [REQUESTS]}}
    assert of_values(nested) == Demand(cpu_millis=1500, memory_mib=6144, largest_mib=1024)


@pytest.mark.parametrize(
    "values",
    [
        REQUESTS,
        {"nodeSelector": {keys.GPU: "true"}, **REQUESTS},
        {**SYSTEM, "worker": {"nodeSelector": {keys.GPU: "true"}, **REQUESTS}},
        {**SYSTEM, "volume": {"resources": {"requests": {"storage": "100Gi"}}}},
    ],
    ids=["anywhere", "elsewhere", "elsewhere below", "a volume"],
)
def test_requests_on_other_nodes_do_not_count(values: dict[str, object]) -> None:
    assert of_values(values) == NOTHING


def warnings_of(text: str, stack: str, folder: Path) -> list[str]:
    (folder / f"Pulumi.{stack}.yaml").write_text(text)
    platform = load(read_stack(stack, folder), stack=stack).platform
    return [message for level, message in record_platform(platform, stack=stack).messages if level == "warning"]


@pytest.mark.parametrize("stack", NAMES)
def test_the_system_pools_of_every_stack_are_large_enough(stack: str) -> None:
    assert [text for _, text in recorded(stack).messages if text.startswith("pools.")] == []


def test_too_small_system_pools_are_reported_with_requests_and_allocatable(tmp_path: Path) -> None:
    text = (FOLDER / "Pulumi.prod.yaml").read_text()
    small = text.replace("[m7i.2xlarge, m6i.2xlarge, m7a.2xlarge]", "[m7i.xlarge, m6i.xlarge, m7a.xlarge]")
    assert small != text
    (warning,) = warnings_of(small, "prod", tmp_path)
    assert warning.startswith("pools.system: a controller requests 16.0 GiB, but a system node has at most 1")
    few = text.replace("min: 3, max: 4}", "min: 2, max: 2}")
    assert few != text
    (warning,) = warnings_of(few, "prod", tmp_path)
    assert warning.startswith("pools.system: the controllers of all add-ons request")
    assert warning.endswith("Raise `max`, or use larger instance types.")
