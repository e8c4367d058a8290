"""Zones of a pool: those that offer its instance types."""

from typing import Any, Final

import pytest

from spec.pools import resolve_all
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.zones import offering_ids, zone_of
from tests.spec.settings.stack import changed, loaded, problems

TWO: Final = ("c7i.12xlarge", "m6i.12xlarge")
THREE: Final[dict[str, Any]] = {
    "network.zones": ["us-east-1a", "us-east-1b", "us-east-1c"],
    "account.zoneIds": {"us-east-1a": "use1-az1", "us-east-1b": "use1-az6", "us-east-1c": "use1-az5"},
}


def pool(provisioner: str, *types: str) -> dict[str, Any]:
    return {"role": "training", "provisioner": provisioner, "instanceTypes": list(types), "max": 4}


def zones(changes: dict[str, Any]) -> tuple[str, ...]:
    return resolve_all(loaded({**THREE, **changes}).platform)["a100"].zones


@pytest.mark.parametrize("provisioner", ["managed", "karpenter"])
def test_a_pool_uses_the_zones_that_offer_its_type(provisioner: str) -> None:
    assert zones({"pools.a100": pool(provisioner, "p5.48xlarge")}) == ("us-east-1a", "us-east-1b", "us-east-1c")
    assert zones({"pools.a100": pool(provisioner, "p4d.24xlarge")}) == ("us-east-1a", "us-east-1b")
    assert zones({"pools.a100": pool(provisioner, "p4de.24xlarge")}) == ("us-east-1b",)


def test_a_node_group_needs_all_types_in_a_zone_and_karpenter_any() -> None:
    """c7i is not in caw1-az3, m6i is (ec2-types.json)."""
    pools = {kind: Pool(**_fields(kind)) for kind in ("managed", "karpenter")}
    assert offering_ids(pools["managed"], "ca-west-1") == frozenset({"caw1-az1", "caw1-az2"})
    assert offering_ids(pools["karpenter"], "ca-west-1") == frozenset({"caw1-az1", "caw1-az2", "caw1-az3"})
    assert offering_ids(pools["managed"], "cn-north-1") is None


def _fields(provisioner: str) -> dict[str, Any]:
    return {"role": Role.GENERAL, "provisioner": Provisioner(provisioner), "max": 1, "instanceTypes": TWO}


def test_without_zone_ids_a_pool_has_every_zone_and_a_warning_names_it() -> None:
    unknown = loaded({"account.zoneIds": {}})
    assert resolve_all(unknown.platform)["a100"].zones == ("us-east-1a", "us-east-1b")
    (warning,) = unknown.warnings
    assert warning.path == "account.zoneIds"
    assert "the types of a100, and" in warning.rule


def test_zones_without_eks_cause_no_warning() -> None:
    """m7i and g6 are in all zones of us-east-1 but use1-az3, which no cluster can use."""
    assert loaded({"account.zoneIds": {}, "pools.a100": pool("karpenter", "p5.48xlarge")}).warnings == ()


def test_addresses_are_counted_in_the_zones_that_a_pool_uses() -> None:
    """Each zone has 4,091 addresses for pods: enough for 14 nodes of 250 pods in two zones, too few in one."""
    big = {**pool("managed", "p4de.24xlarge"), "max": 14, "maxPods": 250}
    one = changed({**THREE, "network.podCidr": "100.64.0.0/17", "pools.a100": big})
    two = changed(
        {**THREE, "network.podCidr": "100.64.0.0/17", "pools.a100": {**big, "instanceTypes": ["p4d.24xlarge"]}}
    )
    assert [problem.path for problem in problems(one)] == ["network.podCidr"]
    assert problems(two) == ()


def test_the_lustre_file_system_is_in_a_zone_of_the_training_pools() -> None:
    training = {"pools.a100": pool("managed", "p4de.24xlarge"), "pools.h100.zones": ["us-east-1b"]}
    platform = loaded({**THREE, **training, "storage.lustre": {}}).platform
    assert platform.storage.lustre is not None
    assert zone_of(platform.storage.lustre, platform.network, platform.pools, platform.account) == "us-east-1b"
