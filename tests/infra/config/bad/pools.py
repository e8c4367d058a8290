"""Mistakes of pools."""

from __future__ import annotations

from typing import Final

from tests.infra.config.bad.row import LONG, Bad

POOLS: Final = (
    Bad(
        18,
        "nodes newer than the cluster",
        {"cluster.version": "1.34", "pools.system.version": "1.35"},
        "pools.system.version",
        "0 to 3",
        "1.34",
    ),
    Bad(21, "min over max", {"pools.system.min": 4}, "pools.system.min", "at most max (3)", "3 or less"),
    Bad(22, "desired size", {"pools.system.desired": 9}, "pools.system.desired", "not known", "Remove it"),
    Bad(23, "negative size", {"pools.cpu.max": -1}, "pools.cpu.max", "at least 1", "1 or more"),
    Bad(23, "boolean size", {"pools.cpu.max": True}, "pools.cpu.max", "whole number", "digits"),
    Bad(23, "size in quotes", {"pools.cpu.max": "3"}, "pools.cpu.max", "whole number", "Remove the quotes"),
    Bad(24, "never a node", {"pools.cpu.max": 0}, "pools.cpu.max", "at least 1", "1 or more"),
    Bad(
        25,
        "unknown type",
        {"pools.h100.instanceTypes": ["p5.48xlrage"]},
        "pools.h100.instanceTypes.0",
        "catalog must know",
        "p5.48xlarge",
    ),
    Bad(
        26,
        "an AMI of one's own",
        {"pools.cpu.ami": "ami-0123456789abcdef0"},
        "pools.cpu.ami",
        "not known",
        "amiRelease",
    ),
    Bad(
        27,
        "AMI type of one's own",
        {"pools.a100.amiType": "AL2023_x86_64_STANDARD"},
        "pools.a100.amiType",
        "not known",
        "amiRelease",
    ),
    Bad(28, "names that differ by case", {"pools.CPU": {"preset": "cpu"}}, "pools.CPU", "lower-case", "start with"),
    Bad(29, "no pools", {"pools": {}}, "pools", "at least one", "name"),
    Bad(29, "pools as a list", {"pools": [{"preset": "system"}]}, "pools", "map", "name"),
    Bad(
        30,
        "pool's name too long",
        {f"pools.{LONG}": {"preset": "cpu"}},
        f"pools.{LONG}",
        "1 to 30",
        "start with a letter",
    ),
    Bad(
        30,
        "pool's name with an underscore",
        {"pools.gpu_spot": {"preset": "cpu"}},
        "pools.gpu_spot",
        "dashes",
        "start with a letter",
    ),
    Bad(
        35,
        "label too long",
        {"pools.cpu.labels": {"example.com/team": LONG}},
        "pools.cpu.labels.example.com/team",
        "at most 63",
        "Shorten it",
    ),
    Bad(
        39,
        "label of Kubernetes",
        {"pools.cpu.labels": {"node-role.kubernetes.io/x": "y"}},
        "pools.cpu.labels.node-role.kubernetes.io/x",
        "reserved",
        "example.com/x",
    ),
    Bad(
        39,
        "taint of Karpenter",
        {"pools.cpu.taints": {"karpenter.sh/x": {"effect": "NoSchedule"}}},
        "pools.cpu.taints.karpenter.sh/x",
        "reserved",
        "example.com/x",
    ),
    Bad(
        40,
        "unknown effect",
        {"pools.cpu.taints": {"example.com/x": {"effect": "NoRun"}}},
        "pools.cpu.taints.example.com/x.effect",
        "NoSchedule",
        "PreferNoSchedule",
    ),
    Bad(
        12,
        "type not sold in the region",
        {
            "account.region": "eu-central-1",
            "network.zones": ["eu-central-1a", "eu-central-1b"],
            "pools.h100.zones": ["eu-central-1a"],
        },
        "pools.h100.instanceTypes",
        "eu-central-1 must offer",
        "us-east-1",
    ),
)
