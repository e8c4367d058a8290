from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as some

from components.queues.team_queue import cluster_queue, local_queue, quotas
from spec.settings.teams import Team
from spec.teams.labels import TEAM
from tests.components.tenancy.samples import LANGUAGE, TEAMS, VISION, platform, pools, record

KNOWN: Final = pools()
QUEUE: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
LOCAL: Final = "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue"
MAX_RESOURCES: Final = 64
MAX_FLAVORS: Final = 64
"""Limits of a resource group (CRD of ClusterQueue, kueue 0.19.2)."""


def queue(name: str = "vision", team_settings: Any = TEAMS, **queues: Any) -> dict[str, Any]:
    settings = platform(team_settings, queues=queues)
    return cluster_queue(name, settings.teams[name], KNOWN, settings.queues)


def group(manifest: dict[str, Any]) -> dict[str, Any]:
    (only,) = manifest["spec"]["resourceGroups"]
    assert isinstance(only, dict)
    return only


def quota_of(manifest: dict[str, Any], flavor: str, resource: str) -> dict[str, str]:
    (entry,) = [each for each in group(manifest)["flavors"] if each["name"] == flavor]
    (only,) = [each for each in entry["resources"] if each["name"] == resource]
    assert isinstance(only, dict)
    return only


def test_cpu_and_gpus_are_in_one_resource_group() -> None:
    resource_group = group(queue())
    assert resource_group["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"]
    for flavor in resource_group["flavors"]:
        assert [each["name"] for each in flavor["resources"]] == resource_group["coveredResources"]


def test_a_flavor_has_zero_quota_for_resources_that_its_pool_lacks() -> None:
    manifest = queue()
    assert quota_of(manifest, "cpu", "nvidia.com/gpu") == {
        "name": "nvidia.com/gpu",
        "nominalQuota": "0",
        "borrowingLimit": "0",
    }
    assert quota_of(manifest, "a100", "nvidia.com/gpu")["nominalQuota"] == "0"
    assert quota_of(manifest, "a100", "nvidia.com/mig-1g.5gb")["nominalQuota"] == "28"


def test_each_resource_has_borrowing_and_lending_limits() -> None:
    h100 = quota_of(queue(), "h100", "nvidia.com/gpu")
    assert h100 == {"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "8"}
    lendable = quota_of(queue("language"), "h100", "nvidia.com/gpu")
    assert lendable == {"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "0", "lendingLimit": "8"}


def test_cpu_can_be_borrowed_along_with_gpus() -> None:
    h100 = quota_of(queue(), "h100", "cpu")
    assert h100["borrowingLimit"] == h100["nominalQuota"] != "0"


def test_efa_has_no_quota() -> None:
    assert "vpc.amazonaws.com/efa" in KNOWN["h100"].resources
    assert "vpc.amazonaws.com/efa" not in group(queue())["coveredResources"]


def test_a_queue_has_only_flavors_of_the_teams_shares() -> None:
    assert [flavor["name"] for flavor in group(queue())["flavors"]] == ["cpu", "a100", "h100"]
    assert [flavor["name"] for flavor in group(queue("language"))["flavors"]] == ["h100"]


def test_only_the_teams_namespaces_can_use_its_queue() -> None:
    assert queue()["spec"]["namespaceSelector"] == {"matchLabels": {TEAM: "vision"}}
    assert local_queue("vision-training", "vision")["spec"] == {"clusterQueue": "vision"}


def test_all_teams_are_in_one_cohort_by_their_weights() -> None:
    spec = queue("language", cohort="research")["spec"]
    assert (spec["cohortName"], spec["fairSharing"]) == ("research", {"weight": "2"})


def test_preemption_follows_the_settings() -> None:
    spec = queue(reclaimWithinCohort="LowerPriority", withinClusterQueue="Never", queueingStrategy="StrictFIFO")["spec"]
    assert spec["preemption"] == {"reclaimWithinCohort": "LowerPriority", "withinClusterQueue": "Never"}
    assert spec["queueingStrategy"] == "StrictFIFO"
    # Only with classical preemption: Kueue refuses it with fair sharing.
    assert "borrowWithinCohort" not in spec["preemption"]


def test_every_team_has_a_cluster_queue_and_every_namespace_a_local_queue() -> None:
    recording = record()
    assert sorted(resource.inputs["metadata"]["name"] for resource in recording.of(QUEUE).values()) == [
        "language",
        "vision",
    ]
    local = sorted(
        (
            resource.inputs["metadata"]["namespace"],
            resource.inputs["metadata"]["name"],
            resource.inputs["spec"]["clusterQueue"],
        )
        for resource in recording.of(LOCAL).values()
    )
    assert local == [
        ("language", "default", "language"),
        ("vision-serving", "default", "vision"),
        ("vision-training", "default", "vision"),
    ]


def test_quotas_are_plain_outputs_for_policies() -> None:
    assert quotas(queue())["h100"]["nvidia.com/gpu"] == "8"


def number(text: str) -> Decimal:
    units = {"m": Decimal("0.001"), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40)}
    unit = next((each for each in units if text.endswith(each)), "")
    return Decimal(text.removesuffix(unit)) * units.get(unit, Decimal(1))


@given(parts=some.lists(some.integers(min_value=1, max_value=4), min_size=2, max_size=4))
def test_quotas_of_a_fully_shared_pool_fit_on_its_nodes(parts: list[int]) -> None:
    """The sum of all quotas never exceeds the allocatable resources of that many nodes: otherwise Kueue would admit
    jobs that stay pending forever."""
    pool = KNOWN["h100"]
    nodes = -(-sum(parts) // pool.gpu_count)
    teams = {f"t{index}": Team.model_validate(_share(part)) for index, part in enumerate(parts)}
    settings = platform().queues
    manifests = [cluster_queue(name, team, KNOWN, settings) for name, team in teams.items()]
    (node,) = pool.instance_types
    for resource, maximum in (
        ("cpu", Decimal(node.allocatable_cpu_millis) / 1000),
        ("memory", Decimal(node.allocatable_memory_at(pool.settings.max_pods)) * 2**20),
        ("nvidia.com/gpu", Decimal(pool.gpu_count)),
    ):
        assert sum(number(quota_of(each, "h100", resource)["nominalQuota"]) for each in manifests) <= maximum * nodes


def _share(part: int) -> dict[str, Any]:
    return {"project": "p", "costCenter": "c", "gpus": {"h100": {"nominalQuota": part}}}


@pytest.mark.parametrize("name", ["vision", "language"])
def test_resource_groups_are_within_kueues_limits(name: str) -> None:
    resource_group = group(queue(name, {"vision": VISION, "language": LANGUAGE}))
    assert len(resource_group["coveredResources"]) <= MAX_RESOURCES
    assert len(resource_group["flavors"]) <= MAX_FLAVORS
