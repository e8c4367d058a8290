"""Keys of labels, taints and resources by which pods, queues and device plugins select a pool's nodes.

They are a contract: workloads name them in selectors and tolerations, so a key never changes once it is released.
"""

from __future__ import annotations

from typing import Final

from spec.pools.sharing import CONFIG_LABEL

POOL: Final = "platform.slipway/pool"
"""Label of every node, and taint of GPU nodes: the pool's name."""
CLUSTER: Final = "platform.slipway/cluster"
"""Tag, besides `POOL`, of AWS resources that are found by tags: two clusters may share an account and a Region."""
ROLE: Final = "platform.slipway/role"
"""Label of every node: role of the pool (`spec.settings.pools.Role`)."""
GPU: Final = "nvidia.com/gpu"
"""Label `true` and taint `true:NoSchedule` of GPU nodes, and the resource of a whole GPU, or of a share of it where
pods share GPUs."""
ACCELERATOR: Final = "accelerator"
"""Label of GPU nodes: `nvidia-a100`."""
GPU_COUNT: Final = "gpu-count"
"""Label of GPU nodes: number of GPUs of the machine, partitioned or not."""
MIG_CONFIG: Final = "nvidia.com/mig.config"
"""Label of nodes whose GPUs have a MIG layout: its name. User data applies the layout (`components.pools.mig`)."""
DEVICE_PLUGIN_CONFIG: Final = CONFIG_LABEL
"""Label of nodes whose GPUs are shared: mode and number of pods."""
AUTOSCALER_GPU: Final = "k8s.amazonaws.com/accelerator"
"""Label by which Cluster Autoscaler recognizes a GPU node on AWS, and waits until its GPUs are registered
(kubernetes/autoscaler, cloudprovider/aws, GPULabel; 1.36)."""
DEDICATED: Final = "dedicated"
"""Taint key of pools that the settings dedicate to machine-learning workloads."""
DEDICATED_VALUE: Final = "ml-workloads"
EFA: Final = "vpc.amazonaws.com/efa"
"""Extended resource of the AWS EFA device plugin: one Elastic Fabric Adapter."""
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
