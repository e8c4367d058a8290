"""What holds for every resource of a whole stack, whichever component declares it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from slipway.render.recording import RecordedResource
from tests.support import stacks

KEPT = ("kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass")
"""Deleted one by one, before the cluster: Karpenter then drains and terminates their nodes."""

each_stack = pytest.mark.parametrize("stack", stacks.NAMES)


def custom(stack: str) -> Iterator[RecordedResource]:
    return (one for one in stacks.recorded(stack) if one.custom and not one.type.startswith("pulumi:"))


@each_stack
def test_no_resource_uses_a_default_provider(stack: str) -> None:
    """It would act in the account and the Region of whoever runs the program."""
    assert stacks.recorded(stack).default_provider_users == ()


@each_stack
def test_a_name_says_neither_where_the_stack_is_nor_which(stack: str) -> None:
    """It would be another name, and so another resource, in a second stack."""
    account = stacks.platform_of(stack).account
    parts = (account.region, account.id, f"slipway-{stack}")
    assert [one.name for one in custom(stack) if any(part in one.name for part in parts)] == []


@each_stack
def test_what_is_in_the_cluster_goes_with_it(stack: str) -> None:
    (cluster,) = (one.urn for one in custom(stack) if one.type == "aws:eks/cluster:Cluster")
    inside = [one for one in custom(stack) if one.type.startswith(("kubernetes:", "aws:eks/addon:"))]
    assert len(inside) > 100
    left = {one.type for one in inside if one.options.deleted_with != cluster}
    assert left == {*KEPT}


def terms(value: object) -> Iterator[Mapping[str, Any]]:
    """Terms of affinities, and spread constraints."""
    if isinstance(value, Mapping):
        if "topologyKey" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from terms(item)


@each_stack
def test_pods_stay_apart_from_those_of_a_label(stack: str) -> None:
    """An empty selector is one of all pods of the namespace."""
    found = [(one.name, term) for one in custom(stack) for term in terms(one.inputs.plain)]
    assert found
    assert [name for name, term in found if not any(term.get("labelSelector", {}).values())] == []
