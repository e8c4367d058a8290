"""User data of managed groups, byte for byte: every change creates a launch template version, and new nodes."""

from __future__ import annotations

import base64
import email
import tomllib
from typing import Any

import yaml

from components.pools.user_data import BOUNDARY, karpenter_user_data, user_data
from policies.evaluation.user_data import parts
from tests.components.pools.samples import MANAGED_A100, SYSTEM, spec

GOLDEN = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="==slipway=="

--==slipway==
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0
  kubelet:
    flags:
    - --max-pods=110

--==slipway==--
"""

BOTTLEROCKET_SHARED = """\
[settings.kubernetes]
max-pods = 110
[settings.kubelet-device-plugins.nvidia]
device-sharing-strategy = "time-slicing"
[settings.kubelet-device-plugins.nvidia.time-slicing]
replicas = 4
rename-by-default = false
fail-requests-greater-than-one = true
"""


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
