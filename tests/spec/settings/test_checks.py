"""Zones of a pool: those that offer its instance types."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from spec.pools import resolve_all
from spec.settings.capacity import Market
from spec.settings.platform import Platform
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.workers import mismatches
from spec.settings.zones import offering_ids, zone_of
from tests.spec.settings.stack import DELETE, changed, loaded, problems, team

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


def test_add_ons_without_a_known_version_are_a_warning_until_the_settings_have_one() -> None:
    (warning,) = [one for one in loaded({"cluster.version": "1.34"}).warnings if one.path == "cluster.addons"]
    named = warning.value
    assert isinstance(named, list)
    assert {"eks-node-monitoring-agent (v1.6.0 or newer)", "aws-fsx-csi-driver"} <= set(named)
    chosen = {name.split()[0]: {"version": "v9.0.0-eksbuild.1"} for name in named}
    settled = loaded({"cluster.version": "1.34", "cluster.addons": chosen}).warnings
    assert "cluster.addons" not in {one.path for one in settled}
    assert loaded({"cluster.version": "1.35"}).warnings == ()


@pytest.mark.parametrize(("release", "old"), [("1.35.6-20260525", False), ("1.35.6-20260524", True)])
def test_an_ami_release_of_half_a_year_ago_is_a_warning(release: str, *, old: bool) -> None:
    own = f"v{release[-8:]}"
    warnings = loaded({"cluster.amiRelease": release, "pools.cpu.amiRelease": own}).warnings
    found = {warning.path: warning.value for warning in warnings}
    assert found == ({"cluster.amiRelease": release, "pools.cpu.amiRelease": own} if old else {})


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


# A MultiKueue manager against the stacks of its workers.


TEAM: dict[str, Any] = {
    "project": "perception", "costCenter": "ml-vision", "budgetUsd": 6000,
    "namespaces": {"training": {}, "serving": {"purpose": "serving"}},
    "gpus": {"a100": {"nominalQuota": 1}, "l4": {"nominalQuota": 1}}, "cpus": {"cpu": {"nominalQuota": 8}},
}  # fmt: skip
WORKER: dict[str, Any] = {"addons.kueue": {"multiKueue": "worker"}, "teams.vision": TEAM}
MANAGER: dict[str, Any] = {
    "addons.kueue": {"multiKueue": "manager"},
    "teams.vision": TEAM,
    "queues": {"workers": {"west": {"secret": "kubeconfig-west", "stack": "west"}}, "remotePools": ["a100"]},
}


def found(worker: Mapping[str, Any], manager: Mapping[str, Any] | None = None) -> list[str]:
    west = loaded({**WORKER, **worker}).platform
    ours = loaded({**MANAGER, **(manager or {})}).platform
    return [str(one) for one in mismatches(ours, {"west": west}.get)]


def test_a_worker_with_the_same_teams_and_pools_has_no_problem() -> None:
    assert found({}) == []


@pytest.mark.parametrize(("worker", "rule"), [
    ({"addons.kueue": {}}, "the stack must be a MultiKueue worker"),
    ({"teams": DELETE}, "the worker needs the team vision"),
    ({"teams.vision.namespaces": {"training": {}}}, "team vision needs the namespace vision-serving there"),
    ({"teams.vision.gpus": {"l4": {"nominalQuota": 1}}}, "team vision needs a share of the pool a100 there"),
    ({"pools.a100": DELETE, "teams.vision.gpus": {"l4": {"nominalQuota": 1}}}, "the worker needs the remote pool a100"),
])  # fmt: skip
def test_what_a_worker_lacks_is_a_problem_of_the_manager(worker: dict[str, Any], rule: str) -> None:
    (only,) = found(worker)
    assert only.startswith(f"queues.workers.west.stack: {rule} (given: 'west'). ")
    assert only.endswith(" in stacks/Pulumi.west.yaml.")


def test_a_worker_needs_the_aliases_of_its_manager() -> None:
    (only,) = found({}, {"queues.aliases": ["user-queue"]})
    assert "the worker needs the queue user-queue" in only
    assert found({"queues": {"aliases": ["user-queue"]}}, {"queues.aliases": ["user-queue"]}) == []


def test_what_is_not_dispatched_need_not_be_on_the_worker() -> None:
    assert found({"teams.vision.gpus": {"a100": {"nominalQuota": 1}}}) == []


def test_without_remote_pools_every_pool_is_dispatched() -> None:
    every: dict[str, Any] = {"queues.remotePools": []}
    (only,) = found({"teams.vision.gpus": {"a100": {"nominalQuota": 1}}}, every)
    assert "team vision needs a share of the pool l4 there" in only


def test_a_worker_without_a_valid_file_is_a_problem_and_one_without_a_stack_is_not_compared() -> None:
    def never(_stack: str) -> Platform | None:
        return None

    (only,) = mismatches(loaded(MANAGER).platform, never)
    assert str(only).endswith("must be a stack whose file is valid (given: 'west'). Run `slipway check west`.")
    assert not list(mismatches(loaded({**MANAGER, "queues.workers": {"west": {"secret": "k"}}}).platform, never))


# Warnings about devices that no pod can request.


WHOLE: dict[str, Any] = {"pools.a100.mig": DELETE}


def warned(**changes: Any) -> dict[str, str]:
    """Values of the warnings, by path."""
    settings = {path.replace("__", "."): value for path, value in changes.items()}
    return {warning.path: str(warning.value) for warning in loaded({**WHOLE, **settings}).warnings}


def test_whole_gpus_without_a_device_plugin_are_a_warning() -> None:
    assert warned(addons={"efaDevicePlugin": {}}) == {"addons.gpuOperator": "pools a100, h100, l4"}


def test_adapters_without_their_device_plugin_are_a_warning() -> None:
    assert warned(addons={"gpuOperator": {}}) == {"addons.efaDevicePlugin": "pools h100"}


def test_bottlerocket_needs_no_device_plugin() -> None:
    without: dict[str, Any] = {"pools__a100": DELETE, "pools__h100": DELETE, "addons": {}}
    bottlerocket = {"preset": "gpu-spot", "os": "bottlerocket", "localNvme": "none"}
    assert warned(**without, pools__l4={**bottlerocket, "sharing": {"mode": "mps", "replicas": 2}}) == {}


def test_a_type_on_which_a_share_has_too_little_cpu_or_memory_is_a_warning() -> None:
    """The smallest type of the preset has 3.9 vCPUs and 13 GiB."""
    shared: dict[str, Any] = {"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 4}}
    assert warned(pools__l4=shared) == {"pools.l4.instanceTypes": "g6.xlarge"}
    assert warned(pools__l4={**shared, "instanceTypes": ["g6.2xlarge", "g6.4xlarge", "g6.8xlarge"]}) == {}
    assert warned(pools__l4={**shared, "sharing": {"mode": "time-slicing", "replicas": 3}}) == {}


def test_a_stack_without_gpus_and_adapters_has_no_warnings() -> None:
    assert warned(pools__a100=DELETE, pools__h100=DELETE, pools__l4=DELETE, addons={}) == {}


def test_a_stack_with_both_device_plugins_has_no_warnings() -> None:
    assert warned() == {}


# What a pool tries when EC2 has none of its capacity, and nodes that it keeps ready.


SPOT: Final = {"name": "spot", "market": "spot", "instanceTypes": ["g6.xlarge", "g6.2xlarge", "g6.4xlarge"]}
ELSEWHERE: Final = {"name": "elsewhere", "zones": ["us-east-1b"]}
RESERVED: Final = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}


def test_a_fallback_is_its_pool_with_other_capacity() -> None:
    capacity = {**RESERVED, "fallbacks": [ELSEWHERE, {**SPOT, "max": 2}]}
    pool = loaded({"pools.l4.capacity": capacity, "pools.l4.max": 6}).platform.pools["l4"]
    elsewhere, spot = pool.fallbacks["elsewhere"], pool.fallbacks["spot"]
    assert (elsewhere.zones, elsewhere.capacity.market, elsewhere.max) == (("us-east-1b",), Market.ON_DEMAND, 6)
    assert elsewhere.capacity.reservation is None
    assert elsewhere.instance_types == pool.instance_types
    assert (spot.zones, spot.capacity.market, spot.max) == (pool.zones, Market.SPOT, 2)
    assert (spot.disk, spot.disruption, spot.role) == (pool.disk, pool.disruption, pool.role)


def test_the_order_of_queues_names_pools_that_exist() -> None:
    assert problems(changed({"queues.poolOrder": ["h100", "l4"]})) == ()
    (problem,) = problems(changed({"queues.poolOrder": ["h100", "b200"]}))
    assert problem.path == "queues.poolOrder.1"


def test_addresses_are_counted_for_fallbacks_too() -> None:
    many = {"name": "elsewhere", "zones": ["us-east-1b"], "max": 1000}
    (problem,) = problems(changed({"pools.l4.capacity": {"market": "spot", "fallbacks": [many]}}))
    assert problem.path == "network.podCidr"
    assert "zone b" in problem.rule


# Warnings about budgets, and valid schedules.


NOTIFIED = {"notifications": {"emails": ["ml@example.com"]}}


def cost_warnings(**changes: object) -> list[str]:
    """Paths of the warnings about budgets."""
    warnings = loaded({key.replace("__", "."): value for key, value in changes.items()}).warnings
    return [problem.path for problem in warnings if "udget" in problem.path]


def test_a_team_budget_without_recipient_is_a_warning() -> None:
    assert cost_warnings(teams__vision=team(budgetUsd=10)) == ["teams.vision.budgetUsd"]
    assert cost_warnings(teams__vision=team(budgetUsd=10), **NOTIFIED) == []


def test_team_budgets_above_the_environments_are_a_warning() -> None:
    assert cost_warnings(teams__vision=team(budgetUsd=101), cost__monthlyBudgetUsd=100, **NOTIFIED) == [
        "cost.monthlyBudgetUsd"
    ]
    assert cost_warnings(teams__vision=team(budgetUsd=100), cost__monthlyBudgetUsd=100, **NOTIFIED) == []


@pytest.mark.parametrize(
    "expression", ["0 20 * * MON-FRI", "*/15 0-6,20-23 1,15 jan-mar 0", "0 20 * * fri", "59 23 31 12 6"]
)
def test_schedules_that_both_auto_scaling_and_kubernetes_take(expression: str) -> None:
    nights = {"stop": expression, "start": "0 7 * * 1", "timezone": "Europe/Paris", "pools": ["h100"]}
    platform = loaded({"cost.schedules": {"nights": nights}}).platform
    assert platform.cost.schedules["nights"].stop == expression


@pytest.mark.parametrize("edits", [{"cluster.amiRelease": "1.35.4-20260423"}, {"pools.cpu.amiRelease": "v20260403"}])
def test_an_ami_release_that_isolates_gpus_or_of_nodes_without_any_is_accepted(edits: dict[str, Any]) -> None:
    assert {one.path for one in loaded(edits).warnings} == set(edits)
