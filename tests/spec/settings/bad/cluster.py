"""Mistakes of the control plane."""

from __future__ import annotations

from typing import Final

from tests.spec.settings.bad.row import Bad

CLUSTER: Final = (
    Bad(14, "unsupported version", {"cluster.version": "1.20"}, "cluster.version", "catalog must know", "1.35"),
    Bad(15, "version as a number", {"cluster.version": 1.3}, "cluster.version", "text", "in quotes"),
    Bad(
        19,
        "public endpoint without networks",
        {"cluster.endpoint": {"publicAccess": True}},
        "cluster.endpoint.publicAccessCidrs",
        "needs a list",
        "List your",
    ),
    Bad(
        19,
        "public endpoint for all",
        {"cluster.endpoint.publicAccessCidrs": ["0.0.0.0/0"]},
        "cluster.endpoint.publicAccessCidrs.0",
        "open to the internet",
        "offices",
    ),
    Bad(
        19,
        "private endpoint that no network reaches",
        {"cluster.endpoint": {}, "network.peers": {}},
        "cluster.endpoint.privateAccessCidrs",
        "a private endpoint needs a network",
        "network.peers",
    ),
    Bad(
        19,
        "private endpoint for all",
        {"cluster.endpoint.privateAccessCidrs": ["0.0.0.0/0"]},
        "cluster.endpoint.privateAccessCidrs.0",
        "not be open to every network",
        "runners",
    ),
    Bad(
        20,
        "private endpoint off",
        {"cluster.endpoint": {"publicAccess": False, "private": False}},
        "cluster.endpoint.private",
        "not known",
        "privateAccessCidrs",
    ),
    Bad(31, "cluster's name too long", {"cluster.name": "c" * 101}, "cluster.name", "40", "Shorten it"),
    Bad(
        61,
        "key deletion too soon",
        {"cluster.keyDeletionDays": 6},
        "cluster.keyDeletionDays",
        "at least 7",
        "7 or more",
    ),
    Bad(
        61,
        "key deletion too late",
        {"cluster.keyDeletionDays": 31},
        "cluster.keyDeletionDays",
        "at most 30",
        "30 or less",
    ),
    Bad(
        61,
        "a monitoring agent whose GPU monitor can't be disabled",
        {"cluster.addons": {"eks-node-monitoring-agent": {"version": "v1.5.2-eksbuild.1"}}},
        "cluster.addons.eks-node-monitoring-agent.version",
        "v1.6.0 or newer",
        "newer version",
    ),
)
