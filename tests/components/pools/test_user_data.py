"""User data of managed groups, byte for byte: every change creates a launch template version, and new nodes.

Every node that the settings accept has addresses for its pods: with every instance type, with and without EFA and
`podCidr`, in managed groups and with Karpenter.
"""

import base64
import email
import tomllib
from itertools import product
from typing import Any, Final

import pulumi
import pytest
import yaml

from components.pools.launch_template import TemplateArgs, launch_template
from components.pools.nodeclass import NodeClassArgs, node_class
from components.pools.user_data import BOUNDARY, karpenter_user_data, user_data
from policies.evaluation.texts import parts
from spec.catalog.instances import InstanceType
from spec.pools import PoolSpec, resolve_all
from spec.settings import ConfigurationError, load
from tests.components.pools import strategies
from tests.components.pools.samples import MANAGED_A100, ONE_ZONE, SYSTEM, ZONES, spec
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.mocks import ACCOUNT, REGION, providers, run

CASES: Final = beside(__file__)
GOLDEN = CASES["a GPU node of Amazon Linux"]

BOTTLEROCKET_SHARED = CASES["Bottlerocket that shares its GPUs"]


def text(**pool: Any) -> str:
    return base64.b64decode(user_data(spec(**pool))).decode()


def node_config(**pool: Any) -> Any:
    part = email.message_from_string(text(**pool)).get_payload(0)
    assert isinstance(part, email.message.Message)
    assert part.get_content_type() == "application/node.eks.aws"
    return yaml.safe_load(str(part.get_payload()))


def test_a_gpu_node_of_amazon_linux() -> None:
    assert text(**MANAGED_A100) == GOLDEN


def test_local_disks_are_used_only_if_configured() -> None:
    assert "instance" not in node_config(**MANAGED_A100, localNvme="none")["spec"]
    assert node_config(**MANAGED_A100)["spec"]["instance"] == {"localStorage": {"strategy": "RAID0"}}


def test_max_pods_is_a_flag_that_overrides_eks_configuration() -> None:
    assert node_config(**SYSTEM, maxPods=58)["spec"]["kubelet"] == {"flags": ["--max-pods=58"]}


def test_bottlerocket_user_data_is_toml() -> None:
    assert text(**SYSTEM, os="bottlerocket", maxPods=58) == "[settings.kubernetes]\nmax-pods = 58\n"


def test_bottlerocket_shares_gpus_with_its_own_plugin() -> None:
    pool = {"preset": "gpu-spot", "os": "bottlerocket", "localNvme": "none", "provisioner": "managed"}
    assert text(**pool, sharing={"mode": "time-slicing", "replicas": 4}) == BOTTLEROCKET_SHARED


def test_parallel_pull_works_on_both_operating_systems() -> None:
    parallel = {"parallelImagePull": True, "disk": {"throughputMibps": 1000, "iops": 4000}}
    assert node_config(**MANAGED_A100, **parallel)["spec"]["featureGates"] == {"FastImagePull": True}
    assert "featureGates" not in node_config(**MANAGED_A100)["spec"]
    system = text(**SYSTEM, **parallel, os="bottlerocket")
    assert tomllib.loads(system)["settings"]["container-runtime"] == {"snapshotter": "soci"}
    assert "soci" not in text(**SYSTEM, os="bottlerocket")


def test_a_managed_node_with_mig_has_both_parts_and_karpenters_only_the_script() -> None:
    pool = {**MANAGED_A100, "role": "inference", "mig": {"layout": "all-1g.5gb"}}
    config, script = parts(text(**pool))
    assert [config[0], script[0]] == ["application/node.eks.aws", "text/x-shellscript"]
    assert list(parts(karpenter_user_data(spec(preset="a100", mig={"layout": "all-1g.5gb"})))) == [script]
    assert script[1].startswith("#!/usr/bin/env bash\n")
    # Boundaries of Karpenter's archive and of this one.
    assert not {"--//", f"--{BOUNDARY}"} & set(script[1].splitlines())


def test_karpenters_user_data_is_the_same_or_empty() -> None:
    parallel = {"preset": "gpu-spot", "parallelImagePull": True, "localNvme": "raid0"}
    part = email.message_from_string(karpenter_user_data(spec(**parallel))).get_payload(0)
    assert isinstance(part, email.message.Message)
    assert yaml.safe_load(str(part.get_payload()))["spec"] == {"featureGates": {"FastImagePull": True}}
    assert karpenter_user_data(spec(preset="gpu-spot")) == ""
    plugins = tomllib.loads(karpenter_user_data(spec(**parallel, os="bottlerocket")))["settings"]
    assert plugins["container-runtime-plugins"]["soci-snapshotter"] == {"pull-mode": "parallel-pull-unpack"}


OFFERED: Final = [kind for kind in strategies.OFFERED if "on-demand" in kind.markets]
TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"


def settings(kind: InstanceType, provisioner: str, *, efa: bool, pod_cidr: bool) -> dict[str, Any]:
    pool = {"role": "training" if kind.gpus else "general", "provisioner": provisioner, "instanceTypes": [kind.name],
        "max": 1, "zones": ONE_ZONE, "efa": efa}  # fmt: skip
    return {"environment": {"name": "test", "owner": "ml-platform", "costCenter": "ml-research"},
        "account": {"id": ACCOUNT, "region": REGION}, "network": {"cidr": "10.0.0.0/16", "zones": list(ZONES),
            "peers": {"office": "192.168.0.0/16"}, **({"podCidr": "100.64.0.0/16"} if pod_cidr else {})},
        "pools": {"system": SYSTEM, "work": pool}, "addons": {"gpuOperator": {}, "efaDevicePlugin": {}}}  # fmt: skip


def launched(spec: PoolSpec) -> list[tuple[int, str]]:
    """Card and kind of each interface with which EC2 launches a node, from the program's resources."""
    if not spec.managed:
        args = NodeClassArgs(spec=spec, cluster="ml", instance_profile="nodes", placement_group=None, tags={})
        found = node_class(args).get("networkInterfaces", [])
    else:

        def build() -> None:
            aws, _ = providers()
            launch_template("work", TemplateArgs(spec=spec, tags={}), pulumi.ResourceOptions(provider=aws))

        (template,) = [one for one in run(build) if one.type == TEMPLATE]
        found = template.inputs.get("networkInterfaces") or []
    return [(one["networkCardIndex"], one["interfaceType"]) for one in found] or [(0, "interface")]


def addressable(kind: InstanceType, attached: list[tuple[int, str]], *, pod_cidr: bool) -> int:
    """Pods that get an address, as the VPC CNI counts: it manages card 0, skips EFA-only interfaces, gives out nothing
    of an interface in a subnet with the tag `kubernetes.io/role/cni: 0`, and fills what is left of the card; each
    address but an interface's first is a prefix of 16."""
    on_card = [each for card, each in attached if card == 0]
    assert len(on_card) <= kind.primary_card_enis
    usable = [each for each in on_card if each != "efa-only"]
    if pod_cidr:
        usable = usable[1:]
    free = kind.primary_card_enis - len(on_card)
    return (len(usable) + free) * (kind.ipv4_per_eni - 1) * 16


def test_the_cases_contain_types_with_two_interfaces_on_a_card() -> None:
    assert {"p5.48xlarge", "p4d.24xlarge", "p6-b300.48xlarge", "m7a.medium"} <= {kind.name for kind in OFFERED}


@pytest.mark.parametrize("kind", OFFERED, ids=lambda kind: kind.name)
def test_a_node_has_addresses_for_its_pods_or_is_refused(kind: InstanceType) -> None:
    for provisioner, efa, pod_cidr in product(("managed", "karpenter"), (False, True), (False, True)):
        if efa and not kind.efa_interfaces:
            continue
        data = settings(kind, provisioner, efa=efa, pod_cidr=pod_cidr)
        try:
            spec = resolve_all(load(data, stack="test", today=TODAY).platform)["work"]
        except ConfigurationError as error:
            (problem,) = error.problems
            scarce = kind.name.endswith(".medium") or (
                kind.primary_card_enis == 2 and efa and provisioner == "karpenter"
            )
            assert scarce, problem
            assert problem.path in {"pools.work.maxPods", "pools.work.efa"}
            continue
        room = addressable(kind, launched(spec), pod_cidr=pod_cidr)
        assert room >= spec.settings.max_pods, (provisioner, efa, pod_cidr)
