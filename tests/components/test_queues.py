"""Queues: flavors by price and reservation, quotas of teams, and worker clusters."""

from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as some

from components.addons.kueue import Kueue, frameworks
from components.addons.multikueue import READS, WRITES, access
from components.queues import (
    LEVELS,
    admission_checks,
    by_topology,
    cluster_queue,
    local_queue,
    local_queues,
    ordered,
    quotas,
    remote_manifests,
    resource_flavor,
    shared_manifests,
    topology,
)
from spec.pools import resolve_all
from spec.settings.addons import Addons
from spec.settings.queues import Queues, Worker
from spec.settings.teams import Team
from spec.teams.labels import TEAM
from tests.components.pools.samples import BLOCK, ONE_ZONE, platform, spec
from tests.components.tenancy.samples import LANGUAGE, TEAMS, VISION, pools, record
from tests.components.tenancy.samples import platform as tenants


def flavor(**pool: Any) -> dict[str, Any]:
    manifest: dict[str, Any] = resource_flavor(spec(**pool), Queues())
    return manifest


def test_a_flavor_has_its_pools_name_and_label() -> None:
    manifest = flavor(preset="cpu")
    assert manifest["metadata"]["name"] == "work"
    assert manifest["spec"] == {"nodeLabels": {"platform.slipway/pool": "work"}}


def test_the_gpu_taint_is_a_node_taint_and_all_others_are_tolerated() -> None:
    pool = spec(preset="h100", dedicated=True, taints={"example.com/x": {"effect": "NoExecute"}})
    manifest = resource_flavor(pool, Queues())["spec"]
    node_taints = [taint["key"] for taint in manifest["nodeTaints"]]
    tolerated = [toleration["key"] for toleration in manifest["tolerations"]]
    assert node_taints == ["nvidia.com/gpu"]
    assert sorted(node_taints + tolerated) == sorted(taint.key for taint in pool.taints)


def test_every_pool_except_system_pools_has_a_flavor() -> None:
    known = pools()
    flavors = [name for name in shared_manifests(known, Queues()) if name.startswith("flavor-")]
    assert sorted(flavors) == sorted(f"flavor-{name}" for name in known if name != "system")


def test_flavors_are_ordered_by_cpu_before_gpu_then_spot_then_price() -> None:
    known = resolve_all(
        platform(
            {
                "cpu": {"preset": "cpu"},
                "h100": {"preset": "h100"},
                "a100": {"preset": "a100"},
                "l4": {"preset": "gpu-spot"},
            }
        )
    )
    assert [pool.name for pool in ordered(known.values(), Queues())] == ["cpu", "l4", "a100", "h100"]


def test_reserved_capacity_comes_before_on_demand_of_the_same_type() -> None:
    known = resolve_all(platform({"a-demand": {"preset": "h100"}, "block": BLOCK}))
    assert [pool.name for pool in ordered(known.values(), Queues())] == ["block", "a-demand"]


def test_spot_comes_last_at_equal_price_unless_preferred() -> None:
    l4 = {"preset": "gpu-spot", "max": 1}
    known = resolve_all(platform({"a-spot": l4, "demand": {**l4, "capacity": {"market": "on-demand"}}}))
    first = ordered(known.values(), Queues())
    assert [pool.name for pool in first] == ["a-spot", "demand"]
    last = ordered(known.values(), Queues.model_validate({"spotFirst": False}))
    assert [pool.name for pool in last] == ["demand", "a-spot"]


@pytest.mark.parametrize(("pool", "placed"), [
    (BLOCK, True),
    ({"preset": "h100", "efa": True, "zones": ONE_ZONE}, False),  # elastic: no nodes at first
    ({"preset": "a100", "provisioner": "managed", "min": 2, "max": 2}, False),  # no EFA
])  # fmt: skip
def test_topology_is_used_only_for_fixed_pools_with_efa(pool: dict[str, Any], placed: bool) -> None:
    known = resolve_all(platform({"work": pool}))
    manifests = shared_manifests(known, Queues(topology=True))
    assert ("topology-work" in manifests) is placed
    assert ("topologyName" in manifests["flavor-work"]["spec"]) is placed


def test_topology_is_off_unless_chosen_and_a_manager_has_none() -> None:
    """A queue that also has other flavors never admits a job without a topology's annotation to a flavor with one."""
    block = spec(**BLOCK)
    assert not by_topology(block, Queues())
    assert by_topology(block, Queues(topology=True))
    workers = {"topology": True, "workers": {"west": Worker(secret="kubeconfig-west")}}
    assert not by_topology(block, Queues.model_validate(workers))


def test_levels_go_from_the_widest_layer_to_the_node() -> None:
    levels = [level["nodeLabel"] for level in topology(spec(**BLOCK))["spec"]["levels"]]
    assert levels == list(LEVELS)
    assert levels[-1] == "kubernetes.io/hostname"


def test_the_settings_may_order_pools_before_the_price_does() -> None:
    """A Capacity Block first, then on-demand nodes, whatever they cost."""
    known = pools()
    plain = [pool.name for pool in ordered(known.values(), Queues())]
    gpus = [name for name in plain if known[name].gpu is not None]
    wanted = Queues(poolOrder=(gpus[-1],))
    assert [pool.name for pool in ordered(known.values(), wanted)] == [
        *(name for name in plain if name not in gpus), gpus[-1], *gpus[:-1],
    ]  # fmt: skip


WORKERS = {"west": {"secret": "kubeconfig-west"}, "east": {"secret": "kubeconfig-east"}}
MANAGER: dict[str, Any] = {"addons": {"kueue": {"multiKueue": "manager"}}, "queues": {"workers": WORKERS}}


def settings(**more: object) -> Queues:
    return Queues.model_validate({"workers": WORKERS, **more})


def test_without_workers_there_are_no_multikueue_manifests() -> None:
    assert remote_manifests(Queues()) == {}
    assert admission_checks(Queues()) == {}


def test_workers_refer_to_secrets_by_name() -> None:
    manifests = remote_manifests(settings())
    assert manifests["worker-west"]["spec"] == {
        "clusterSource": {"kubeConfig": {"location": "kubeconfig-west", "locationType": "Secret"}}
    }
    assert manifests["workers"]["spec"] == {"clusters": ["east", "west"]}


def test_the_admission_check_refers_to_the_configuration() -> None:
    manifests = remote_manifests(settings())
    parameters = manifests["check"]["spec"]["parameters"]
    assert parameters["name"] == manifests["workers"]["metadata"]["name"]
    assert parameters["kind"] == manifests["workers"]["kind"]
    assert manifests["check"]["spec"]["controllerName"] == "kueue.x-k8s.io/multikueue"


def test_a_manager_dispatches_all_flavors_or_some() -> None:
    (every,) = admission_checks(settings())["admissionChecksStrategy"]["admissionChecks"]
    assert every == {"name": "multikueue"}
    (some,) = admission_checks(settings(remotePools=("h100",)))["admissionChecksStrategy"]["admissionChecks"]
    assert some == {"name": "multikueue", "onFlavors": ["h100"]}


def test_only_queues_of_a_manager_have_the_admission_check() -> None:
    kind = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
    managed = record(**MANAGER).of(kind)
    worker = record(addons={"kueue": {"multiKueue": "worker"}}).of(kind)
    assert managed.keys() == worker.keys()
    for name, queue in managed.items():
        spec = dict(queue.inputs["spec"])
        assert spec.pop("admissionChecksStrategy")["admissionChecks"] == [{"name": "multikueue"}]
        assert spec == worker[name].inputs["spec"]


def test_a_worker_lets_its_manager_write_in_namespaces_of_teams_only() -> None:
    """Who may create pods in kube-system has the cluster: only reads are bound for all namespaces."""
    worker = record(addons={"kueue": {"multiKueue": "worker"}})
    bindings = worker.of("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").values()
    bound = [each.inputs["metadata"]["namespace"] for each in bindings if each.inputs["roleRef"]["name"] == WRITES]
    assert sorted(bound) == ["language", "vision-serving", "vision-training"]
    granted = access(frameworks(Addons.model_validate({"jobset": {}, "mpiOperator": {}})))
    assert granted["manager-binding"]["roleRef"]["name"] == READS
    assert {verb for rule in granted["manager-reads"]["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    served = {
        (group, each)
        for rule in granted["manager-writes"]["rules"]
        for group in rule["apiGroups"]
        for each in rule["resources"]
    }
    assert served == {
        ("", "pods"), ("apps", "statefulsets"), ("batch", "jobs"), ("jobset.x-k8s.io", "jobsets"),
        ("kubeflow.org", "mpijobs"), ("kueue.x-k8s.io", "workloads"), ("kueue.x-k8s.io", "workloads/status"),
    }  # fmt: skip
    assert access(())["manager"]["metadata"]["namespace"] == Kueue.namespace.name


KNOWN: Final = pools()
QUEUE: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
LOCAL: Final = "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue"
MAX_RESOURCES: Final = 64
MAX_FLAVORS: Final = 64
"""Limits of a resource group (CRD of ClusterQueue, kueue 0.19.2)."""


def queue(name: str = "vision", team_settings: Any = TEAMS, **queues: Any) -> dict[str, Any]:
    settings = tenants(team_settings, queues=queues)
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


def test_an_alias_is_another_local_queue_to_the_same_quota() -> None:
    found = local_queues("vision-training", "vision", tenants(queues={"aliases": ["user-queue"]}).queues)
    assert [(key, each["metadata"]["name"]) for key, each in found.items()] == [
        ("vision-training", "default"),
        ("vision-training.user-queue", "user-queue"),
    ]
    assert {each["spec"]["clusterQueue"] for each in found.values()} == {"vision"}


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
    settings = tenants().queues
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
