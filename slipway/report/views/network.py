"""The network of a stack."""

from __future__ import annotations

from typing import Final

from slipway.report.model import NetworkView, ZoneView
from spec.naming import zone_letter
from spec.settings.network import Nat, Network
from spec.subnets import layout

_OUT: Final = {
    Nat.SINGLE: "one NAT gateway for all zones",
    Nat.PER_ZONE: "one NAT gateway per zone",
    Nat.NONE: "none, only VPC endpoints",
}

_TRAFFIC: Final = {"ALL": "all", "ACCEPT": "accepted", "REJECT": "rejected"}


def network(settings: Network) -> NetworkView:
    """The VPC that the settings describe."""
    logs = settings.flow_logs
    return NetworkView(
        cidr=str(settings.cidr),
        pod_cidr=str(settings.pod_cidr or ""),
        zones=_zones(settings),
        out=_OUT[settings.nat],
        endpoints=("s3", *(str(endpoint) for endpoint in settings.endpoints)),
        peers=tuple((name, str(cidr)) for name, cidr in sorted(settings.peers.items())),
        flow_logs=f"{_TRAFFIC[logs.traffic_type]} traffic, kept {logs.retention_days} days" if logs.enabled else "off",
    )


def _zones(settings: Network) -> tuple[ZoneView, ...]:
    ranges = layout(settings.cidr, settings.zones, settings.pod_cidr)
    names = sorted(settings.zones)
    zones = []
    for index, name in enumerate(names):
        own = ranges[zone_letter(name)]
        subnets = [("public", str(own.public)), ("private", str(own.private))]
        subnets += [("pods", str(own.pods))] if own.pods else []
        nat = settings.nat is Nat.PER_ZONE or (settings.nat is Nat.SINGLE and index == 0)
        zones.append(ZoneView(name=name, subnets=tuple(subnets), nat=nat))
    return tuple(zones)
