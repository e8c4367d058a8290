"""The GPUs of a pool are described consistently everywhere.

That is in labels, taints and tolerations, in the user data of nodes, in the configurations of the device plugin, in
Karpenter's overlay, in the tags for Cluster Autoscaler, and in the placeholder nodes of the sandbox.
"""

import base64
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Final

import pulumi_aws as aws
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components.addons import efa_device_plugin
from components.addons.gpu_operator import bottlerocket_rule
from components.addons.gpu_operator import values as operator_values
from components.pools.karpenter import node_overlay, node_pool, wants_overlay
from components.pools.managed import group_tags
from components.pools.nodeclass import NodeClassArgs, node_class
from components.pools.user_data import user_data
from sandbox.nodes.groups import NodeGroup, nodes_of
from sandbox.nodes.karpenter import placeholder
from sandbox.nodes.spec import node
from spec import interfaces
from spec.catalog import gpus, instances, mig
from spec.pools import PoolSpec, resolve_all
from spec.settings.addons.gpu import GpuOperator
from tests.components.pools.samples import MANAGED_A100, ONE_ZONE, platform, record_fleet
from tests.components.pools.strategies import WITH_GPUS, pools
from tests.support.mocks import Recording

GPU: Final = "nvidia.com/gpu"
EFA: Final = "vpc.amazonaws.com/efa"
TAG: Final = "k8s.io/cluster-autoscaler/node-template/"
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Stack:
    """A stack of these pools and its add-ons."""

    pools: Mapping[str, Mapping[str, Any]]

    @cached_property
    def specs(self) -> dict[str, PoolSpec]:
        return resolve_all(platform(self.pools))

    @cached_property
    def operator(self) -> dict[str, Any]:
        return operator_values(GpuOperator(), pools=self.specs, placement={}, monitored=False)

    @cached_property
    def efa_plugin(self) -> dict[str, Any]:
        return efa_device_plugin.values(pools=self.specs, region="us-east-1")

    @cached_property
    def plugin_configs(self) -> dict[str, Any]:
        data = self.operator["devicePlugin"]["config"]["data"]
        return {name: yaml.safe_load(text) for name, text in data.items()}

    def check(self) -> None:
        for spec in self.specs.values():
            shown = shown_node(spec)
            check_node(spec, shown)
            check_autoscalers(spec)
            if spec.gpu is not None:
                check_tolerated(shown, self.operator["daemonsets"]["tolerations"])
                check_devices(self, spec, shown)
            if spec.efa_count:
                check_tolerated(shown, self.efa_plugin["tolerations"])
                assert spec.name in self.efa_plugin["supportedInstanceLabels"]["values"]


def shown_node(spec: PoolSpec) -> dict[str, Any]:
    """The placeholder node that the sandbox would create for the pool, from the program's resources."""
    if not spec.managed:
        manifest = {"metadata": {"name": spec.name}, "spec": node_pool(spec)}
        args = NodeClassArgs(spec=spec, cluster="ml", instance_profile="nodes", placement_group=None, tags={})
        overlays = [{"spec": node_overlay(spec)}] if wants_overlay(spec) else []
        placement = placeholder(manifest, {"spec": node_class(args)}, overlays)
        assert placement is not None
        return node(placement)
    cards = interfaces.managed(spec.instance_types[0]) if spec.efa_count else ()
    inputs = {
        "instanceTypes": [kind.name for kind in spec.instance_types],
        "labels": dict(spec.labels),
        "taints": [{"key": t.key, "value": t.value, "effect": t.eks_effect} for t in spec.taints],
        "scalingConfig": {"minSize": spec.settings.min, "desiredSize": spec.settings.min},
    }
    template = {"UserData": user_data(spec), "NetworkInterfaces": [{"InterfaceType": card.kind} for card in cards]}
    group = NodeGroup(spec.name, inputs, template, {tag.key: tag.value for tag in group_tags(spec, "ml")})
    return node(nodes_of(group, lambda _: None)[0])


def check_node(spec: PoolSpec, shown: Values) -> None:
    assert spec.labels.items() <= shown["metadata"]["labels"].items()
    taints = {(each["key"], each["effect"], each.get("value", "")) for each in shown["spec"]["taints"]}
    assert taints == {(taint.key, taint.effect, taint.value) for taint in spec.taints}
    for part in ("capacity", "allocatable"):
        assert devices(shown["status"][part]) == dict(spec.resources), part


def devices(quantities: Mapping[str, str]) -> dict[str, int]:
    """GPUs, MIG instances and EFA with a count above zero."""
    counts = {name: int(count) for name, count in quantities.items() if name.startswith("nvidia.com/") or name == EFA}
    return {name: count for name, count in counts.items() if count}


def check_tolerated(shown: Values, tolerations: list[Values]) -> None:
    for taint in shown["spec"]["taints"]:
        assert any(
            (each["key"], each["value"], each["effect"]) == (taint["key"], taint.get("value", ""), taint["effect"])
            for each in tolerations
        ), taint


def check_devices(stack: Stack, spec: PoolSpec, shown: Values) -> None:
    """Devices that the node's software would advertise, computed only from its configurations."""
    labels = shown["metadata"]["labels"]
    offered = {GPU: spec.gpu_count}
    if labels.get("nvidia.com/mig.config") is not None:
        offered = mig_instances(spec)
    if spec.settings.os == "bottlerocket":
        assert bottlerocket_rule([spec])
        times = bottlerocket_replicas(spec)
        offered = {name: count * times for name, count in offered.items()}
    else:
        default = stack.operator["devicePlugin"]["config"]["default"]
        config = stack.plugin_configs[labels.get("nvidia.com/device-plugin.config", default)]
        offered = dict(shared(config, offered))
    assert offered == {name: count for name, count in spec.resources.items() if name != EFA}


def mig_instances(spec: PoolSpec) -> dict[str, int]:
    """What the command of the node's user data leaves on its GPUs."""
    assert spec.gpu is not None
    command = re.search(r"^ExecStartPre=\S+/slipway-mig (\d+) (\S+)$", written(spec), re.MULTILINE)
    assert command, "the label names a layout, and nothing applies it"
    if command[2] == "none":
        return {GPU: int(command[1])}
    profiles = Counter(instance.partition(":")[0] for instance in command[2].split(","))
    assert mig.layout_problem(spec.gpu.name, profiles) is None
    return mig.resources(profiles, int(command[1]))


def shared(config: Values, offered: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Like the device plugin: resources in the configuration are advertised several times."""
    kinds = config.get("sharing", {})
    assert set(kinds) <= {"timeSlicing"} or (set(kinds) == {"mps"} and config["flags"]["migStrategy"] == "none")
    assert config["flags"]["migStrategy"] == "mixed" or not any(name != GPU for name in offered)
    replicas = {each["name"]: each["replicas"] for kind in kinds.values() for each in kind["resources"]}
    for name, count in offered.items():
        yield name, count * replicas.get(name, 1)


def written(spec: PoolSpec) -> str:
    """User data of a node: of the launch template of a managed group, otherwise of the EC2NodeClass."""
    if spec.managed:
        return base64.b64decode(user_data(spec)).decode()
    args = NodeClassArgs(spec=spec, cluster="ml", instance_profile="nodes", placement_group=None, tags={})
    return str(node_class(args).get("userData", ""))


def bottlerocket_replicas(spec: PoolSpec) -> int:
    """From the node's user data."""
    plugin = tomllib.loads(written(spec)).get("settings", {}).get("kubelet-device-plugins", {}).get("nvidia", {})
    mode = plugin.get("device-sharing-strategy")
    if mode is None:
        return 1
    assert plugin[mode]["rename-by-default"] is False
    return int(plugin[mode]["replicas"])


def check_autoscalers(spec: PoolSpec) -> None:
    """Karpenter and Cluster Autoscaler predict the devices of a node that doesn't exist yet."""
    known = {GPU: spec.gpu_count} if spec.gpu else {}
    if spec.managed:
        scaling = replace(spec, settings=spec.settings.model_copy(update={"min": 0}))
        tags = {tag.key.removeprefix(TAG): tag.value for tag in group_tags(scaling, "ml")}
        tagged = {key.removeprefix("resources/"): value for key, value in tags.items() if key.startswith("resources/")}
        assert devices({**{name: str(count) for name, count in known.items()}, **tagged}) == dict(spec.resources)
        return
    capacity = node_overlay(spec)["capacity"] if wants_overlay(spec) else {}
    predicted = {**{name: str(count) for name, count in known.items()}, **capacity}
    # Karpenter counts EFA itself. It still sees whole GPUs if they are partitioned; the pool's taint repels pods.
    assert {name: count for name, count in devices(predicted).items() if name in spec.resources or name != GPU} == {
        name: count for name, count in spec.resources.items() if name != EFA
    }


@given(st.lists(pools(tuple(WITH_GPUS)), min_size=1, max_size=4), st.lists(pools(), max_size=2))
@settings(max_examples=60)
def test_a_generated_stack_is_consistent(with_gpus: list[dict[str, Any]], others: list[dict[str, Any]]) -> None:
    Stack({f"p{number}": pool for number, pool in enumerate([*with_gpus, *others])}).check()


def cuts(gpu: str) -> list[dict[str, Any] | None]:
    """All named layouts, and a custom one; None for whole GPUs."""
    if not mig.is_capable(gpu):
        return [None]
    first, *_, third = [name for name, profile in mig.PROFILES[gpu].items() if profile.compute in {1, 3}]
    own = {"profiles": {first: 2, third: 1}}
    return [None, own, *({"layout": name} for name in mig.layout_names(gpu))]


def combinations(gpu: str) -> dict[str, dict[str, Any]]:
    """A pool for every valid partitioning and sharing of this GPU, operating system and provisioner; a group of fixed
    size has no tags, only labels."""
    kind = next(kind.name for kind in WITH_GPUS if kind.gpu_name == gpu)
    by_name: dict[str, dict[str, Any]] = {}
    for layout, mode, system, scaler in product(
        cuts(gpu), (None, "time-slicing", "mps"), ("al2023", "bottlerocket"), ("managed", "fixed", "karpenter")
    ):
        whole = layout is None or layout.get("layout") == mig.DISABLED
        part = not gpus.get(gpu).whole
        if ((layout or part) and system == "bottlerocket") or (mode == "mps" and not whole):
            continue
        pool: dict[str, Any] = {"role": "inference", "provisioner": "karpenter" if scaler == "karpenter" else "managed",
            "instanceTypes": [kind], "zones": ONE_ZONE, "min": 1 if scaler == "fixed" else 0, "max": 1, "maxPods": 16,
            "os": system}  # fmt: skip
        pool |= {"mig": layout} if layout else {}
        pool |= {"sharing": {"mode": mode, "replicas": 3}} if mode else {}
        by_name[f"p{len(by_name)}"] = pool
    return by_name


@pytest.mark.parametrize("gpu", sorted({kind.gpu_name for kind in WITH_GPUS if kind.gpu_name}))
def test_every_partitioning_and_sharing_of_a_catalog_gpu_is_consistent(gpu: str) -> None:
    Stack(combinations(gpu)).check()


@pytest.mark.parametrize("layout", ["all-balanced", "all-1g.10gb"])
def test_one_layout_name_may_differ_by_gpu_model(layout: str) -> None:
    types = {kind.gpu_name: kind.name for kind in WITH_GPUS if mig.named_layout(layout, kind.gpu_name or "")}
    assert len(types) > 1
    kinds = {"role": "inference", "provisioner": "managed", "min": 1, "max": 1, "maxPods": 16, "zones": ONE_ZONE}
    pools = {f"p{n}": {**kinds, "instanceTypes": [kind]} for n, kind in enumerate(types.values())}
    Stack({name: {**pool, "mig": {"layout": layout}} for name, pool in pools.items()}).check()


def test_every_gpu_of_the_catalog_is_tested() -> None:
    tried = {kind.gpu_name for kind in WITH_GPUS}
    sold = {kind.gpu_name for kind in instances.ALL.values() if kind.gpus}
    assert tried == sold
    assert tried <= set(gpus.GPUS)


# The fabric of an EFA pool: a security group that allows traffic with itself in both directions.


POOLS = {
    "managed": {**MANAGED_A100, "efa": True, "zones": ONE_ZONE},
    "elastic": {"preset": "h100", "efa": True, "zones": ONE_ZONE},
}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet(POOLS)


@pytest.mark.parametrize("pool", POOLS)
def test_the_group_allows_traffic_with_itself(recording: Recording, pool: str) -> None:
    group = recording.of(aws.ec2.SecurityGroup)[f"pool-{pool}-fabric-security-group"]
    entering = recording.of(aws.vpc.SecurityGroupIngressRule)[f"pool-{pool}-fabric-from-itself"]
    leaving = recording.of(aws.vpc.SecurityGroupEgressRule)[f"pool-{pool}-fabric-to-itself"]
    for rule in (entering, leaving):
        assert rule.inputs["ipProtocol"] == "-1"
        assert rule.input_sources["securityGroupId"] == (group.urn,)
        assert rule.input_sources["referencedSecurityGroupId"] == (group.urn,)
        assert "cidrIpv4" not in rule.inputs


def test_no_other_ingress_is_allowed(recording: Recording) -> None:
    assert all("cidrIpv4" not in rule.inputs for rule in recording.of(aws.vpc.SecurityGroupIngressRule).values())


def test_every_group_and_rule_has_a_description(recording: Recording) -> None:
    kinds = (aws.ec2.SecurityGroup, aws.vpc.SecurityGroupIngressRule, aws.vpc.SecurityGroupEgressRule)
    resources = [resource for kind in kinds for resource in recording.of(kind).values()]
    assert len(resources) == 6
    assert all(resource.inputs["description"] for resource in resources)


def test_the_group_has_tags_with_cluster_and_pool_for_karpenter(recording: Recording) -> None:
    group = recording.of(aws.ec2.SecurityGroup)["pool-elastic-fabric-security-group"]
    assert group.inputs["tags"] == {"platform.slipway/cluster": "slipway-test", "platform.slipway/pool": "elastic"}
