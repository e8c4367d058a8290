from typing import Any

import pytest

from slipway.render.recording import Options, RecordedResource, Values
from tests.bench import durations
from tests.bench.durations import (
    ADDON,
    AT_ONCE,
    DEFAULT,
    NODE_GROUP,
    RELEASE,
    SOURCES,
    Duration,
    duration_of,
    seconds_of,
)
from tests.bench.samples import recorded


def resource(type_: str, *, custom: bool = True, **inputs: Any) -> RecordedResource:
    return RecordedResource(
        urn="urn", type=type_, name="r", parent=None, custom=custom, inputs=Values(inputs), options=Options()
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (resource("slipway:network:Network", custom=False), AT_ONCE),
        (resource("pulumi:providers:aws"), AT_ONCE),
        (resource("aws:xray/group:Group"), DEFAULT),
        (resource(NODE_GROUP, scalingConfig={"desiredSize": 2.0}), durations.NODES),
        (resource(NODE_GROUP, scalingConfig={"desiredSize": 0.0}), durations.NO_NODES),
        (resource(ADDON, addonName="coredns"), durations.ADDONS["coredns"]),
        (resource(ADDON, addonName="new-one"), durations.OTHER_ADDON),
        (resource(RELEASE, chart="oci://public.ecr.aws/karpenter/karpenter-crd"), DEFAULT),
        (resource(RELEASE, chart="kube-prometheus-stack", name="kube-prometheus-stack-crds"), DEFAULT),
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


def test_the_default_can_be_another_and_changes_no_duration_that_has_a_source() -> None:
    usual, longer = seconds_of(recorded()), seconds_of(recorded(), default=100.0)
    changed = {urn for urn in usual if usual[urn] != longer[urn]}
    assert changed == {each.urn for each in recorded() if duration_of(each) is DEFAULT}
    assert {longer[urn] for urn in changed} == {100.0}


def test_every_type_of_the_table_occurs_in_prod_under_that_name() -> None:
    """A mistyped token would silently take the default."""
    types = {found.type for found in recorded()}
    assert {*durations.BY_TYPE, NODE_GROUP, ADDON, RELEASE} - types == set()
