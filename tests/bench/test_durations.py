from __future__ import annotations

from typing import Any

import pytest

from slipway.render.recording import Options, RecordedResource
from slipway.render.values import Values
from tests.bench import durations
from tests.bench.durations import ADDON, AT_ONCE, NODE_GROUP, RELEASE, SOURCES, UNKNOWN, Duration, duration_of
from tests.bench.previews import recorded


def resource(type_: str, *, custom: bool = True, **inputs: Any) -> RecordedResource:
    return RecordedResource(
        urn="urn", type=type_, name="r", parent=None, custom=custom, inputs=Values(inputs), options=Options()
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (resource("slipway:network:Network", custom=False), AT_ONCE),
        (resource("pulumi:providers:aws"), AT_ONCE),
        (resource("aws:xray/group:Group"), UNKNOWN),
        (resource(NODE_GROUP, scalingConfig={"desiredSize": 2.0}), durations.NODES),
        (resource(NODE_GROUP, scalingConfig={"desiredSize": 0.0}), durations.NO_NODES),
        (resource(ADDON, addonName="coredns"), durations.ADDONS["coredns"]),
        (resource(ADDON, addonName="new-one"), durations.OTHER_ADDON),
        (resource(RELEASE, chart="oci://public.ecr.aws/karpenter/karpenter-crd"), UNKNOWN),
        (resource(RELEASE, chart="kube-prometheus-stack", name="kube-prometheus-stack-crds"), UNKNOWN),
        (resource(RELEASE, chart="oci://public.ecr.aws/karpenter/karpenter"), durations.CHART),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_a_resource_takes_as_long_as_the_table_says(given: RecordedResource, expected: Duration) -> None:
    assert duration_of(given) == expected


def test_every_duration_of_the_table_has_a_source_and_every_source_is_used() -> None:
    rows = [
        *durations.BY_TYPE.values(),
        *durations.ADDONS.values(),
        durations.NODES,
        durations.NO_NODES,
        durations.CHART,
    ]
    assert {row.source for row in rows} == set(SOURCES)


def test_every_type_of_the_table_occurs_in_prod_under_that_name() -> None:
    """A token with a slip of the pen would quietly count as a few seconds."""
    types = {found.type for found in recorded()}
    assert {*durations.BY_TYPE, NODE_GROUP, ADDON, RELEASE} - types == set()
