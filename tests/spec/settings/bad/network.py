"""Mistakes of the network."""

from __future__ import annotations

from typing import Final

from tests.spec.settings.bad.row import Bad

NETWORK: Final = (
    Bad(1, "public range", {"network.cidr": "8.8.0.0/16"}, "network.cidr", "within 10.0.0.0/8", "private range"),
    Bad(2, "host bits set", {"network.cidr": "10.16.0.1/16"}, "network.cidr", "host bits", "10.16.0.0/16"),
    Bad(3, "range too large", {"network.cidr": "10.16.0.0/15"}, "network.cidr", "/16 to /20", "10.16.0.0/16"),
    Bad(3, "range too small", {"network.cidr": "10.16.0.0/28"}, "network.cidr", "/16 to /20", "10.16.0.0/16"),
    Bad(
        6,
        "pods' range overlaps",
        {"network.podCidr": "10.16.0.0/16"},
        "network.podCidr",
        "not overlap network.cidr",
        "another",
    ),
    Bad(
        7,
        "services' range overlaps the VPC",
        {"cluster.serviceIpv4Cidr": "10.16.0.0/20"},
        "cluster.serviceIpv4Cidr",
        "not overlap network.cidr",
        "another",
    ),
    Bad(
        7,
        "services' range overlaps a peer",
        {"network.peers.dc": "172.20.4.0/22"},
        "network.peers.dc",
        "not overlap cluster.serviceIpv4Cidr",
        "another",
    ),
    Bad(8, "one zone", {"network.zones": ["us-east-1a"]}, "network.zones", "at least 2", "Add entries"),
    Bad(
        9,
        "unknown zone",
        {"network.zones": ["us-east-1a", "us-east-1z"]},
        "network.zones.1",
        "must be in us-east-1",
        "us-east-1b",
    ),
    Bad(9, "a zone twice", {"network.zones": ["us-east-1a", "us-east-1a"]}, "network.zones.1", "once", "Remove"),
    Bad(
        10,
        "zone of another region",
        {"network.zones": ["us-east-1a", "us-west-2b"]},
        "network.zones.1",
        "must be in us-east-1",
        "us-east-1b",
    ),
    Bad(
        10,
        "zone ID of another region",
        {"account.zoneIds.us-east-1b": "usw2-az1"},
        "account.zoneIds.us-east-1b",
        "must be in us-east-1",
        "use1-az1",
    ),
    Bad(
        10,
        "zone IDs of another region's zones",
        {"account.zoneIds": {"us-west-2a": "usw2-az1"}},
        "account.zoneIds.us-west-2a",
        "must be in us-east-1",
        "zones of the network",
    ),
    Bad(
        9,
        "a zone without its ID",
        {"account.zoneIds": {"us-east-1a": "use1-az6"}},
        "account.zoneIds.us-east-1b",
        "needs its ID",
        "describe-availability-zones",
    ),
    Bad(
        9,
        "one zone ID for two zones",
        {"account.zoneIds.us-east-1b": "use1-az6"},
        "account.zoneIds.us-east-1b",
        "us-east-1a has it",
        "describe-availability-zones",
    ),
    Bad(
        9,
        "a zone's name as its ID",
        {"account.zoneIds.us-east-1b": "us-east-1b"},
        "account.zoneIds.us-east-1b",
        "use1-az6",
        "ID, not the name",
    ),
    Bad(
        9,
        "zone without EKS",
        {
            "account.zoneIds": {"us-east-1a": "use1-az6", "us-east-1b": "use1-az1", "us-east-1c": "use1-az3"},
            "network.zones": ["us-east-1a", "us-east-1b", "us-east-1c"],
            "pools.system.zones": ["us-east-1a"],
        },
        "network.zones.2",
        "EKS does not support zone use1-az3",
        "another zone",
    ),
    Bad(
        13,
        "too few addresses for all nodes",
        {"network.podCidr": "100.64.0.0/20"},
        "network.podCidr",
        "pod addresses",
        "larger one",
    ),
)
