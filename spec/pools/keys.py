"""Keys of labels, taints and resources by which pods, queues and device plugins select a pool's nodes.

They are a contract: workloads name them in selectors and tolerations, so a key never changes once it is released.
"""

import re
from typing import Final

from spec.catalog import gpus, mig

POOL: Final = "platform.slipway/pool"
"""Label of every node, and taint of GPU nodes: the pool's name."""
CLUSTER: Final = "platform.slipway/cluster"
"""Tag, besides `POOL`, of AWS resources that are found by tags: two clusters may share an account and a Region."""
ROLE: Final = "platform.slipway/role"
"""Label of every node: role of the pool (`spec.settings.pools.Role`)."""
NVIDIA: Final = gpus.DEVICES
"""Prefix of the resources of GPUs: whole ones, shares, and MIG instances."""
MIG: Final = mig.resource_name("")
"""Prefix of the resources of MIG instances."""
GPU: Final = gpus.DEVICE
"""Label `true` and taint `true:NoSchedule` of GPU nodes, and the resource of a whole GPU, or of a share of it where
pods share GPUs."""
ARCH: Final = "kubernetes.io/arch"
"""Label of every node, and taint `arm64:NoSchedule` of arm64 nodes, which GKE gives its own as well: a pod says by its
toleration that its images are built for arm64 (cloud.google.com/kubernetes-engine, "Deploy Autopilot workloads on Arm
architecture" and "Prepare an Arm workload", read 2026-11)."""
OF_PODS: Final = (GPU, ARCH)
"""Taints that only a pod's own tolerations are for: Kueue adds those of all others."""
ACCELERATOR: Final = "accelerator"
"""Label of GPU nodes: `nvidia-a100`."""
GPU_COUNT: Final = "gpu-count"
"""Label of GPU nodes: number of GPUs of the machine, partitioned or not."""
MIG_CONFIG: Final = "nvidia.com/mig.config"
"""Label of nodes whose GPUs have a MIG layout: its name. `components.pools.user_data` applies it."""
DEVICE_PLUGIN_CONFIG: Final = "nvidia.com/device-plugin.config"
"""Label of nodes whose GPUs are shared: mode and number of pods. By it the device plugin finds its configuration among
the named ones (k8s-device-plugin v0.20.0, "Configuration Option Details", config manager)."""
GPU_ALLOCATION: Final = "platform.slipway/gpu-allocation"
"""Label `dra` of nodes whose GPUs are allocated by claims of devices: NVIDIA's driver for those runs there, and no
device plugin."""
DRA: Final = "dra"
NODE_POOL: Final = "karpenter.sh/nodepool"
"""Karpenter's label of its nodes, and tag of their instances: the NodePool."""
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
"""Karpenter's label of its nodes: `spot`, `on-demand` or `reserved`."""
AUTOSCALER_GPU: Final = "k8s.amazonaws.com/accelerator"
"""Label by which Cluster Autoscaler recognizes a GPU node on AWS, and waits until its GPUs are registered
(kubernetes/autoscaler, cloudprovider/aws, GPULabel; 1.36)."""
DEDICATED: Final = "dedicated"
"""Taint key of pools that the settings dedicate to machine-learning workloads."""
DEDICATED_VALUE: Final = "ml-workloads"
EFA: Final = "vpc.amazonaws.com/efa"
"""Extended resource of the AWS EFA device plugin: one Elastic Fabric Adapter."""
EPHEMERAL_STORAGE: Final = "ephemeral-storage"


_NAME: Final = re.compile(r"(?:time-slicing|mps)-([1-9][0-9]*)")


def config_name(mode: str, replicas: int) -> str:
    """Name of the device plugin's configuration: `time-slicing-4`. It contains the whole setting, so that a
    changed setting changes the node label, on which the plugin acts."""
    return f"{mode}-{replicas}"


def replicas_of(name: str) -> int:
    """Pods on one GPU under the configuration of that name; 1 for a name that is not one of `config_name`."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else 1
