"""Environment and annotations for communication between GPUs of several nodes: NCCL, libfabric, topology."""

from __future__ import annotations

from dataclasses import replace

from components.workloads.distributed.args import DistributedTrainingArgs
from components.workloads.metadata import PODSET, kept, placed
from components.workloads.pods import Pod


def environment(args: DistributedTrainingArgs) -> dict[str, str]:
    """Environment of each process; the user's variables override it.

    Only what is needed: NCCL and aws-ofi-nccl detect the rest, and most settings of older guides slow them down or
    break them (aws-samples/awsome-distributed-training, efa-cheatsheet.md, 2026-08: `NCCL_BUFFSIZE`,
    `NCCL_MIN_CHANNELS`, `NCCL_PROTO`, `FI_EFA_USE_DEVICE_RDMA`, `FI_EFA_FORK_SAFE` and `RDMAV_FORK_SAFE` are best left
    out with libfabric >= 1.18 and aws-ofi-nccl >= 1.7).
    """
    common = {
        # WARN names a failing peer; INFO also shows whether NCCL uses EFA ("NET/OFI Selected provider is efa").
        "NCCL_DEBUG": args.nccl_debug,
        # The bootstrap uses TCP, on the only network interface of a pod with the VPC CNI (aws/amazon-vpc-cni-k8s,
        # README: the container's interface is eth0).
        "NCCL_SOCKET_IFNAME": "eth0",
    }
    if not args.pod.resources.efa:
        return common
    # libfabric would silently fall back to TCP if EFA isn't usable; with the provider set, it fails instead (fi_efa(7),
    # libfabric 1.22; EKS User Guide, "Run machine learning training on Amazon EKS with EFA").
    return {**common, "FI_PROVIDER": "efa"}


def with_environment(args: DistributedTrainingArgs) -> Pod:
    """The pod with the environment of the fabric; the user's variables override it."""
    return replace(args.pod, env={**environment(args), **args.pod.env})


def pod_annotations(args: DistributedTrainingArgs) -> dict[str, str]:
    """Annotations of the pod template."""
    ours = kept(args.pod, args.target)
    if args.topology is not None:
        ours[f"{PODSET}{'required' if args.topology.required else 'preferred'}-topology"] = args.topology.level
    return placed(ours, args.pod, args.target)
